#include "rerank/reranker.h"

#include <math.h>

bool wt__reranker_reads(const struct reranker *reranker)
{
    return reranker->reads > 0 || (reranker->rules && reranker->rules->across);
}

size_t wt__reranker_depth(const struct reranker *reranker)
{
    if (reranker->rules)
        return wt__hierarchy_depth(&reranker->rules->settings);
    return reranker->refiner ? wt__refiner_candidates(reranker->refiner) : reranker->reads;
}

void wt__hit_rescore(struct hit *hit, float score)
{
    hit->stages[STAGE_CROSS].share = score - hit->score;
    hit->score = score;
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

/* By probability; the hits behind the first `count` keep their order below them, on what is left of the scale. */
static void order_by(struct hit_list *hits, size_t count, const float *logits)
{
    for (size_t i = 0; i < count; i++) {
        hits->items[i].stages[STAGE_CROSS].score = logits[i];
        wt__hit_rescore(&hits->items[i], wt__cross_probability(logits[i]));
    }
    sort_hits(hits->items, count);
    for (size_t i = 0; i < count; i++)
        hits->items[i].stages[STAGE_CROSS].rank = i + 1;
    for (size_t i = count; i < hits->len; i++)
        wt__hit_rescore(&hits->items[i], fminf(hits->items[i].score, hits->items[i - 1].score));
}

int wt__rerank_across(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits,
                      wt_error *err)
{
    size_t count = hits->len < reranker->reads ? hits->len : reranker->reads;
    struct arena arena = {0};
    struct cross *cross;
    struct tool *tools = wt__arena_array(&arena, struct tool, count);
    float *logits = wt__arena_array(&arena, float, count);
    uint32_t *rows = wt__arena_array(&arena, uint32_t, count);
    int rc = logits && rows && tools ? wt__cross_encoder_open(reranker->cross, input->progress, &cross, err)
                                     : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rows[i] = hits->items[i].row;
    if (rc == 0)
        rc = input->tools.read(input->tools.context, rows, count, &arena, tools, err);
    if (rc == 0)
        rc = wt__cross_encoder_score(cross, reranker->cross->fields, input->request->text, tools, count,
                                     input->progress, &arena, logits, err);
    if (rc == 0)
        order_by(hits, count, logits);
    wt__arena_dispose(&arena);
    return rc;
}

int wt__rerank(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err)
{
    if (hits->len == 0)
        return 0;
    if (reranker->rules)
        return wt__rerank_by_provider(reranker, input, hits, err);
    if (reranker->refiner)
        return wt__refine(reranker->refiner, input->request->text, input->view->vectors, hits, err);
    return reranker->reads ? wt__rerank_across(reranker, input, hits, err) : 0;
}
