/* disentangled.c: the two parts with positions are small products with rows of the table, then looked up by distance:
 *
 *   c2p [block, W] = Q PK^T for a block of rows       p2c [T, W] = K PQ^T for a head
 *
 * W is the number of table rows within reach of the sequence's distances. The backward sums the gradients of the scores
 * by distance, then does the backward of these two products. */
#include "nn/disentangled.h"

#include <math.h>
#include <string.h>

#include "nn/attention_core.h"
#include "nn/kernels/kernels.h"
#include "nn/linear.h"

/* The rows of the table within reach of one sequence. Scratch is [rows, W], rows `stride` apart. */
struct position_terms {
    const struct disentangled *d;
    size_t t, hidden;
    size_t first, count, stride; /* W = count rows of the table, starting at `first`; stride is W padded to panels */

    const float *qkv;
    size_t qkv_stride;
    float *dqkv; /* NULL in the forward */
    size_t dqkv_stride;
    float *dposition_key, *dposition_query;

    size_t head;
    float *panels;      /* packed rows of PK or PQ */
    float *c2p, *p2c;   /* [ATTENTION_BLOCK, stride], [T, stride] */
    float *dc2p, *dp2c; /* gradients of c2p and p2c, in the backward only */
};

/* Returns the column of c2p and p2c for the distance from row i to row j. */
static size_t find_column(const struct position_terms *s, size_t i, size_t j)
{
    const struct distances *distances = s->d->distances;
    size_t near = wt__distance_index(s->d->positions, i, j, distances->reach);

    return (size_t)distances->bucket[near] - s->first;
}

/* Sets first, count and stride from the smallest and largest distance: buckets ascend with the distance. */
static void find_table_range(struct position_terms *s)
{
    const struct distances *distances = s->d->distances;
    const int32_t *positions = s->d->positions;
    size_t low = 0, high = s->t ? s->t - 1 : 0;

    for (size_t i = 0; i < s->t && positions; i++) {
        low = positions[i] < positions[low] ? i : low;
        high = positions[i] > positions[high] ? i : high;
    }
    s->first = 0;
    s->first = find_column(s, low, high);
    s->count = (size_t)distances->bucket[wt__distance_index(positions, high, low, distances->reach)] - s->first + 1;
    s->stride = wt__round_up_to_panel(s->count);
}

static struct matrix_view table_rows(const struct position_terms *s, const float *table)
{
    return (struct matrix_view){table + s->first * s->d->position_stride + s->head * s->d->width,
                                s->d->position_stride};
}

/* Computes out [rows, W] = x table^T. */
static void multiply_table(struct position_terms *s, struct matrix_view x, size_t rows, const float *table, float *out)
{
    struct matrix_view part = table_rows(s, table);

    wt__linear_pack(s->panels, part.at, part.stride, s->count, s->d->width);
    wt__times_packed(x, s->panels, out, s->stride, rows, s->d->width, s->count);
}

static void begin_positions(void *context, size_t head)
{
    struct position_terms *s = context;
    const float *key = s->qkv + s->hidden + head * s->d->width;

    s->head = head;
    if (s->d->position_query) {
        multiply_table(s, (struct matrix_view){key, s->qkv_stride}, s->t, s->d->position_query, s->p2c);
        if (s->dp2c)
            memset(s->dp2c, 0, s->t * s->stride * sizeof(float));
    }
}

static struct matrix_view query_rows(const struct position_terms *s, size_t row)
{
    return (struct matrix_view){s->qkv + row * s->qkv_stride + s->head * s->d->width, s->qkv_stride};
}

static void add_positions(void *context, const struct score_block *block, float *scores)
{
    struct position_terms *s = context;

    if (s->d->position_key)
        multiply_table(s, query_rows(s, block->row), block->rows, s->d->position_key, s->c2p);
    for (size_t r = 0; r < block->rows; r++) {
        float *score = scores + r * block->stride;
        const float *c2p = s->c2p + r * s->stride;

        for (size_t j = 0; j < block->t; j++) {
            size_t column = find_column(s, block->row + r, j);

            if (s->d->position_key)
                score[j] += c2p[column];
            if (s->d->position_query)
                score[j] += s->p2c[j * s->stride + column];
        }
    }
}

static void add_positions_backward(void *context, const struct score_block *block, const float *d)
{
    struct position_terms *s = context;
    size_t width = s->d->width;

    memset(s->dc2p, 0, block->rows * s->stride * sizeof(float));
    for (size_t r = 0; r < block->rows; r++)
        for (size_t j = 0; j < block->t; j++) {
            size_t column = find_column(s, block->row + r, j);

            s->dc2p[r * s->stride + column] += d[r * block->stride + j];
            if (s->d->position_query)
                s->dp2c[j * s->stride + column] += d[r * block->stride + j];
        }
    if (!s->d->position_key)
        return;
    struct matrix_view dc2p = {s->dc2p, s->stride};
    float *dquery = s->dqkv + block->row * s->dqkv_stride + s->head * width;
    wt__times_rows(dc2p, table_rows(s, s->d->position_key), true, dquery, s->dqkv_stride, block->rows, s->count, width);
    if (s->dposition_key)
        wt__transposed_times_rows(dc2p, query_rows(s, block->row), true,
                                  s->dposition_key + s->first * s->d->position_stride + s->head * width,
                                  s->d->position_stride, s->count, block->rows, width);
}

static void end_positions_backward(void *context, size_t head)
{
    struct position_terms *s = context;
    size_t width = s->d->width, at = s->hidden + head * width;
    struct matrix_view dp2c = {s->dp2c, s->stride}, key = {s->qkv + at, s->qkv_stride};

    if (!s->d->position_query)
        return;
    wt__times_rows(dp2c, table_rows(s, s->d->position_query), true, s->dqkv + at, s->dqkv_stride, s->t, s->count,
                   width);
    if (s->dposition_query)
        wt__transposed_times_rows(dp2c, key, true, s->dposition_query + s->first * s->d->position_stride + head * width,
                                  s->d->position_stride, s->count, s->t, width);
}

static struct attention_core position_core_of(const struct disentangled *d, const struct score_terms *terms)
{
    size_t parts = 1 + (d->position_key != NULL) + (d->position_query != NULL);

    return (struct attention_core){d->heads, d->width, 1.0f / sqrtf((float)(d->width * parts)), terms};
}

/* times is 2 for the backward, whose gradients need the same space again. */
static size_t size_position_scratch(const struct disentangled *d, size_t t, size_t sum, size_t times)
{
    size_t columns = wt__round_up_to_panel((size_t)d->distances->count), reached = 0;

    if (sum == 0 || wt__scratch_add(&reached, columns, ATTENTION_BLOCK) < 0 ||
        wt__scratch_add(&reached, columns, t) < 0 || wt__scratch_add(&sum, reached, times) < 0 ||
        wt__scratch_add(&sum, columns, d->width) < 0)
        return 0;
    return sum;
}

size_t wt__disentangled_scratch(const struct disentangled *d, size_t t)
{
    struct attention_core core = position_core_of(d, NULL);

    return size_position_scratch(d, t, wt__attention_core_scratch(&core, t), 1);
}

size_t wt__disentangled_backward_scratch(const struct disentangled *d, size_t t)
{
    struct attention_core core = position_core_of(d, NULL);

    return size_position_scratch(d, t, wt__attention_core_backward_scratch(&core, t), 2);
}

static struct score_terms position_terms_of(struct position_terms *s)
{
    return (struct score_terms){begin_positions, add_positions, add_positions_backward, end_positions_backward, s};
}

/* Divides the scratch after that of the core. */
static void divide_scratch(struct position_terms *s, float *scratch)
{
    s->panels = scratch;
    s->c2p = s->panels + s->stride * s->d->width;
    s->p2c = s->c2p + s->stride * ATTENTION_BLOCK;
    if (s->dqkv) {
        s->dc2p = s->p2c + s->stride * s->t;
        s->dp2c = s->dc2p + s->stride * ATTENTION_BLOCK;
    }
}

void wt__disentangled_forward(const struct disentangled *d, const float *qkv, size_t qkv_stride, float *out,
                              size_t out_stride, float *scratch, size_t t)
{
    struct position_terms s = {.d = d, .t = t, .hidden = d->heads * d->width, .qkv = qkv, .qkv_stride = qkv_stride};
    struct score_terms terms = position_terms_of(&s);
    struct attention_core core = position_core_of(d, &terms);

    find_table_range(&s);
    divide_scratch(&s, scratch + wt__attention_core_scratch(&core, t));
    wt__attention_core_forward(&core, qkv, qkv_stride, out, out_stride, scratch, t);
}

void wt__disentangled_backward(const struct disentangled *d, const float *qkv, size_t qkv_stride, const float *dout,
                               size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dposition_key,
                               float *dposition_query, float *scratch, size_t t)
{
    struct position_terms s = {.d = d,
                               .t = t,
                               .hidden = d->heads * d->width,
                               .qkv = qkv,
                               .qkv_stride = qkv_stride,
                               .dqkv = dqkv,
                               .dqkv_stride = dqkv_stride,
                               .dposition_key = dposition_key,
                               .dposition_query = dposition_query};
    struct score_terms terms = position_terms_of(&s);
    struct attention_core core = position_core_of(d, &terms);

    find_table_range(&s);
    divide_scratch(&s, scratch + wt__attention_core_backward_scratch(&core, t));
    wt__attention_core_backward(&core, qkv, qkv_stride, dout, dout_stride, dqkv, dqkv_stride, scratch, t);
}
