/* adamw.h: Adam with decoupled weight decay (Loshchilov and Hutter), clipping by the global norm of the gradients, and
 * learning rate schedules.
 *
 * Word embeddings are sparse: few rows have a gradient in a step. A sparse parameter marks these rows as touched. A row
 * that was never touched needs no memory for its moments. The result equals that of the dense update. */
#ifndef WT_NN_ADAMW_H
#define WT_NN_ADAMW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct model_parameter {
    const char *name;
    float *value, *gradient; /* [count]; gradient NULL if the parameter is not trained */
    size_t count;
    size_t row;       /* floats in a row of a sparse parameter; 0 if it is dense */
    uint8_t *touched; /* [count / row] 0 if the row's gradient is zero and not read, else 1; NULL if dense */
    bool decays;      /* true if weight decay applies */
    bool frozen;      /* true if the parameter is not trained */
    float rate;       /* factor of the step's learning rate, normally 1 */
};

struct adamw_options {
    float beta1, beta2, epsilon;
    float decay; /* weight decay per step, relative to the learning rate */
    float clip;  /* maximum norm of all gradients together; 0 for no limit */
};
#define ADAMW_DEFAULTS ((struct adamw_options){0.9f, 0.999f, 1e-8f, 0.01f, 1.0f})

struct adamw {
    struct adamw_options options;
    struct model_parameter *parameters; /* borrowed */
    size_t count;
    uint64_t step;           /* number of steps done */
    float **first, **second; /* [count][parameter's count] running means of g and g^2; NULL if not trained */
    uint8_t **seen;          /* [count][rows] 1 if the row ever had a gradient; NULL for dense parameters */

    struct chunk *chunks; /* [chunk_count] work items of the threads */
    double *squares;      /* [chunk_count] sums of squared gradients */
    size_t chunk_count;
};

/* Borrows `parameters` until dispose; their number, sizes and `frozen` must not change until then. */
int wt__adamw_open(struct adamw *out, struct model_parameter *parameters, size_t count,
                   const struct adamw_options *options, wt_error *err);
void wt__adamw_dispose(struct adamw *adamw);

/* Does one step with gradient * scale. scale is 1 / n for gradients summed over n batches. Returns the norm of all
 * scaled gradients together, before clipping. If the norm is not finite, changes neither parameters nor step count. The
 * result has the same bits for any number of threads. Does not clear the gradients: see wt__gradients_clear. */
float wt__adamw_step(struct adamw *adamw, float rate, float scale, unsigned threads);

/* Zeroes all gradients (only the touched rows of sparse parameters) and the `touched` marks. */
void wt__gradients_clear(struct model_parameter *parameters, size_t count);

/* Restores the moments of one parameter from a checkpoint. Skips rows of zeros, so that they still use no memory. The
 * caller sets adamw->step. */
void wt__adamw_restore(struct adamw *adamw, size_t parameter, const float *first, const float *second);

enum schedule { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE };
/* Returns the factor of the peak learning rate at `step` (0-based) of `total`. The factor rises linearly from 0 to 1
 * over `warmup` steps. Then it stays at 1, or falls to 0 linearly or along half a cosine. */
float wt__schedule(enum schedule schedule, uint64_t step, uint64_t warmup, uint64_t total);

#endif
