/* fuse.c: the table of sources of evidence (source.h). For each text and candidate, combines the evidence of all
 * sources into one value, a weighted sum. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "retrieve/source.h"

extern const struct source wt__source_bm25, wt__source_dense, wt__source_provider, wt__source_action, wt__source_scorer,
    wt__source_neighbours, wt__source_recorded, wt__source_named, wt__source_context;

/* In the order of enum source_id. */
const struct source *const wt__sources[SOURCES] = {&wt__source_bm25,     &wt__source_dense,  &wt__source_provider,
                                                   &wt__source_action,   &wt__source_scorer, &wt__source_neighbours,
                                                   &wt__source_recorded, &wt__source_named,  &wt__source_context};

const struct retriever wt__bm25 = {.weights = {[SOURCE_BM25] = 1}, .subquery = 1};
const struct retriever wt__dense = {.weights = {[SOURCE_DENSE] = 1}, .subquery = 1};
/* docs/decisions/0038-requests-in-several-sentences.md measures these weights. */
const struct retriever wt__hybrid = {
    .weights = {[SOURCE_SCORER] = 0.62f, [SOURCE_BM25] = 0.19f, [SOURCE_DENSE] = 0.19f}, .subquery = 1};

bool wt__retriever_uses(const struct retriever *retriever, enum source_id source)
{
    unsigned read = retriever->weights[SOURCE_SCORER] > 0 ? SCORER_READS : 0;
    return retriever->weights[source] > 0 || ((retriever->also | read) & 1u << source);
}

struct retriever wt__retriever_read(const json_t *weights)
{
    struct retriever retriever = {.subquery = fmaxf(wt__config_weight(weights, "subquery", 1), 0)};
    for (size_t s = 0; s < SOURCES; s++)
        if (!wt__sources[s]->is_preset)
            retriever.weights[s] = fmaxf(wt__config_weight(weights, wt__sources[s]->weight, 0), 0);
    return retriever;
}

json_t *wt__retriever_write(const struct retriever *retriever)
{
    json_auto_t *weights = json_pack("{s:f}", "subquery", (double)retriever->subquery);
    for (size_t s = 0; s < SOURCES; s++)
        if (!wt__sources[s]->is_preset &&
            json_object_set_new(weights, wt__sources[s]->weight, json_real((double)retriever->weights[s])) != 0)
            return NULL;
    return WT_TAKE(weights);
}

bool wt__query_uses(const struct source_query *query, enum source_id source)
{
    const struct source *s = wt__sources[source];
    if (s->has_data && !s->has_data(query->view))
        return false;
    return wt__retriever_uses(query->retriever, source) || (s->for_features && query->request->features);
}

/* Returns the contribution of a source to the value of candidate c for text t. sum: contributions of the sources before
 * it in the table. */
static float source_value(const struct source_query *query, enum source_id source, size_t t, size_t c, float sum)
{
    const struct source *s = wt__sources[source];
    float weight = query->weights[source];
    if (weight <= 0)
        return 0;
    float value = s->value ? s->value(query, weight, t, c) : weight * wt__ranking(query, t, source)->scores[c];
    return s->multiplies ? (sum + VALUE_LEAST * query->weight_sum) * (value - 1) : value;
}

/* Sets the weights of the query, adapted to this request. */
static void weigh_sources(struct source_query *query)
{
    memcpy(query->weights, query->retriever->weights, sizeof query->weights);
    query->weight_sum = 0;
    for (enum source_id s = 0; s < SOURCES; s++)
        query->weight_sum += wt__sources[s]->is_preset ? 0 : query->weights[s];
    query->weights[SOURCE_RECORDED] *= query->weight_sum;
    query->weights[SOURCE_NAMED] *= query->weight_sum;
    query->context_needed = wt__context_needed(query);
    query->weights[SOURCE_CONTEXT] *= query->context_needed;
}

int wt__fuse(struct source_query *query, struct evidence *out, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    uint32_t *provider = wt__arena_array(&workspace->arena, uint32_t, query->count);
    WT_CHECK_ALLOC(provider, err);
    weigh_sources(query);
    wt__context_raise(query);
    for (size_t c = 0; c < query->count; c++)
        provider[c] = query->view->snapshot->keys[query->rows[c]].provider;
    *out = (struct evidence){.texts = workspace->text_count,
                             .candidates = query->count,
                             .rows = query->rows,
                             .provider = provider,
                             .subquery_weight = query->retriever->subquery};
    for (size_t t = 0; t < workspace->text_count; t++) {
        out->value[t] = wt__arena_array(&workspace->arena, float, query->count);
        WT_CHECK_ALLOC(out->value[t], err);
        for (enum source_id s = 0; s < SOURCES; s++)
            for (size_t c = 0; c < query->count && query->weights[s] > 0; c++)
                out->value[t][c] += source_value(query, s, t, c, out->value[t][c]);
    }
    return wt__named_order(query, out, err);
}

/* Returns the 1-based rank of the row, or 0 if the source's search did not find it. */
static size_t find_source_rank(const struct ranking *ranking, uint32_t row)
{
    for (size_t i = 0; i < ranking->len; i++)
        if (ranking->top[i].row == row)
            return i + 1;
    return 0;
}

/* Returns the 1-based rank of candidate c by its value. Equal values are ranked in the order of the candidates. */
static size_t rank_by_value(const float *values, size_t count, size_t c)
{
    size_t rank = 1;
    for (size_t i = 0; i < count; i++)
        rank += values[i] > values[c] || (i < c && values[i] == values[c]);
    return rank;
}

void wt__fuse_hit(const struct source_query *query, const struct evidence *evidence,
                  const struct chosen_candidate *choice, const struct chosen_candidate *first, struct hit *out)
{
    size_t c = choice->candidate;
    float sum = 0;
    *out = (struct hit){
        .row = query->rows[c], .score = choice->score, .estimate = query->probability ? query->probability[c] : NAN};
    for (enum source_id s = 0; s < SOURCES; s++) {
        const struct ranking *whole = wt__ranking(query, 0, s);
        bool silent = wt__sources[s]->is_sparse && whole->scores[c] == 0;
        float value = source_value(query, s, 0, c, sum);
        sum += value;
        if (wt__retriever_uses(query->retriever, s) && !silent) {
            struct stage_evidence *stage = wt__hit_stage(out, wt__sources[s]->name);
            stage->rank = wt__sources[s]->ranks_all ? rank_by_value(whole->scores, query->count, c)
                                                    : find_source_rank(whole, query->rows[c]);
            stage->score = whole->scores[c];
            stage->share = value;
            stage->weight = query->weights[s];
        }
        if (wt__sources[s]->features)
            wt__sources[s]->features(query, c, out->features);
    }
    if (wt__query_uses(query, SOURCE_BM25))
        out->words = wt__word_share(query, c);
    out->features[FEATURE_SCORE] = first->score > 0 ? choice->score / first->score : 0;
    if (choice->text > 0) {
        struct stage_evidence *stage = wt__hit_stage(out, SUBQUERY_STAGE);
        out->subquery = query->workspace->texts[choice->text].written;
        stage->rank = rank_by_value(evidence->value[choice->text], evidence->candidates, c);
        stage->score = evidence->value[choice->text][c];
        stage->share = choice->subquery;
        stage->weight = evidence->subquery_weight;
    }
    wt__named_hit(query, evidence, choice, out);
}
