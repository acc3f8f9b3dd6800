#include "base/topk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

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

/* Returns a key that is smaller for better items. As integers, the bits of non-negative floats are in ascending order,
 * and the bits of negative floats are in descending order. Adding 0 turns -0 into 0, so that both get the same bits. */
static uint64_t encode_sort_key(struct scored item)
{
    float score = item.score + 0.0F;
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    bits = bits >> 31 ? bits : ~bits & 0x7fffffff;
    return (uint64_t)bits << 32 | item.row;
}

static struct scored decode_sort_key(uint64_t key)
{
    struct scored item = {.row = (uint32_t)key};
    uint32_t bits = (uint32_t)(key >> 32);
    bits = bits >> 31 ? bits : ~bits & 0x7fffffff;
    memcpy(&item.score, &bits, sizeof bits);
    return item;
}

static int compare_scored(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    return wt__scored_better(*x, *y) ? -1 : wt__scored_better(*y, *x);
}

void wt__scored_sort(struct scored *items, size_t len)
{
    uint64_t keys[SORT_MERGED_MAX];
    if (len > SORT_MERGED_MAX) {
        qsort(items, len, sizeof *items, compare_scored);
        return;
    }
    bool sorted = true;
    for (size_t i = 0; i < len; i++) {
        keys[i] = encode_sort_key(items[i]);
        sorted &= i == 0 || keys[i - 1] < keys[i];
    }
    if (sorted)
        return;
    wt__sort_u64(keys, len);
    for (size_t i = 0; i < len; i++)
        items[i] = decode_sort_key(keys[i]);
}

/* Reverses the items first: a heap starts with its worst item, so the reversed list may already be in order. */
void wt__topk_sort(struct topk *top)
{
    for (size_t i = 0, end = top->len; i + 1 < end; i++) {
        struct scored other = top->items[--end];
        top->items[end] = top->items[i];
        top->items[i] = other;
    }
    wt__scored_sort(top->items, top->len);
}
