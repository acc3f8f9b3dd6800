/* reranker.c: calls the functions of a reranker's kind, and rescores and sorts hits. */
#include "rerank/reranker.h"

#include <math.h>

struct reranker wt__reranker_plain(const struct rerank_kind *kind)
{
    return (struct reranker){.kind = kind, .model = kind ? (void *)kind->plain : NULL}; /* never modified */
}

int wt__reranker_load(const struct reranker *reranker, wt_error *err)
{
    return reranker->kind && reranker->kind->load ? reranker->kind->load(reranker, err) : 0;
}

size_t wt__reranker_depth(const struct reranker *reranker)
{
    return reranker->kind ? reranker->kind->depth(reranker) : 0;
}

int wt__rerank(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits, wt_error *err)
{
    if (reranker->kind && hits->len > 0)
        WT_TRY(reranker->kind->run(reranker, input, hits, err));
    if (reranker->kind)
        wt__named_first(hits);
    return 0;
}

void wt__hit_rescore(struct hit *hit, float score)
{
    wt__hit_stage(hit, CROSS_STAGE)->share = score - hit->score;
    hit->score = score;
}

void wt__hits_sort(struct hit *hits, float *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct hit hit = hits[i];
        float key = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] < key; at--) {
            hits[at] = hits[at - 1];
            keys[at] = keys[at - 1];
        }
        hits[at] = hit;
        keys[at] = key;
    }
}

void wt__hits_order(struct hit_list *hits, float *keys, size_t count)
{
    wt__hits_sort(hits->items, keys, count);
    for (size_t i = 0; i < count; i++)
        wt__hit_stage(&hits->items[i], CROSS_STAGE)->rank = i + 1;
    for (size_t i = count; i < hits->len; i++)
        wt__hit_rescore(&hits->items[i], fminf(hits->items[i].score, hits->items[i - 1].score));
}
