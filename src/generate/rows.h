/* rows.h: the rows of a data set for choosing tools: an instruction, the tools to choose from, the right one, and a
 * note on why (ToolVerifier, 2.1.2).
 *
 *   easy list   tools drawn from the library and the right one, shuffled
 *   hard list   the right one and those like it alone, shuffled: its family or, of a catalogue, what a search for the
 *               instruction puts beside it */
#ifndef WT_GENERATE_ROWS_H
#define WT_GENERATE_ROWS_H

#include "base/rng.h"
#include "generate/library.h"
#include "generate/samples.h"

struct row {
    struct str query;
    size_t tool;        /* place in the library */
    const size_t *also; /* [also_count] other tools that are right, which no list of it holds */
    size_t also_count;
    size_t *choices; /* [choice_count] places, the tool's among them */
    size_t choice_count;
    struct str note; /* empty: none */
    bool hard;
};

struct rows {
    struct arena arena;
    struct row *rows;
    size_t count, capacity, hard;
    size_t unlike;   /* rows that were to be hard, and have nothing like their tool: their lists are easy ones */
    size_t noteless; /* that were dropped for want of a note */
};

static inline bool wt__row_is_right(const struct row *row, size_t place)
{
    bool right = place == row->tool;
    for (size_t i = 0; i < row->also_count; i++)
        right |= row->also[i] == place;
    return right;
}

void wt__rows_dispose(struct rows *rows);

/* Adds a row without a list. The query is copied. WT_ENOMEM. */
int wt__rows_add(struct rows *rows, struct str query, size_t tool, wt_error *err);

/* Adds `each` rows for each of the first `tools` tools of the library, as the model writes them. distinct: of the
 * queries; empty. */
int wt__rows_write(struct rows *rows, const struct library *library, size_t tools, size_t each, struct asker *asker,
                   struct distinct *distinct, wt_error *err);

/* Tools that are easily taken for the right one, for a row: at most `most` places, without the right one. May add
 * tools to the library. */
struct likeness_source {
    void *self;
    int (*like)(void *self, const struct row *row, size_t *places, size_t most, size_t *count, wt_error *err);
};

/* What of the library a list is drawn from: its first `pool` tools. */
struct list_settings {
    size_t choices, related, pool;
    double hard; /* share */
};

int wt__rows_list(struct rows *rows, const struct list_settings *settings, const struct likeness_source *source,
                  struct rng *rng, struct progress *progress, wt_error *err);

/* The note of each row; rows that get none are dropped. */
int wt__rows_explain(struct rows *rows, const struct library *library, struct asker *asker, wt_error *err);

/* The rows as samples, which borrow their texts. WT_ENOMEM. */
int wt__rows_samples(const struct rows *rows, const struct library *library, struct samples *out, wt_error *err);

#endif
