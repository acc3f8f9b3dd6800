/* neighbours.c: an exact scan: a store has tens of thousands of usages at most, some milliseconds of memory. */
#include "retrieve/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "index/lexical.h"
#include "nn/kernels/kernels.h"

static const float SHARPNESS = 20; /* of the votes: as the encoder was trained */

size_t wt__neighbours_nearest(const struct neighbours *n, const float *query, size_t k, float *scores,
                              struct scored *best)
{
    struct topk top = {.items = best, .k = k};
    wt__kernels()->dots_f32(query, n->requests, n->count, n->dim, scores);
    for (uint32_t i = 0; i < n->count; i++)
        if (!n->left_out || !(n->left_out[i / 64] >> i % 64 & 1))
            wt__topk_push(&top, (struct scored){scores[i], i});
    wt__topk_sort(&top);
    return top.len;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = ((const struct scored *)a)->row, y = ((const struct scored *)b)->row;
    return (x > y) - (x < y);
}

float wt__neighbours_weight(float cosine, float nearest)
{
    return expf(SHARPNESS * (cosine - nearest));
}

struct neighbour_votes wt__neighbours_vote(const struct neighbours *n, const float *query, const uint64_t *allowed,
                                           float *scores, struct scored *items, struct scored *requests)
{
    size_t len = wt__neighbours_nearest(n, query, NEIGHBOURS_ASKED, scores, requests), count = 0, kept = 0;
    float all = 0;
    for (size_t i = 0; i < len; i++)
        all += wt__neighbours_weight(requests[i].score, requests[0].score);
    for (size_t i = 0; i < len; i++) {
        float weight = wt__neighbours_weight(requests[i].score, requests[0].score) / all;
        for (uint32_t l = n->starts[requests[i].row]; l < n->starts[requests[i].row + 1]; l++) {
            uint32_t row = n->rows[n->labels[l]];
            if (row != NEIGHBOURS_GONE && wt__row_allowed(allowed, row))
                items[count++] = (struct scored){weight, row};
        }
    }
    qsort(items, count, sizeof *items, compare_rows);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && items[kept - 1].row == items[i].row)
            items[kept - 1].score += items[i].score;
        else
            items[kept++] = items[i];
    }
    return (struct neighbour_votes){items, kept, requests, len};
}
