/* reach.c: finds tools that a search misses for the beginning of their own description, or for recorded requests that
 * used them. Also finds pairs of tools that are found for each other's description.
 *
 * Copies share a place (retrieve/copies.h), so a copy counts as found if its original is. */
#include "audit/families.h"

#include <math.h>

enum {
    SHADOWS = 3,         /* tools ranked before it that a message names */
    USES_LEAST = 3,      /* minimum recorded requests that used a tool */
    REACHED_PERCENT = 50 /* minimum share of them that find it */
};

/* Minimum ratio of two scores that count as a tie. */
static const float TIE = 0.98f;

/* ---------------------------------------------------------------- searches for descriptions */

/* Appends the first tools ranked before the tool: "a, b and c". */
static void append_shadows(const struct audit_run *a, const struct audit_search *of, struct buffer *out)
{
    size_t count = of->rank > 0 ? of->rank - 1u : of->count;
    if (count > of->count)
        count = of->count;
    size_t shown = count < SHADOWS ? count : SHADOWS;
    for (size_t i = 0; i < shown; i++)
        wt__buffer_printf(out, "%s%s", i == 0 ? "" : i + 1 == shown ? " and " : ", ", a->tools[of->hits[i]].id);
}

static int report_unreachable(struct audit_run *a, const struct audit_search *of, wt_error *err)
{
    struct buffer shadows = {0}, advice = {0};
    uint32_t tools[1 + SHADOWS] = {of->tool};
    size_t count = 1;
    append_shadows(a, of, &shadows);
    for (size_t i = 0; i < SHADOWS && i < of->count; i++)
        tools[count++] = of->hits[i];
    if (of->count > 0)
        wt__buffer_printf(&advice, "Start with what it does that %s does not, in words that users use.",
                          a->tools[of->hits[0]].id);
    const struct new_finding found = {.rule = RULE_UNREACHABLE,
                                      .tools = tools,
                                      .count = count,
                                      .figure = of->rank > 0 ? of->rank : NAN,
                                      .advice = advice.ptr};
    int rc = shadows.failed || advice.failed ? wt__fail_nomem(err) : 0;
    const char *words = wt__audit_quote(a, of->request);
    if (rc == 0 && of->rank > 0)
        rc = wt__audit_add_finding(a, &found, err,
                                   "A search for \"%s\", its own description, ranks it at place %u, after %s.", words,
                                   of->rank, shadows.len > 0 ? shadows.ptr : "other tools");
    else if (rc == 0)
        rc = wt__audit_add_finding(
            a, &found, err, "A search for \"%s\", its own description, does not rank it among the first %d%s%s.", words,
            SEARCH_DEPTH, shadows.len > 0 ? "; the first are " : "", shadows.len > 0 ? shadows.ptr : "");
    wt__buffer_dispose(&shadows);
    wt__buffer_dispose(&advice);
    return rc;
}

/* ---------------------------------------------------------------- recorded requests */

/* Reports tools that most of their recorded requests miss. uses, reached: [count] requests, and those that find it. */
static int report_unreached_by_use(struct audit_run *a, const uint32_t *uses, const uint32_t *reached, wt_error *err)
{
    for (size_t i = 0; i < a->count; i++) {
        uint32_t place = (uint32_t)i;
        const struct new_finding found = {
            .rule = RULE_UNREACHED_BY_USE, .tools = &place, .count = 1, .figure = (double)reached[i]};
        if (uses[i] < USES_LEAST || reached[i] * 100 >= uses[i] * REACHED_PERCENT)
            continue;
        int rc =
            wt__audit_add_finding(a, &found, err, "%u of %u recorded requests that used it find it among the first %d.",
                                  (unsigned)reached[i], (unsigned)uses[i], AUDIT_FIRST_PLACES);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int check_recorded_use(struct audit_run *a, const struct audit_searches *searches, wt_error *err)
{
    uint32_t *uses = wt__arena_array(&a->scratch, uint32_t, a->count);
    uint32_t *reached = wt__arena_array(&a->scratch, uint32_t, a->count);
    if (!uses || !reached)
        return wt__fail_nomem(err);
    for (size_t r = 0; r < searches->recorded_count; r++) {
        const struct audit_search *of = &searches->recorded[r];
        for (size_t u = 0; u < of->used_count; u++) {
            bool found = false;
            for (size_t i = 0; i < of->count && i < AUDIT_FIRST_PLACES; i++)
                found |= of->hits[i] == of->used[u];
            uses[of->used[u]]++;
            reached[of->used[u]] += found;
        }
    }
    return report_unreached_by_use(a, uses, reached, err);
}

/* ---------------------------------------------------------------- pairs */

static size_t hit_index(const struct audit_search *of, uint32_t tool)
{
    size_t i = 0;
    while (i < of->count && of->hits[i] != tool)
        i++;
    return i;
}

/* True if `other` ranks before the tool for the tool's own description (*before), or ties with it. */
static bool ranks_before(const struct audit_search *of, uint32_t other, bool *before)
{
    size_t own = hit_index(of, of->tool), theirs = hit_index(of, other);
    *before = theirs < own;
    return own < of->count && theirs < of->count && (*before || of->scores[theirs] >= TIE * of->scores[own]);
}

static int check_pairs(struct audit_run *a, const struct audit_searches *searches, const struct audit_search *of,
                       wt_error *err)
{
    for (size_t i = 0; i < of->count && i < AUDIT_FIRST_PLACES; i++) {
        const struct audit_search *other = wt__find_own_search(searches, of->hits[i]);
        bool before, back;
        if (!other || other->tool <= of->tool || other->copy_of == of->tool || of->copy_of == other->tool ||
            a->tools[of->tool].text_hash == a->tools[other->tool].text_hash ||
            !ranks_before(of, other->tool, &before) || !ranks_before(other, of->tool, &back) || !(before || back))
            continue;
        const uint32_t pair[] = {of->tool, other->tool};
        const struct new_finding found = {.rule = RULE_SHADOWED_PAIR, .tools = pair, .count = 2, .figure = NAN};
        int rc = wt__audit_add_finding(
            a, &found, err, "%s and %s are found for each other's description: \"%s\", \"%s\".", a->tools[of->tool].id,
            a->tools[other->tool].id, wt__audit_quote(a, of->request), wt__audit_quote(a, other->request));
        if (rc < 0)
            return rc;
    }
    return 0;
}

int wt__audit_reach(struct audit_run *a, const struct audit_searches *searches, wt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < searches->plain_count; i++) {
        const struct audit_search *of = &searches->plain[i];
        if (of->rank == 0 || of->rank > AUDIT_FIRST_PLACES)
            rc = report_unreachable(a, of, err);
        if (rc == 0)
            rc = check_pairs(a, searches, of, err);
    }
    return rc == 0 ? check_recorded_use(a, searches, err) : rc;
}
