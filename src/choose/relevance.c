/* relevance.c: relevance, weak hits and sets by needs. See relevance.h. The weights were fitted by programs in
 * bench/. */
#include "choose/relevance.h"

#include <math.h>

#include "base/topk.h"
#include "choose/chooser.h"
#include "retrieve/segment.h"

enum { TENTH = 10 };

/* Added to a share of votes before the logarithm, so that shares below one in a hundred hardly differ. */
static const float LITTLE = 0.01f;

/* Evidence of a hit. */
enum { BY_WORDS, BY_MEANING, KINDS };

/* Fitted by bench/bench_relevance.c on the train splits of metatool, metatool-multi and numpybank (MIT licences), 300
 * requests each, with the default encoder. docs/retrieval.md measures them on other data. */
static const struct relevance_model defaults[KINDS] = {
    [BY_WORDS] = {{4.816f, 0, 2.817f, 0, 0, 0}, -6.265f},
    [BY_MEANING] = {{4.325f, 7.211f, 0, -5.789f, 10.17f, 0}, -7.081f},
};

static bool has_meaning(const struct hit_list *hits)
{
    return hits->nearest && hits->nearest_counts[0] > 0;
}

const struct relevance_model *wt__relevance_default(const struct retriever *retriever, const struct hit_list *hits)
{
    return &defaults[retriever->weights[SOURCE_DENSE] > 0 && has_meaning(hits) ? BY_MEANING : BY_WORDS];
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
    bool whole = retriever->weights[SOURCE_DENSE] <= 0 || has_meaning(hits); /* false if the tools lack vectors */
    const struct relevance_model *with = relevance && whole ? relevance : wt__relevance_default(retriever, hits);
    if (hit->brought)
        return NAN;
    if (!(relevance && whole) && !isnan(hit->estimate))
        return hit->estimate;
    wt__relevance_read(values, retriever, hits, hit);
    return wt__logistic(with->weights, with->constant, values, RELEVANCE_FEATURES);
}

float wt__relevance_below(float probability, double none)
{
    return isnan(none) || isnan(probability) ? probability : fminf(probability, (float)(1 - none));
}

/* Thresholds of weak hits, chosen on the dev set of bench/real with the default encoder (docs/retrieval.md). */

/* Share of the request's total idf below which a matching word counts as common. */
static const float COMMON_SHARE = 0.5f;

/* Minimum cosine of a hit that is not weak, in searches with words and in searches with vectors alone. */
static const float NEAR_WITH_WORDS = 0.35f, NEAR_ALONE = 0.3f;

/* Thresholds of searches with the scorer, also chosen on that dev set. All hits are weak if fits_quantile is below
 * WEAK_SHARE. Otherwise, a hit is weak if its probability is below UNLIKELY. */
static const double WEAK_SHARE = 0.04;
static const float UNLIKELY = 0.008f;

bool wt__nothing_fits(const struct hit_list *hits, double share)
{
    return hits->named == 0 && (hits->absent_service || (!isnan(hits->fits) && (double)hits->fits_quantile < share));
}

bool wt__hit_is_weak(const struct retriever *retriever, const struct hit_list *hits, const struct hit *hit)
{
    const float *features = hit->features;
    bool words = retriever->weights[SOURCE_BM25] > 0, meaning = retriever->weights[SOURCE_DENSE] > 0;
    float near = fmaxf(features[FEATURE_MEANING], features[FEATURE_SUBQUERY_MEANING]);
    if (hit->lead || hit->brought || features[FEATURE_NEIGHBOUR_VOTES] > 0)
        return false;
    if (wt__nothing_fits(hits, WEAK_SHARE))
        return true;
    if (features[FEATURE_SCORE] <= 0) /* the hit matches nothing; it is listed because a filter admits few tools */
        return true;
    if (!isnan(hit->estimate))
        return hit->estimate < UNLIKELY;
    return (words || meaning) && (!words || (hit->words.count <= 1 && hit->words.weight < COMMON_SHARE)) &&
           (!meaning || near < (words ? NEAR_WITH_WORDS : NEAR_ALONE));
}

/* Fitted by bench/bench_needs.c on the dev requests of bench/real, with the default encoder: with the probabilities of
 * the learned scorer alone, and with those of the joint scorer. */
static const struct need_parameters {
    float weights[NEED_FEATURES], constant;
} by_scorer = {{0.5923f, 3.505f, -0.2482f, 0.9815f}, -1.458f},
  by_both = {{0.7881f, 1.574f, -0.6053f, 0.5534f}, 0.6345f};

const float wt__need_least = 0.05f;

/* Hits of a need are added until the sum of their probabilities is at least SURE. After the first hit, hits with a
 * probability below ALTERNATIVE are not added. */
static const float SURE = 0.45f, ALTERNATIVE = 0.05f;
enum { ALTERNATIVES_MAX = 3 }; /* maximum number of hits of a need in the set */

static float log_odds(float probability)
{
    float p = isnan(probability) ? 0 : fminf(fmaxf(probability, 1e-4f), 1 - 1e-4f);
    return p > 0 ? logf(p / (1 - p)) : logf(1e-4f);
}

/* Returns the score of a hit for its sub-query, or the score of the hit if the whole request found it. */
static float need_score_of_hit(const struct hit *hit)
{
    for (size_t s = 0; s < HIT_STAGES && hit->stages[s].name; s++)
        if (strcmp(hit->stages[s].name, SUBQUERY_STAGE) == 0)
            return hit->stages[s].share;
    return hit->score;
}

/* State of one need while its hits are read. */
struct need {
    struct str subquery;
    size_t count;  /* number of hits of the need so far */
    float first;   /* score of the first hit */
    size_t leader; /* index of the first hit in the result */
};

/* Finds or adds the need of a hit. Returns the index of the need; *count if there are too many needs. */
static size_t find_need(struct need *needs, size_t *count, const struct hit *hit)
{
    size_t n = 0;
    while (n < *count && needs[n].subquery.ptr != hit->subquery.ptr)
        n++;
    if (n == *count && *count < SUBQUERIES_MAX)
        needs[(*count)++] = (struct need){.subquery = hit->subquery};
    return n;
}

size_t wt__need_hits(const struct hit_list *hits, struct need_hit *out)
{
    struct need needs[SUBQUERIES_MAX];
    size_t need_count = 0, count = 0;
    for (size_t h = 0; h < hits->len && h < NEED_HITS; h++) {
        const struct hit *hit = &hits->items[h];
        size_t n = find_need(needs, &need_count, hit);
        if (n == need_count || needs[n].count == NEED_DEPTH)
            continue;
        struct need *need = &needs[n];
        float here = need_score_of_hit(hit);
        if (need->count == 0) {
            need->first = fmaxf(here, 1e-6f);
            need->leader = count;
        }
        float behind = (here - need->first) / need->first;
        if (need->count == 1) /* the second hit determines the lead of the first hit */
            out[need->leader].values[NEED_MARGIN] = -behind;
        out[count] = (struct need_hit){.hit = (uint32_t)h, .need = (uint32_t)n};
        float *values = out[count++].values;
        values[NEED_RELEVANCE] = log_odds(hit->probability);
        values[NEED_MEANING] = hit->features[FEATURE_SUBQUERY_MEANING];
        values[NEED_RANK] = logf((float)(1 + need->count));
        values[NEED_MARGIN] = need->count == 0 ? 1 : behind;
        need->count++;
    }
    const struct need_parameters *given = hits->read_jointly ? &by_both : &by_scorer;
    for (size_t i = 0; i < count; i++)
        out[i].probability = wt__logistic(given->weights, given->constant, out[i].values, NEED_FEATURES);
    return count;
}

/* Finds the most likely hits of a need, best first. Returns their number, at most ALTERNATIVES_MAX. */
static size_t find_likeliest(const struct need_hit *hits, size_t count, uint32_t need, struct scored *best)
{
    struct topk top = {best, 0, ALTERNATIVES_MAX};
    for (uint32_t i = 0; i < count; i++)
        if (hits[i].need == need)
            wt__topk_push(&top, (struct scored){hits[i].probability, i});
    wt__topk_sort(&top);
    return top.len;
}

void wt__choose_by_needs(const struct need_hit *hits, size_t count, float least, struct need_set *out)
{
    struct scored chosen[NEED_HITS], best[ALTERNATIVES_MAX];
    *out = (struct need_set){.complete = 1};
    for (uint32_t need = 0; need < SUBQUERIES_MAX; need++) {
        size_t found = find_likeliest(hits, count, need, best);
        if (found == 0 || best[0].score < least)
            continue;
        float right = 0; /* probability that one alternative is right */
        for (size_t i = 0; i < found && right < SURE && (i == 0 || best[i].score >= ALTERNATIVE); i++) {
            chosen[out->len++] = best[i];
            right = fminf(right + best[i].score, 1);
        }
        out->complete *= right;
        out->tracc += right;
    }
    if (out->len > 0)
        out->tracc /= (float)out->len; /* wrong alternatives reduce TRACC */
    wt__scored_sort(chosen, out->len);
    for (size_t i = 0; i < out->len; i++)
        out->which[i] = chosen[i].row;
}
