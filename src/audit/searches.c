#include "audit/searches.h"

#include <math.h>
#include <stdlib.h>

#include "audit/request_vectors.h"
#include "audit/voices.h"
#include "base/buffer.h"
#include "base/pool.h"
#include "base/rng.h"
#include "engine/search.h"
#include "index/snapshot.h"
#include "retrieve/document.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- requests */

static size_t count_blank_words(struct str text)
{
    size_t words = 0;
    bool inside = false;
    for (size_t i = 0; i < text.len; i++) {
        bool blank = wt__is_blank(text.ptr[i]);
        words += !blank && !inside;
        inside = !blank;
    }
    return words;
}

void wt__audit_request(struct str description, struct buffer *out)
{
    size_t begin = out->len;
    wt__document_head(description, out);
    if (out->failed)
        return;
    struct str head = {out->ptr + begin, out->len - begin};
    for (size_t i = 0; i + 1 < head.len; i++) {
        bool ends = head.ptr[i] == '.' || head.ptr[i] == '!' || head.ptr[i] == '?';
        if (!ends || !wt__is_blank(head.ptr[i + 1]) || count_blank_words((struct str){head.ptr, i + 1}) < SEARCH_WORDS)
            continue;
        wt__buffer_cut(out, begin + i + 1);
        break;
    }
}

static int make_plain(struct auditing *a, struct searches *out, wt_error *err)
{
    size_t most = a->options.searches;
    struct rng rng;
    uint32_t *drawn = wt__arena_array(&a->scratch, uint32_t, a->count);
    bool *chosen = wt__arena_array(&a->scratch, bool, a->count);
    struct buffer text = {0};
    if (!drawn || !chosen)
        return wt__fail_nomem(err);
    if (most > a->count)
        most = a->count;
    wt__rng_seed(&rng, a->options.seed);
    wt__rng_draw(&rng, drawn, a->count, most);
    for (size_t i = 0; i < most; i++)
        chosen[drawn[i]] = true;
    out->plain = wt__arena_array(&a->scratch, struct searched, most);
    int rc = out->plain ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < a->count; i++) {
        wt__buffer_clear(&text);
        if (!chosen[i])
            continue;
        wt__audit_request(a->tools[i].tool.description, &text);
        struct str request = wt__str_trim(wt__buffer_view(&text));
        if (!text.failed && !wt__has_word(request))
            continue;
        char *copy = text.failed ? NULL : wt__arena_copy(&a->scratch, request);
        out->plain[out->plain_count++] = (struct searched){.tool = (uint32_t)i, .request = {copy, request.len}};
        rc = copy ? 0 : wt__fail_nomem(err);
    }
    wt__buffer_dispose(&text);
    return rc;
}

/* Makes one voiced request per plain one, bounded because a few thousand places suffice to measure a share. All voices
 * are used equally often. */
static int make_voiced(struct auditing *a, struct searches *out, wt_error *err)
{
    size_t count = out->plain_count == 0                    ? 0
                   : out->plain_count < SEARCH_VOICED_LEAST ? SEARCH_VOICED_LEAST
                                                            : out->plain_count;
    if (count > SEARCH_VOICED_MOST)
        count = SEARCH_VOICED_MOST;
    if (count > a->options.searches)
        count = a->options.searches;
    struct buffer text = {0};
    struct rng rng;
    uint32_t *order = wt__arena_array(&a->scratch, uint32_t, out->plain_count);
    out->voiced = wt__arena_array(&a->scratch, struct searched, count);
    int rc = order && out->voiced ? 0 : wt__fail_nomem(err);
    wt__rng_seed(&rng, a->options.seed + 1);
    if (rc == 0)
        wt__rng_draw(&rng, order, out->plain_count, out->plain_count > 0 ? out->plain_count - 1 : 0);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct searched *plain = &out->plain[order[i % out->plain_count]];
        const struct voice *voice = &wt__voices[(i + i / out->plain_count) % VOICES];
        wt__buffer_clear(&text);
        wt__buffer_text(&text, voice->before);
        wt__buffer_str(&text, plain->request);
        wt__buffer_text(&text, voice->after);
        char *copy = text.failed ? NULL : wt__arena_copy(&a->scratch, wt__buffer_view(&text));
        out->voiced[out->voiced_count++] = (struct searched){.tool = plain->tool, .request = {copy, text.len}};
        rc = copy ? 0 : wt__fail_nomem(err);
    }
    wt__buffer_dispose(&text);
    return rc;
}

/* ---------------------------------------------------------------- recorded requests */

/* Adds a usage. Usages of the same request are merged, with the tools of all. */
static int merge_usage(struct auditing *a, struct searches *out, struct map *requests, const struct usage *usage,
                       wt_error *err)
{
    bool added;
    uint32_t *place = wt__map_insert(requests, usage->request, (uint32_t)out->recorded_count, &added);
    if (!place)
        return wt__fail_nomem(err);
    struct searched *of = &out->recorded[*place];
    if (added) {
        uint32_t *used = wt__arena_array(&a->scratch, uint32_t, SEARCH_USED);
        *of = (struct searched){.request = usage->request, .used = used, .tool = UINT32_MAX};
        out->recorded_count++;
        if (!used)
            return wt__fail_nomem(err);
    }
    uint32_t *used = (uint32_t *)of->used;
    for (size_t t = 0; t < usage->tool_count && of->used_count < SEARCH_USED; t++) {
        size_t tool = wt__audit_place(a, usage->tools[t].tool);
        bool known = tool == a->count;
        for (size_t i = 0; i < of->used_count && !known; i++)
            known = used[i] == tool;
        if (!known)
            used[of->used_count++] = (uint32_t)tool;
    }
    return 0;
}

/* Reads recorded requests, the newest first, up to the limit of searches. */
static int read_used_requests(struct auditing *a, struct searches *out, wt_error *err)
{
    struct usage_query query = {.teaching = true};
    struct usage *usages = NULL;
    struct store *reader;
    struct map requests = {0};
    size_t count = 0;
    int rc = wt__engine_reader(a->engine, &reader, err);
    if (rc < 0)
        return rc;
    rc = wt__store_usages(reader, &query, &a->scratch, &usages, &count, err);
    wt__engine_return_reader(a->engine, reader);
    size_t most = count < a->options.searches ? count : a->options.searches;
    out->recorded = wt__arena_array(&a->scratch, struct searched, most + 1);
    if (rc == 0 && !out->recorded)
        rc = wt__fail_nomem(err);
    for (size_t i = count; rc == 0 && i-- > 0 && out->recorded_count < most;)
        rc = merge_usage(a, out, &requests, &usages[i], err);
    wt__map_dispose(&requests);
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- searching */

enum { SEARCH_BLOCK = 256 /* requests per encoded batch; cancellation is checked between batches */ };

struct searching {
    struct auditing *a;
    const char *recipe;
    struct request_vectors vectors;
    struct searched *items;
    wt_error *errors; /* [threads] */
    unsigned threads;
    const char *encoder; /* in the result's arena */
};

/* Sets the rank of the searched tool, and the tool it is a copy of. */
static void place_tool(const struct searching *s, const struct search *search, struct searched *of)
{
    const struct hit_list *hits = &search->hits;
    const struct snapshot *snapshot = search->index->snapshot;
    of->copy_of = UINT32_MAX;
    if (of->tool == UINT32_MAX)
        return;
    uint32_t own = (uint32_t)wt__snapshot_row(snapshot, s->a->tools[of->tool].key), stands_for = own;
    if (own >= snapshot->rows)
        return;
    for (size_t g = 0; g < hits->given_count; g++)
        if (hits->given[g].row == own)
            stands_for = hits->given[g].of;
    uint32_t group = snapshot->keys[own].group;
    for (size_t i = 0; i < hits->len && of->rank == 0; i++) {
        uint32_t row = hits->items[i].row;
        bool same = row == own, word = !same && group > 0 && snapshot->keys[row].group == group;
        if (!same && !word && row != stands_for)
            continue;
        of->rank = (uint8_t)(i + 1);
        of->word_for_word = word;
        size_t place = same ? s->a->count : wt__audit_place(s->a, snapshot->keys[row].id);
        of->copy_of = place < s->a->count ? (uint32_t)place : UINT32_MAX;
    }
}

static int search_audit_request(void *context, size_t index, unsigned worker)
{
    struct searching *s = context;
    struct searched *of = &s->items[index];
    struct arena arena = {0};
    wt_error *err = &s->errors[worker];
    struct search search = {.engine = s->a->engine,
                            .request = of->request,
                            .arena = &arena,
                            .recipe = s->recipe,
                            .k = SEARCH_DEPTH,
                            .copies = COPIES_SHARED,
                            .new_in_full = true,
                            .as_typed = true,
                            .encoded = wt__request_vectors_of(&s->vectors, of->request, &arena),
                            .encoded_by = s->vectors.encoder};
    int rc = wt__search_run(&search, err);
    for (size_t i = 0; rc == 0 && i < search.hits.len; i++) {
        const struct hit *hit = &search.hits.items[i];
        size_t place = wt__audit_place(s->a, search.index->snapshot->keys[hit->row].id);
        if (place == s->a->count) /* added after the audit began */
            continue;
        of->hits[of->count] = (uint32_t)place;
        of->scores[of->count++] = hit->score;
    }
    if (rc == 0)
        place_tool(s, &search, of);
    wt__search_end(&search);
    wt__arena_dispose(&arena);
    if (rc == 0 && wt__progress_step(&s->a->progress, 1))
        rc = wt__fail_cancelled(err);
    return rc;
}

static int search_block(struct searching *s, struct searched *items, size_t count, wt_error *err)
{
    struct str requests[SEARCH_BLOCK];
    for (size_t i = 0; i < count; i++)
        requests[i] = items[i].request;
    int rc = wt__request_vectors_make(&s->vectors, requests, count, s->threads, err);
    if (rc < 0)
        return rc;
    s->items = items;
    rc = wt__pool_run(s->threads, count, search_audit_request, s);
    for (unsigned t = 0; rc < 0 && err && t < s->threads; t++)
        if (s->errors[t].code == rc)
            *err = s->errors[t];
    return rc;
}

static int search_audit_requests(struct searching *s, const char *phase, struct searched *items, size_t count,
                                 wt_error *err)
{
    if (wt__progress_phase(&s->a->progress, phase, count))
        return wt__fail_cancelled(err);
    int rc = 0;
    for (size_t begin = 0; rc == 0 && begin < count; begin += SEARCH_BLOCK)
        rc = search_block(s, items + begin, count - begin < SEARCH_BLOCK ? count - begin : SEARCH_BLOCK, err);
    return rc;
}

/* Loads the models and the index once, before several threads need them. */
static int warm_up(struct searching *s, const struct encoder *encoder, struct searched *first, wt_error *err)
{
    struct arena arena = {0};
    struct search search = {.engine = s->a->engine,
                            .request = first->request,
                            .arena = &arena,
                            .recipe = s->recipe,
                            .k = 1,
                            .as_typed = true,
                            .progress = &s->a->progress};
    int rc = wt__search_run(&search, err);
    if (rc == 0 && search.notice && !(s->a->notice = wt__arena_copy(s->a->arena, wt__str(search.notice))))
        rc = wt__fail_nomem(err);
    if (rc == 0 && search.plan.encoder == encoder) /* a different encoder may be freed with the plan */
        s->vectors.encoder = encoder;
    if (rc == 0 && !(s->encoder = wt__arena_copy(s->a->arena, wt__str(search.encoder))))
        rc = wt__fail_nomem(err);
    wt__search_end(&search);
    wt__arena_dispose(&arena);
    return rc;
}

static int run_searches(struct auditing *a, struct searches *out, wt_error *err)
{
    const struct encoder *encoder = NULL;
    struct searching s = {.a = a, .threads = a->engine->threads ? a->engine->threads : wt__processor_count()};
    wt_error why = {0};
    int rc = wt__engine_load_encoder(a->engine, &a->progress, &encoder, &why);
    if (rc < 0 && rc != WT_EMODEL) {
        if (err)
            *err = why;
        return rc;
    }
    s.recipe = rc == 0 ? "hybrid" : "bm25";
    s.errors = wt__arena_array(&a->scratch, wt_error, s.threads);
    rc = s.errors ? 0 : wt__fail_nomem(err);
    if (rc == 0)
        rc = warm_up(&s, encoder, out->plain_count > 0 ? out->plain : out->recorded, err);
    if (rc == 0)
        rc = search_audit_requests(&s, "searching descriptions", out->plain, out->plain_count, err);
    if (rc == 0)
        rc = search_audit_requests(&s, "searching made requests", out->voiced, out->voiced_count, err);
    if (rc == 0)
        rc = search_audit_requests(&s, "searching recorded requests", out->recorded, out->recorded_count, err);
    wt__request_vectors_dispose(&s.vectors);
    out->recipe = s.recipe;
    out->encoder = s.encoder ? s.encoder : "";
    return rc;
}

int wt__audit_search(struct auditing *a, struct searches *out, wt_error *err)
{
    *out = (struct searches){.recipe = "", .encoder = ""};
    int rc = make_plain(a, out, err);
    if (rc == 0 && a->wanted[RULE_CAPTURE])
        rc = make_voiced(a, out, err);
    if (rc == 0 && (a->wanted[RULE_CAPTURE] || a->wanted[RULE_UNREACHED_BY_USE]))
        rc = read_used_requests(a, out, err);
    if (rc == 0 && out->plain_count + out->recorded_count > 0)
        rc = run_searches(a, out, err);
    return rc;
}

const struct searched *wt__audit_own_search(const struct searches *searches, uint32_t tool)
{
    size_t low = 0, high = searches->plain_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (searches->plain[middle].tool < tool)
            low = middle + 1;
        else
            high = middle;
    }
    return low < searches->plain_count && searches->plain[low].tool == tool ? &searches->plain[low] : NULL;
}
