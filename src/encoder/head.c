#include "encoder/head.h"

void wt__head_forward(const struct transformer *m, const float *x, size_t stride, size_t count, float *pooled,
                      float *logits)
{
    wt__linear_forward(&m->pooler, x, stride, (enum activation)m->config.head_activation, NULL, pooled, stride, count);
    wt__linear_forward(&m->score, pooled, stride, ACTIVATION_NONE, NULL, logits, 1, count);
}
