/* result.h: a wt_generated and what its strings live in. */
#ifndef WT_GENERATE_RESULT_H
#define WT_GENERATE_RESULT_H

#include "base/arena.h"
#include "generate/stage.h"
#include "whichtool.h"

struct generated {
    wt_generated visible; /* first, so that the public pointer is this one */
    struct arena arena;
};

/* Copies what the asker counted. */
void wt__generated_cost(struct generated *result, const struct asker *asker);

/* How a share is read that is 0 for a default and negative for none. WT_EINVAL beyond most or no number. */
int wt__generate_share(double given, double usual, double most, const char *name, double *out, wt_error *err);
/* The same of a count: 0 for the usual one; WT_EINVAL below least or over most. */
int wt__generate_count(size_t given, size_t usual, size_t least, size_t most, const char *name, size_t *out,
                       wt_error *err);

/* The cosine of duplicates by the built-in encoder where none is given: of the paper's ToolSelect it finds all pairs
 * that the tuned one finds at 0.95, and some more (docs/generate.md). */
#define GENERATE_DUPLICATE 0.93

/* The lists' hard share where none is given: the paper's 75 of 555 rows. */
#define GENERATE_HARD_SHARE (75.0 / 555.0)

#endif
