/* result.h: a wt_generated with the memory of its strings. */
#ifndef WT_GENERATE_RESULT_H
#define WT_GENERATE_RESULT_H

#include "base/arena.h"
#include "generate/stage.h"
#include "whichtool.h"

struct generated {
    wt_generated visible; /* first, so that the public pointer can be cast back */
    struct arena arena;
};

/* Copies the asker's costs. */
void wt__generated_set_cost(struct generated *result, const struct stage_runner *asker);

/* Reads an option that is a share: 0 for the default, negative for 0. Errors: WT_EINVAL if given is NaN or exceeds
 * most. */
int wt__generate_read_share(double given, double usual, double most, const char *name, double *out, wt_error *err);
/* Reads an option that is a count: 0 for the default. Errors: WT_EINVAL if it is below least or above most. */
int wt__generate_read_count(size_t given, size_t usual, size_t least, size_t most, const char *name, size_t *out,
                            wt_error *err);

/* Default cosine from which the built-in encoder calls two texts duplicates. On the paper's ToolSelect it finds all
 * pairs found by the tuned encoder at 0.95, and some more (docs/generate.md). */
#define GENERATE_DUPLICATE 0.93

/* Default share of hard lists: the paper's 75 of 555 rows. */
#define GENERATE_HARD_SHARE (75.0 / 555.0)

#endif
