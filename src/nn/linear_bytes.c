/* linear_bytes.c: packs int8 weights into the panels of kernels/kernels.h. */
#include "nn/linear_bytes.h"

#include <string.h>

#include "nn/kernels/kernels.h"

enum { LINE = 64, QUAD = 4 };

static size_t count_groups(size_t in)
{
    return in / WT_GROUP + (in % WT_GROUP != 0);
}

bool wt__bytes_ready(void)
{
    return wt__kernels()->gemm_bytes != NULL;
}

size_t wt__linear_bytes_size(size_t out, size_t in)
{
    size_t panel, all, panels = out / WT_PANEL + (out % WT_PANEL != 0);

    if (__builtin_mul_overflow(count_groups(in), (size_t)WT_PANEL_GROUP, &panel) ||
        __builtin_add_overflow(panel, WT_PANEL * sizeof(float), &panel) || __builtin_mul_overflow(panels, panel, &all))
        return 0;
    return all;
}

/* Rounds up to an odd number of cache lines: rows a power of two apart would compete for a few sets of the L1 cache. */
size_t wt__byte_row_size(size_t in)
{
    size_t groups = count_groups(in), bytes;

    if (__builtin_mul_overflow(groups, WT_GROUP + sizeof(struct byte_range), &bytes) ||
        __builtin_add_overflow(bytes, 2 * (size_t)LINE, &bytes))
        return 0;
    return ((bytes - LINE - 1) / LINE | 1) * LINE;
}

/* Packs the weights of one group and their sums. w points at the group's first value in the panel, rows `in` apart. */
static void pack_byte_group(unsigned char *group, const int8_t *w, size_t in, size_t rows, size_t depth)
{
    float sums[WT_PANEL] = {0};

    memset(group, 0, WT_GROUP * WT_PANEL);
    for (size_t j = 0; j < rows; j++)
        for (size_t k = 0; k < depth; k++) {
            group[k / QUAD * QUAD * WT_PANEL + QUAD * j + k % QUAD] = (unsigned char)w[j * in + k];
            sums[j] += (float)w[j * in + k];
        }
    memcpy(group + WT_GROUP * WT_PANEL, sums, sizeof sums);
}

void wt__linear_bytes_pack(unsigned char *panels, const int8_t *w, const float *scales, size_t out, size_t in)
{
    for (size_t first = 0; first < out; first += WT_PANEL) {
        size_t rows = out - first < WT_PANEL ? out - first : WT_PANEL;
        float ends[WT_PANEL] = {0};

        for (size_t k = 0; k < in; k += WT_GROUP, panels += WT_PANEL_GROUP)
            pack_byte_group(panels, w + first * in + k, in, rows, in - k < WT_GROUP ? in - k : WT_GROUP);
        memcpy(ends, scales + first, rows * sizeof(float));
        memcpy(panels, ends, sizeof ends);
        panels += sizeof ends;
    }
}
