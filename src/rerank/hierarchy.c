/* hierarchy.c: ToolRerank's rules over a list of candidates (sections 3.2 and 3.3). Where the paper leaves a choice:
 *
 *   Depths. Section 4.2 says that unseen tools get fewer candidates; section 3.2, Table 2 and Table 5 say more, and so
 *     it is here.
 *   Algorithm 1 against its text. The text takes r_1's provider only where no score is above tau_s, the algorithm
 *     always. With a sorted list they are the same; here it is the algorithm, for lists that are not.
 *   Seen providers. The paper's tools are seen or not by provider. Where the caller counts tool by tool, a provider is
 *     seen when any of its candidates is.
 *   Groups by links. A group is all that hangs together, as in the paper, not all pairs alike: a chain of near
 *     neighbours is one group though its ends differ.
 *
 * Lists are short (tens), so that quadratic passes over them cost less than a cross-encoder's look at one pair. */
#include "rerank/hierarchy.h"

#include <math.h>
#include <string.h>

#include "nn/kernels/kernels.h"

const struct hierarchy_settings wt__hierarchy_paper = {
    .seen_depth = 10,
    .unseen_depth = 50,
    .tau_s = 0.85f,
    .tau_m = 0.7f,
    .group_most = 3,
    .truncate = true,
    .expand_unseen = true,
    .rule = {[REQUEST_UNKNOWN] = HIERARCHY_NONE,
             [REQUEST_SINGLE] = HIERARCHY_ALGORITHM1,
             [REQUEST_MULTI] = HIERARCHY_ALGORITHM2},
};

static int check_count(const char *name, uint32_t value, wt_error *err)
{
    if (value >= 1 && value <= HIERARCHY_MAX_CANDIDATES)
        return 0;
    return wt__fail(err, WT_EINVAL, "%s is %u; it is 1 to %d", name, value, HIERARCHY_MAX_CANDIDATES);
}

static int check_lean(const char *name, float value, wt_error *err)
{
    if (value >= 0 && value <= HIERARCHY_MAX_LEAN)
        return 0;
    return wt__fail(err, WT_EINVAL, "%s is %g; it is 0 to %d", name, (double)value, HIERARCHY_MAX_LEAN);
}

static int check_share(const char *name, float value, float least, wt_error *err)
{
    if (value >= least && value <= 1)
        return 0;
    return wt__fail(err, WT_EINVAL, "%s is %g; it is %g to 1", name, (double)value, (double)least);
}

int wt__hierarchy_validate(const struct hierarchy_settings *settings, wt_error *err)
{
    int rc = check_count("seen_depth", settings->seen_depth, err);
    if (rc == 0)
        rc = check_count("unseen_depth", settings->unseen_depth, err);
    if (rc == 0)
        rc = check_share("tau_s", settings->tau_s, 0, err);
    if (rc == 0)
        rc = check_share("tau_m", settings->tau_m, -1, err);
    if (rc == 0)
        rc = check_count("group_most", settings->group_most, err);
    if (rc == 0)
        rc = check_lean("prior", settings->prior, err);
    if (rc == 0)
        rc = check_lean("cover", settings->cover, err);
    for (size_t kind = 0; rc == 0 && kind < REQUEST_KINDS; kind++)
        if ((unsigned)settings->rule[kind] >= HIERARCHY_RULES)
            rc = wt__fail(err, WT_EINVAL, "rule[%zu] is %d; it is 0 to %d", kind, (int)settings->rule[kind],
                          HIERARCHY_RULES - 1);
    return rc;
}

size_t wt__hierarchy_depth(const struct hierarchy_settings *settings)
{
    return settings->seen_depth > settings->unseen_depth ? settings->seen_depth : settings->unseen_depth;
}

static size_t looked_at(size_t count)
{
    return count < HIERARCHY_MAX_CANDIDATES ? count : HIERARCHY_MAX_CANDIDATES;
}

size_t wt__hierarchy_truncate(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count)
{
    size_t kept = 0, deepest = wt__hierarchy_depth(settings);
    for (size_t i = 0; i < count && i < deepest; i++) {
        size_t depth = candidates[i].seen ? settings->seen_depth : settings->unseen_depth;
        if (!settings->truncate || i < depth)
            candidates[kept++] = candidates[i];
    }
    return kept;
}

static bool better(const struct candidate *a, const struct candidate *b)
{
    return a->score > b->score || (isnan(b->score) && !isnan(a->score));
}

/* By insertion: lists come nearly sorted. */
void wt__hierarchy_sort(struct candidate *candidates, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct candidate moved = candidates[i];
        size_t at = i;
        for (; at > 0 && better(&moved, &candidates[at - 1]); at--)
            candidates[at] = candidates[at - 1];
        candidates[at] = moved;
    }
}

/* F1 before F2, each in its order. Returns F1's length. */
static size_t split(struct candidate *candidates, size_t count, const bool *is_first)
{
    struct candidate rest[HIERARCHY_MAX_CANDIDATES];
    size_t first = 0, behind = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_first[i])
            candidates[first++] = candidates[i];
        else
            rest[behind++] = candidates[i];
    }
    memcpy(candidates + first, rest, behind * sizeof *rest);
    return first;
}

static bool same_provider(const struct candidate *a, const struct candidate *b)
{
    return a->provider == b->provider && a->provider != HIERARCHY_NO_PROVIDER;
}

/* The providers of F1. Tools without one have no others to fetch, so they are none. */
static void list_providers(const struct hierarchy_settings *settings, const struct candidate *candidates,
                           struct chosen_providers *chosen)
{
    chosen->count = 0;
    for (size_t i = 0; i < chosen->first; i++) {
        size_t at = 0;
        if (candidates[i].provider == HIERARCHY_NO_PROVIDER)
            continue;
        while (at < chosen->count && chosen->items[at].provider != candidates[i].provider)
            at++;
        if (at == chosen->count)
            chosen->items[chosen->count++] = (struct chosen_provider){.provider = candidates[i].provider};
        chosen->items[at].seen |= candidates[i].seen;
    }
    for (size_t i = 0; i < chosen->count; i++)
        chosen->items[i].expand = chosen->items[i].seen ? settings->expand_seen : settings->expand_unseen;
}

void wt__hierarchy_algorithm1(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                              struct chosen_providers *chosen)
{
    bool is_first[HIERARCHY_MAX_CANDIDATES] = {false};
    count = looked_at(count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !(candidates[i].score > settings->tau_s))
            continue;
        is_first[i] = true;
        for (size_t j = 0; j < count; j++)
            is_first[j] |= same_provider(&candidates[i], &candidates[j]);
    }
    chosen->first = split(candidates, count, is_first);
    list_providers(settings, candidates, chosen);
}

static bool holds(const struct candidate *candidates, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].row == row)
            return true;
    return false;
}

/* Puts one among the first `first`, which are sorted, behind those that are no worse. Where the list is full, the last
 * one falls off. Returns whether there is one more. */
static bool insert(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                   const struct candidate *one)
{
    size_t at = first, moved = count < capacity ? count : capacity - 1;
    while (at > 0 && better(one, &candidates[at - 1]))
        at--;
    if (at >= capacity)
        return false;
    memmove(candidates + at + 1, candidates + at, (moved - at) * sizeof *candidates);
    candidates[at] = *one;
    return count < capacity;
}

size_t wt__hierarchy_merge(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                           const struct candidate *found, size_t found_count)
{
    wt__hierarchy_sort(candidates, first);
    for (size_t i = 0; i < found_count; i++) {
        if (holds(candidates, count, found[i].row))
            continue;
        count += insert(candidates, first, count, capacity, &found[i]);
        first += first < capacity;
    }
    return count;
}

/* The candidate that stands for i's group: the first of it. Halves the way there. */
static size_t group_of(uint16_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Links every pair of Algorithm 2, lines 2 to 5; a cosine is worked out only where it can still join two groups. */
static void link_groups(const struct hierarchy_settings *settings, const struct candidate *candidates, size_t count,
                        size_t dim, uint16_t *parent)
{
    const struct kernels *kernels = wt__kernels();
    for (size_t i = 0; i < count; i++)
        parent[i] = (uint16_t)i;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const struct candidate *a = &candidates[i], *b = &candidates[j];
            size_t group_a = group_of(parent, i), group_b = group_of(parent, j);
            if (group_a == group_b)
                continue;
            if (same_provider(a, b) ||
                (a->vector && b->vector && kernels->dot_f32(a->vector, b->vector, dim) > settings->tau_m))
                parent[group_a < group_b ? group_b : group_a] = (uint16_t)(group_a < group_b ? group_a : group_b);
        }
}

size_t wt__hierarchy_algorithm2(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                                size_t dim)
{
    uint16_t parent[HIERARCHY_MAX_CANDIDATES], group[HIERARCHY_MAX_CANDIDATES];
    bool is_first[HIERARCHY_MAX_CANDIDATES];
    count = looked_at(count);
    link_groups(settings, candidates, count, dim, parent);
    for (size_t i = 0; i < count; i++)
        group[i] = (uint16_t)group_of(parent, i);
    for (size_t i = 0; i < count; i++) {
        size_t ahead = 0; /* in its group: with a better score, or with the same one and earlier */
        for (size_t j = 0; j < count; j++)
            ahead += group[j] == group[i] &&
                     (better(&candidates[j], &candidates[i]) || (j < i && !better(&candidates[i], &candidates[j])));
        is_first[i] = ahead < settings->group_most;
    }
    return split(candidates, count, is_first);
}
