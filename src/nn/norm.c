/* norm.c: calls the layer norm kernel for each row, and scales vectors to unit length. */
#include "nn/norm.h"

#include <math.h>

#include "nn/kernels/kernels.h"

#define SHORTEST 1e-12f /* vectors of at most this length count as zero */

void wt__layer_norm_forward(const struct layer_norm *norm, const float *x, float *y, size_t stride, size_t t)
{
    const struct kernels *kernels = wt__kernels();

    for (size_t i = 0; i < t; i++)
        kernels->layer_norm(x + i * stride, norm->gain, norm->bias, norm->epsilon, y + i * stride, norm->width);
}

void wt__layer_norm_backward(const struct layer_norm *norm, const float *x, const float *dy, float *dx, float *dgain,
                             float *dbias, size_t stride, size_t t)
{
    const struct kernels *kernels = wt__kernels();

    for (size_t i = 0; i < t; i++)
        kernels->layer_norm_backward(x + i * stride, norm->gain, norm->epsilon, dy + i * stride, dx + i * stride, dgain,
                                     dbias, norm->width);
}

void wt__normalize(float *x, size_t n)
{
    float length = sqrtf(wt__kernels()->dot_f32(x, x, n));
    float factor = 1.0f / (length > SHORTEST ? length : SHORTEST);

    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* Computes dx = (dy - y (y . dy)) / |x|, where y = x / |x|. */
void wt__normalize_backward(const float *x, const float *dy, float *dx, size_t n)
{
    const struct kernels *kernels = wt__kernels();
    float length = sqrtf(kernels->dot_f32(x, x, n));
    float factor = length > SHORTEST ? 1.0f / length : 0;
    float along = kernels->dot_f32(x, dy, n) * factor * factor;

    for (size_t i = 0; i < n; i++)
        dx[i] = (dy[i] - x[i] * along) * factor;
}
