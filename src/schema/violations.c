/* violations.c: lists of violations and paths to places. */
#include "schema/violations.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool is_from_enum(const struct violation *v)
{
    return strcmp(v->keyword, "enum") == 0;
}

size_t wt__violation_choices(const struct violation *v)
{
    if (v->branches)
        return v->branches->len;
    return is_from_enum(v) ? json_array_size(v->wanted) : 1;
}

const json_t *wt__violation_choice(const struct violation *v, size_t at)
{
    if (v->branches)
        return v->branches->items[at]->constant;
    return is_from_enum(v) ? json_array_get(v->wanted, at) : v->wanted;
}

bool wt__violations_add(struct violations *list, const struct violation *violation)
{
    void *items = list->items;
    int rc = wt__grow(&items, &list->capacity, list->len + 1, sizeof *list->items);
    list->items = items;
    if (rc == 0)
        list->items[list->len++] = *violation;
    return rc == 0;
}

void wt__violations_dispose(struct violations *list)
{
    free(list->items);
    *list = (struct violations){0};
}

/* A violation with its position in the list, which makes the sort stable. */
struct ranked {
    struct violation violation;
    size_t rank;
};

static int compare_places(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    for (size_t i = 0; i < a->violation.depth && i < b->violation.depth; i++) {
        size_t x = a->violation.path[i].index, y = b->violation.path[i].index;
        if (x != y)
            return x < y ? -1 : 1;
    }
    if (a->violation.depth != b->violation.depth)
        return a->violation.depth < b->violation.depth ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

bool wt__violations_sort(struct violations *list)
{
    if (list->len < 2)
        return true;
    struct ranked *ranked = wt__alloc_array(list->len, sizeof *ranked);
    if (!ranked)
        return false;
    for (size_t i = 0; i < list->len; i++)
        ranked[i] = (struct ranked){list->items[i], i};
    qsort(ranked, list->len, sizeof *ranked, compare_places);
    for (size_t i = 0; i < list->len; i++)
        list->items[i] = ranked[i].violation;
    free(ranked);
    return true;
}

size_t wt__place_depth(const struct value_place *at)
{
    size_t depth = 0;
    for (; at->up; at = at->up)
        depth++;
    return depth;
}

const struct path_step *wt__place_path(struct arena *arena, const struct value_place *at, size_t *depth)
{
    size_t len = *depth = wt__place_depth(at);
    struct path_step *path = len > 0 ? wt__arena_array(arena, struct path_step, len) : NULL;
    for (const struct value_place *p = at; path && p->up; p = p->up)
        path[--len] = (struct path_step){p->key, p->index};
    return path;
}
