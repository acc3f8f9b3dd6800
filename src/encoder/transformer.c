/* transformer.c: places the buffers of a transformer, and runs its layers forward and backward with the functions of
 * nn/. Pooling adds rows in order, so that the mean is the same on all machines to the last bit. */
#include "encoder/transformer.h"

#include <string.h>

#include "nn/attention.h"
#include "nn/layers.h"

/* ---------------------------------------------------------------- buffers */

/* Returns a stride in floats: a whole and odd number of cache lines. With a power of two, all rows would share a few
 * sets of the L1 cache. */
static size_t row_stride(size_t width)
{
    size_t lines = (width + 15) / 16;
    return (lines | 1) * 16;
}

struct float_placement {
    float *memory; /* NULL to count only */
    size_t used;   /* floats so far */
    bool over;     /* true if the count overflowed */
};

/* Returns the next buffer, or NULL when only counting or after an overflow. */
static float *place_floats(struct float_placement *room, size_t rows, size_t stride)
{
    size_t begin = room->used, floats;
    /* Add a panel, since the kernels may read up to one panel past the end. */
    room->over = room->over || __builtin_mul_overflow(rows, stride, &floats) ||
                 __builtin_add_overflow(floats, (size_t)WT_PANEL + 15, &floats) ||
                 __builtin_add_overflow(begin, floats / 16 * 16, &room->used);
    return room->memory && !room->over ? room->memory + begin : NULL;
}

static size_t larger_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* True if each forward pass computes the keys and queries of distances. In a packed model they are stored. */
static bool makes_distances(const struct transformer *m)
{
    return m->config.relative == RELATIVE_DISENTANGLED && !m->layers[0].distances;
}

static struct attention make_attention(const struct transformer *m, const struct activations *a,
                                       const int32_t *positions)
{
    return (struct attention){.heads = m->config.heads,
                              .width = m->config.hidden / m->config.heads,
                              .bias = m->config.relative == RELATIVE_BIAS ? m->relative : NULL,
                              .distances = &a->distances,
                              .positions = positions};
}

/* Returns a layer's table of distances: [2 * span] rows, each with a key and then a query. */
static const float *find_distance_tables(const struct transformer *m, size_t layer, const struct activations *a)
{
    return makes_distances(m) ? a->layers[layer].distances : m->layers[layer].distances;
}

/* tables: the result of find_distance_tables */
static struct disentangled make_disentangled(const struct transformer *m, const float *tables,
                                             const struct activations *a, const int32_t *positions)
{
    const struct model_config *c = &m->config;
    return (struct disentangled){.heads = c->heads,
                                 .width = c->hidden / c->heads,
                                 .position_key = c->content_to_position ? tables : NULL,
                                 .position_query = c->position_to_content ? tables + c->hidden : NULL,
                                 .position_stride = 2 * (size_t)c->hidden,
                                 .distances = &a->distances,
                                 .positions = positions};
}

/* Returns the reach of the distances (nn/attention.h); farther distances are clamped to it. */
static size_t distance_reach(const struct model_config *c)
{
    return c->relative == RELATIVE_BIAS ? DISTANCE_MPNET_REACH : c->max_distance;
}

/* Places and fills the table of the buckets of distances. Places a->relative if it is computed. */
static void place_distances(struct activations *a, const struct transformer *m, struct float_placement *room)
{
    const struct model_config *c = &m->config;
    if (c->relative == RELATIVE_NONE)
        return;
    int32_t *bucket = (int32_t *)(void *)place_floats(room, 2 * distance_reach(c) + 1, 1);
    if (bucket && c->relative == RELATIVE_BIAS)
        wt__distances_mpnet(&a->distances, bucket);
    else if (bucket)
        wt__distances_deberta(&a->distances, bucket, (int32_t)c->buckets, (int32_t)c->max_distance);
    if (makes_distances(m))
        a->relative = place_floats(room, 2 * (size_t)c->span, c->hidden);
}

/* Returns the number of floats of scratch memory for attention, or SIZE_MAX on overflow. It depends on sizes only, so
 * the weights and tables may be missing. */
static size_t attention_scratch(const struct transformer *m, const struct activations *a, size_t longest)
{
    static const float there[1]; /* placeholder for a table */
    const struct model_config *c = &m->config;
    struct distances distances = {.reach = (int32_t)distance_reach(c), .count = 2 * (int32_t)c->span};
    size_t forward, backward;
    if (c->relative == RELATIVE_DISENTANGLED) {
        struct disentangled d = make_disentangled(m, there, a, NULL);
        d.distances = &distances;
        forward = wt__disentangled_scratch(&d, longest);
        backward = a->kept ? wt__disentangled_backward_scratch(&d, longest) : forward;
    } else {
        struct attention attention = make_attention(m, a, NULL);
        attention.bias = c->relative == RELATIVE_BIAS ? there : NULL;
        attention.distances = &distances;
        forward = wt__attention_scratch(&attention, longest);
        backward = a->kept ? wt__attention_backward_scratch(&attention, longest) : forward;
    }
    return forward == 0 || backward == 0 ? SIZE_MAX : larger_size(forward, backward);
}

/* Places the buffers of the layers: a set per layer if kept, else a single set with overlapping buffers. */
static void place_layers(struct activations *a, const struct transformer *m, size_t rows, struct float_placement *room)
{
    const struct model_config *c = &m->config;
    size_t widest = larger_size(a->qkv_stride, a->wide_stride);
    a->wide = place_floats(room, rows, a->kept ? a->wide_stride : widest);
    for (size_t i = 0; i < c->layers; i++) {
        struct layer_activations *l = &a->layers[i];
        if (i > 0 && !a->kept) {
            *l = a->layers[0];
            continue;
        }
        l->context = place_floats(room, rows, a->stride);
        l->qkv = a->kept ? place_floats(room, rows, a->qkv_stride) : a->wide;
        l->inner = a->kept ? place_floats(room, rows, a->wide_stride) : a->wide;
        l->attended = a->kept ? place_floats(room, rows, a->stride) : a->x;
        l->summed = a->kept ? place_floats(room, rows, a->stride) : a->x;
        if (makes_distances(m))
            l->distances = place_floats(room, 2 * (size_t)c->span, 2 * (size_t)c->hidden);
    }
}

static void place_gradients(struct activations *a, const struct transformer *m, size_t rows,
                            struct float_placement *room)
{
    const struct model_config *c = &m->config;
    a->dx = place_floats(room, rows, a->stride);
    a->dy = place_floats(room, rows, a->stride);
    a->dwide = place_floats(room, rows, larger_size(a->qkv_stride, a->wide_stride));
    if (c->embedding != c->hidden)
        a->dnarrow = place_floats(room, rows, a->narrow_stride);
    if (c->convolution)
        a->dconvolved = place_floats(room, rows, a->stride);
    if (makes_distances(m)) {
        a->drelative = place_floats(room, 2 * (size_t)c->span, c->hidden);
        a->dcopy = place_floats(room, 2 * (size_t)c->span, c->hidden);
        a->ddistances = place_floats(room, 2 * (size_t)c->span, 2 * (size_t)c->hidden);
    }
}

size_t wt__activations_place(struct activations *out, const struct transformer *m,
                             const struct activation_limits *limits, bool kept, float *memory)
{
    const struct model_config *c = &m->config;
    struct float_placement room = {.memory = memory};
    size_t rows = limits->rows;
    *out = (struct activations){.stride = row_stride(c->hidden),
                                .qkv_stride = row_stride(3 * (size_t)c->hidden),
                                .wide_stride = row_stride(c->intermediate),
                                .narrow_stride = row_stride(c->embedding),
                                .kept = kept};
    out->x = place_floats(&room, rows, out->stride);
    place_layers(out, m, rows, &room);
    out->embedded = kept ? place_floats(&room, rows, out->stride) : out->x;
    if (c->embedding != c->hidden)
        out->narrow = place_floats(&room, rows, out->narrow_stride);
    if (c->convolution) {
        out->convolved = place_floats(&room, rows, out->stride);
        out->joined = kept ? place_floats(&room, rows, out->stride) : out->x;
    }
    place_distances(out, m, &room);
    out->scratch = place_floats(&room, attention_scratch(m, out, limits->longest), 1);
    if (limits->bytes && m->layers[0].qkv.bytes && wt__bytes_ready())
        out->bytes =
            (unsigned char *)place_floats(&room, rows, wt__byte_row_size(larger_size(c->hidden, c->intermediate)) / 4);
    if (kept)
        place_gradients(out, m, rows, &room);
    return room.over ? 0 : room.used;
}

/* ---------------------------------------------------------------- embeddings */

static size_t count_batch_rows(const struct token_batch *batch)
{
    return batch->starts[batch->count];
}

/* Returns the row of the position embeddings for token n. place: number of non-padding tokens before token n in its
 * sequence. It is ignored if the batch has positions. If positions start after the padding row, a padding token inside
 * a text uses the padding row. */
static size_t position_row(const struct model_config *c, const struct token_batch *batch, size_t n, size_t place)
{
    if (c->first_position > 0 && batch->ids[n] == (int32_t)c->first_position - 1)
        return c->first_position - 1;
    return c->first_position + (batch->positions ? (size_t)batch->positions[n] : place);
}

/* Called for each token n in order. id: row of the word embeddings, or negative for an external row. position, type:
 * rows of their embeddings. */
typedef void (*embedding_visit)(const struct transformer *m, void *context, size_t n, int32_t id, size_t position,
                                size_t type);

static void visit_tokens(const struct transformer *m, const struct token_batch *batch, embedding_visit visit,
                         void *context)
{
    const struct model_config *c = &m->config;
    for (size_t b = 0; b < batch->count; b++) {
        size_t place = 0;
        for (size_t n = batch->starts[b]; n < batch->starts[b + 1]; n++) {
            size_t position = position_row(c, batch, n, place);
            place += c->first_position == 0 || position >= c->first_position;
            visit(m, context, n, batch->ids[n], position, batch->types ? (size_t)batch->types[n] : 0);
        }
    }
}

struct embedding_rows {
    float *sum;
    size_t stride;
};

static void embed_token(const struct transformer *m, void *context, size_t n, int32_t id, size_t position, size_t type)
{
    const struct embedding_rows *rows = context;
    size_t width = m->config.embedding;
    float *x = rows->sum + n * rows->stride;
    if (id < 0) {
        memset(x, 0, width * sizeof(float));
        return;
    }
    const float *word = m->words + (size_t)id * width;
    if (m->types && m->positions) {
        const float *p = m->positions + position * width, *t = m->types + type * width;
        for (size_t h = 0; h < width; h++)
            x[h] = word[h] + t[h] + p[h];
        return;
    }
    memcpy(x, word, width * sizeof(float));
    for (size_t h = 0; m->positions && h < width; h++)
        x[h] += m->positions[position * width + h];
    for (size_t h = 0; m->types && h < width; h++)
        x[h] += m->types[type * width + h];
}

/* Normalises the embeddings into x and inserts the external rows. */
static void finish_embedding(const struct transformer *m, const struct token_batch *batch, struct activations *a)
{
    size_t hidden = m->config.hidden, next = 0, n = count_batch_rows(batch);
    wt__layer_norm_forward(&m->norm, a->embedded, a->x, a->stride, n);
    for (size_t i = 0; batch->external && i < n; i++)
        if (batch->ids[i] < 0)
            memcpy(a->x + i * a->stride, batch->external + hidden * next++, hidden * sizeof(float));
}

void wt__relative_forward(const struct transformer *m, float *relative)
{
    size_t hidden = m->config.hidden, count = 2 * (size_t)m->config.span;
    if (m->relative_norm.gain)
        wt__layer_norm_forward(&m->relative_norm, m->relative, relative, hidden, count);
    else
        memcpy(relative, m->relative, count * hidden * sizeof(float));
}

void wt__embedding_forward(const struct transformer *m, const struct token_batch *batch, struct activations *a)
{
    size_t n = count_batch_rows(batch);
    struct embedding_rows rows = {m->projection.weight ? a->narrow : a->embedded,
                                  m->projection.weight ? a->narrow_stride : a->stride};
    visit_tokens(m, batch, embed_token, &rows);
    if (m->projection.weight)
        wt__linear_forward(&m->projection, a->narrow, a->narrow_stride, ACTIVATION_NONE, NULL, a->embedded, a->stride,
                           n);
    finish_embedding(m, batch, a);
    if (a->relative)
        wt__relative_forward(m, a->relative);
}

/* ---------------------------------------------------------------- layers, forward */

void wt__distances_forward(const struct transformer *m, size_t layer, const float *relative, float *out)
{
    const struct transformer_layer *l = &m->layers[layer];
    size_t hidden = m->config.hidden, count = 2 * (size_t)m->config.span;
    if (l->distance_key.weight)
        wt__linear_forward(&l->distance_key, relative, hidden, ACTIVATION_NONE, NULL, out, 2 * hidden, count);
    if (l->distance_query.weight)
        wt__linear_forward(&l->distance_query, relative, hidden, ACTIVATION_NONE, NULL, out + hidden, 2 * hidden,
                           count);
}

static void attend_batch(const struct transformer *m, size_t layer, const struct token_batch *batch,
                         struct activations *a)
{
    const struct layer_activations *k = &a->layers[layer];
    for (size_t b = 0; b < batch->count; b++) {
        size_t start = batch->starts[b], t = batch->starts[b + 1] - start;
        const int32_t *positions = batch->positions ? batch->positions + start : NULL;
        const float *qkv = k->qkv + start * a->qkv_stride;
        float *context = k->context + start * a->stride;
        if (m->config.relative == RELATIVE_DISENTANGLED) {
            struct disentangled d = make_disentangled(m, find_distance_tables(m, layer, a), a, positions);
            wt__disentangled_forward(&d, qkv, a->qkv_stride, context, a->stride, a->scratch, t);
        } else {
            struct attention attention = make_attention(m, a, positions);
            wt__attention_forward(&attention, qkv, a->qkv_stride, context, a->stride, a->scratch, t);
        }
    }
}

/* Applies the activation row by row, since the padding between rows is uninitialised. */
static void activate_hidden_rows(uint32_t activation, const float *x, float *y, size_t stride, size_t width, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wt__activation_forward((enum activation)activation, x + i * stride, y + i * stride, width);
}

/* Adds x to y, which do not overlap. */
static void add_activation_row(const float *restrict x, float *restrict y, size_t width)
{
    for (size_t h = 0; h < width; h++)
        y[h] += x[h];
}

static void add_matrix_rows(const float *x, float *y, size_t stride, size_t width, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_activation_row(x + i * stride, y + i * stride, width);
}

/* Computes joined = x + f(convolved) and x = norm(joined). */
static void join_convolution(const struct transformer *m, struct activations *a, size_t n)
{
    size_t hidden = m->config.hidden;
    float *active = a->kept ? a->joined : a->convolved;
    activate_hidden_rows(m->config.convolution_activation, a->convolved, active, a->stride, hidden, n);
    add_matrix_rows(a->kept ? a->x : active, a->joined, a->stride, hidden, n);
    wt__layer_norm_forward(&m->convolution_norm, a->joined, a->x, a->stride, n);
}

/* Runs a linear layer, with int8 products if enabled. */
static void run_linear(const struct activations *a, const struct linear *l, const float *x, size_t x_stride,
                       enum activation activation, const float *residual, float *y, size_t y_stride, size_t n)
{
    if (a->bytes)
        wt__linear_forward_bytes(l, x, x_stride, activation, residual, y, y_stride, n, a->bytes);
    else
        wt__linear_forward(l, x, x_stride, activation, residual, y, y_stride, n);
}

/* First half of a layer: computes context from x. */
static void mix_rows(const struct transformer *m, size_t layer, const struct token_batch *batch, struct activations *a)
{
    const struct layer_activations *k = &a->layers[layer];
    for (size_t b = 0; layer == 0 && m->convolution.taps > 0 && b < batch->count; b++) {
        size_t at = batch->starts[b] * a->stride, rows = batch->starts[b + 1] - batch->starts[b];
        wt__convolution_forward(&m->convolution, a->x + at, a->stride, a->convolved + at, a->stride, rows);
    }
    if (a->relative)
        wt__distances_forward(m, layer, a->relative, k->distances);
    run_linear(a, &m->layers[layer].qkv, a->x, a->stride, ACTIVATION_NONE, NULL, k->qkv, a->qkv_stride,
               count_batch_rows(batch));
    attend_batch(m, layer, batch, a);
}

/* Second half of a layer, row by row: computes x from context and x. */
static void finish_rows(const struct transformer *m, size_t layer, struct activations *a, size_t n)
{
    const struct transformer_layer *l = &m->layers[layer];
    const struct layer_activations *k = &a->layers[layer];
    size_t stride = a->stride, wide = a->wide_stride;
    enum activation activation = (enum activation)m->config.activation;
    float *x = a->x;
    run_linear(a, &l->out, k->context, stride, ACTIVATION_NONE, x, k->attended, stride, n);
    wt__layer_norm_forward(&l->first, k->attended, x, stride, n);
    run_linear(a, &l->up, x, stride, a->kept ? ACTIVATION_NONE : activation, NULL, k->inner, wide, n);
    if (a->kept)
        activate_hidden_rows(activation, k->inner, a->wide, wide, m->config.intermediate, n);
    run_linear(a, &l->down, a->wide, wide, ACTIVATION_NONE, x, k->summed, stride, n);
    wt__layer_norm_forward(&l->second, k->summed, x, stride, n);
}

void wt__layer_forward(const struct transformer *m, size_t layer, const struct token_batch *batch,
                       struct activations *a)
{
    size_t n = count_batch_rows(batch);
    mix_rows(m, layer, batch, a);
    finish_rows(m, layer, a, n);
    if (layer == 0 && m->convolution.taps > 0)
        join_convolution(m, a, n);
}

void wt__transformer_forward(const struct transformer *m, const struct token_batch *batch, struct activations *a)
{
    wt__embedding_forward(m, batch, a);
    for (size_t layer = 0; layer < m->config.layers; layer++)
        wt__layer_forward(m, layer, batch, a);
}

/* Moves the first row of each sequence to the front. */
static void keep_first_rows(const struct token_batch *batch, float *rows, size_t stride)
{
    for (size_t b = 0; b < batch->count; b++)
        memmove(rows + b * stride, rows + batch->starts[b] * stride, stride * sizeof(float));
}

void wt__transformer_forward_first(const struct transformer *m, const struct token_batch *batch, struct activations *a)
{
    size_t last = m->config.layers - 1;
    bool convolved = last == 0 && m->convolution.taps > 0;
    wt__embedding_forward(m, batch, a);
    for (size_t layer = 0; layer < last; layer++)
        wt__layer_forward(m, layer, batch, a);
    mix_rows(m, last, batch, a);
    keep_first_rows(batch, a->x, a->stride);
    keep_first_rows(batch, a->layers[last].context, a->stride);
    if (convolved)
        keep_first_rows(batch, a->convolved, a->stride);
    finish_rows(m, last, a, batch->count);
    if (convolved)
        join_convolution(m, a, batch->count);
}

/* ---------------------------------------------------------------- backward */

/* Returns the address of a weight's gradient, or NULL if `wanted` is false or the weight is NULL. */
static float *find_gradient_sum(const struct gradient_sums *sums, bool wanted, const float *weight)
{
    return wanted && weight ? sums->sums + (weight - sums->weights) : NULL;
}

static void linear_backward(const struct linear *l, const struct gradient_sums *sums, bool wanted, const float *x,
                            size_t x_stride, const float *dy, size_t dy_stride, float *dx, size_t dx_stride, size_t n)
{
    wt__linear_backward(l, x, x_stride, dy, dy_stride, dx, dx_stride, find_gradient_sum(sums, wanted, l->weight),
                        find_gradient_sum(sums, wanted, l->bias), n);
}

static void norm_backward(const struct layer_norm *norm, const struct gradient_sums *sums, bool wanted, const float *x,
                          float *dx, size_t stride, size_t n)
{
    wt__layer_norm_backward(norm, x, dx, dx, find_gradient_sum(sums, wanted, norm->gain),
                            find_gradient_sum(sums, wanted, norm->bias), stride, n);
}

/* Recomputes the layer's input into x from the kept data of the previous layer. */
static void recompute_layer_input(const struct transformer *m, size_t layer, const struct token_batch *batch,
                                  struct activations *a)
{
    if (layer == 0)
        finish_embedding(m, batch, a);
    else if (layer == 1 && m->convolution.taps > 0)
        wt__layer_norm_forward(&m->convolution_norm, a->joined, a->x, a->stride, count_batch_rows(batch));
    else
        wt__layer_norm_forward(&m->layers[layer - 1].second, a->layers[layer - 1].summed, a->x, a->stride,
                               count_batch_rows(batch));
}

/* Propagates ddistances, the gradients of the distances' keys and queries, to the layer's weights and to drelative. */
static void distances_backward(const struct transformer *m, size_t layer, struct activations *a,
                               const struct gradient_sums *sums)
{
    const struct linear *both[] = {&m->layers[layer].distance_key, &m->layers[layer].distance_query};
    size_t hidden = m->config.hidden, count = 2 * (size_t)m->config.span;
    for (size_t i = 0; i < 2; i++)
        if (both[i]->weight) {
            linear_backward(both[i], sums, true, a->relative, hidden, a->ddistances + i * hidden, 2 * hidden,
                            sums->embeddings ? a->dcopy : NULL, hidden, count);
            if (sums->embeddings)
                add_matrix_rows(a->dcopy, a->drelative, hidden, hidden, count);
        }
}

/* Computes dwide, the gradient of qkv, from the gradient of context in dx. */
static void attend_backward(const struct transformer *m, size_t layer, const struct token_batch *batch,
                            struct activations *a, const struct gradient_sums *sums)
{
    const struct layer_activations *k = &a->layers[layer];
    bool wanted = layer >= sums->first_layer;
    if (a->relative)
        memset(a->ddistances, 0, 4 * (size_t)m->config.span * m->config.hidden * sizeof(float));
    for (size_t b = 0; b < batch->count; b++) {
        size_t start = batch->starts[b], t = batch->starts[b + 1] - start;
        const int32_t *positions = batch->positions ? batch->positions + start : NULL;
        const float *qkv = k->qkv + start * a->qkv_stride, *dcontext = a->dx + start * a->stride;
        float *dqkv = a->dwide + start * a->qkv_stride;
        if (m->config.relative == RELATIVE_DISENTANGLED) {
            struct disentangled d = make_disentangled(m, find_distance_tables(m, layer, a), a, positions);
            wt__disentangled_backward(&d, qkv, a->qkv_stride, dcontext, a->stride, dqkv, a->qkv_stride,
                                      wanted && d.position_key ? a->ddistances : NULL,
                                      wanted && d.position_query ? a->ddistances + m->config.hidden : NULL, a->scratch,
                                      t);
        } else {
            struct attention attention = make_attention(m, a, positions);
            wt__attention_backward(&attention, qkv, a->qkv_stride, dcontext, a->stride, dqkv, a->qkv_stride,
                                   find_gradient_sum(sums, sums->embeddings, attention.bias), a->scratch, t);
        }
    }
    if (a->relative && wanted)
        distances_backward(m, layer, a, sums);
}

/* Replaces dx, the gradient of the layer's output, by the gradient of its input. */
static void layer_backward(const struct transformer *m, size_t layer, const struct token_batch *batch,
                           struct activations *a, const struct gradient_sums *sums)
{
    const struct transformer_layer *l = &m->layers[layer];
    const struct layer_activations *k = &a->layers[layer];
    size_t n = count_batch_rows(batch), stride = a->stride, wide = a->wide_stride, hidden = m->config.hidden;
    bool wanted = layer >= sums->first_layer;
    activate_hidden_rows(m->config.activation, k->inner, a->wide, wide, m->config.intermediate, n);
    norm_backward(&l->second, sums, wanted, k->summed, a->dx, stride, n);
    linear_backward(&l->down, sums, wanted, a->wide, wide, a->dx, stride, a->dwide, wide, n);
    for (size_t i = 0; i < n; i++)
        wt__activation_backward((enum activation)m->config.activation, k->inner + i * wide, a->dwide + i * wide,
                                a->dwide + i * wide, m->config.intermediate);
    wt__layer_norm_forward(&l->first, k->attended, a->x, stride, n);
    linear_backward(&l->up, sums, wanted, a->x, stride, a->dwide, wide, a->dy, stride, n);
    add_matrix_rows(a->dx, a->dy, stride, hidden, n);
    norm_backward(&l->first, sums, wanted, k->attended, a->dy, stride, n);
    linear_backward(&l->out, sums, wanted, k->context, stride, a->dy, stride, a->dx, stride, n);
    attend_backward(m, layer, batch, a, sums);
    recompute_layer_input(m, layer, batch, a);
    linear_backward(&l->qkv, sums, wanted, a->x, stride, a->dwide, a->qkv_stride, a->dx, stride, n);
    add_matrix_rows(a->dy, a->dx, stride, hidden, n);
}

/* Replaces dx by the gradient of layer 0's output before the convolution was added. Sets dconvolved to the gradient of
 * the convolution's input. */
static void convolution_backward(const struct transformer *m, const struct token_batch *batch, struct activations *a,
                                 const struct gradient_sums *sums)
{
    const struct convolution *c = &m->convolution;
    size_t n = count_batch_rows(batch), stride = a->stride;
    bool wanted = sums->embeddings;
    norm_backward(&m->convolution_norm, sums, wanted, a->joined, a->dx, stride, n);
    for (size_t i = 0; i < n; i++)
        wt__activation_backward((enum activation)m->config.convolution_activation, a->convolved + i * stride,
                                a->dx + i * stride, a->dy + i * stride, m->config.hidden);
    recompute_layer_input(m, 0, batch, a);
    for (size_t b = 0; b < batch->count; b++) {
        size_t at = batch->starts[b] * stride;
        wt__convolution_backward(c, a->x + at, stride, a->dy + at, stride, a->dconvolved + at, stride,
                                 find_gradient_sum(sums, wanted, c->weight), find_gradient_sum(sums, wanted, c->bias),
                                 batch->starts[b + 1] - batch->starts[b]);
    }
}

struct embedding_sums {
    float *positions, *types; /* NULL if the model has none */
    const float *gradient;
    size_t stride;
};

static void add_token(const struct transformer *m, void *context, size_t n, int32_t id, size_t position, size_t type)
{
    const struct embedding_sums *s = context;
    size_t width = m->config.embedding;
    if (id >= 0 && s->positions)
        add_activation_row(s->gradient + n * s->stride, s->positions + position * width, width);
    if (id >= 0 && s->types)
        add_activation_row(s->gradient + n * s->stride, s->types + type * width, width);
}

/* Propagates dx, the gradient of the embeddings, to their weights. The caller of wt__transformer_backward adds the
 * gradients of the word embeddings. */
static void embedding_backward(const struct transformer *m, const struct token_batch *batch, struct activations *a,
                               const struct gradient_sums *sums)
{
    size_t n = count_batch_rows(batch), hidden = m->config.hidden, count = 2 * (size_t)m->config.span;
    struct embedding_sums s = {find_gradient_sum(sums, true, m->positions), find_gradient_sum(sums, true, m->types),
                               a->dx, a->stride};
    norm_backward(&m->norm, sums, true, a->embedded, a->dx, a->stride, n);
    if (m->projection.weight) {
        linear_backward(&m->projection, sums, true, a->narrow, a->narrow_stride, a->dx, a->stride, a->dnarrow,
                        a->narrow_stride, n);
        s.gradient = a->dnarrow;
        s.stride = a->narrow_stride;
    }
    if (s.positions || s.types)
        visit_tokens(m, batch, add_token, &s);
    if (a->relative) {
        if (m->relative_norm.gain)
            norm_backward(&m->relative_norm, sums, true, m->relative, a->drelative, hidden, count);
        add_matrix_rows(a->drelative, find_gradient_sum(sums, true, m->relative), hidden, hidden, count);
    }
}

void wt__transformer_backward(const struct transformer *m, const struct token_batch *batch, struct activations *a,
                              const struct gradient_sums *sums, float *dexternal, const float **embedded,
                              size_t *stride)
{
    size_t n = count_batch_rows(batch), hidden = m->config.hidden, next = 0;
    size_t end = sums->embeddings || dexternal ? 0 : sums->first_layer;
    if (a->relative)
        memset(a->drelative, 0, 2 * (size_t)m->config.span * hidden * sizeof(float));
    for (size_t layer = m->config.layers; layer-- > end;) {
        bool convolved = layer == 0 && m->convolution.taps > 0;
        if (convolved)
            convolution_backward(m, batch, a, sums);
        layer_backward(m, layer, batch, a, sums);
        if (convolved)
            add_matrix_rows(a->dconvolved, a->dx, a->stride, hidden, n);
    }
    for (size_t i = 0; batch->external && end == 0 && i < n; i++)
        if (batch->ids[i] < 0) {
            if (dexternal)
                memcpy(dexternal + next++ * a->stride, a->dx + i * a->stride, hidden * sizeof(float));
            memset(a->dx + i * a->stride, 0, hidden * sizeof(float));
        }
    if (sums->embeddings)
        embedding_backward(m, batch, a, sums);
    *embedded = m->projection.weight ? a->dnarrow : a->dx;
    *stride = m->projection.weight ? a->narrow_stride : a->stride;
}

void wt__head_forward(const struct transformer *m, const float *x, size_t stride, size_t count, float *pooled,
                      float *logits)
{
    wt__linear_forward(&m->pooler, x, stride, (enum activation)m->config.head_activation, NULL, pooled, stride, count);
    wt__linear_forward(&m->score, pooled, stride, ACTIVATION_NONE, NULL, logits, 1, count);
}

void wt__pool_forward(const struct model_config *config, const float *x, size_t stride, size_t t, float *out)
{
    size_t hidden = config->hidden;
    memcpy(out, x, hidden * sizeof(float));
    if (config->pooling != POOLING_MEAN)
        return;
    for (size_t i = 1; i < t; i++)
        for (size_t h = 0; h < hidden; h++)
            out[h] += x[i * stride + h];
    for (size_t h = 0; h < hidden; h++)
        out[h] /= (float)t;
}

void wt__pool_backward(const struct model_config *config, const float *dout, float *dx, size_t stride, size_t t)
{
    size_t rows = config->pooling == POOLING_MEAN ? t : 1;
    float share = 1.0f / (float)rows;
    for (size_t i = 0; i < rows; i++)
        for (size_t h = 0; h < config->hidden; h++)
            dx[i * stride + h] += dout[h] * share;
}
