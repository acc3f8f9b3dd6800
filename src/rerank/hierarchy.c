/* hierarchy.c: ToolRerank's rules for a list of candidates (sections 3.2 and 3.3). Where the paper is ambiguous:
 *
 *   Depths. Section 4.2 gives unseen tools fewer candidates; section 3.2, Table 2 and Table 5 give them more. This code
 *     gives them more.
 *   Algorithm 1. The text chooses r_1's provider only if no score is above tau_s; the algorithm always does. For a
 *     sorted list both are the same. This code follows the algorithm, for lists that are not sorted.
 *   Seen providers. In the paper whole providers are seen or unseen. If the caller counts single tools, a provider is
 *     seen if any of its candidates is.
 *   Groups. As in the paper, a group is a connected component: a chain of near neighbours is one group even if its ends
 *     differ.
 *
 * Lists have some tens of candidates, so quadratic loops cost less than one pair of a cross-encoder. */
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

static size_t limit_candidates(size_t count)
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

static bool is_better_candidate(const struct candidate *a, const struct candidate *b)
{
    return a->score > b->score || (isnan(b->score) && !isnan(a->score));
}

/* Insertion sort, because lists are nearly sorted. */
void wt__hierarchy_sort(struct candidate *candidates, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct candidate moved = candidates[i];
        size_t at = i;
        for (; at > 0 && is_better_candidate(&moved, &candidates[at - 1]); at--)
            candidates[at] = candidates[at - 1];
        candidates[at] = moved;
    }
}

/* Moves F1 before F2 and keeps the order of both. Returns the length of F1. */
static size_t split_first(struct candidate *candidates, size_t count, const bool *is_first)
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

/* Lists the providers of F1. Tools without a provider have no siblings to fetch and are skipped. */
static void list_candidate_providers(const struct hierarchy_settings *settings, const struct candidate *candidates,
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
    count = limit_candidates(count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !(candidates[i].score > settings->tau_s))
            continue;
        is_first[i] = true;
        for (size_t j = 0; j < count; j++)
            is_first[j] |= same_provider(&candidates[i], &candidates[j]);
    }
    chosen->first = split_first(candidates, count, is_first);
    list_candidate_providers(settings, candidates, chosen);
}

static bool has_candidate(const struct candidate *candidates, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].row == row)
            return true;
    return false;
}

/* Inserts a candidate among the sorted first `first`, after equal scores. A full list loses its last candidate. True if
 * the list has grown. */
static bool insert_candidate(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                             const struct candidate *one)
{
    size_t at = first, moved = count < capacity ? count : capacity - 1;
    while (at > 0 && is_better_candidate(one, &candidates[at - 1]))
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
        if (has_candidate(candidates, count, found[i].row))
            continue;
        count += insert_candidate(candidates, first, count, capacity, &found[i]);
        first += first < capacity;
    }
    return count;
}

/* Returns the first candidate of i's group (union-find with path halving). */
static size_t find_group(uint16_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Links pairs as in lines 2 to 5 of Algorithm 2. Computes a cosine only if it can still join two groups. */
static void link_groups(const struct hierarchy_settings *settings, const struct candidate *candidates, size_t count,
                        size_t dim, uint16_t *parent)
{
    const struct kernels *kernels = wt__kernels();
    for (size_t i = 0; i < count; i++)
        parent[i] = (uint16_t)i;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const struct candidate *a = &candidates[i], *b = &candidates[j];
            size_t group_a = find_group(parent, i), group_b = find_group(parent, j);
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
    count = limit_candidates(count);
    link_groups(settings, candidates, count, dim, parent);
    for (size_t i = 0; i < count; i++)
        group[i] = (uint16_t)find_group(parent, i);
    for (size_t i = 0; i < count; i++) {
        size_t ahead = 0; /* candidates of the group with a better score, or earlier with the same one */
        for (size_t j = 0; j < count; j++)
            ahead += group[j] == group[i] && (is_better_candidate(&candidates[j], &candidates[i]) ||
                                              (j < i && !is_better_candidate(&candidates[i], &candidates[j])));
        is_first[i] = ahead < settings->group_most;
    }
    return split_first(candidates, count, is_first);
}
