/* capture.c: finds providers whose share of the first places is far beyond their share of the tools.
 *
 *   share(P) = places taken by P's tools / all places
 *   lift(P)  = share(P) / P's share of the tools
 *
 * Only the first AUDIT_FIRST_PLACES count, and only requests that are not for P: made from other providers'
 * descriptions, or recorded without use of P's tools. The request's own tool is left out of both counts. A tool without
 * a provider is its own party.
 *
 * The thresholds were chosen on floods of toolbench-i3 and metatool (docs/audit.md). Honest small providers reach a
 * lift of 6 with a small share; honest large ones reach a share of 5 % with a lift of 1. Only floods have both.
 *
 * A request made from a description is for every provider with a word-for-word copy of the tool. A search shows one of
 * several copies. Without this rule, the first of ten providers with the same tools would seem to take the places of
 * the other nine.
 *
 * Three kinds of requests are counted separately, and the largest share decides:
 *   - plain descriptions, which find texts stuffed with the catalogue's words
 *   - descriptions phrased as people ask (voices.h), which find texts stuffed with words of requests
 *   - recorded requests */
#include "audit/families.h"

#include "index/snapshot.h"

enum {
    CAPTURE_TOOLS = 100,   /* minimum tools; in smaller catalogues such shares arise by chance */
    CAPTURE_REQUESTS = 100 /* minimum requests of one kind, for the same reason */
};

static const double CAPTURE_SHARE = 0.03, CAPTURE_LIFT = 4;

bool wt__is_capture(double of_places, double of_tools)
{
    return of_places >= CAPTURE_SHARE && of_places >= CAPTURE_LIFT * of_tools;
}

/* Returns the party of a tool: its provider, or provider_count + tool if it has no provider. */
static size_t party_of(const struct auditing *a, uint32_t tool)
{
    uint32_t provider = a->tools[tool].provider;
    return a->providers[provider].name.len > 0 ? provider : a->provider_count + tool;
}

/* Links word-for-word copies into rings: following `next` from any tool visits its copies and returns to it. */
static int link_copies(struct auditing *a, uint32_t *next, wt_error *err)
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
            size_t place = wt__audit_place(a, index->snapshot->keys[rows[i]].id);
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

struct tally {
    size_t all;   /* places */
    size_t *own;  /* [parties] places in requests for the party */
    size_t *took; /* [parties] places taken in requests for other parties */
};

struct counting {
    const struct auditing *a;
    uint32_t *next;     /* [tools] rings of copies */
    size_t *answers_to; /* [tools] last request answered by the tool or a copy of it; from 1 */
    size_t *asked_by;   /* [parties] last request for the party; from 1 */
    size_t *asked;      /* [asked_count] parties of the current request */
    size_t asked_count, request;
};

static int counting_new(struct auditing *a, struct counting *out, wt_error *err)
{
    size_t parties = a->provider_count + a->count;
    *out = (struct counting){.a = a,
                             .next = wt__arena_array(&a->scratch, uint32_t, a->count),
                             .answers_to = wt__arena_array(&a->scratch, size_t, a->count),
                             .asked_by = wt__arena_array(&a->scratch, size_t, parties),
                             .asked = wt__arena_array(&a->scratch, size_t, parties)};
    return out->next && out->answers_to && out->asked_by && out->asked ? link_copies(a, out->next, err)
                                                                       : wt__fail_nomem(err);
}

static int tally_new(struct auditing *a, struct tally *out, wt_error *err)
{
    size_t parties = a->provider_count + a->count;
    out->all = 0;
    out->own = wt__arena_array(&a->scratch, size_t, parties);
    out->took = wt__arena_array(&a->scratch, size_t, parties);
    return out->own && out->took ? 0 : wt__fail_nomem(err);
}

/* Marks the current request as one for the tool, its copies, and their parties. */
static void ask_for(struct counting *c, uint32_t tool)
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

static void count_search(struct counting *c, const struct searched *of, struct tally *tally)
{
    size_t places = 0;
    c->request++;
    c->asked_count = 0;
    if (of->tool != UINT32_MAX)
        ask_for(c, of->tool);
    for (size_t u = 0; u < of->used_count; u++)
        ask_for(c, of->used[u]);
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

static const char *const kinds[] = {"others' descriptions", "what people may ask of others' tools",
                                    "recorded requests that used others"};

static int report_capture(struct auditing *a, size_t party, double share, double of_tools, const char *kind,
                          wt_error *err)
{
    bool provider = party < a->provider_count;
    uint32_t tool = provider ? 0 : (uint32_t)(party - a->provider_count);
    const struct found found = {.rule = RULE_CAPTURE,
                                .tools = provider ? NULL : &tool,
                                .count = provider ? 0 : 1,
                                .provider = provider ? (uint32_t)party : 0,
                                .figure = share};
    struct str name = provider ? a->providers[party].name : wt__str(a->tools[tool].id);
    return wt__audit_find(a, &found, err,
                          "%s takes %.1f %% of the first %d places for %s, with %.2f %% of the tools: %.0f times its "
                          "share.",
                          wt__audit_quoted(a, name), 100 * share, AUDIT_FIRST_PLACES, kind, 100 * of_tools,
                          share / of_tools);
}

int wt__audit_capture(struct auditing *a, const struct searches *searches, wt_error *err)
{
    const struct {
        const struct searched *items;
        size_t count;
    } all[] = {{searches->plain, searches->plain_count},
               {searches->voiced, searches->voiced_count},
               {searches->recorded, searches->recorded_count}};
    enum { KINDS = sizeof all / sizeof *all };
    struct tally tallies[KINDS];
    struct counting counting = {0};
    if (a->count < CAPTURE_TOOLS)
        return 0;
    int rc = counting_new(a, &counting, err);
    for (size_t k = 0; rc == 0 && k < KINDS; k++) {
        rc = tally_new(a, &tallies[k], err);
        for (size_t i = 0; rc == 0 && i < all[k].count; i++)
            count_search(&counting, &all[k].items[i], &tallies[k]);
    }
    for (size_t p = 0; rc == 0 && p < a->provider_count + a->count; p++) {
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
            rc = report_capture(a, p, best, of_tools, kinds[kind], err);
    }
    return rc;
}
