/* second.c: a refiner sees vectors, which the snapshot has; a cross-encoder sees words, so that its candidates are read
 * from the store first, in one call. */
#include "engine/second.h"

#include <math.h>

#include "retrieve/document.h"

size_t wt__second_depth(const struct second_stage *stage)
{
    return stage->refiner ? wt__refiner_candidates(stage->refiner) : stage->cross;
}

/* ---------------------------------------------------------------- what the cross-encoder reads */

/* The tools of these hits, in arena. */
static int read_tools(const struct second_look *look, const struct hit *hits, size_t count, struct arena *arena,
                      struct tool **out, wt_error *err)
{
    int64_t *ids = wt__arena_array(arena, int64_t, count);
    *out = wt__arena_array(arena, struct tool, count);
    if (!ids || !*out)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        ids[i] = look->view->snapshot->keys[hits[i].row].id;
    pthread_mutex_lock(&look->engine->store_lock);
    int rc = wt__store_get(look->engine->store, ids, count, arena, *out, err);
    pthread_mutex_unlock(&look->engine->store_lock);
    return rc < 0 ? rc : 0;
}

/* A tool that was removed meanwhile is read as one without words; the caller leaves it out. */
static int score_tools(struct cross *cross, unsigned fields, struct str request, const struct tool *tools, size_t count,
                       struct arena *arena, float *logits, wt_error *err)
{
    struct token_run *runs = wt__arena_array(arena, struct token_run, count);
    int32_t *ids = wt__arena_array(arena, int32_t, count * CROSS_TOKENS);
    struct buffer text = {0};
    int rc = runs && ids ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        wt__buffer_clear(&text);
        wt__document_pair_text(&tools[i], fields, &text);
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
    int rc = logits ? wt__trained_cross(stage->trained, &cross, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = read_tools(look, hits->items, count, &arena, &tools, err);
    if (rc == 0)
        rc = score_tools(cross, stage->trained->cross->fields, look->request->text, tools, count, &arena, logits, err);
    if (rc == 0)
        order_by(hits, count, logits);
    wt__arena_dispose(&arena);
    return rc;
}

int wt__second_look(const struct second_stage *stage, const struct second_look *look, struct hit_list *hits,
                    wt_error *err)
{
    if (stage->refiner)
        return wt__refine(stage->refiner, look->request->text, look->view->vectors, hits, err);
    return stage->cross && hits->len > 0 ? look_across(stage, look, hits, err) : 0;
}
