/* recorded.c: what usages of this very request used, as the store has them now: no training comes between a usage and
 * what it says of the next one of its kind. Training weighs other sources; this one's weight is a share of all theirs
 * (RECORDED_SHARE), so that it is as much beside any of them. */
#include <string.h>

#include "retrieve/source.h"

static bool there(const struct view *view)
{
    return view->recorded_count > 0;
}

/* Of the whole request: what a part of it used nobody recorded. */
static int search(struct query *query, wt_error *err)
{
    const struct view *view = query->view;
    struct ranking *ranking = wt__ranking(query, 0, SOURCE_RECORDED);
    ranking->top = wt__arena_array(&query->workspace->arena, struct scored, view->recorded_count);
    if (!ranking->top)
        return wt__fail_nomem(err);
    ranking->len = view->recorded_count;
    if (ranking->len > 0)
        memcpy(ranking->top, view->recorded, ranking->len * sizeof *ranking->top);
    wt__scored_sort(ranking->top, ranking->len);
    ranking->best = ranking->len ? ranking->top[0].score : 0;
    return 0;
}

static int score_rows(struct query *query, wt_error *err)
{
    const struct view *view = query->view;
    float *scores = wt__ranking(query, 0, SOURCE_RECORDED)->scores;
    size_t r = 0;
    (void)err;
    for (size_t c = 0; c < query->count; c++) { /* both ascend */
        while (r < view->recorded_count && view->recorded[r].row < query->rows[c])
            r++;
        if (r < view->recorded_count && view->recorded[r].row == query->rows[c])
            scores[c] = view->recorded[r].score;
    }
    return 0;
}

static float value(const struct query *query, float weight, size_t t, size_t c)
{
    return weight * wt__ranking(query, t, SOURCE_RECORDED)->scores[c];
}

static void features(const struct query *query, size_t c, float *out)
{
    (void)query, (void)c, (void)out; /* the score's alone */
}

const struct source wt__source_recorded = {.name = "usage",
                                           .given = true,
                                           .seldom = true,
                                           .there = there,
                                           .search = search,
                                           .score_rows = score_rows,
                                           .value = value,
                                           .features = features};
