/* second.c: a refiner sees vectors, which the snapshot has; a cross-encoder sees words, so that its candidates are read
 * from the store first, in one call. ToolRerank (rerank/toolrerank.h) gets what it asks for from here. */
#include "engine/second.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rerank/toolrerank.h"
#include "retrieve/document.h"

bool wt__second_reads(const struct second_stage *stage)
{
    return stage->cross > 0 || (stage->rules && stage->rules->across);
}

size_t wt__second_depth(const struct second_stage *stage)
{
    if (stage->rules)
        return wt__hierarchy_depth(&stage->rules->settings);
    return stage->refiner ? wt__refiner_candidates(stage->refiner) : stage->cross;
}

/* ---------------------------------------------------------------- what the cross-encoder reads */

/* The tools of these rows, in arena. */
static int read_tools(const struct second_look *look, const uint32_t *rows, size_t count, struct arena *arena,
                      struct tool **out, wt_error *err)
{
    int64_t *ids = wt__arena_array(arena, int64_t, count);
    *out = wt__arena_array(arena, struct tool, count);
    if (!ids || !*out)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        ids[i] = look->view->snapshot->keys[rows[i]].id;
    int rc = wt__shelf_tools(look->engine, look->shelf, ids, count, arena, *out, err);
    return rc < 0 ? rc : 0;
}

int wt__second_score(struct cross *cross, unsigned fields, struct str request, const struct tool *tools, size_t count,
                     struct arena *arena, float *logits, wt_error *err)
{
    struct token_run *runs = wt__arena_array(arena, struct token_run, count);
    int32_t *ids = wt__arena_array(arena, int32_t, count * CROSS_TOKENS);
    struct buffer text = {0};
    int rc = runs && ids ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        wt__buffer_clear(&text);
        wt__document_fields_text(&tools[i], fields, &text);
        if (text.failed)
            rc = wt__fail_nomem(err);
        else
            runs[i] = wt__cross_tokens(cross, wt__buffer_view(&text), ids + i * CROSS_TOKENS);
    }
    if (rc == 0)
        rc = wt__cross_score(cross, request, runs, count, logits, err);
    wt__buffer_dispose(&text);
    return rc;
}

/* ---------------------------------------------------------------- rerank-N */

/* Best first, by logit: probabilities of the best may all be one. Equal ones stay in their order. */
static void sort_hits(struct hit *hits, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct hit hit = hits[i];
        size_t at = i;
        for (; at > 0 && hits[at - 1].stages[STAGE_CROSS].score < hit.stages[STAGE_CROSS].score; at--)
            hits[at] = hits[at - 1];
        hits[at] = hit;
    }
}

static void rescore(struct hit *hit, float score)
{
    hit->stages[STAGE_CROSS].share = score - hit->score;
    hit->score = score;
}

/* By probability; the hits behind the first `count` keep their order below them, on what is left of the scale. */
static void order_by(struct hit_list *hits, size_t count, const float *logits)
{
    for (size_t i = 0; i < count; i++) {
        hits->items[i].stages[STAGE_CROSS].score = logits[i];
        rescore(&hits->items[i], wt__cross_probability(logits[i]));
    }
    sort_hits(hits->items, count);
    for (size_t i = 0; i < count; i++)
        hits->items[i].stages[STAGE_CROSS].rank = i + 1;
    for (size_t i = count; i < hits->len; i++)
        rescore(&hits->items[i], fminf(hits->items[i].score, hits->items[i - 1].score));
}

static int look_across(const struct second_stage *stage, const struct second_look *look, struct hit_list *hits,
                       wt_error *err)
{
    size_t count = hits->len < stage->cross ? hits->len : stage->cross;
    struct arena arena = {0};
    struct cross *cross;
    struct tool *tools;
    float *logits = wt__arena_array(&arena, float, count);
    uint32_t *rows = wt__arena_array(&arena, uint32_t, count);
    int rc = logits && rows ? wt__trained_cross(stage->trained, &cross, err) : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rows[i] = hits->items[i].row;
    if (rc == 0)
        rc = read_tools(look, rows, count, &arena, &tools, err);
    if (rc == 0)
        rc = wt__second_score(cross, stage->trained->cross->fields, look->request->text, tools, count, &arena, logits,
                              err);
    if (rc == 0)
        order_by(hits, count, logits);
    wt__arena_dispose(&arena);
    return rc;
}

/* ---------------------------------------------------------------- toolrerank */

/* A tool that was read. */
struct known {
    uint32_t row;
    float logit;
    struct tool tool;
};

/* What the pipeline's callbacks work with. */
struct hierarchy {
    const struct rules *rules;
    const struct second_stage *stage;
    const struct second_look *look;
    struct arena arena;
    struct cross *cross; /* NULL: the first stage's scores stay */
    struct known *known; /* [len] */
    size_t len, capacity;
    struct buffer id;
};

static struct known *known_of(const struct hierarchy *h, uint32_t row)
{
    for (size_t i = 0; i < h->len; i++)
        if (h->known[i].row == row)
            return &h->known[i];
    return NULL;
}

/* Reads the tools of rows and makes candidates of them, without scores. */
static int make_candidates(struct hierarchy *h, const uint32_t *rows, size_t count, struct candidate *out,
                           wt_error *err)
{
    const struct view *view = h->look->view;
    struct tool *tools;
    int rc = read_tools(h->look, rows, count, &h->arena, &tools, err);
    if (rc == 0 && wt__grow((void **)&h->known, &h->capacity, h->len + count, sizeof *h->known) < 0)
        rc = wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct vectors *vectors = view->vectors;
        bool none = !vectors || rows[i] >= vectors->rows || vectors->slot_of_row[rows[i]] == VECTOR_NONE;
        out[i] = (struct candidate){.row = rows[i],
                                    .provider = tools[i].provider.len ? view->snapshot->keys[rows[i]].provider
                                                                      : HIERARCHY_NO_PROVIDER,
                                    .seen = wt__rules_seen(h->rules, &tools[i], &h->id),
                                    .vector = none ? NULL : wt__vectors_of_row(vectors, rows[i])};
        if (!none && !out[i].vector)
            rc = wt__fail(err, WT_ESTORE, "the vector of row %u is damaged", (unsigned)rows[i]);
        if (!known_of(h, rows[i]))
            h->known[h->len++] = (struct known){.row = rows[i], .tool = tools[i]};
    }
    return rc == 0 && h->id.failed ? wt__fail_nomem(err) : rc;
}

static int score_candidates(void *context, struct candidate *candidates, size_t count, wt_error *err)
{
    struct hierarchy *h = context;
    struct tool *tools = wt__arena_array(&h->arena, struct tool, count);
    float *logits = wt__arena_array(&h->arena, float, count);
    int rc = tools && logits ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        tools[i] = known_of(h, candidates[i].row)->tool;
    if (rc == 0)
        rc = wt__second_score(h->cross, h->stage->trained->cross->fields, h->look->request->text, tools, count,
                              &h->arena, logits, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        known_of(h, candidates[i].row)->logit = logits[i];
        candidates[i].score = wt__cross_probability(logits[i]);
    }
    return rc;
}

static int tools_of_provider(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err)
{
    struct hierarchy *h = context;
    const struct snapshot *snapshot = h->look->view->snapshot;
    size_t count, kept = 0, at = 0;
    int64_t *ids;
    while (at < h->len && snapshot->keys[h->known[at].row].provider != provider)
        at++;
    if (at == h->len)
        return 0;
    int rc = wt__shelf_provider(h->look->engine, h->look->shelf, &h->known[at].tool.provider, most, &h->arena, &ids,
                                &count, err);
    if (rc < 0)
        return rc;
    uint32_t *rows = wt__arena_array(&h->arena, uint32_t, count);
    if (!rows)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        size_t row = wt__shelf_row(snapshot, ids[i]);
        if (row < snapshot->rows) /* or it came after the snapshot */
            rows[kept++] = (uint32_t)row;
    }
    rc = make_candidates(h, rows, kept, out, err);
    return rc < 0 ? rc : (int)kept;
}

/* The number that stands for having no provider. */
static int number_of_nobody(const struct second_look *look, struct arena *arena, uint32_t *out, wt_error *err)
{
    static const struct str nobody = {"", 0};
    const struct snapshot *snapshot = look->view->snapshot;
    size_t count = 0;
    int64_t *ids;
    int rc = wt__shelf_provider(look->engine, look->shelf, &nobody, 1, arena, &ids, &count, err);
    size_t row = rc >= 0 && count > 0 ? wt__shelf_row(snapshot, ids[0]) : snapshot->rows;
    *out = row < snapshot->rows ? snapshot->keys[row].provider : HIERARCHY_NO_PROVIDER;
    return rc < 0 ? rc : 0;
}

/* What kind of request it is, and what the candidates' providers lack. */
static int find_kind(struct hierarchy *h, const struct hit_list *hits, struct candidate *candidates, size_t count,
                     enum request_kind *out, wt_error *err)
{
    uint32_t nobody;
    *out = REQUEST_UNKNOWN;
    if (!hits->nearest || h->rules == &wt__rules_untrained)
        return 0;
    int rc = number_of_nobody(h->look, &h->arena, &nobody, err);
    if (rc < 0)
        return rc;
    const struct request_texts texts = {.texts = hits->texts,
                                        .nearest = hits->nearest,
                                        .counts = hits->nearest_counts,
                                        .most = hits->nearest_most,
                                        .keys = h->look->view->snapshot->keys,
                                        .nobody = nobody};
    float lack = wt__request_lack(&texts, candidates, count);
    *out = wt__request_kind(&h->rules->classifier, lack);
    *h->look->several = (double)wt__request_probability(&h->rules->classifier, lack);
    return 0;
}

static size_t place_of(const struct hit_list *hits, uint32_t row)
{
    size_t at = 0;
    while (at < hits->len && hits->items[at].row != row)
        at++;
    return at;
}

/* What the cross-encoder said of the i-th candidate. */
static void tell_cross(const struct hierarchy *h, const struct candidate *candidates, size_t count, size_t i,
                       struct hit *hit)
{
    struct stage_evidence *stage = &hit->stages[STAGE_CROSS];
    stage->rank = 1;
    for (size_t j = 0; j < count; j++)
        stage->rank += candidates[j].score > candidates[i].score;
    stage->score = known_of(h, candidates[i].row)->logit;
    rescore(hit, candidates[i].score);
}

/* The candidates as hits, and behind them those that are not among them, in their order. No score is above the one
 * before it, so that order and score say the same. */
static int list_hits(const struct hierarchy *h, const struct candidate *candidates, size_t count, size_t first,
                     struct hit_list *hits, wt_error *err)
{
    struct hit *items = wt__arena_array(h->look->arena, struct hit, count + hits->len);
    size_t n = 0;
    if (!items)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        size_t at = place_of(hits, candidates[i].row);
        struct hit *hit = &items[n++];
        *hit = at < hits->len ? hits->items[at] : (struct hit){.row = candidates[i].row};
        if (h->cross)
            tell_cross(h, candidates, count, i, hit);
        hit->stages[STAGE_HIERARCHY] = (struct stage_evidence){.rank = i + 1, .score = i < first};
    }
    for (size_t i = 0; i < hits->len; i++) {
        size_t at = 0;
        while (at < count && items[at].row != hits->items[i].row)
            at++;
        if (at == count)
            items[n++] = hits->items[i];
    }
    for (size_t i = 1; i < n; i++) {
        float excess = fmaxf(items[i].score - items[i - 1].score, 0);
        items[i].score -= excess;
        items[i].stages[STAGE_HIERARCHY].share = -excess;
    }
    hits->items = items;
    hits->len = n;
    return 0;
}

/* What the rules fetched may be more of a provider than was asked for. */
static void cap_providers(const struct snapshot_key *keys, size_t most, struct hit_list *hits)
{
    size_t kept = 0;
    for (size_t i = 0; i < hits->len; i++) {
        size_t same = 0;
        for (size_t j = 0; j < kept; j++)
            same += keys[hits->items[j].row].provider == keys[hits->items[i].row].provider;
        if (same < most)
            hits->items[kept++] = hits->items[i];
    }
    hits->len = kept;
}

static int run_hierarchy(struct hierarchy *h, struct hit_list *hits, wt_error *err)
{
    struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
    uint32_t rows[HIERARCHY_MAX_CANDIDATES];
    size_t depth = wt__hierarchy_depth(&h->rules->settings), first;
    size_t count = hits->len < depth ? hits->len : depth;
    enum request_kind kind;
    const struct toolrerank_source source = {.context = h,
                                             .dim = wt__encoder_dim(h->look->view->encoder),
                                             .score = h->cross ? score_candidates : NULL,
                                             .tools_of = tools_of_provider};
    for (size_t i = 0; i < count; i++)
        rows[i] = hits->items[i].row;
    int rc = make_candidates(h, rows, count, candidates, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        candidates[i].score = hits->items[0].score > 0 ? hits->items[i].score / hits->items[0].score : 0;
    if (rc == 0)
        rc = find_kind(h, hits, candidates, count, &kind, err);
    if (rc == 0)
        rc = wt__toolrerank(&h->rules->settings, kind, &source, candidates, &count, &first, err);
    return rc < 0 ? rc : list_hits(h, candidates, count, first, hits, err);
}

static int look_at_hierarchy(const struct second_stage *stage, const struct second_look *look, struct hit_list *hits,
                             wt_error *err)
{
    struct hierarchy h = {.rules = stage->rules, .stage = stage, .look = look};
    int rc = stage->rules->across ? wt__trained_cross(stage->trained, &h.cross, err) : 0;
    if (rc == 0)
        rc = run_hierarchy(&h, hits, err);
    if (rc == 0 && look->request->max_per_provider)
        cap_providers(look->view->snapshot->keys, look->request->max_per_provider, hits);
    wt__buffer_dispose(&h.id);
    wt__arena_dispose(&h.arena);
    free(h.known);
    return rc;
}

int wt__second_look(const struct second_stage *stage, const struct second_look *look, struct hit_list *hits,
                    wt_error *err)
{
    if (hits->len == 0)
        return 0;
    if (stage->rules)
        return look_at_hierarchy(stage, look, hits, err);
    if (stage->refiner)
        return wt__refine(stage->refiner, look->request->text, look->view->vectors, hits, err);
    return stage->cross ? look_across(stage, look, hits, err) : 0;
}
