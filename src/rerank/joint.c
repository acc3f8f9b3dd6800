/* joint.c: the joint scorer, a cross-encoder that comes with whichtool. It reads the request and each of the first hits
 * of `hybrid`, and its logit is added to the evidence of the learned scorer (retrieve/scorer.h). */
#include "rerank/reranker.h"

#include <math.h>

#include "base/arena.h"
#include "base/memory.h"

enum { JOINT_READS = 14 }; /* hits that the joint scorer reads */

/* The constants below were fitted on dev by bench/bench_joint.c. */

/* Weight of a logit, added to the logarithm of a hit's score. */
static const float ORDER_WEIGHT = 0.5f;

/* Log odds as a sum of those of the learned scorer and a logit. */
struct joint_odds {
    float odds, logit, constant;
};
static const struct joint_odds of_hit = {0.5906f, 0.4484f, -0.4811f}, of_fits = {0.401f, 0.4094f, -0.2569f};

/* Percentiles for dev requests that have a tool: of the probability that any tool fits, and of the lesser of its
 * percentile and that of the learned scorer. */
enum { PERCENTILES = 100 };
static const float fits_percentiles[PERCENTILES] = {
    0.01987f, 0.06822f, 0.08712f, 0.1073f, 0.1229f, 0.1376f, 0.1504f, 0.1611f, 0.1701f, 0.1826f, 0.1922f, 0.198f,
    0.2052f,  0.2125f,  0.2198f,  0.2294f, 0.2407f, 0.2552f, 0.264f,  0.2707f, 0.2812f, 0.2877f, 0.2962f, 0.3023f,
    0.3105f,  0.3214f,  0.3298f,  0.3355f, 0.3462f, 0.3538f, 0.3584f, 0.3639f, 0.3736f, 0.3813f, 0.3871f, 0.3942f,
    0.399f,   0.41f,    0.418f,   0.4281f, 0.4331f, 0.4413f, 0.4475f, 0.4534f, 0.4625f, 0.4671f, 0.4729f, 0.4785f,
    0.4849f,  0.4913f,  0.5002f,  0.51f,   0.5147f, 0.5216f, 0.5284f, 0.5352f, 0.5421f, 0.5473f, 0.5539f, 0.5594f,
    0.5685f,  0.5736f,  0.5826f,  0.5893f, 0.5956f, 0.6034f, 0.6083f, 0.6152f, 0.6201f, 0.6264f, 0.6316f, 0.6374f,
    0.6435f,  0.6467f,  0.6539f,  0.66f,   0.6648f, 0.6731f, 0.6798f, 0.6864f, 0.6926f, 0.698f,  0.7037f, 0.7126f,
    0.7188f,  0.7271f,  0.7327f,  0.7417f, 0.747f,  0.7534f, 0.7603f, 0.7673f, 0.7752f, 0.7838f, 0.7923f, 0.8029f,
    0.8142f,  0.8268f,  0.8411f,  0.8623f};
static const float lesser_percentiles[PERCENTILES] = {
    0.0f,  0.0f,  0.01f, 0.02f, 0.02f, 0.03f, 0.03f, 0.04f, 0.05f, 0.05f, 0.06f, 0.06f, 0.07f, 0.08f, 0.09f,
    0.09f, 0.1f,  0.11f, 0.12f, 0.13f, 0.14f, 0.14f, 0.15f, 0.16f, 0.17f, 0.18f, 0.18f, 0.19f, 0.2f,  0.21f,
    0.22f, 0.23f, 0.24f, 0.24f, 0.26f, 0.26f, 0.28f, 0.28f, 0.29f, 0.3f,  0.31f, 0.32f, 0.33f, 0.34f, 0.35f,
    0.36f, 0.37f, 0.37f, 0.38f, 0.39f, 0.4f,  0.42f, 0.42f, 0.43f, 0.44f, 0.45f, 0.46f, 0.47f, 0.48f, 0.49f,
    0.5f,  0.51f, 0.52f, 0.53f, 0.54f, 0.55f, 0.56f, 0.57f, 0.58f, 0.59f, 0.6f,  0.61f, 0.62f, 0.64f, 0.65f,
    0.66f, 0.67f, 0.69f, 0.7f,  0.71f, 0.72f, 0.74f, 0.75f, 0.76f, 0.77f, 0.78f, 0.79f, 0.8f,  0.82f, 0.83f,
    0.84f, 0.85f, 0.86f, 0.88f, 0.89f, 0.91f, 0.92f, 0.94f, 0.95f, 0.97f};

static size_t joint_depth(const struct reranker *reranker)
{
    (void)reranker;
    return JOINT_READS;
}

static float join_odds(const struct joint_odds *with, float probability, float logit)
{
    float odds = logf(probability) - logf(1 - probability);
    return 1 / (1 + expf(-(with->odds * odds + with->logit * logit + with->constant)));
}

static float find_percentile(const float percentiles[PERCENTILES], float value)
{
    size_t below = 0;
    while (below < PERCENTILES && percentiles[below] < value)
        below++;
    return (float)below / PERCENTILES;
}

/* Updates the probability that any tool fits by the greatest logit. Its percentile is that of the lesser of both
 * stages' percentiles, because the joint scorer learned little about small talk. */
static void join_fits(struct hit_list *hits, size_t count, const float *logits)
{
    float best = logits[0];
    for (size_t i = 1; i < count; i++)
        best = fmaxf(best, logits[i]);
    hits->fits = join_odds(&of_fits, hits->fits, best);
    hits->fits_quantile =
        find_percentile(lesser_percentiles, fminf(hits->fits_quantile, find_percentile(fits_percentiles, hits->fits)));
}

/* Sorts the first `count` hits by score and logit, with scores on the scale of the first stage. */
static void order_jointly(struct hit_list *hits, size_t count, const float *logits, float *keys)
{
    float best = -INFINITY, scale = hits->items[0].score;
    for (size_t i = 0; i < count; i++) {
        keys[i] = logf(fmaxf(hits->items[i].score, 1e-30f)) + ORDER_WEIGHT * logits[i];
        best = fmaxf(best, keys[i]);
    }
    for (size_t i = 0; i < count; i++) {
        struct hit *hit = &hits->items[i];
        wt__hit_rescore(hit, scale * expf(keys[i] - best));
        wt__hit_stage(hit, CROSS_STAGE)->score = logits[i];
        if (!isnan(hit->estimate))
            hit->estimate = join_odds(&of_hit, hit->estimate, logits[i]);
    }
    wt__hits_order(hits, keys, count);
}

static int run_joint(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits,
                     wt_error *err)
{
    size_t count = hits->len < JOINT_READS ? hits->len : JOINT_READS;
    if (isnan(hits->fits)) /* the request is not English, or the scores are not those of the learned scorer */
        return 0;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    float *logits = wt__arena_array(&arena, float, count), *keys = wt__arena_array(&arena, float, count);
    WT_CHECK_ALLOC(logits && keys, err);
    WT_TRY(wt__cross_score_hits(reranker, input, hits, count, &arena, logits, err));
    hits->read_jointly = true;
    join_fits(hits, count, logits);
    order_jointly(hits, count, logits, keys);
    return 0;
}

const struct rerank_kind wt__rerank_joint = {.depth = joint_depth, .run = run_joint};
