/* principal.c: orthogonal iteration (Golub and Van Loan, Matrix Computations, 8.2.4) on the matrix of second moments.
 * Each iteration multiplies the axes by the matrix and makes them orthonormal again. Axes of nearly equal moments keep
 * rotating among themselves, but the space they span is stable; for all others ITERATIONS are enough. */
#include "nn/principal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "nn/matmul.h"

enum { ITERATIONS = 64 };

/* Computes moments [width, width] = vectors^T vectors / count. */
static void compute_second_moments(const float *vectors, size_t count, size_t width, float *moments)
{
    struct matmul product = {.m = width,
                             .n = width,
                             .k = count,
                             .a = vectors,
                             .a_stride = width,
                             .a_transposed = true,
                             .b = vectors,
                             .b_stride = width,
                             .c = moments,
                             .c_stride = width};
    wt__matmul(&product);
    for (size_t i = 0; i < width * width; i++)
        moments[i] /= count > 0 ? (float)count : 1;
}

static double dot_in_doubles(const float *a, const float *b, size_t width)
{
    double sum = 0;
    for (size_t i = 0; i < width; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* Removes the components of axis `number` along the earlier axes and scales it to unit length. Returns false if too
 * little remains. Two passes are enough (Kahan). */
static bool make_orthogonal(float *axes, size_t number, size_t width)
{
    float *axis = axes + number * width;
    double before = dot_in_doubles(axis, axis, width);
    for (int pass = 0; pass < 2; pass++)
        for (size_t a = 0; a < number; a++) {
            float share = (float)dot_in_doubles(axis, axes + a * width, width);
            for (size_t i = 0; i < width; i++)
                axis[i] -= share * axes[a * width + i];
        }
    double after = dot_in_doubles(axis, axis, width);
    if (!(after > before * 1e-12) || !(after > 0))
        return false;
    for (size_t i = 0; i < width; i++)
        axis[i] /= (float)sqrt(after);
    return true;
}

/* Makes the axes orthonormal. A vanished axis is replaced by the first coordinate direction that is still free. */
static void make_orthonormal(float *axes, size_t keep, size_t width)
{
    for (size_t a = 0, free_direction = 0; a < keep; a++)
        while (!make_orthogonal(axes, a, width) && free_direction < width) {
            memset(axes + a * width, 0, width * sizeof *axes);
            axes[a * width + free_direction++] = 1;
        }
}

int wt__principal_axes(const float *vectors, size_t count, size_t width, size_t keep, float *axes, wt_error *err)
{
    float *moments = wt__alloc_aligned(width * width, sizeof *moments);
    float *turned = wt__alloc_aligned(keep * width, sizeof *turned);
    if (moments && turned) {
        compute_second_moments(vectors, count, width, moments);
        memset(axes, 0, keep * width * sizeof *axes);
        for (size_t a = 0; a < keep; a++)
            memcpy(axes + a * width, moments + a * width, width * sizeof *axes);
        make_orthonormal(axes, keep, width);
        struct matmul product = {.m = keep,
                                 .n = width,
                                 .k = width,
                                 .a = axes,
                                 .a_stride = width,
                                 .b = moments,
                                 .b_stride = width,
                                 .c = turned,
                                 .c_stride = width};
        for (int i = 0; i < ITERATIONS; i++) {
            wt__matmul(&product);
            memcpy(axes, turned, keep * width * sizeof *axes);
            make_orthonormal(axes, keep, width);
        }
    }
    int rc = moments && turned ? 0 : wt__fail_nomem(err);
    free(moments);
    free(turned);
    return rc;
}
