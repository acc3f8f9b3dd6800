/* norm.c: rows handed to the kernel. */
#include "nn/norm.h"

#include <math.h>

#include "nn/kernels/kernels.h"

void wt__layer_norm_forward(const struct layer_norm *norm, const float *x, float *y, size_t stride, size_t t)
{
    const struct kernels *kernels = wt__kernels();

    for (size_t i = 0; i < t; i++)
        kernels->layer_norm(x + i * stride, norm->gain, norm->bias, norm->epsilon, y + i * stride, norm->width);
}

void wt__normalize(float *x, size_t n)
{
    const float shortest = 1e-12f;
    float length = sqrtf(wt__kernels()->dot_f32(x, x, n));
    float factor = 1.0f / (length > shortest ? length : shortest);

    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}
