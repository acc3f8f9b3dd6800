/* adamw.h: Adam with decoupled weight decay (Loshchilov and Hutter), clipping by the norm of all gradients, and
 * schedules of the rate.
 *
 * A parameter whose rows are mostly untouched (word embeddings) names the rows that a step's gradient has. Rows that
 * never had one cost no memory for m and v and no time but their decay; the result is that of the dense update. */
#ifndef WT_NN_ADAMW_H
#define WT_NN_ADAMW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct parameter {
    const char *name;
    float *value, *gradient; /* [count]; gradient NULL: none, the parameter is left alone */
    size_t count;
    size_t row;       /* floats of a row when `touched` counts, else 0 */
    uint8_t *touched; /* [count / row], or NULL: dense. Rows with 0 have no gradient, and it is not read */
    bool decays;
    bool frozen;
    float rate; /* times the step's rate; 1 as a rule */
};

struct adamw_options {
    float beta1, beta2, epsilon, decay;
    float clip; /* the longest gradient, over all parameters; 0: any */
};
#define ADAMW_DEFAULTS ((struct adamw_options){0.9f, 0.999f, 1e-8f, 0.01f, 1.0f})

struct adamw {
    struct adamw_options options;
    struct parameter *parameters; /* borrowed */
    size_t count;
    uint64_t step;           /* steps done */
    float **first, **second; /* [count] of [parameter's count]: running means of g and g^2; NULL for frozen ones */
    uint8_t **seen;          /* [count] of [rows]: had a gradient once; NULL for dense ones */

    struct chunk *chunks; /* [chunk_count] parts of parameters that threads take */
    double *squares;      /* [chunk_count] their part of the norm */
    size_t chunk_count;
};

/* parameters are borrowed until dispose and may not change in number, size, or whether they are frozen. */
int wt__adamw_open(struct adamw *out, struct parameter *parameters, size_t count, const struct adamw_options *options,
                   wt_error *err);
void wt__adamw_dispose(struct adamw *adamw);

/* One step by gradient * scale (1 / batches for gradients that were summed over several). Returns the norm of the
 * scaled gradient before clipping; when that is not finite, nothing is changed, not even the count of steps. The same
 * bits for any number of threads. Gradients stay as they are: wt__gradients_clear. */
float wt__adamw_step(struct adamw *adamw, float rate, float scale, unsigned threads);

/* Zeroes all gradients (touched rows only, where they are known) and the marks of touched rows. */
void wt__gradients_clear(struct parameter *parameters, size_t count);

/* Takes one parameter's state from a checkpoint, without touching memory for rows of zeros. The caller sets
 * adamw->step. */
void wt__adamw_restore(struct adamw *adamw, size_t parameter, const float *first, const float *second);

/* The factor of the peak rate at a step (0-based) of `total`: rises linearly over `warmup` steps from 0, then stays,
 * or falls to 0 by a line or half a cosine. */
enum schedule { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE };
float wt__schedule(enum schedule schedule, uint64_t step, uint64_t warmup, uint64_t total);

#endif
