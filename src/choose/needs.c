#include "choose/needs.h"

#include <math.h>

#include "base/topk.h"
#include "choose/chooser.h"
#include "retrieve/segment.h"

/* ---------------------------------------------------------------- the default numbers, as data */

/* Fitted by bench/bench_needs.c on the dev requests of bench/real, by the default encoder and by words alone. */
static const struct {
    float weights[NEED_FEATURES], constant;
} by_words = {{1.196f, 0, 0, -0.9852f, -0.4577f}, -0.7698f},
  by_meaning = {{0.4017f, 3.692f, 0.4164f, -0.6214f, 1.817f}, -2.541f};

const float wt__need_least = 0.22f;

/* Below this the next of a need joins its likeliest, if it is likely enough itself. */
static const float SURE = 0.4f, ALTERNATIVE = 0.15f;

/* Hundredths of the likeliest's probability over requests that some tool fits. */
static const float hundredths[] = {
    0.06806f, 0.08052f, 0.08181f, 0.08549f, 0.09307f, 0.09529f, 0.09882f, 0.09984f, 0.1017f, 0.1111f, 0.1157f, 0.1174f,
    0.1185f,  0.1195f,  0.1202f,  0.1232f,  0.1271f,  0.1372f,  0.1433f,  0.1484f,  0.1521f, 0.1633f, 0.1715f, 0.1879f,
    0.2104f,  0.2176f,  0.2285f,  0.2363f,  0.2374f,  0.2405f,  0.2575f,  0.2719f,  0.2841f, 0.2886f, 0.2919f, 0.3088f,
    0.3156f,  0.329f,   0.3353f,  0.3423f,  0.36f,    0.3681f,  0.3927f,  0.394f,   0.3984f, 0.413f,  0.4438f, 0.4472f,
    0.4687f,  0.4791f,  0.4814f,  0.4828f,  0.4947f,  0.5041f,  0.5121f,  0.5157f,  0.5239f, 0.5523f, 0.5555f, 0.5629f,
    0.5861f,  0.5885f,  0.606f,   0.6068f,  0.6165f,  0.6286f,  0.649f,   0.6523f,  0.6627f, 0.6648f, 0.6782f, 0.6798f,
    0.6836f,  0.6889f,  0.7006f,  0.7052f,  0.7131f,  0.7193f,  0.7218f,  0.7249f,  0.7375f, 0.7415f, 0.7479f, 0.773f,
    0.7806f,  0.7868f,  0.7944f,  0.8022f,  0.8172f,  0.8228f,  0.8269f,  0.8342f,  0.8524f, 0.872f,  0.8737f, 0.885f,
    0.8959f,  0.9087f,  0.9242f,  0.9344f};

/* ---------------------------------------------------------------- reading */

static float log_odds(float probability)
{
    float p = isnan(probability) ? 0 : fminf(fmaxf(probability, 1e-4f), 1 - 1e-4f);
    return p > 0 ? logf(p / (1 - p)) : logf(1e-4f);
}

/* What it is worth to its need alone. */
static float worth(const struct hit *hit)
{
    for (size_t s = 0; s < HIT_STAGES && hit->stages[s].name; s++)
        if (strcmp(hit->stages[s].name, SUBQUERY_STAGE) == 0)
            return hit->stages[s].share;
    return hit->score;
}

static float action(const struct hit *hit)
{
    for (size_t s = 0; s < HIT_STAGES && hit->stages[s].name; s++)
        if (strcmp(hit->stages[s].name, ACTION_STAGE) == 0)
            return hit->stages[s].score;
    return 0;
}

/* The hits of one need so far. */
struct need {
    struct str subquery;
    size_t count;
    float first;   /* worth of its first hit */
    size_t leader; /* which of out that is */
};

static size_t find_need(struct need *needs, size_t *count, const struct hit *hit)
{
    size_t n = 0;
    while (n < *count && needs[n].subquery.ptr != hit->subquery.ptr)
        n++;
    if (n == *count && *count < SUBQUERIES_MAX)
        needs[(*count)++] = (struct need){.subquery = hit->subquery};
    return n;
}

static void rate(struct need_hit *hit, bool meaning)
{
    const float *weights = meaning ? by_meaning.weights : by_words.weights;
    hit->probability =
        wt__logistic(weights, meaning ? by_meaning.constant : by_words.constant, hit->values, NEED_FEATURES);
}

size_t wt__need_hits(const struct hit_list *hits, struct need_hit *out)
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
        float here = worth(hit);
        if (need->count == 0) {
            need->first = fmaxf(here, 1e-6f);
            need->leader = count;
        }
        float behind = (here - need->first) / need->first;
        if (need->count == 1) /* what the first leads by */
            out[need->leader].values[NEED_MARGIN] = -behind;
        out[count] = (struct need_hit){.hit = (uint32_t)h, .need = (uint32_t)n};
        float *values = out[count++].values;
        values[NEED_RELEVANCE] = log_odds(hit->probability);
        values[NEED_MEANING] = hit->features[FEATURE_SUBQUERY_MEANING];
        values[NEED_ACTION] = action(hit);
        values[NEED_RANK] = logf((float)(1 + need->count));
        values[NEED_MARGIN] = need->count == 0 ? 1 : behind;
        need->count++;
    }
    for (size_t i = 0; i < count; i++)
        rate(&out[i], meaning);
    return count;
}

/* ---------------------------------------------------------------- choosing */

/* The two likeliest of a need; count where there is none. */
static void likeliest(const struct need_hit *hits, size_t count, uint32_t need, size_t best[2])
{
    best[0] = best[1] = count;
    for (size_t i = 0; i < count; i++) {
        if (hits[i].need != need)
            continue;
        if (best[0] == count || hits[i].probability > hits[best[0]].probability) {
            best[1] = best[0];
            best[0] = i;
        } else if (best[1] == count || hits[i].probability > hits[best[1]].probability) {
            best[1] = i;
        }
    }
}

void wt__choose_by_needs(const struct need_hit *hits, size_t count, float least, struct need_set *out)
{
    struct scored chosen[NEED_HITS];
    size_t best[2];
    *out = (struct need_set){.complete = 1};
    for (uint32_t need = 0; need < SUBQUERIES_MAX; need++) {
        likeliest(hits, count, need, best);
        if (best[0] == count || hits[best[0]].probability < least)
            continue;
        float right = hits[best[0]].probability;
        chosen[out->len++] = (struct scored){right, (uint32_t)best[0]};
        if (best[1] < count && right < SURE && hits[best[1]].probability >= ALTERNATIVE) {
            chosen[out->len++] = (struct scored){hits[best[1]].probability, (uint32_t)best[1]};
            right = fminf(right + hits[best[1]].probability, 1); /* of alternatives one is right */
        }
        out->complete *= right;
        out->tracc += right;
    }
    if (out->len > 0)
        out->tracc /= (float)out->len; /* a share for each tool, too many ones included */
    wt__scored_sort(chosen, out->len);
    for (size_t i = 0; i < out->len; i++)
        out->which[i] = chosen[i].row;
}

float wt__need_least_for(double false_share)
{
    size_t at = (size_t)(false_share * 100), last = sizeof hundredths / sizeof *hundredths - 1;
    return hundredths[at < last ? at : last];
}
