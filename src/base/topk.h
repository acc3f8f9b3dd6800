/* topk.h: the k best of many scored rows. Order: higher score first; equal scores, lower row first. The order is
 * total, so any two ways of searching agree on the result. */
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

/* A heap whose root is the worst kept. items: [k], the caller's. */
struct topk {
    struct scored *items;
    size_t len, k;
};

/* What a row must beat: -infinity until k are kept. A row equal to it may still enter by its number. */
static inline float wt__topk_threshold(const struct topk *top)
{
    return top->len < top->k || top->k == 0 ? -INFINITY : top->items[0].score;
}

void wt__topk_push(struct topk *top, struct scored candidate);
/* Sorts the kept items best first; the heap is spent. */
void wt__topk_sort(struct topk *top);
/* Sorts any list in the same order. */
void wt__scored_sort(struct scored *items, size_t len);

#endif
