/* search_checks.c: evaluates the searches of an audit: tools that are not found, copies, and floods. */
#include "audit/internal.h"

#include <math.h>

#include "index/snapshot.h"

/* Finds tools that a search misses for the beginning of their own description, or for recorded requests that used them.
 * Also finds pairs of tools that are found for each other's description.
 *
 * Copies share a place (retrieve/compose.h), so a copy counts as found if its original is. */

enum {
    SHADOWS = 3,         /* maximum higher-ranked tools named in a message */
    USES_LEAST = 3,      /* minimum recorded requests that used a tool */
    REACHED_PERCENT = 50 /* minimum share of these requests that find the tool */
};

/* Minimum ratio of two scores that count as a tie. */
static const float TIE = 0.98f;

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
        rc = wt__audit_add_finding(
            a, &found, err, "A search for the tool's own description, \"%s\", ranks the tool at place %u, after %s.",
            words, of->rank, shadows.len > 0 ? shadows.ptr : "other tools");
    else if (rc == 0)
        rc = wt__audit_add_finding(
            a, &found, err,
            "A search for the tool's own description, \"%s\", does not rank the tool among the first %d%s%s.", words,
            SEARCH_DEPTH, shadows.len > 0 ? "; the first are " : "", shadows.len > 0 ? shadows.ptr : "");
    wt__buffer_dispose(&shadows);
    wt__buffer_dispose(&advice);
    return rc;
}

/* Reports tools that most of their recorded requests miss. uses: [count] recorded requests of each tool. reached:
 * [count] number of these requests that find the tool. */
static int report_unreached_by_use(struct audit_run *a, const uint32_t *uses, const uint32_t *reached, wt_error *err)
{
    for (size_t i = 0; i < a->count; i++) {
        uint32_t place = (uint32_t)i;
        const struct new_finding found = {
            .rule = RULE_UNREACHED_BY_USE, .tools = &place, .count = 1, .figure = (double)reached[i]};
        if (uses[i] < USES_LEAST || reached[i] * 100 >= uses[i] * REACHED_PERCENT)
            continue;
        int rc = wt__audit_add_finding(a, &found, err,
                                       "%u of %u recorded requests that used the tool find it among the first %d.",
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
    WT_CHECK_ALLOC(uses && reached, err);
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

static size_t hit_index(const struct audit_search *of, uint32_t tool)
{
    size_t i = 0;
    while (i < of->count && of->hits[i] != tool)
        i++;
    return i;
}

/* True if the search for the tool's own description finds both tools, and `other` ranks before the tool or ties with
 * it. *before: true if `other` ranks before the tool. */
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
    for (size_t i = 0; i < searches->plain_count; i++) {
        const struct audit_search *of = &searches->plain[i];
        if (of->rank == 0 || of->rank > AUDIT_FIRST_PLACES)
            WT_TRY(report_unreachable(a, of, err));
        WT_TRY(check_pairs(a, searches, of, err));
    }
    return check_recorded_use(a, searches, err);
}

/* Finds word-for-word copies (index/snapshot.h) and near copies (retrieve/compose.h) of tools by other providers. In
 * searches, the same copies share a place. */

static int report_copy_group(struct audit_run *a, const struct snapshot *snapshot, uint32_t row, uint32_t *group,
                             wt_error *err)
{
    size_t count, known = 0, providers = 0;
    const uint32_t *rows = wt__copy_group(snapshot, row, &count);
    if (count == 0 || rows[0] != row) /* the group is reported once, with its first tool */
        return 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = wt__audit_tool_index(a, snapshot->keys[rows[i]].id);
        bool seen = place == a->count;
        for (size_t j = 0; j < known && !seen; j++)
            seen = a->tools[group[j]].provider == a->tools[place].provider;
        providers += !seen;
        if (place < a->count)
            group[known++] = (uint32_t)place;
    }
    const struct new_finding found = {
        .rule = RULE_COPIED_TOOL, .tools = group, .count = known, .figure = (double)known};
    return known < 2 || providers < 2
               ? 0
               : wt__audit_add_finding(a, &found, err, "%zu providers have the tool \"%s\", word for word.", providers,
                                       wt__audit_quote(a, a->tools[group[0]].tool.name));
}

static int report_exact_copies(struct audit_run *a, wt_error *err)
{
    struct index_handle *index;
    uint32_t group[COPY_GROUP_READ];
    int rc = wt__engine_newest_index(a->engine, &index, err);
    if (rc < 0)
        return rc;
    for (uint32_t row = 0; rc == 0 && row < index->snapshot->rows; row++)
        rc = report_copy_group(a, index->snapshot, row, group, err);
    wt__index_release(index);
    return rc;
}

int wt__audit_copies(struct audit_run *a, const struct audit_searches *searches, wt_error *err)
{
    if (a->count > 0)
        WT_TRY(report_exact_copies(a, err));
    for (size_t i = 0; i < searches->plain_count; i++) {
        const struct audit_search *of = &searches->plain[i];
        if (of->copy_of == UINT32_MAX || of->word_for_word ||
            a->tools[of->tool].provider == a->tools[of->copy_of].provider)
            continue;
        const uint32_t pair[] = {of->tool, of->copy_of};
        const struct new_finding found = {.rule = RULE_NEAR_COPY, .tools = pair, .count = 2, .figure = NAN};
        WT_TRY(wt__audit_add_finding(a, &found, err,
                                     "%s is nearly the same as the older tool %s, which takes its place in searches.",
                                     a->tools[of->tool].id, a->tools[of->copy_of].id));
    }
    return 0;
}

/* Finds floods: providers whose share of the first places is far above their share of the tools.
 *
 *   share(P) = places taken by P's tools / all places
 *   lift(P)  = share(P) / P's share of the tools
 *
 * Only the first AUDIT_FIRST_PLACES count, and only requests that are not for P: made from other providers'
 * descriptions, or recorded without use of P's tools. The request's own tool is left out of both counts. A party is a
 * provider, or a single tool without a provider.
 *
 * The thresholds were chosen on floods of toolbench-i3 and metatool (docs/audit.md). Honest small providers reach a
 * lift of 6 with a small share; honest large ones reach a share of 5 % with a lift of 1. Only floods have both.
 *
 * A request made from a description is for every provider with a word-for-word copy of the tool. A search shows one of
 * several copies. If the request were for one provider only, the first of ten providers with the same tools would seem
 * to take the places of the other nine.
 *
 * Three kinds of requests are counted separately, and the largest share decides:
 *   - plain descriptions, which find texts stuffed with the catalogue's words
 *   - descriptions phrased as people ask (searches.c), which find texts stuffed with words of requests
 *   - recorded requests */

enum {
    CAPTURE_TOOLS = 100,   /* minimum tools; in smaller catalogues such shares arise by chance */
    CAPTURE_REQUESTS = 100 /* minimum requests of one kind; with fewer, such shares arise by chance */
};

static const double CAPTURE_SHARE = 0.03, CAPTURE_LIFT = 4;

bool wt__is_capture(double of_places, double of_tools)
{
    return of_places >= CAPTURE_SHARE && of_places >= CAPTURE_LIFT * of_tools;
}

/* Returns the party of a tool: its provider, or provider_count + tool if it has no provider. */
static size_t party_of(const struct audit_run *a, uint32_t tool)
{
    uint32_t provider = a->tools[tool].provider;
    return a->providers[provider].name.len > 0 ? provider : a->provider_count + tool;
}

/* Links word-for-word copies into rings: following `next` from any tool visits its copies and returns to it. */
static int link_copies(struct audit_run *a, uint32_t *next, wt_error *err)
{
    struct index_handle *index;
    for (size_t t = 0; t < a->count; t++)
        next[t] = (uint32_t)t;
    int rc = wt__engine_newest_index(a->engine, &index, err);
    if (rc < 0)
        return rc;
    for (uint32_t row = 0; row < index->snapshot->rows; row++) {
        size_t count, before = a->count;
        const uint32_t *rows = wt__copy_group(index->snapshot, row, &count);
        if (count == 0 || rows[0] != row)
            continue;
        for (size_t i = 0; i < count; i++) {
            size_t place = wt__audit_tool_index(a, index->snapshot->keys[rows[i]].id);
            if (place == a->count) /* added after the audit began */
                continue;
            if (before < a->count) {
                next[place] = next[before];
                next[before] = (uint32_t)place;
            }
            before = place;
        }
    }
    wt__index_release(index);
    return 0;
}

struct place_tally {
    size_t all;   /* places in all requests */
    size_t *own;  /* [parties] places in requests for the party */
    size_t *took; /* [parties] places taken in requests for other parties */
};

struct capture_count {
    const struct audit_run *a;
    uint32_t *next;     /* [tools] rings of copies */
    size_t *answers_to; /* [tools] number of the last request that the tool or its copy answers, from 1; 0 if none */
    size_t *asked_by;   /* [parties] number of the last request for the party, from 1; 0 if none */
    size_t *asked;      /* [asked_count] parties that the current request is for */
    size_t asked_count, request; /* request: number of the current request, from 1 */
};

static int init_capture_count(struct audit_run *a, struct capture_count *out, wt_error *err)
{
    size_t parties = a->provider_count + a->count;
    *out = (struct capture_count){.a = a,
                                  .next = wt__arena_array(&a->scratch, uint32_t, a->count),
                                  .answers_to = wt__arena_array(&a->scratch, size_t, a->count),
                                  .asked_by = wt__arena_array(&a->scratch, size_t, parties),
                                  .asked = wt__arena_array(&a->scratch, size_t, parties)};
    WT_CHECK_ALLOC(out->next && out->answers_to && out->asked_by && out->asked, err);
    return link_copies(a, out->next, err);
}

static int init_place_tally(struct audit_run *a, struct place_tally *out, wt_error *err)
{
    size_t parties = a->provider_count + a->count;
    out->all = 0;
    out->own = wt__arena_array(&a->scratch, size_t, parties);
    out->took = wt__arena_array(&a->scratch, size_t, parties);
    WT_CHECK_ALLOC(out->own && out->took, err);
    return 0;
}

/* Marks the current request as one for the tool, its copies, and their parties. */
static void mark_asked(struct capture_count *c, uint32_t tool)
{
    uint32_t at = tool;
    if (c->answers_to[tool] == c->request)
        return;
    do {
        size_t party = party_of(c->a, at);
        c->answers_to[at] = c->request;
        if (c->asked_by[party] != c->request)
            c->asked[c->asked_count++] = party;
        c->asked_by[party] = c->request;
        at = c->next[at];
    } while (at != tool);
}

static void count_places(struct capture_count *c, const struct audit_search *of, struct place_tally *tally)
{
    size_t places = 0;
    c->request++;
    c->asked_count = 0;
    if (of->tool != UINT32_MAX)
        mark_asked(c, of->tool);
    for (size_t u = 0; u < of->used_count; u++)
        mark_asked(c, of->used[u]);
    for (size_t i = 0; i < of->count && i < AUDIT_FIRST_PLACES; i++) {
        uint32_t hit = of->hits[i];
        size_t party = party_of(c->a, hit);
        if (c->answers_to[hit] == c->request || (of->tool != UINT32_MAX && hit == of->copy_of))
            continue;
        places++;
        tally->took[party] += c->asked_by[party] != c->request;
    }
    tally->all += places;
    for (size_t i = 0; i < c->asked_count; i++)
        tally->own[c->asked[i]] += places;
}

static const char *const kinds[] = {"others' descriptions", "likely requests for others' tools",
                                    "recorded requests for others' tools"};

static int report_capture(struct audit_run *a, size_t party, double share, double of_tools, const char *kind,
                          wt_error *err)
{
    bool provider = party < a->provider_count;
    uint32_t tool = provider ? 0 : (uint32_t)(party - a->provider_count);
    const struct new_finding found = {.rule = RULE_CAPTURE,
                                      .tools = provider ? NULL : &tool,
                                      .count = provider ? 0 : 1,
                                      .provider = provider ? (uint32_t)party : 0,
                                      .figure = share};
    struct str name = provider ? a->providers[party].name : wt__str(a->tools[tool].id);
    return wt__audit_add_finding(
        a, &found, err,
        "%s takes %.1f %% of the first %d places for %s, with %.2f %% of the tools: %.0f times its "
        "share.",
        wt__audit_quote(a, name), 100 * share, AUDIT_FIRST_PLACES, kind, 100 * of_tools, share / of_tools);
}

int wt__audit_capture(struct audit_run *a, const struct audit_searches *searches, wt_error *err)
{
    const struct {
        const struct audit_search *items;
        size_t count;
    } all[] = {{searches->plain, searches->plain_count},
               {searches->voiced, searches->voiced_count},
               {searches->recorded, searches->recorded_count}};
    enum { KINDS = sizeof all / sizeof *all };
    struct place_tally tallies[KINDS];
    struct capture_count counting = {0};
    if (a->count < CAPTURE_TOOLS)
        return 0;
    WT_TRY(init_capture_count(a, &counting, err));
    for (size_t k = 0; k < KINDS; k++) {
        WT_TRY(init_place_tally(a, &tallies[k], err));
        for (size_t i = 0; i < all[k].count; i++)
            count_places(&counting, &all[k].items[i], &tallies[k]);
    }
    for (size_t p = 0; p < a->provider_count + a->count; p++) {
        bool provider = p < a->provider_count;
        double of_tools = (provider ? (double)a->providers[p].tools : 1) / (double)a->count, best = 0;
        size_t kind = 0;
        for (size_t k = 0; k < KINDS; k++) {
            size_t places = tallies[k].all - tallies[k].own[p];
            double share =
                all[k].count < CAPTURE_REQUESTS || places == 0 ? 0 : (double)tallies[k].took[p] / (double)places;
            kind = share > best ? k : kind;
            best = share > best ? share : best;
        }
        if (wt__is_capture(best, of_tools))
            WT_TRY(report_capture(a, p, best, of_tools, kinds[kind], err));
    }
    return 0;
}
