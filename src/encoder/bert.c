/* bert.c: the layers of nn/ in BERT's order. */
#include "encoder/bert.h"

#include "nn/attention.h"

/* Rows start on a cache line, and an odd number of lines apart: at a power of two they would all fall into the same
 * few sets of the first cache. */
static size_t row_stride(size_t width)
{
    size_t lines = (width + 15) / 16;

    return (lines | 1) * 16;
}

static struct attention attention_of(const struct bert *bert)
{
    return (struct attention){bert->config.heads, bert->config.hidden / bert->config.heads};
}

static float *matrix(struct arena *arena, size_t rows, size_t stride)
{
    /* One panel more, since the kernels read the last one whole. */
    return wt__arena_alloc(arena, (rows * stride + WT_PANEL) * sizeof(float), 64);
}

int wt__bert_scratch_init(struct bert_scratch *out, const struct bert *bert, size_t tokens, struct arena *arena,
                          wt_error *err)
{
    const struct model_config *c = &bert->config;
    struct attention attention = attention_of(bert);
    size_t widest = 3 * (size_t)c->hidden > c->intermediate ? 3 * (size_t)c->hidden : c->intermediate;

    *out = (struct bert_scratch){.tokens = tokens, .stride = row_stride(c->hidden), .wide_stride = row_stride(widest)};
    out->x = matrix(arena, tokens, out->stride);
    out->context = matrix(arena, tokens, out->stride);
    out->wide = matrix(arena, tokens, out->wide_stride);
    out->attention = matrix(arena, wt__attention_scratch(&attention, c->max_tokens), 1);
    return out->x && out->context && out->wide && out->attention ? 0 : wt__fail_nomem(err);
}

void wt__bert_embed_forward(const struct bert *bert, const struct bert_batch *batch, struct bert_scratch *scratch)
{
    size_t hidden = bert->config.hidden;

    for (size_t b = 0; b < batch->count; b++)
        for (size_t n = batch->starts[b]; n < batch->starts[b + 1]; n++) {
            const float *word = bert->words + (size_t)batch->ids[n] * hidden;
            const float *position = bert->positions + (n - batch->starts[b]) * hidden;
            const float *type = bert->types + (batch->types ? (size_t)batch->types[n] * hidden : 0);
            float *x = scratch->x + n * scratch->stride;

            for (size_t h = 0; h < hidden; h++)
                x[h] = word[h] + type[h] + position[h];
        }
    wt__layer_norm_forward(&bert->norm, scratch->x, scratch->x, scratch->stride, batch->starts[batch->count]);
}

void wt__bert_layer_forward(const struct bert *bert, size_t layer, const struct bert_batch *batch,
                            struct bert_scratch *scratch)
{
    const struct bert_layer *l = &bert->layers[layer];
    struct attention attention = attention_of(bert);
    size_t n = batch->starts[batch->count], stride = scratch->stride, wide = scratch->wide_stride;
    float *x = scratch->x;

    wt__linear_forward(&l->qkv, x, stride, ACTIVATION_NONE, NULL, scratch->wide, wide, n);
    for (size_t b = 0; b < batch->count; b++) {
        size_t start = batch->starts[b];

        wt__attention_forward(&attention, scratch->wide + start * wide, wide, scratch->context + start * stride, stride,
                              scratch->attention, batch->starts[b + 1] - start);
    }
    wt__linear_forward(&l->out, scratch->context, stride, ACTIVATION_NONE, x, x, stride, n);
    wt__layer_norm_forward(&l->first, x, x, stride, n);
    wt__linear_forward(&l->up, x, stride, ACTIVATION_GELU, NULL, scratch->wide, wide, n);
    wt__linear_forward(&l->down, scratch->wide, wide, ACTIVATION_NONE, x, x, stride, n);
    wt__layer_norm_forward(&l->second, x, x, stride, n);
}

void wt__bert_forward(const struct bert *bert, const struct bert_batch *batch, struct bert_scratch *scratch)
{
    wt__bert_embed_forward(bert, batch, scratch);
    for (size_t layer = 0; layer < bert->config.layers; layer++)
        wt__bert_layer_forward(bert, layer, batch, scratch);
}
