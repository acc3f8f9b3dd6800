/* adamw.c: AdamW on several threads. The parameters are split into chunks, the work items of the threads. The sums of
 * squares of the chunks are added in a fixed order, so the result does not depend on the number of threads. */
#include "nn/adamw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "nn/kernels/kernels.h"

enum { CHUNK = 1 << 16 }; /* floats in a chunk, rounded up to whole rows */

struct chunk {
    size_t parameter, from, to; /* range of floats; on row boundaries if the parameter is sparse */
};

static bool is_trained_parameter(const struct model_parameter *p)
{
    return p->gradient && !p->frozen && p->count > 0;
}

/* Returns the floats in a chunk of p: a multiple of the row length if p is sparse. */
static size_t choose_chunk_length(const struct model_parameter *p)
{
    return p->touched ? (CHUNK + p->row - 1) / p->row * p->row : CHUNK;
}

static int split_chunks(struct adamw *a, wt_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (is_trained_parameter(&a->parameters[i]))
            count += (a->parameters[i].count - 1) / choose_chunk_length(&a->parameters[i]) + 1;
    a->chunks = wt__alloc_array(count + 1, sizeof(struct chunk));
    a->squares = wt__alloc_array(count + 1, sizeof(double));
    WT_CHECK_ALLOC(a->chunks && a->squares, err);
    for (size_t i = 0; i < a->count; i++) {
        const struct model_parameter *p = &a->parameters[i];
        size_t length = choose_chunk_length(p);
        for (size_t from = 0; is_trained_parameter(p) && from < p->count; from += length)
            a->chunks[a->chunk_count++] = (struct chunk){i, from, p->count - from < length ? p->count : from + length};
    }
    return 0;
}

/* Allocates the state of all trained parameters. On an error, the caller frees the state. */
static int allocate_adamw(struct adamw *a, wt_error *err)
{
    a->first = calloc(a->count + 1, sizeof(float *));
    a->second = calloc(a->count + 1, sizeof(float *));
    a->seen = calloc(a->count + 1, sizeof(uint8_t *));
    WT_CHECK_ALLOC(a->first && a->second && a->seen, err);
    WT_TRY(split_chunks(a, err));
    for (size_t i = 0; i < a->count; i++) {
        const struct model_parameter *p = &a->parameters[i];
        if (!is_trained_parameter(p))
            continue;
        /* calloc uses no physical memory for rows that are never written. */
        a->first[i] = calloc(p->count, sizeof(float));
        a->second[i] = calloc(p->count, sizeof(float));
        a->seen[i] = p->touched ? calloc(p->count / p->row, 1) : NULL;
        WT_CHECK_ALLOC(a->first[i] && a->second[i] && (!p->touched || a->seen[i]), err);
    }
    return 0;
}

int wt__adamw_open(struct adamw *out, struct model_parameter *parameters, size_t count,
                   const struct adamw_options *options, wt_error *err)
{
    *out = (struct adamw){.options = *options, .parameters = parameters, .count = count};
    int rc = allocate_adamw(out, err);
    if (rc < 0)
        wt__adamw_dispose(out);
    return rc;
}

void wt__adamw_dispose(struct adamw *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->count && a->first && a->second && a->seen; i++) {
        free(a->first[i]);
        free(a->second[i]);
        free(a->seen[i]);
    }
    free(a->first);
    free(a->second);
    free(a->seen);
    free(a->chunks);
    free(a->squares);
    *a = (struct adamw){0};
}

static double sum_of_squares(const float *x, size_t n)
{
    enum { PART = 4096 }; /* floats summed in single precision */
    double sum = 0;
    for (size_t i = 0; i < n; i += PART)
        sum += (double)wt__kernels()->dot_f32(x + i, x + i, n - i < PART ? n - i : PART);
    return sum;
}

static int sum_chunk_squares(void *context, size_t index, unsigned worker)
{
    struct adamw *a = context;
    const struct chunk *c = &a->chunks[index];
    const struct model_parameter *p = &a->parameters[c->parameter];
    double sum = 0;
    (void)worker;
    if (!p->touched)
        sum = sum_of_squares(p->gradient + c->from, c->to - c->from);
    for (size_t at = c->from; p->touched && at < c->to; at += p->row)
        if (p->touched[at / p->row])
            sum += sum_of_squares(p->gradient + at, p->row);
    a->squares[index] = sum;
    return 0;
}

struct adamw_update {
    struct adamw *adamw;
    struct adamw_factors factors; /* without the parameter's own rate and decay */
    float rate;                   /* learning rate of the step */
};

static int update_chunk(void *context, size_t index, unsigned worker)
{
    const struct adamw_update *s = context;
    const struct chunk *c = &s->adamw->chunks[index];
    const struct model_parameter *p = &s->adamw->parameters[c->parameter];
    float *first = s->adamw->first[c->parameter], *second = s->adamw->second[c->parameter];
    uint8_t *seen = s->adamw->seen[c->parameter];
    struct adamw_factors factors = s->factors;
    const struct kernels *kernels = wt__kernels();
    (void)worker;
    factors.rate *= p->rate;
    factors.keep = p->decays ? 1.0f - s->rate * p->rate * s->adamw->options.decay : 1.0f;
    if (!p->touched) {
        kernels->adamw(&factors, p->gradient + c->from, first + c->from, second + c->from, p->value + c->from,
                       c->to - c->from);
        return 0;
    }
    for (size_t at = c->from; at < c->to; at += p->row) {
        size_t row = at / p->row;
        bool now = p->touched[row];
        seen[row] |= now;
        if (seen[row])
            kernels->adamw(&factors, now ? p->gradient + at : NULL, first + at, second + at, p->value + at, p->row);
        else if (p->decays)
            for (size_t i = 0; i < p->row; i++)
                p->value[at + i] *= factors.keep;
    }
    return 0;
}

float wt__adamw_step(struct adamw *a, float rate, float scale, unsigned threads)
{
    const float least = 1e-6f; /* added to the divisor, as PyTorch does when clipping */
    const struct adamw_options *o = &a->options;
    double sum = 0;
    wt__pool_run(threads, a->chunk_count, sum_chunk_squares, a);
    for (size_t i = 0; i < a->chunk_count; i++)
        sum += a->squares[i];
    float norm = (float)(sqrt(sum) * fabs((double)scale));
    if (!isfinite(norm))
        return norm;
    a->step++;
    float shrink = o->clip > 0 && norm + least > o->clip ? o->clip / (norm + least) : 1.0f;
    struct adamw_update step = {.adamw = a,
                                .rate = rate,
                                .factors = {.beta1 = o->beta1,
                                            .beta2 = o->beta2,
                                            .epsilon = o->epsilon,
                                            .scale = scale * shrink,
                                            .rate = (float)(rate / (1 - pow((double)o->beta1, (double)a->step))),
                                            .root = (float)(1 / sqrt(1 - pow((double)o->beta2, (double)a->step)))}};
    wt__pool_run(threads, a->chunk_count, update_chunk, &step);
    return norm;
}

void wt__gradients_clear(struct model_parameter *parameters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct model_parameter *p = &parameters[i];
        if (!p->gradient || p->count == 0)
            continue;
        if (!p->touched)
            memset(p->gradient, 0, p->count * sizeof(float));
        for (size_t row = 0; p->touched && row < p->count / p->row; row++)
            if (p->touched[row]) {
                memset(p->gradient + row * p->row, 0, p->row * sizeof(float));
                p->touched[row] = 0;
            }
    }
}

static bool is_all_zero(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0)
            return false;
    return true;
}

void wt__adamw_restore(struct adamw *a, size_t parameter, const float *first, const float *second)
{
    const struct model_parameter *p = &a->parameters[parameter];
    size_t length = p->touched ? p->row : p->count;
    for (size_t at = 0; is_trained_parameter(p) && at < p->count; at += length) {
        bool seen = !is_all_zero(first + at, length) || !is_all_zero(second + at, length);
        if (a->seen[parameter])
            a->seen[parameter][at / length] = seen;
        if (seen) {
            memcpy(a->first[parameter] + at, first + at, length * sizeof(float));
            memcpy(a->second[parameter] + at, second + at, length * sizeof(float));
        }
    }
}

float wt__schedule(enum schedule schedule, uint64_t step, uint64_t warmup, uint64_t total)
{
    const double pi = 3.14159265358979323846;
    if (step < warmup)
        return (float)((double)step / (double)warmup);
    double length = total > warmup ? (double)(total - warmup) : 1, done = (double)(step - warmup) / length;
    if (schedule == SCHEDULE_CONSTANT)
        return 1;
    done = done < 1 ? done : 1;
    return (float)(schedule == SCHEDULE_LINEAR ? 1 - done : (1 + cos(pi * done)) / 2);
}
