/* pooling.c: adds rows in order, so that the mean is the same on all machines to the last bit. */
#include "encoder/pooling.h"

#include <string.h>

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
