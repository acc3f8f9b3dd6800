/* dense.c: the source "meaning": the inner product of a text's vector and a tool's vector.
 *
 * A tool's vector may be a mix of descriptions, usage and classifier rows (trained_vectors.h). Any weighted mix is one
 * vector per tool and takes one pass, so this source need not know about it. */
#include <math.h>

#include "retrieve/source.h"

_Static_assert((int)TEXTS_MAX <= (int)VECTOR_MAX_QUERIES, "all texts of a request are searched in one pass");

static bool has_vectors(const struct view *view)
{
    return view->vectors != NULL;
}

/* True for the vector of a text without known tokens. Such a text matches no tool, rather than all tools equally. */
static bool is_zero(const float *vector, size_t dim)
{
    for (size_t d = 0; d < dim; d++)
        if (vector[d] != 0)
            return false;
    return true;
}

static int search_dense(struct source_query *query, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    size_t n = workspace->text_count, *counts = wt__arena_array(&workspace->arena, size_t, n);
    struct scored *top = wt__arena_array(&workspace->arena, struct scored, n * query->depth);
    WT_CHECK_ALLOC(top && counts, err);
    query->out->nearest = top;
    query->out->nearest_counts = counts;
    query->out->nearest_most = query->depth;
    WT_TRY(wt__vectors_search(query->view->vectors, &workspace->vectors, workspace->texts[0].vector, n, query->depth,
                              query->request->allowed, top, counts, err));
    for (size_t t = 0; t < n; t++) {
        struct ranking *meaning = wt__ranking(query, t, SOURCE_DENSE);
        if (is_zero(workspace->texts[t].vector, wt__encoder_dim(query->view->encoder)))
            counts[t] = 0;
        meaning->top = top + t * query->depth;
        meaning->len = counts[t];
        meaning->best = counts[t] && meaning->top[0].score > 0 ? meaning->top[0].score : 0;
    }
    return 0;
}

static int score_dense_rows(struct source_query *query, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    float *scores[TEXTS_MAX];
    for (size_t t = 0; t < workspace->text_count; t++)
        scores[t] = wt__ranking(query, t, SOURCE_DENSE)->scores;
    return wt__vectors_score_rows(query->view->vectors, &workspace->vectors, workspace->texts[0].vector,
                                  workspace->text_count, query->rows, query->count, scores, err);
}

static float dense_value(const struct source_query *query, float weight, size_t t, size_t c)
{
    const struct ranking *meaning = wt__ranking(query, t, SOURCE_DENSE);
    float cosine = meaning->scores[c];
    if (!query->fused)
        return weight * cosine;
    return meaning->best > 0 && cosine > 0 ? weight * cosine / meaning->best : 0;
}

static void fill_meaning_features(const struct source_query *query, size_t c, float *out)
{
    size_t texts = query->workspace->text_count;
    out[FEATURE_MEANING] = wt__ranking(query, 0, SOURCE_DENSE)->scores[c];
    out[FEATURE_SUBQUERY_MEANING] = texts > 1 ? -1 : out[FEATURE_MEANING];
    for (size_t t = 1; t < texts; t++)
        out[FEATURE_SUBQUERY_MEANING] =
            fmaxf(out[FEATURE_SUBQUERY_MEANING], wt__ranking(query, t, SOURCE_DENSE)->scores[c]);
}

const struct source wt__source_dense = {
    {"dense", "dense", has_vectors, search_dense, score_dense_rows, dense_value, fill_meaning_features},
    .needs_vectors = true};
