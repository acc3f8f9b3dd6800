/* rows.h: rows of a data set for choosing tools: an instruction, a list of tools, the right one, and a note with the
 * reason (ToolVerifier, 2.1.2).
 *
 *   easy list   tools drawn from the library and the right one, shuffled
 *   hard list   the right one and similar tools only, shuffled: its family or, in a catalogue, the other hits of a
 *               search for the instruction */
#ifndef WT_GENERATE_ROWS_H
#define WT_GENERATE_ROWS_H

#include "base/rng.h"
#include "generate/library.h"
#include "generate/samples.h"

struct choice_row {
    struct str query;
    size_t tool;              /* place in the library */
    const size_t *also_right; /* [also_count] other right tools, kept out of the row's list */
    size_t also_right_count;
    size_t *choices; /* [choice_count] places, with the right tool */
    size_t choice_count;
    struct str note; /* empty before wt__rows_write_notes */
    bool is_hard;
};

struct choice_rows {
    struct arena arena;
    struct choice_row *rows;
    size_t count, capacity, hard_count;
    size_t without_similar; /* rows drawn as hard but without a similar tool: they got easy lists */
    size_t without_note;    /* rows dropped because they got no note */
};

static inline bool wt__row_is_right(const struct choice_row *row, size_t place)
{
    bool right = place == row->tool;
    for (size_t i = 0; i < row->also_right_count; i++)
        right |= row->also_right[i] == place;
    return right;
}

void wt__rows_dispose(struct choice_rows *rows);

/* Adds a row without a list. The query is copied. Errors: WT_ENOMEM. */
int wt__rows_add(struct choice_rows *rows, struct str query, size_t tool, wt_error *err);

/* Asks the model for `each` rows for each of the library's first `tools` tools. distinct: empty set for the queries. */
int wt__rows_write_instructions(struct choice_rows *rows, const struct library *library, size_t tools, size_t each,
                                struct stage_runner *asker, struct distinct *distinct, wt_error *err);

/* Finds tools that are easily mistaken for a row's right one: at most `most` places, without the right one. May add
 * tools to the library. */
struct similarity_source {
    void *self;
    int (*like)(void *self, const struct choice_row *row, size_t *places, size_t most, size_t *count, wt_error *err);
};

/* Settings of the lists. pool: lists are drawn from the library's first `pool` tools. */
struct list_settings {
    size_t choices, related, pool;
    double hard; /* share of hard lists */
};

int wt__rows_build_lists(struct choice_rows *rows, const struct list_settings *settings,
                         const struct similarity_source *source, struct rng *rng, struct progress *progress,
                         wt_error *err);

/* Asks for the note of each row; drops rows without one. */
int wt__rows_write_notes(struct choice_rows *rows, const struct library *library, struct stage_runner *asker,
                         wt_error *err);

/* Converts the rows to samples, which borrow their texts. Errors: WT_ENOMEM. */
int wt__rows_to_samples(const struct choice_rows *rows, const struct library *library, struct choice_samples *out,
                        wt_error *err);

#endif
