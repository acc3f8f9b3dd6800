/* neighbours.c: see neighbours.h. An exact scan: a store has at most tens of thousands of usages, which take some
 * milliseconds. */
#include "retrieve/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "index/lexical.h"
#include "nn/kernels/kernels.h"
#include "retrieve/source.h"

static const float SHARPNESS = 20; /* of the votes; the encoder was trained with the same value */

size_t wt__neighbours_nearest(const struct neighbours *n, const float *query, size_t k, float *scores,
                              struct scored *best)
{
    struct topk top = {.items = best, .k = k};
    wt__kernels()->dots_f32(query, n->requests, n->count, n->dim, scores);
    for (uint32_t i = 0; i < n->count; i++)
        if (!n->left_out || !(n->left_out[i / 64] >> i % 64 & 1))
            wt__topk_push(&top, (struct scored){scores[i], i});
    wt__topk_sort(&top);
    return top.len;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = ((const struct scored *)a)->row, y = ((const struct scored *)b)->row;
    return (x > y) - (x < y);
}

float wt__neighbours_weight(float cosine, float nearest)
{
    return expf(SHARPNESS * (cosine - nearest));
}

struct neighbour_votes wt__neighbours_vote(const struct neighbours *n, const float *query, const uint64_t *allowed,
                                           float *scores, struct scored *items, struct scored *requests)
{
    size_t len = wt__neighbours_nearest(n, query, NEIGHBOURS_ASKED, scores, requests), count = 0, kept = 0;
    float all = 0;
    for (size_t i = 0; i < len; i++)
        all += wt__neighbours_weight(requests[i].score, requests[0].score);
    for (size_t i = 0; i < len; i++) {
        float weight = wt__neighbours_weight(requests[i].score, requests[0].score) / all;
        for (uint32_t l = n->starts[requests[i].row]; l < n->starts[requests[i].row + 1]; l++) {
            uint32_t row = n->rows[n->labels[l]];
            if (row != NEIGHBOURS_GONE && wt__row_allowed(allowed, row))
                items[count++] = (struct scored){weight, row};
        }
    }
    qsort(items, count, sizeof *items, compare_rows);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && items[kept - 1].row == items[i].row)
            items[kept - 1].score += items[i].score;
        else
            items[kept++] = items[i];
    }
    return (struct neighbour_votes){items, kept, requests, len};
}

/* ---------------------------------------------------------------- source of evidence */

static bool has_neighbours(const struct view *view)
{
    return view->neighbours != NULL;
}

static int ask_neighbours(struct query *query, struct neighbour_votes *out, wt_error *err)
{
    const struct neighbours *n = query->view->neighbours;
    struct arena *arena = &query->workspace->arena;
    float *scores = wt__arena_array(arena, float, n->count);
    struct scored *items = wt__arena_array(arena, struct scored, NEIGHBOURS_ASKED * n->most_labels);
    struct scored *requests = wt__arena_array(arena, struct scored, NEIGHBOURS_ASKED);
    if (!scores || !items || !requests)
        return wt__fail_nomem(err);
    *out = wt__neighbours_vote(n, query->workspace->texts[0].vector, query->request->allowed, scores, items, requests);
    return 0;
}

/* Searches past requests for the whole request only, because past requests were stored whole. */
static int search_neighbours(struct query *query, wt_error *err)
{
    struct neighbour_votes *votes = &query->out->votes;
    struct ranking *ranking = wt__ranking(query, 0, SOURCE_NEIGHBOURS);
    *votes = query->request->votes;
    int rc = votes->items ? 0 : ask_neighbours(query, votes, err);
    if (rc < 0)
        return rc;
    ranking->top = wt__arena_array(&query->workspace->arena, struct scored, votes->len);
    if (!ranking->top)
        return wt__fail_nomem(err);
    ranking->len = votes->len;
    if (votes->len > 0)
        memcpy(ranking->top, votes->items, votes->len * sizeof *votes->items);
    wt__scored_sort(ranking->top, ranking->len);
    ranking->best = ranking->len ? ranking->top[0].score : 0;
    return 0;
}

static int score_neighbour_rows(struct query *query, wt_error *err)
{
    const struct neighbour_votes *votes = &query->out->votes;
    float *scores = wt__ranking(query, 0, SOURCE_NEIGHBOURS)->scores;
    size_t v = 0;
    (void)err;
    for (size_t c = 0; c < query->count; c++) { /* both ascend */
        while (v < votes->len && votes->items[v].row < query->rows[c])
            v++;
        scores[c] = v < votes->len && votes->items[v].row == query->rows[c] ? votes->items[v].score : 0;
    }
    return 0;
}

static float neighbour_value(const struct query *query, float weight, size_t t, size_t c)
{
    return weight * wt__ranking(query, t, SOURCE_NEIGHBOURS)->scores[c];
}

static void fill_neighbour_features(const struct query *query, size_t c, float *out)
{
    out[FEATURE_NEIGHBOUR_VOTES] = wt__ranking(query, 0, SOURCE_NEIGHBOURS)->scores[c];
}

const struct source wt__source_neighbours = {.name = "neighbours",
                                             .weight = "neighbours",
                                             .encodes = true,
                                             .tried = {0.5f, 0, 0.25f, 1, 2},
                                             .tried_count = 5,
                                             .there = has_neighbours,
                                             .search = search_neighbours,
                                             .score_rows = score_neighbour_rows,
                                             .value = neighbour_value,
                                             .features = fill_neighbour_features};
