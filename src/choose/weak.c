/* weak.c: see weak.h. The thresholds were chosen on the dev set of bench/real with the default encoder.
 * docs/retrieval.md measures them. */
#include "choose/weak.h"

/* Share of the request's words by idf below which a matching word counts as common. */
static const float COMMON_SHARE = 0.5f;

/* Cosine with the request, or with the nearest sub-query. */
static const float NEAR_WITH_WORDS = 0.35f, NEAR_ALONE = 0.3f;

bool wt__hit_is_weak(const struct retriever *retriever, const struct hit *hit)
{
    const float *features = hit->features;
    bool words = wt__retriever_asks(retriever, SOURCE_BM25), meaning = wt__retriever_asks(retriever, SOURCE_DENSE);
    float near = fmaxf(features[FEATURE_MEANING], features[FEATURE_SUBQUERY_MEANING]);
    if (hit->lead || hit->brought || features[FEATURE_NEIGHBOUR_VOTES] > 0)
        return false;
    if (features[FEATURE_SCORE] <= 0) /* only present because a filter admits few tools */
        return true;
    return (words || meaning) && (!words || (hit->words.count <= 1 && hit->words.weight < COMMON_SHARE)) &&
           (!meaning || near < (words ? NEAR_WITH_WORDS : NEAR_ALONE));
}
