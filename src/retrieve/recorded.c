/* recorded.c: the source "usage": tools used for exactly this request, according to the current store. A new usage
 * counts without training. Training does not tune this weight. It is a share of the sum of all other weights
 * (RECORDED_SHARE), so its influence stays constant. */
#include <string.h>

#include "retrieve/source.h"

static bool has_recorded(const struct view *view)
{
    return view->recorded_count > 0;
}

/* Scores the whole request only, because usages are recorded for whole requests. */
static int search_recorded(struct query *query, wt_error *err)
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

static int score_recorded_rows(struct query *query, wt_error *err)
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

static float recorded_value(const struct query *query, float weight, size_t t, size_t c)
{
    return weight * wt__ranking(query, t, SOURCE_RECORDED)->scores[c];
}

static void fill_no_recorded_features(const struct query *query, size_t c, float *out)
{
    (void)query, (void)c, (void)out; /* only contributes to the score */
}

const struct source wt__source_recorded = {.name = "usage",
                                           .given = true,
                                           .seldom = true,
                                           .there = has_recorded,
                                           .search = search_recorded,
                                           .score_rows = score_recorded_rows,
                                           .value = recorded_value,
                                           .features = fill_no_recorded_features};
