/* neighbours.c: an exact scan: a store has tens of thousands of usages at most, some milliseconds of memory. */
#include "retrieve/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "nn/kernels/kernels.h"

static const float SHARPNESS = 20; /* of the votes: as the encoder was trained */

/* The nearest requests, best first. */
static size_t nearest(const struct neighbours *n, const float *query, float *scores,
                      struct scored best[NEIGHBOURS_ASKED])
{
    struct topk top = {.items = best, .k = NEIGHBOURS_ASKED};
    wt__kernels()->dots_f32(query, n->requests, n->count, n->dim, scores);
    for (uint32_t i = 0; i < n->count; i++)
        if (n->folds == 0 || i % n->folds != n->without)
            wt__topk_push(&top, (struct scored){scores[i], i});
    wt__topk_sort(&top);
    return top.len;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = ((const struct scored *)a)->row, y = ((const struct scored *)b)->row;
    return (x > y) - (x < y);
}

size_t wt__neighbours_vote(const struct neighbours *n, const float *query, const uint64_t *allowed, float *scores,
                           struct scored *out)
{
    struct scored top[NEIGHBOURS_ASKED];
    size_t len = nearest(n, query, scores, top), count = 0, kept = 0;
    float all = 0;
    for (size_t i = 0; i < len; i++)
        all += expf(SHARPNESS * (top[i].score - top[0].score));
    for (size_t i = 0; i < len; i++) {
        float weight = expf(SHARPNESS * (top[i].score - top[0].score)) / all;
        for (uint32_t l = n->starts[top[i].row]; l < n->starts[top[i].row + 1]; l++) {
            uint32_t row = n->rows[n->labels[l]];
            if (row != NEIGHBOURS_GONE && (!allowed || allowed[row / 64] >> row % 64 & 1))
                out[count++] = (struct scored){weight, row};
        }
    }
    qsort(out, count, sizeof *out, compare_rows);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && out[kept - 1].row == out[i].row)
            out[kept - 1].score += out[i].score;
        else
            out[kept++] = out[i];
    }
    return kept;
}
