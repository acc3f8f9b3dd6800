/* attention.c: plain attention, and attention with the bias of MPNet. The bias is looked up by distance, so each head
 * first collects the biases of all distances. They are divided by the scale, because the scores are scaled after the
 * terms are added. */
#include "nn/attention.h"

#include <math.h>
#include <string.h>

#include "nn/attention_core.h"

struct bias_terms {
    const struct attention *attention;
    float scale;
    float *near;   /* [2 reach + 1] bias of each distance for this head, divided by scale */
    float *dnear;  /* gradient of `near`, or NULL */
    float *dtable; /* [count, A] gradient of the bias table */
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

        b->near[i] = b->attention->bias[bucket * b->attention->heads + head] / b->scale;
    }
    if (b->dnear)
        memset(b->dnear, 0, count * sizeof(float));
}

static void add_bias(void *context, const struct score_block *block, float *scores)
{
    struct bias_terms *b = context;
    const int32_t *positions = b->attention->positions;
    int64_t reach = b->attention->distances->reach;

    for (size_t r = 0; r < block->rows; r++)
        for (size_t j = 0; j < block->t; j++)
            scores[r * block->stride + j] += b->near[wt__distance_index(positions, block->row + r, j, reach)];
}

static void add_bias_backward(void *context, const struct score_block *block, const float *d)
{
    struct bias_terms *b = context;
    const int32_t *positions = b->attention->positions;
    int64_t reach = b->attention->distances->reach;

    for (size_t r = 0; r < block->rows && b->dnear; r++)
        for (size_t j = 0; j < block->t; j++)
            b->dnear[wt__distance_index(positions, block->row + r, j, reach)] += d[r * block->stride + j];
}

static void end_bias_backward(void *context, size_t head)
{
    struct bias_terms *b = context;
    size_t count = count_distances(b->attention);

    for (size_t i = 0; i < count && b->dnear; i++) {
        size_t bucket = (size_t)b->attention->distances->bucket[i];

        b->dtable[bucket * b->attention->heads + head] += b->dnear[i] / b->scale;
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
    size_t sum = wt__attention_core_scratch(&core, t);

    return sum == 0 || wt__scratch_add(&sum, count_distances(attention), 1) < 0 ? 0 : sum;
}

size_t wt__attention_backward_scratch(const struct attention *attention, size_t t)
{
    struct attention_core core = bias_core_of(attention, NULL);
    size_t sum = wt__attention_core_backward_scratch(&core, t);

    return sum == 0 || wt__scratch_add(&sum, count_distances(attention), 2) < 0 ? 0 : sum;
}

void wt__attention_forward(const struct attention *attention, const float *qkv, size_t qkv_stride, float *out,
                           size_t out_stride, float *scratch, size_t t)
{
    struct bias_terms bias = {.attention = attention, .scale = score_scale(attention)};
    struct score_terms terms = bias_terms_of(&bias);
    struct attention_core core = bias_core_of(attention, &terms);

    bias.near = scratch + wt__attention_core_scratch(&core, t);
    wt__attention_core_forward(&core, qkv, qkv_stride, out, out_stride, scratch, t);
}

void wt__attention_backward(const struct attention *attention, const float *qkv, size_t qkv_stride, const float *dout,
                            size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dbias, float *scratch, size_t t)
{
    struct bias_terms bias = {.attention = attention, .scale = score_scale(attention), .dtable = dbias};
    struct score_terms terms = bias_terms_of(&bias);
    struct attention_core core = bias_core_of(attention, &terms);

    bias.near = scratch + wt__attention_core_backward_scratch(&core, t);
    bias.dnear = dbias ? bias.near + count_distances(attention) : NULL;
    wt__attention_core_backward(&core, qkv, qkv_stride, dout, dout_stride, dqkv, dqkv_stride, scratch, t);
}
