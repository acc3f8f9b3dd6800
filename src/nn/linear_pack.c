#include "nn/linear_pack.h"

#include "nn/kernels/kernels.h"

size_t wt__linear_packed_size(size_t out, size_t in)
{
    size_t rows, floats;

    if (__builtin_add_overflow(out, (size_t)WT_PANEL - 1, &rows))
        return 0;
    rows = rows / WT_PANEL * WT_PANEL;
    return __builtin_mul_overflow(rows, in, &floats) ? 0 : floats;
}

void wt__linear_pack(float *packed, const float *w, size_t row_stride, size_t out, size_t in)
{
    for (size_t first = 0; first < out; first += WT_PANEL, packed += in * WT_PANEL)
        wt__kernels()->transpose(packed, WT_PANEL, w + first * row_stride, row_stride,
                                 out - first < WT_PANEL ? out - first : WT_PANEL, in);
}
