/* ranking.c: see ranking.h. Compares blocks of requests with all ranked tools by matrix products. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/topk.h"
#include "learn/ranking.h"
#include "nn/matrix.h"

enum { BLOCK = 64 /* maximum requests per matrix product */ };

/* Sets ranking->twins of each tool to the first tool with the same text, also across data sets. Returns false if out of
 * memory. */
static bool find_twins(struct mined_ranking *ranking)
{
    const struct examples *e = ranking->examples;
    WT_CLEANUP(wt__map_dispose) struct map map = {0};
    for (size_t row = 0; row < e->tools; row++) {
        const uint32_t *first = wt__map_insert(&map, e->texts[0][row], (uint32_t)row, NULL);
        if (!first)
            return false;
        ranking->twins[row] = *first;
    }
    return true;
}

static void mark_used_tools(struct mined_ranking *ranking)
{
    const struct example_set *train = &ranking->examples->train;
    for (size_t l = 0; l < train->starts[train->count]; l++)
        ranking->used[ranking->twins[train->tools[l]]] = true;
    for (size_t row = 0; row < ranking->examples->tools; row++)
        ranking->used[row] = ranking->used[ranking->twins[row]];
}

/* Fills out->rows with the tools to rank, at most `most`. used: only tools marked in out->used. Returns false if out of
 * memory. */
static bool draw_ranked_tools(struct mined_ranking *out, bool used, size_t most, uint64_t seed)
{
    struct rng rng;
    size_t all = 0;
    WT_AUTO_FREE uint32_t *rows = wt__alloc_array(out->examples->tools, sizeof *rows);
    if (!rows)
        return false;
    for (size_t row = 0; row < out->examples->tools; row++)
        if (!used || out->used[row])
            rows[all++] = (uint32_t)row;
    out->count = all < most ? all : most;
    wt__rng_seed(&rng, seed);
    wt__rng_draw(&rng, out->rows, all, out->count);
    for (size_t i = 0; i < out->count; i++)
        out->rows[i] = rows[out->rows[i]];
    wt__sort_u32(out->rows, out->count);
    return true;
}

int wt__ranking_open(struct mined_ranking *out, const struct examples *examples, bool used, size_t most, uint64_t seed,
                     wt_error *err)
{
    size_t all = examples->tools;
    *out = (struct mined_ranking){.examples = examples};
    out->rows = wt__alloc_array(all, sizeof *out->rows);
    out->twins = wt__alloc_array(all, sizeof *out->twins);
    out->used = calloc(all + 1, sizeof *out->used);
    if (out->rows && out->twins && out->used && find_twins(out)) {
        mark_used_tools(out);
        if (draw_ranked_tools(out, used, most, seed))
            return 0;
    }
    wt__ranking_dispose(out);
    return wt__fail_nomem(err);
}

void wt__ranking_dispose(struct mined_ranking *ranking)
{
    free(ranking->rows);
    free(ranking->twins);
    free(ranking->used);
    *ranking = (struct mined_ranking){0};
}

uint32_t wt__ranking_part(const struct mined_ranking *ranking, const struct example_set *set, size_t request)
{
    const struct examples *e = ranking->examples;
    uint32_t part = 0;
    while (request >= (set == &e->dev ? e->parts[part].dev : e->parts[part].train))
        part++;
    return part;
}

bool wt__ranking_right(const struct mined_ranking *ranking, const struct example_set *set, size_t request, uint32_t row)
{
    for (size_t l = set->starts[request]; l < set->starts[request + 1]; l++)
        if (ranking->twins[set->tools[l]] == ranking->twins[row])
            return true;
    return false;
}

/* Returns the inner product of a request's vector and the tool's; -INFINITY if the tool is not ranked. */
static double score_ranked_tool(const struct mined_ranking *ranking, const float *vector, uint32_t row)
{
    size_t at = wt__lower_bound_u32(ranking->rows, ranking->count, row);
    if (at == ranking->count || ranking->rows[at] != row)
        return -INFINITY;
    double sum = 0;
    for (size_t d = 0; d < ranking->dim; d++)
        sum += (double)vector[d] * ranking->vectors[at * ranking->dim + d];
    return sum;
}

size_t wt__ranking_wrong(const struct mined_ranking *ranking, size_t request, const float *vector, const uint32_t *best,
                         size_t enough, size_t most, uint32_t *wrong)
{
    const struct example_set *train = &ranking->examples->train;
    const uint32_t *judged = train->wrong + train->wrong_starts[request];
    size_t judged_count = train->wrong_starts[request + 1] - train->wrong_starts[request], n = 0;
    double right = -INFINITY;
    while (n < judged_count && n < most) {
        wrong[n] = judged[n];
        n++;
    }
    if (n >= enough)
        return n;
    for (size_t l = train->starts[request]; vector && l < train->starts[request + 1]; l++)
        right = fmax(right, score_ranked_tool(ranking, vector, train->tools[l]));
    for (size_t b = 0; b < RANKING_DEPTH && best[b] != UINT32_MAX && n < most; b++) {
        size_t at = wt__lower_bound_u32(judged, judged_count, best[b]);
        bool is_judged = at < judged_count && judged[at] == best[b];
        if (is_judged || !ranking->used[best[b]] || wt__ranking_right(ranking, train, request, best[b]))
            continue;
        if (!vector || score_ranked_tool(ranking, vector, best[b]) <= RANKING_DOUBTFUL * right)
            wrong[n++] = best[b];
    }
    return n;
}

struct ranking_search {
    const struct mined_ranking *ranking;
    size_t first, end; /* range of the current part's tools in ranking->rows */
    const float *requests;
    size_t k;
    uint32_t *best;
    uint32_t members[BLOCK]; /* [count] requests of the block, all of the current part */
    size_t count;
    float *block;       /* [BLOCK, D] their vectors */
    float *scores;      /* [BLOCK, end - first] inner products */
    struct scored *top; /* [k] scratch */
};

/* Ranks the part's tools for the requests of the block, and empties the block. */
static void compare_batch(struct ranking_search *c)
{
    size_t tools = c->end - c->first, dim = c->ranking->dim;
    for (size_t i = 0; i < c->count; i++)
        memcpy(c->block + i * dim, c->requests + c->members[i] * dim, dim * sizeof *c->block);
    if (tools > 0)
        wt__multiply_dense(c->count, tools, dim, c->block, false, c->ranking->vectors + c->first * dim, true,
                           c->scores);
    for (size_t i = 0; i < c->count; i++) {
        struct topk top = {.items = c->top, .k = c->k};
        uint32_t *best = c->best + c->members[i] * c->k;
        for (size_t t = 0; t < tools; t++)
            wt__topk_push(&top, (struct scored){c->scores[i * tools + t], c->ranking->rows[c->first + t]});
        wt__topk_sort(&top);
        for (size_t b = 0; b < c->k; b++)
            best[b] = b < top.len ? top.items[b].row : UINT32_MAX;
    }
    c->count = 0;
}

int wt__ranking_best(const struct mined_ranking *ranking, const float *requests, const uint32_t *parts, size_t count,
                     size_t k, uint32_t *best, wt_error *err)
{
    const struct examples *e = ranking->examples;
    struct ranking_search c = {.ranking = ranking, .requests = requests, .k = k, .best = best};
    WT_AUTO_FREE float *block = c.block = wt__alloc_aligned(BLOCK * ranking->dim, sizeof *c.block);
    WT_AUTO_FREE float *scores = c.scores = wt__alloc_aligned(BLOCK * ranking->count, sizeof *c.scores);
    WT_AUTO_FREE struct scored *top = c.top = wt__alloc_array(k, sizeof *c.top);
    WT_CHECK_ALLOC(block && scores && top, err);
    for (size_t part = 0; part < e->part_count; part++) {
        c.first = c.end;
        while (c.end < ranking->count && ranking->rows[c.end] < e->parts[part].tools)
            c.end++;
        for (size_t i = 0; i < count; i++) {
            if (parts[i] == part)
                c.members[c.count++] = (uint32_t)i;
            if (c.count == BLOCK || (i + 1 == count && c.count > 0))
                compare_batch(&c);
        }
    }
    return 0;
}
