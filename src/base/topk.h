/* topk.h: keeps the k best of many scored rows. A higher score comes first; equal scores are ordered by row. The order
 * is total, so all search methods agree on the result. */
#ifndef WT_BASE_TOPK_H
#define WT_BASE_TOPK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scored {
    float score;
    uint32_t row;
};

static inline bool wt__scored_better(struct scored a, struct scored b)
{
    return a.score > b.score || (a.score == b.score && a.row < b.row);
}

/* A heap with the worst kept item at its root. The caller owns items, [k]. */
struct topk {
    struct scored *items;
    size_t len, k;
};

/* Returns the score to beat: -infinity until k items are kept. A row with an equal score is also kept if its row number
 * is lower. */
static inline float wt__topk_threshold(const struct topk *top)
{
    return top->len < top->k || top->k == 0 ? -INFINITY : top->items[0].score;
}

void wt__topk_push(struct topk *top, struct scored candidate);
/* Sorts the kept items best first. The heap cannot be used for pushes afterwards. */
void wt__topk_sort(struct topk *top);
/* Sorts any list in the same order. */
void wt__scored_sort(struct scored *items, size_t len);

#endif
