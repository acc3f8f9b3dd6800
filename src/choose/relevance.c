/* relevance.c: see relevance.h. The default parameters are data. bench/bench_relevance.c fitted them on the train
 * splits of metatool, metatool-multi and numpybank (MIT licences), 300 requests each, with the default encoder.
 * docs/retrieval.md measures them on other data. */
#include "choose/relevance.h"

#include <math.h>

#include "choose/chooser.h"

enum { TENTH = 10 };

/* Added to a share of votes before its logarithm, so that one voter in a hundred hardly counts. */
static const float LITTLE = 0.01f;

enum { BY_WORDS, BY_MEANING, BY_BOTH, KINDS };

static const struct relevance_model defaults[KINDS] = {
    [BY_WORDS] = {{4.816f, 0, 2.817f, 0, 0, 0}, -6.265f},
    [BY_MEANING] = {{4.325f, 7.211f, 0, -5.789f, 10.17f, 0}, -7.081f},
    [BY_BOTH] = {{5.069f, 3.68f, 2.409f, -3.567f, 8.198f, 0}, -7.48f},
};

static bool has_meaning(const struct hit_list *hits)
{
    return hits->nearest && hits->nearest_counts[0] > 0;
}

const struct relevance_model *wt__relevance_default(const struct retriever *retriever, const struct hit_list *hits)
{
    return &defaults[!has_meaning(hits) ? BY_WORDS : retriever->weights[SOURCE_BM25] > 0 ? BY_BOTH : BY_MEANING];
}

void wt__relevance_read(float out[RELEVANCE_FEATURES], const struct retriever *retriever, const struct hit_list *hits,
                        const struct hit *hit)
{
    const float *known = hit->features;
    out[RELEVANCE_SHARE] = known[FEATURE_SCORE];
    out[RELEVANCE_MEANING] = known[FEATURE_SUBQUERY_MEANING];
    out[RELEVANCE_WORDS] = retriever->weights[SOURCE_BM25] > 0 ? known[FEATURE_SUBQUERY_WORDS] : 0;
    out[RELEVANCE_NEAREST] = out[RELEVANCE_LEAD] = 0;
    if (has_meaning(hits)) {
        bool tenth = hits->nearest_counts[0] >= TENTH; /* a missing tenth tool has cosine 0 */
        out[RELEVANCE_NEAREST] = hits->nearest[0].score;
        out[RELEVANCE_LEAD] = hits->nearest[0].score - (tenth ? hits->nearest[TENTH - 1].score : 0);
    }
    out[RELEVANCE_VOTES] =
        retriever->weights[SOURCE_NEIGHBOURS] > 0 ? logf(known[FEATURE_NEIGHBOUR_VOTES] + LITTLE) : 0;
}

float wt__relevance(const struct relevance_model *relevance, const struct retriever *retriever,
                    const struct hit_list *hits, const struct hit *hit)
{
    float values[RELEVANCE_FEATURES];
    bool whole = retriever->weights[SOURCE_DENSE] <= 0 ||
                 has_meaning(hits); /* false if tools lack vectors, which the fitted weights need */
    const struct relevance_model *with = relevance && whole ? relevance : wt__relevance_default(retriever, hits);
    if (hit->brought)
        return NAN;
    wt__relevance_read(values, retriever, hits, hit);
    return wt__logistic(with->weights, with->constant, values, RELEVANCE_FEATURES);
}

float wt__relevance_below(float probability, double none)
{
    return isnan(none) || isnan(probability) ? probability : fminf(probability, (float)(1 - none));
}
