/* attention.c: all kinds of attention share one core, softmax((Q K^T + terms) * scale) V for each head. Callbacks add
 * the terms to the scores. The terms are the bias of MPNet or the position parts of DeBERTa.
 *
 * Both products of the core run on the matrix kernel. K is packed into panels, one head at a time. V already has the
 * layout of the kernel's right side. Scores are computed in blocks of rows. So scratch grows linearly with T, and a
 * block is still in the cache for the softmax and the product with V. The backward pass computes, where P are the
 * probabilities of a block:
 *
 *   dV += P^T dO    dP = dO V^T    dS = P (dP - row sums of P dP) scale    dQ = dS K    dK += dS^T Q */
#include "nn/attention.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "nn/kernels/kernels.h"
#include "nn/matrix.h"

/* ---------------------------------------------------------------- distances */

void wt__distances_mpnet(struct distances *out, int32_t *bucket)
{
    enum { SIDE = DISTANCE_MPNET_BUCKETS / 2, EXACT = SIDE / 2 };
    for (int32_t distance = -DISTANCE_MPNET_REACH; distance <= DISTANCE_MPNET_REACH; distance++) {
        int32_t far = distance < 0 ? -distance : distance, place = far;
        if (far >= EXACT) {
            double steps = log((double)far / EXACT) / log((double)DISTANCE_MPNET_REACH / EXACT) * (SIDE - EXACT);
            place = EXACT + (int32_t)steps;
            place = place < SIDE ? place : SIDE - 1;
        }
        bucket[distance + DISTANCE_MPNET_REACH] = place + (distance < 0 ? SIDE : 0);
    }
    *out = (struct distances){bucket, DISTANCE_MPNET_REACH, DISTANCE_MPNET_BUCKETS};
}

/* Returns the bucket relative to the middle of the table. Distances up to buckets / 2 have their own bucket. Farther
 * distances share logarithmic buckets, and the last bucket ends at max. */
static int32_t find_deberta_bucket(int32_t distance, int32_t buckets, int32_t max)
{
    int32_t middle = buckets / 2, far = distance < 0 ? -distance : distance;
    if (buckets <= 0 || far <= middle)
        return distance;
    double steps = log((double)far / middle) / log((double)(max - 1) / middle) * (middle - 1);
    int32_t place = middle + (int32_t)ceil(steps);
    return distance < 0 ? -place : place;
}

void wt__distances_deberta(struct distances *out, int32_t *bucket, int32_t buckets, int32_t max)
{
    int32_t span = buckets > 0 ? buckets : max;
    for (int32_t distance = -max; distance <= max; distance++) {
        int32_t row = find_deberta_bucket(distance, buckets, max) + span;
        bucket[distance + max] = row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row;
    }
    *out = (struct distances){bucket, max, 2 * span};
}

/* ---------------------------------------------------------------- the core */

enum { ATTENTION_BLOCK = 48 }; /* rows of scores in a block */

struct score_block {
    size_t head, row, rows; /* rows row .. row + rows - 1 of the scores of `head` */
    size_t t, stride;       /* scores [rows, T], stride floats apart */
};

struct score_terms {
    /* Called before the first block of a head. */
    void (*begin)(void *context, size_t head);
    /* Adds the terms of the block to its scores. */
    void (*add)(void *context, const struct score_block *block, float *scores);
    /* d is the gradient of the block's scores. dqkv already holds the core's gradient of q for this block, and the sums
     * of its gradients of k and v over the blocks so far. */
    void (*add_backward)(void *context, const struct score_block *block, const float *d);
    /* Called after the last block of a head, in the backward pass only. */
    void (*end_backward)(void *context, size_t head);
    void *context;
};

struct attention_core {
    size_t heads, width;
    float scale;
    const struct score_terms *terms; /* NULL for plain attention */
};

struct matrix_view {
    const float *at;
    size_t stride; /* floats between rows */
};

/* Adds rows * columns to *sum. Returns 0, or -1 on overflow. */
static int add_scratch(size_t *sum, size_t rows, size_t columns)
{
    size_t floats;
    if (__builtin_mul_overflow(rows, columns, &floats) || __builtin_add_overflow(*sum, floats, sum))
        return -1;
    return 0;
}

/* Returns the floats of scratch of the core, or 0 on overflow. passes is 1 for the forward pass, 2 for the backward. */
static size_t size_core_scratch(const struct attention_core *core, size_t t, size_t passes)
{
    size_t sum = 0;
    if (t > SIZE_MAX - WT_PANEL || add_scratch(&sum, wt__round_up_to_panel(t), core->width) < 0 ||
        add_scratch(&sum, wt__round_up_to_panel(t), ATTENTION_BLOCK) < 0 || __builtin_mul_overflow(sum, passes, &sum))
        return 0;
    return sum;
}

/* Computes c [t,o] = a [t,k] w with packed w [k,o]. */
static void multiply_panels(struct matrix_view a, const float *packed, float *c, size_t c_stride, size_t t, size_t k,
                            size_t o)
{
    wt__kernels()->gemm(&(struct gemm){.t = t,
                                       .k = k,
                                       .o = o,
                                       .a = a.at,
                                       .a_stride = a.stride,
                                       .a_step = 1,
                                       .w = packed,
                                       .w_step = WT_PANEL,
                                       .w_panel = k * WT_PANEL,
                                       .c = c,
                                       .c_stride = c_stride});
}

/* Computes c [t,o] = op(a) [t,k] w, or adds the product to c if `onto`. a is [k,t] if transposed. Reads w [k,o] in
 * place, so WT_PANEL floats after its last row must be readable. */
static void multiply_in_place(struct matrix_view a, bool transposed, struct matrix_view w, bool onto, float *c,
                              size_t c_stride, size_t t, size_t k, size_t o)
{
    wt__kernels()->gemm(&(struct gemm){.t = t,
                                       .k = k,
                                       .o = o,
                                       .a = a.at,
                                       .a_stride = transposed ? 1 : a.stride,
                                       .a_step = transposed ? a.stride : 1,
                                       .w = w.at,
                                       .w_step = w.stride,
                                       .w_panel = WT_PANEL,
                                       .residual = onto ? c : NULL,
                                       .c = c,
                                       .c_stride = c_stride});
}

/* Computes the probabilities of a block. query starts at the head's first row; keys are packed. */
static void compute_probabilities(const struct attention_core *core, const struct score_block *block,
                                  struct matrix_view query, const float *keys, float *p)
{
    struct matrix_view rows = {query.at + block->row * query.stride, query.stride};
    multiply_panels(rows, keys, p, block->stride, block->rows, core->width, block->t);
    if (core->terms)
        core->terms->add(core->terms->context, block, p);
    for (size_t r = 0; r < block->rows; r++)
        wt__kernels()->softmax(p + r * block->stride, block->t, core->scale);
}

static struct score_block block_of_rows(size_t head, size_t row, size_t t)
{
    size_t left = t - row;
    return (struct score_block){head, row, left < ATTENTION_BLOCK ? left : ATTENTION_BLOCK, t,
                                wt__round_up_to_panel(t)};
}

static void core_forward(const struct attention_core *core, const float *qkv, size_t qkv_stride, float *out,
                         size_t out_stride, float *scratch, size_t t)
{
    size_t width = core->width, hidden = core->heads * width;
    float *keys = scratch, *p = keys + wt__round_up_to_panel(t) * width; /* [ATTENTION_BLOCK, padded T] */
    for (size_t head = 0; head < core->heads; head++) {
        struct matrix_view query = {qkv + head * width, qkv_stride}, value = {query.at + 2 * hidden, qkv_stride};
        wt__matrix_pack(keys, query.at + hidden, qkv_stride, t, width);
        if (core->terms)
            core->terms->begin(core->terms->context, head);
        for (size_t row = 0; row < t; row += ATTENTION_BLOCK) {
            struct score_block block = block_of_rows(head, row, t);
            compute_probabilities(core, &block, query, keys, p);
            multiply_in_place((struct matrix_view){p, block.stride}, false, value, false,
                              out + row * out_stride + head * width, out_stride, block.rows, t, width);
        }
    }
}

static void core_backward(const struct attention_core *core, const float *qkv, size_t qkv_stride, const float *dout,
                          size_t dout_stride, float *dqkv, size_t dqkv_stride, float *scratch, size_t t)
{
    size_t width = core->width, hidden = core->heads * width, stride = wt__round_up_to_panel(t);
    float *keys = scratch, *values = keys + stride * width;
    float *p = values + stride * width, *d = p + ATTENTION_BLOCK * stride; /* [ATTENTION_BLOCK, stride] */
    struct matrix_view p_rows = {p, stride}, d_rows = {d, stride};
    for (size_t head = 0; head < core->heads; head++) {
        struct matrix_view query = {qkv + head * width, qkv_stride}, key = {query.at + hidden, qkv_stride};
        float *dquery = dqkv + head * width, *dkey = dquery + hidden, *dvalue = dkey + hidden;
        wt__matrix_pack(keys, key.at, qkv_stride, t, width);
        wt__matrix_pack(values, key.at + hidden, qkv_stride, t, width);
        if (core->terms)
            core->terms->begin(core->terms->context, head);
        for (size_t row = 0; row < t; row += ATTENTION_BLOCK) {
            struct score_block block = block_of_rows(head, row, t);
            struct matrix_view query_rows = {query.at + row * qkv_stride, qkv_stride};
            struct matrix_view dout_rows = {dout + row * dout_stride + head * width, dout_stride};
            bool onto = row > 0;
            compute_probabilities(core, &block, query, keys, p);
            multiply_in_place(p_rows, true, dout_rows, onto, dvalue, dqkv_stride, t, block.rows, width);
            multiply_panels(dout_rows, values, d, stride, block.rows, width, t);
            for (size_t r = 0; r < block.rows; r++)
                wt__kernels()->softmax_backward(p + r * stride, d + r * stride, t, core->scale);
            multiply_in_place(d_rows, false, key, false, dquery + row * dqkv_stride, dqkv_stride, block.rows, t, width);
            multiply_in_place(d_rows, true, query_rows, onto, dkey, dqkv_stride, t, block.rows, width);
            if (core->terms)
                core->terms->add_backward(core->terms->context, &block, d);
        }
        if (core->terms)
            core->terms->end_backward(core->terms->context, head);
    }
}

/* ---------------------------------------------------------------- plain attention and MPNet */

/* State of the bias terms. At the start of a head, begin_bias collects the biases of all distances. It divides them by
 * the scale, because the core scales the scores after it has added the terms. */
struct bias_terms {
    const struct attention *attention;
    float scale;
    float *by_distance;  /* [2 reach + 1] bias of each distance for this head, divided by scale */
    float *dby_distance; /* gradient of `by_distance`, or NULL */
    float *dtable;       /* [count, A] gradient of the bias table */
};

static size_t count_distances(const struct attention *attention)
{
    return attention->bias ? 2 * (size_t)attention->distances->reach + 1 : 0;
}

static float score_scale(const struct attention *attention)
{
    return 1.0f / sqrtf((float)attention->width);
}

static void begin_bias(void *context, size_t head)
{
    struct bias_terms *b = context;
    size_t count = count_distances(b->attention);
    for (size_t i = 0; i < count; i++) {
        size_t bucket = (size_t)b->attention->distances->bucket[i];
        b->by_distance[i] = b->attention->bias[bucket * b->attention->heads + head] / b->scale;
    }
    if (b->dby_distance)
        memset(b->dby_distance, 0, count * sizeof(float));
}

static void add_bias(void *context, const struct score_block *block, float *scores)
{
    struct bias_terms *b = context;
    const int32_t *positions = b->attention->positions;
    int64_t reach = b->attention->distances->reach;
    for (size_t r = 0; r < block->rows; r++)
        for (size_t j = 0; j < block->t; j++)
            scores[r * block->stride + j] += b->by_distance[wt__distance_index(positions, block->row + r, j, reach)];
}

static void add_bias_backward(void *context, const struct score_block *block, const float *d)
{
    struct bias_terms *b = context;
    const int32_t *positions = b->attention->positions;
    int64_t reach = b->attention->distances->reach;
    for (size_t r = 0; r < block->rows && b->dby_distance; r++)
        for (size_t j = 0; j < block->t; j++)
            b->dby_distance[wt__distance_index(positions, block->row + r, j, reach)] += d[r * block->stride + j];
}

static void end_bias_backward(void *context, size_t head)
{
    struct bias_terms *b = context;
    size_t count = count_distances(b->attention);
    for (size_t i = 0; i < count && b->dby_distance; i++) {
        size_t bucket = (size_t)b->attention->distances->bucket[i];
        b->dtable[bucket * b->attention->heads + head] += b->dby_distance[i] / b->scale;
    }
}

static struct score_terms bias_terms_of(struct bias_terms *bias)
{
    return (struct score_terms){begin_bias, add_bias, add_bias_backward, end_bias_backward, bias};
}

static struct attention_core bias_core_of(const struct attention *attention, const struct score_terms *terms)
{
    return (struct attention_core){attention->heads, attention->width, score_scale(attention),
                                   attention->bias ? terms : NULL};
}

size_t wt__attention_scratch(const struct attention *attention, size_t t)
{
    struct attention_core core = bias_core_of(attention, NULL);
    size_t sum = size_core_scratch(&core, t, 1);
    return sum == 0 || add_scratch(&sum, count_distances(attention), 1) < 0 ? 0 : sum;
}

size_t wt__attention_backward_scratch(const struct attention *attention, size_t t)
{
    struct attention_core core = bias_core_of(attention, NULL);
    size_t sum = size_core_scratch(&core, t, 2);
    return sum == 0 || add_scratch(&sum, count_distances(attention), 2) < 0 ? 0 : sum;
}

void wt__attention_forward(const struct attention *attention, const float *qkv, size_t qkv_stride, float *out,
                           size_t out_stride, float *scratch, size_t t)
{
    struct bias_terms bias = {.attention = attention, .scale = score_scale(attention)};
    struct score_terms terms = bias_terms_of(&bias);
    struct attention_core core = bias_core_of(attention, &terms);
    bias.by_distance = scratch + size_core_scratch(&core, t, 1);
    core_forward(&core, qkv, qkv_stride, out, out_stride, scratch, t);
}

void wt__attention_backward(const struct attention *attention, const float *qkv, size_t qkv_stride, const float *dout,
                            size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dbias, float *scratch, size_t t)
{
    struct bias_terms bias = {.attention = attention, .scale = score_scale(attention), .dtable = dbias};
    struct score_terms terms = bias_terms_of(&bias);
    struct attention_core core = bias_core_of(attention, &terms);
    bias.by_distance = scratch + size_core_scratch(&core, t, 2);
    bias.dby_distance = dbias ? bias.by_distance + count_distances(attention) : NULL;
    core_backward(&core, qkv, qkv_stride, dout, dout_stride, dqkv, dqkv_stride, scratch, t);
}

/* ---------------------------------------------------------------- DeBERTa */

/* Each position part is a small product with rows of the table. The scores look up their values in it by distance:
 *
 *   c2p [block, W] = Q PK^T for a block of rows       p2c [T, W] = K PQ^T for a head
 *
 * W is the number of table rows within reach of the sequence's distances. The backward pass sums the gradients of the
 * scores by distance, then computes the gradients of these two products. */

/* State of the position parts for one sequence. The matrices c2p and p2c have rows `stride` floats apart. */
struct position_terms {
    const struct disentangled *d;
    size_t t, hidden;
    size_t first, count, stride; /* W = count rows of the table, starting at `first`; stride is W padded to panels */

    const float *qkv;
    size_t qkv_stride;
    float *dqkv; /* NULL in the forward pass */
    size_t dqkv_stride;
    float *dposition_key, *dposition_query;

    size_t head;
    float *panels;      /* packed rows of PK or PQ */
    float *c2p, *p2c;   /* [ATTENTION_BLOCK, stride], [T, stride] */
    float *dc2p, *dp2c; /* gradients of c2p and p2c; NULL in the forward pass */
};

/* Returns the column of c2p and p2c for the distance from row i to row j. */
static size_t find_column(const struct position_terms *s, size_t i, size_t j)
{
    const struct distances *distances = s->d->distances;
    size_t at = wt__distance_index(s->d->positions, i, j, distances->reach);
    return (size_t)distances->bucket[at] - s->first;
}

/* Sets first, count and stride from the smallest and largest distance. Buckets ascend with the distance. */
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
    wt__matrix_pack(s->panels, part.at, part.stride, s->count, s->d->width);
    multiply_panels(x, s->panels, out, s->stride, rows, s->d->width, s->count);
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
    multiply_in_place(dc2p, false, table_rows(s, s->d->position_key), true, dquery, s->dqkv_stride, block->rows,
                      s->count, width);
    if (s->dposition_key)
        multiply_in_place(dc2p, true, query_rows(s, block->row), true,
                          s->dposition_key + s->first * s->d->position_stride + s->head * width, s->d->position_stride,
                          s->count, block->rows, width);
}

static void end_positions_backward(void *context, size_t head)
{
    struct position_terms *s = context;
    size_t width = s->d->width, at = s->hidden + head * width;
    struct matrix_view dp2c = {s->dp2c, s->stride}, key = {s->qkv + at, s->qkv_stride};
    if (!s->d->position_query)
        return;
    multiply_in_place(dp2c, false, table_rows(s, s->d->position_query), true, s->dqkv + at, s->dqkv_stride, s->t,
                      s->count, width);
    if (s->dposition_query)
        multiply_in_place(dp2c, true, key, true, s->dposition_query + s->first * s->d->position_stride + head * width,
                          s->d->position_stride, s->count, s->t, width);
}

static struct attention_core position_core_of(const struct disentangled *d, const struct score_terms *terms)
{
    size_t parts = 1 + (d->position_key != NULL) + (d->position_query != NULL);
    return (struct attention_core){d->heads, d->width, 1.0f / sqrtf((float)(d->width * parts)), terms};
}

/* Returns `sum` plus the floats of scratch of the position parts, or 0 on overflow or if sum is 0. times is 1 for the
 * forward pass and 2 for the backward pass, which also needs the gradients. */
static size_t size_position_scratch(const struct disentangled *d, size_t t, size_t sum, size_t times)
{
    size_t columns = wt__round_up_to_panel((size_t)d->distances->count), reached = 0;
    if (sum == 0 || add_scratch(&reached, columns, ATTENTION_BLOCK) < 0 || add_scratch(&reached, columns, t) < 0 ||
        add_scratch(&sum, reached, times) < 0 || add_scratch(&sum, columns, d->width) < 0)
        return 0;
    return sum;
}

size_t wt__disentangled_scratch(const struct disentangled *d, size_t t)
{
    struct attention_core core = position_core_of(d, NULL);
    return size_position_scratch(d, t, size_core_scratch(&core, t, 1), 1);
}

size_t wt__disentangled_backward_scratch(const struct disentangled *d, size_t t)
{
    struct attention_core core = position_core_of(d, NULL);
    return size_position_scratch(d, t, size_core_scratch(&core, t, 2), 2);
}

static struct score_terms position_terms_of(struct position_terms *s)
{
    return (struct score_terms){begin_positions, add_positions, add_positions_backward, end_positions_backward, s};
}

/* Sets the pointers into the scratch, which begins after the scratch of the core. */
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
    divide_scratch(&s, scratch + size_core_scratch(&core, t, 1));
    core_forward(&core, qkv, qkv_stride, out, out_stride, scratch, t);
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
    divide_scratch(&s, scratch + size_core_scratch(&core, t, 2));
    core_backward(&core, qkv, qkv_stride, dout, dout_stride, dqkv, dqkv_stride, scratch, t);
}
