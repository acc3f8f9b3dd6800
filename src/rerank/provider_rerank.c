/* provider_rerank.c: the reranker that applies ToolRerank (toolrerank.h) to the hits of a query. A candidate's score is
 * the probability of the cross-encoder. Without a cross-encoder, it is the first stage's score divided by the best
 * score. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rerank/reranker.h"
#include "rerank/toolrerank.h"
#include "retrieve/document.h"

static const char HIERARCHY_STAGE[] = "hierarchy";

/* A tool read from the store. */
struct known_tool {
    uint32_t row;
    float logit; /* logit of the cross-encoder, once computed */
    struct tool tool;
};

/* State of the callbacks of wt__toolrerank (struct toolrerank_source). */
struct hierarchy {
    const struct rerank_rules *rules;
    const struct reranker *reranker;
    const struct rerank_input *input;
    struct arena arena;
    struct cross *cross;      /* NULL without a cross-encoder */
    struct known_tool *known; /* [len] tools of all candidates made so far */
    size_t len, capacity;
    struct buffer id; /* scratch memory for wt__rules_seen */
};

static struct known_tool *find_known_tool(const struct hierarchy *h, uint32_t row)
{
    for (size_t i = 0; i < h->len; i++)
        if (h->known[i].row == row)
            return &h->known[i];
    return NULL;
}

/* Reads the tools in `rows` and converts them to candidates without scores. */
static int make_candidates(struct hierarchy *h, const uint32_t *rows, size_t count, struct candidate *out,
                           wt_error *err)
{
    const struct view *view = h->input->view;
    size_t padded = view->vectors ? wt__vectors_padded(view->vectors->dim) : 0;
    struct tool *tools = wt__arena_array(&h->arena, struct tool, count);
    float *storage = wt__arena_array(&h->arena, float, count *padded);
    WT_CHECK_ALLOC(tools && storage, err);
    WT_TRY(h->input->tools.read(h->input->tools.context, rows, count, &h->arena, tools, err));
    if (wt__grow((void **)&h->known, &h->capacity, h->len + count, sizeof *h->known) < 0)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const struct vectors *vectors = view->vectors;
        bool none = !vectors || rows[i] >= vectors->rows || vectors->slot_of_row[rows[i]] == VECTOR_NONE;
        out[i] = (struct candidate){.row = rows[i],
                                    .provider = tools[i].provider.len ? view->snapshot->keys[rows[i]].provider
                                                                      : HIERARCHY_NO_PROVIDER,
                                    .seen = wt__rules_seen(h->rules, &tools[i], &h->id),
                                    .vector = none ? NULL : wt__vectors_of_row(vectors, rows[i], storage + i * padded)};
        if (!none && !out[i].vector)
            return wt__fail(err, WT_ESTORE, "the vector of row %u is damaged", (unsigned)rows[i]);
        if (!find_known_tool(h, rows[i]))
            h->known[h->len++] = (struct known_tool){.row = rows[i], .tool = tools[i]};
    }
    return h->id.failed ? wt__fail_nomem(err) : 0;
}

static int score_rules_candidates(void *context, struct candidate *candidates, size_t count, wt_error *err)
{
    struct hierarchy *h = context;
    struct tool *tools = wt__arena_array(&h->arena, struct tool, count);
    float *logits = wt__arena_array(&h->arena, float, count);
    WT_CHECK_ALLOC(tools && logits, err);
    for (size_t i = 0; i < count; i++)
        tools[i] = find_known_tool(h, candidates[i].row)->tool;
    WT_TRY(wt__cross_encoder_score(h->cross, h->reranker->cross->fields, h->input->request->text, tools, count,
                                   h->input->progress, &h->arena, logits, err));
    for (size_t i = 0; i < count; i++) {
        find_known_tool(h, candidates[i].row)->logit = logits[i];
        candidates[i].score = wt__cross_probability(logits[i]);
    }
    return 0;
}

static int tools_of_provider(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err)
{
    struct hierarchy *h = context;
    const struct tool_reader *reader = &h->input->tools;
    const struct snapshot *snapshot = h->input->view->snapshot;
    size_t count, at = 0;
    uint32_t *rows;
    while (at < h->len && snapshot->keys[h->known[at].row].provider != provider)
        at++;
    if (at == h->len)
        return 0;
    WT_TRY(reader->rows_of(reader->context, h->known[at].tool.provider, most, &h->arena, &rows, &count, err));
    WT_TRY(make_candidates(h, rows, count, out, err));
    return (int)count;
}

/* Finds the provider number that the snapshot gives to tools without a provider. *out is HIERARCHY_NO_PROVIDER if there
 * are no such tools. */
static int find_no_provider_number(const struct rerank_input *input, struct arena *arena, uint32_t *out, wt_error *err)
{
    static const struct str no_provider = {"", 0};
    size_t count = 0;
    uint32_t *rows;
    int rc = input->tools.rows_of(input->tools.context, no_provider, 1, arena, &rows, &count, err);
    *out = rc == 0 && count > 0 ? input->view->snapshot->keys[rows[0]].provider : HIERARCHY_NO_PROVIDER;
    return rc;
}

/* Classifies the request, and sets `lack` of each candidate. Without trained rules or nearest rows, the kind is
 * unknown. */
static int find_kind(struct hierarchy *h, const struct hit_list *hits, struct candidate *candidates, size_t count,
                     enum request_kind *out, wt_error *err)
{
    uint32_t no_provider;
    *out = REQUEST_UNKNOWN;
    if (!hits->nearest || h->rules == &wt__rules_default)
        return 0;
    WT_TRY(find_no_provider_number(h->input, &h->arena, &no_provider, err));
    const struct request_texts texts = {.texts = hits->texts,
                                        .nearest = hits->nearest,
                                        .counts = hits->nearest_counts,
                                        .most = hits->nearest_most,
                                        .keys = h->input->view->snapshot->keys,
                                        .no_provider = no_provider};
    float lack = wt__request_lack(&texts, candidates, count);
    *out = wt__request_kind(&h->rules->classifier, lack);
    *h->input->multi_provider_probability = (double)wt__request_probability(&h->rules->classifier, lack);
    return 0;
}

/* Returns the index of the hit with this row; count if there is no such hit. */
static size_t find_hit_of_row(const struct hit *hits, size_t count, uint32_t row)
{
    size_t at = 0;
    while (at < count && hits[at].row != row)
        at++;
    return at;
}

/* Records the stage of the cross-encoder for candidate `i` in `hit`, the hit of this candidate. The stage has the rank
 * by the candidates' scores, the logit, and the change of the hit's score. */
static void note_cross_evidence(const struct hierarchy *h, const struct candidate *candidates, size_t count, size_t i,
                                struct hit *hit)
{
    struct stage_evidence *stage = wt__hit_stage(hit, CROSS_STAGE);
    stage->rank = 1;
    for (size_t j = 0; j < count; j++)
        stage->rank += candidates[j].score > candidates[i].score;
    stage->score = find_known_tool(h, candidates[i].row)->logit;
    wt__hit_rescore(hit, candidates[i].score);
}

/* Replaces the hits by the candidates in their order, followed by the hits that are not candidates. Limits each score
 * to the score of the previous hit. first: number of candidates that the rule put first. */
static int list_hits(const struct hierarchy *h, const struct candidate *candidates, size_t count, size_t first,
                     struct hit_list *hits, wt_error *err)
{
    struct hit *items = wt__arena_array(h->input->arena, struct hit, count + hits->len);
    size_t n = 0;
    WT_CHECK_ALLOC(items, err);
    for (size_t i = 0; i < count; i++) {
        size_t at = find_hit_of_row(hits->items, hits->len, candidates[i].row);
        struct hit *hit = &items[n++];
        *hit = at < hits->len ? hits->items[at] : (struct hit){.row = candidates[i].row, .brought = true};
        if (h->cross)
            note_cross_evidence(h, candidates, count, i, hit);
        struct stage_evidence *stage = wt__hit_stage(hit, HIERARCHY_STAGE);
        stage->rank = i + 1;
        stage->score = i < first;
    }
    for (size_t i = 0; i < hits->len; i++)
        if (find_hit_of_row(items, count, hits->items[i].row) == count)
            items[n++] = hits->items[i];
    for (size_t i = 1; i < n; i++) {
        float excess = fmaxf(items[i].score - items[i - 1].score, 0);
        items[i].score -= excess;
        wt__hit_stage(&items[i], HIERARCHY_STAGE)->share = -excess;
    }
    hits->items = items;
    hits->len = n;
    return 0;
}

/* Keeps the first `most` hits of each provider and removes its other hits, because the rules may have added tools of a
 * provider. */
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
    const struct vectors *vectors = h->input->view->vectors;
    struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
    uint32_t rows[HIERARCHY_MAX_CANDIDATES];
    size_t depth = wt__hierarchy_depth(&h->rules->settings), first;
    size_t count = hits->len < depth ? hits->len : depth;
    enum request_kind kind;
    const struct toolrerank_source source = {.context = h,
                                             .dim = vectors ? vectors->dim : 0,
                                             .score = h->cross ? score_rules_candidates : NULL,
                                             .tools_of = tools_of_provider};
    for (size_t i = 0; i < count; i++)
        rows[i] = hits->items[i].row;
    WT_TRY(make_candidates(h, rows, count, candidates, err));
    for (size_t i = 0; i < count; i++)
        candidates[i].score = hits->items[0].score > 0 ? hits->items[i].score / hits->items[0].score : 0;
    WT_TRY(find_kind(h, hits, candidates, count, &kind, err));
    WT_TRY(wt__toolrerank(&h->rules->settings, kind, &source, candidates, &count, &first, err));
    return list_hits(h, candidates, count, first, hits, err);
}

static void dispose_hierarchy(struct hierarchy *h)
{
    wt__buffer_dispose(&h->id);
    wt__arena_dispose(&h->arena);
    free(h->known);
}

static int run_rules(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits,
                     wt_error *err)
{
    WT_CLEANUP(dispose_hierarchy)
    struct hierarchy h = {.rules = reranker->model, .reranker = reranker, .input = input};
    if (h.rules->across)
        WT_TRY(wt__cross_encoder_open(reranker->cross, input->progress, &h.cross, err));
    WT_TRY(run_hierarchy(&h, hits, err));
    if (input->request->max_per_provider)
        cap_providers(input->view->snapshot->keys, input->request->max_per_provider, hits);
    return 0;
}

/* Reads the rules of a trained reranker. The thresholds of the rules were tuned to the scores of one cross-encoder, so
 * the identity of the cross-encoder must match. */
static int open_rules(struct reranker *out, const struct rerank_folder *folder, wt_error *err)
{
    struct rerank_rules *rules = wt__arena_array(folder->arena, struct rerank_rules, 1);
    out->model = rules;
    WT_CHECK_ALLOC(rules, err);
    WT_TRY(wt__rules_read(rules, folder->config, folder->arena, err));
    if (!rules->across)
        return 0;
    if (!out->cross)
        return wt__fail(err, WT_EMODEL, "the cross-encoder is missing");
    if (!wt__str_equal(wt__json_str(folder->config, CROSS_STAGE), wt__str(out->cross->identity)))
        return wt__fail(err, WT_EMODEL, "the cross-encoder has been retrained");
    return 0;
}

static void close_rules(void *model)
{
    struct rerank_rules *rules = model;
    if (rules)
        wt__map_dispose(&rules->seen);
}

static size_t rules_depth(const struct reranker *reranker)
{
    const struct rerank_rules *rules = reranker->model;
    return wt__hierarchy_depth(&rules->settings);
}

const struct rerank_kind wt__rerank_rules = {
    .plain = &wt__rules_default, .open = open_rules, .close = close_rules, .depth = rules_depth, .run = run_rules};
