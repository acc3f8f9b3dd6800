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

/* Evidence of a hit: words, vectors, or both. */
enum { BY_WORDS, BY_MEANING, BY_BOTH, KINDS };

/* Fitted by bench/bench_relevance.c on the train splits of metatool, metatool-multi and numpybank (MIT licences), 300
 * requests each, with the default encoder. docs/retrieval.md measures them on other data. */
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
    bool whole = retriever->weights[SOURCE_DENSE] <= 0 || has_meaning(hits); /* false if the tools lack vectors */
    const struct relevance_model *with = relevance && whole ? relevance : wt__relevance_default(retriever, hits);
    if (hit->brought)
        return NAN;
    if (!relevance && retriever->weights[SOURCE_SCORER] > 0)
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

bool wt__hit_is_weak(const struct retriever *retriever, const struct hit *hit)
{
    const float *features = hit->features;
    bool words = wt__retriever_uses(retriever, SOURCE_BM25), meaning = wt__retriever_uses(retriever, SOURCE_DENSE);
    float near = fmaxf(features[FEATURE_MEANING], features[FEATURE_SUBQUERY_MEANING]);
    if (hit->lead || hit->brought || features[FEATURE_NEIGHBOUR_VOTES] > 0)
        return false;
    if (features[FEATURE_SCORE] <= 0) /* the hit matches nothing; it is listed because a filter admits few tools */
        return true;
    return (words || meaning) && (!words || (hit->words.count <= 1 && hit->words.weight < COMMON_SHARE)) &&
           (!meaning || near < (words ? NEAR_WITH_WORDS : NEAR_ALONE));
}

/* Fitted by bench/bench_needs.c on the dev requests of bench/real, with the default encoder and with words only. */
static const struct {
    float weights[NEED_FEATURES], constant;
} by_words = {{1.204f, 0, 0, -1.096f, -0.1635f, -1.421f}, -0.5773f},
  by_meaning = {{0.5952f, 1.486f, 0.5367f, -0.7268f, 1.658f, -0.6976f}, -1.253f};

const float wt__need_least = 0.2f;

/* Hits of a need are added until the sum of their probabilities is at least SURE. After the first hit, hits with a
 * probability below ALTERNATIVE are not added. */
static const float SURE = 0.55f, ALTERNATIVE = 0.05f;
enum { ALTERNATIVES_MAX = 3 }; /* maximum number of hits of a need in the set */

/* Percentiles of the probability of the best tool of answerable requests. */
static const float hundredths[] = {
    0.05564f, 0.05841f, 0.06179f, 0.0666f, 0.06847f, 0.07025f, 0.0715f, 0.07506f, 0.07684f, 0.08539f,
    0.08698f, 0.09327f, 0.1204f,  0.1231f, 0.1583f,  0.1704f,  0.1732f, 0.1917f,  0.2056f,  0.2408f,
    0.2419f,  0.2596f,  0.2807f,  0.2883f, 0.2946f,  0.3006f,  0.3164f, 0.3273f,  0.3389f,  0.372f,
    0.378f,   0.3878f,  0.4124f,  0.423f,  0.4245f,  0.4288f,  0.4394f, 0.4441f,  0.4492f,  0.4541f,
    0.4616f,  0.4639f,  0.4713f,  0.4829f, 0.4992f,  0.5018f,  0.5079f, 0.5352f,  0.5491f,  0.5551f,
    0.5776f,  0.5893f,  0.5903f,  0.5985f, 0.6272f,  0.6298f,  0.6349f, 0.6412f,  0.6439f,  0.6557f,
    0.6749f,  0.6943f,  0.705f,   0.7091f, 0.7153f,  0.7231f,  0.7238f, 0.7282f,  0.7307f,  0.734f,
    0.7368f,  0.7404f,  0.7509f,  0.7549f, 0.7649f,  0.7687f,  0.7715f, 0.7822f,  0.7899f,  0.7968f,
    0.8025f,  0.8148f,  0.8243f,  0.8263f, 0.8275f,  0.8387f,  0.848f,  0.8566f,  0.8649f,  0.8675f,
    0.8746f,  0.8796f,  0.889f,   0.892f,  0.8941f,  0.8974f,  0.9076f, 0.9193f,  0.9379f,  0.9585f};

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

static float action_score_of_hit(const struct hit *hit)
{
    for (size_t s = 0; s < HIT_STAGES && hit->stages[s].name; s++)
        if (strcmp(hit->stages[s].name, ACTION_STAGE) == 0)
            return hit->stages[s].score;
    return 0;
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

static void rate_need_hit(struct need_hit *hit, bool meaning)
{
    const float *weights = meaning ? by_meaning.weights : by_words.weights;
    hit->probability =
        wt__logistic(weights, meaning ? by_meaning.constant : by_words.constant, hit->values, NEED_FEATURES);
}

size_t wt__need_hits(const struct retriever *retriever, const struct hit_list *hits, struct need_hit *out)
{
    bool meaning = hits->nearest && hits->nearest_counts[0] > 0;
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
        values[NEED_ACTION] = action_score_of_hit(hit);
        values[NEED_RANK] = logf((float)(1 + need->count));
        values[NEED_MARGIN] = need->count == 0 ? 1 : behind;
        values[NEED_WEAK] = wt__hit_is_weak(retriever, hit);
        need->count++;
    }
    for (size_t i = 0; i < count; i++)
        rate_need_hit(&out[i], meaning);
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

float wt__need_least_for(double false_share)
{
    size_t at = (size_t)(false_share * 100), last = sizeof hundredths / sizeof *hundredths - 1;
    return hundredths[at < last ? at : last];
}
