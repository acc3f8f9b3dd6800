/* topk.c: see topk.h. */
#include "base/topk.h"

#include <assert.h>
#include <stdlib.h>

static void sift_down(struct scored *items, size_t len, size_t at)
{
    struct scored moving = items[at];
    for (size_t child = 2 * at + 1; child < len; child = 2 * at + 1) {
        if (child + 1 < len && wt__scored_better(items[child], items[child + 1]))
            child++;
        if (!wt__scored_better(moving, items[child]))
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = moving;
}

static void sift_up(struct scored *items, size_t at)
{
    struct scored moving = items[at];
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!wt__scored_better(items[parent], moving))
            break;
        items[at] = items[parent];
        at = parent;
    }
    items[at] = moving;
}

void wt__topk_push(struct topk *top, struct scored candidate)
{
    assert(top->len <= top->k);
    if (top->len < top->k) {
        top->items[top->len] = candidate;
        sift_up(top->items, top->len++);
    } else if (top->k > 0 && wt__scored_better(candidate, top->items[0])) {
        top->items[0] = candidate;
        sift_down(top->items, top->len, 0);
    }
}

static int compare(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    return wt__scored_better(*x, *y) ? -1 : wt__scored_better(*y, *x);
}

void wt__scored_sort(struct scored *items, size_t len)
{
    if (len > 1)
        qsort(items, len, sizeof *items, compare);
}

void wt__topk_sort(struct topk *top)
{
    wt__scored_sort(top->items, top->len);
}
