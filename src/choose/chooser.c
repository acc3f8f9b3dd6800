/* chooser.c: chooses sets of tools. See chooser.h. Also contains the metrics of set_metrics.h. */
#include "choose/chooser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "choose/set_metrics.h"

/* ---------------------------------------------------------------- metrics */

/* Returns part / whole. If `whole` is 0, returns 1 if both sets have the same size, else 0. */
static double share_of_sets(size_t part, size_t whole, struct overlap sets)
{
    return whole > 0 ? (double)part / (double)whole : sets.gold == sets.picked;
}

static double metric_size(struct overlap sets)
{
    return (double)sets.picked;
}

static double metric_size_difference(struct overlap sets)
{
    return sets.picked > sets.gold ? (double)(sets.picked - sets.gold) : (double)(sets.gold - sets.picked);
}

static double metric_complete(struct overlap sets)
{
    return sets.common == sets.gold;
}

static double metric_exact(struct overlap sets)
{
    return sets.common == sets.gold && sets.common == sets.picked;
}

static double metric_precision(struct overlap sets)
{
    return share_of_sets(sets.common, sets.picked, sets);
}

static double metric_recall(struct overlap sets)
{
    return share_of_sets(sets.common, sets.gold, sets);
}

static double metric_f1(struct overlap sets)
{
    return share_of_sets(2 * sets.common, sets.gold + sets.picked, sets);
}

const struct set_metric wt__set_metrics[SET_METRICS] = {
    {"tracc", wt__tracc},
    {"exact", metric_exact},
    {"set_precision", metric_precision},
    {"set_recall", metric_recall},
    {"set_f1", metric_f1},
    {"complete", metric_complete},
    {"size_diff", metric_size_difference},
    {"set_size", metric_size},
};

/* ---------------------------------------------------------------- features of candidates */

/* Added to a share of votes before the logarithm, so that shares below one in a hundred hardly differ. */
static const float LITTLE = 0.01f;

/* Smallest value of the regression that TOOL_RIDGE_LOG tells from others. */
static const float LEAST_RIDGE = 0.003f;

/* Selects the candidates: the first CHOOSE_FIRST hits, and later hits with votes of past requests, up to
 * CHOOSE_TOOLS. */
static void select_candidates(struct candidate_features *out, const struct hit_list *hits)
{
    for (size_t h = 0; h < hits->len && out->tools < CHOOSE_TOOLS; h++)
        if (h < CHOOSE_FIRST || hits->items[h].features[FEATURE_NEIGHBOUR_VOTES] > 0)
            out->hits[out->tools++] = (uint32_t)h;
}

/* Reads the tools of a past request as a set. Returns false if one of the tools is not a candidate, or the request has
 * no tools. */
static bool read_set(const struct candidate_features *s, const struct hit_list *hits, const struct neighbours *n,
                     uint32_t request, uint64_t *set)
{
    *set = 0;
    for (uint32_t l = n->starts[request]; l < n->starts[request + 1]; l++) {
        size_t t = 0;
        while (t < s->tools && hits->items[s->hits[t]].row != n->rows[n->labels[l]])
            t++;
        if (t == s->tools)
            return false;
        *set |= (uint64_t)1 << t;
    }
    return *set != 0;
}

/* Reads the sets of the past requests that voted. Returns the mean number of tools of these requests, weighted by
 * vote. */
static float read_past_sets(struct candidate_features *out, const struct hit_list *hits, const struct neighbours *n)
{
    const struct neighbour_votes *votes = &hits->votes;
    float all = 0, tools = 0;
    for (size_t i = 0; i < votes->request_count; i++)
        all += wt__neighbours_weight(votes->requests[i].score, votes->requests[0].score);
    for (size_t i = 0; i < votes->request_count; i++) {
        uint32_t request = votes->requests[i].row;
        float share = wt__neighbours_weight(votes->requests[i].score, votes->requests[0].score) / all;
        uint64_t set;
        tools += share * (float)(n->starts[request + 1] - n->starts[request]);
        if (!read_set(out, hits, n, request, &set))
            continue;
        size_t p = 0;
        while (p < out->past_count && out->past[p].tools != set)
            p++;
        if (p == out->past_count)
            out->past[out->past_count++] = (struct past_set){.tools = set};
        out->past[p].share += share;
    }
    return tools;
}

static void read_tool_features(float *out, const struct hit_list *hits, size_t h, const struct neighbours *neighbours,
                               float expected)
{
    const struct hit *hit = &hits->items[h];
    out[TOOL_SHARE] = hit->features[FEATURE_SCORE];
    out[TOOL_GAP] = hit->score - hits->items[0].score;
    out[TOOL_RANK] = -logf((float)(h + 1));
    out[TOOL_MEANING] = hit->features[FEATURE_MEANING];
    out[TOOL_WORDS] = hit->features[FEATURE_WORDS];
    out[TOOL_SUBQUERY_MEANING] = hit->features[FEATURE_SUBQUERY_MEANING];
    out[TOOL_SUBQUERY_WORDS] = hit->features[FEATURE_SUBQUERY_WORDS];
    out[TOOL_NEIGHBOUR_VOTES] = logf(hit->features[FEATURE_NEIGHBOUR_VOTES] + LITTLE);
    out[TOOL_RIDGE] = neighbours && hits->encoded ? wt__neighbours_ridge(neighbours, hits->encoded, hit->row) : 0;
    out[TOOL_RIDGE_LOG] = logf(fmaxf(out[TOOL_RIDGE], LEAST_RIDGE));
    out[TOOL_EXPECTED] = expected > 0 ? logf(expected) : 0;
}

static void read_answerability_features(float *out, const struct hit_list *hits, float voters)
{
    const struct neighbour_votes *votes = &hits->votes;
    size_t n = hits->len;
    memset(out, 0, ANSWERABLE_FEATURES * sizeof *out);
    if (n > 0) {
        out[ANSWERABLE_BEST] = hits->items[0].score;
        out[ANSWERABLE_SECOND] = out[ANSWERABLE_BEST] - (n > 1 ? hits->items[1].score : 0);
        out[ANSWERABLE_FIFTH] = out[ANSWERABLE_BEST] - (n > 4 ? hits->items[4].score : 0);
    }
    for (size_t h = 0; h < n; h++) {
        const float *f = hits->items[h].features;
        out[ANSWERABLE_MEANING] = fmaxf(out[ANSWERABLE_MEANING], f[FEATURE_MEANING]);
        out[ANSWERABLE_SUBQUERY_MEANING] = fmaxf(out[ANSWERABLE_SUBQUERY_MEANING], f[FEATURE_SUBQUERY_MEANING]);
        out[ANSWERABLE_WORDS] = fmaxf(out[ANSWERABLE_WORDS], f[FEATURE_WORDS]);
        out[ANSWERABLE_NEIGHBOUR_VOTE] = fmaxf(out[ANSWERABLE_NEIGHBOUR_VOTE], f[FEATURE_NEIGHBOUR_VOTES]);
    }
    for (size_t i = 0; i < votes->request_count; i++)
        out[ANSWERABLE_NEAR] += votes->requests[i].score / (float)votes->request_count;
    for (size_t i = 0; i < votes->len; i++)
        out[ANSWERABLE_THERE] += votes->items[i].score;
    if (votes->request_count > 0)
        out[ANSWERABLE_NEAREST] = votes->requests[0].score;
    if (voters > 0)
        out[ANSWERABLE_THERE] /= voters;
}

void wt__candidate_features_read(struct candidate_features *out, const struct hit_list *hits,
                                 const struct neighbours *neighbours)
{
    float expected = 0;
    out->tools = out->past_count = 0;
    select_candidates(out, hits);
    if (neighbours && hits->votes.request_count > 0)
        expected = read_past_sets(out, hits, neighbours);
    for (size_t t = 0; t < out->tools; t++)
        read_tool_features(out->features[t], hits, out->hits[t], neighbours, expected);
    read_answerability_features(out->answerability, hits, expected);
}

/* ---------------------------------------------------------------- default parameters */

/* The chooser for stores without usage. Fitted by bench/bench_default_parameters.c on the train splits of metatool,
 * metatool-multi and numpybank (MIT licences), 300 requests each, with the untrained recipe. default_no_answer has
 * percentiles of wt__no_answer_probability on answerable requests. docs/recommend.md has measurements on other
 * catalogues. */

static const float default_no_answer[] = {
    0.06333f, 0.07233f, 0.08253f, 0.09462f, 0.102f,  0.1083f, 0.1141f, 0.1227f, 0.1269f, 0.1299f, 0.1349f,
    0.1397f,  0.1434f,  0.1478f,  0.1521f,  0.1582f, 0.1612f, 0.1648f, 0.1702f, 0.1767f, 0.1848f, 0.1919f,
    0.1961f,  0.1991f,  0.2067f,  0.2097f,  0.2137f, 0.2178f, 0.2217f, 0.2237f, 0.227f,  0.2326f, 0.2364f,
    0.2445f,  0.2494f,  0.254f,   0.2606f,  0.2654f, 0.2698f, 0.275f,  0.2811f, 0.2862f, 0.2908f, 0.2952f,
    0.2981f,  0.3025f,  0.3095f,  0.3133f,  0.3214f, 0.3264f, 0.3309f, 0.3384f, 0.346f,  0.354f,  0.3606f,
    0.3657f,  0.374f,   0.377f,   0.3853f,  0.3908f, 0.3958f, 0.4033f, 0.4084f, 0.4205f, 0.4283f, 0.4313f,
    0.4382f,  0.4502f,  0.4571f,  0.4632f,  0.4691f, 0.481f,  0.4884f, 0.503f,  0.5091f, 0.5181f, 0.5312f,
    0.5484f,  0.5632f,  0.5681f,  0.5722f,  0.5902f, 0.6006f, 0.6052f, 0.6108f, 0.629f,  0.649f,  0.6617f,
    0.6702f,  0.6814f,  0.6894f,  0.7095f,  0.7265f, 0.7406f, 0.7658f, 0.7732f, 0.8181f, 0.8506f, 0.9074f};

const struct chooser wt__chooser_default = {
    .size = 1,
    .tool_weights = {3.164f, -0.2165f, 1.108f, -0.7687f, 1.178f, 1.433f, 1.155f, 0, 0, 0, 0},
    .tool_constant = -2.752f,
    .sizes = {-0.2721f, 0.1029f, -0.1005f, -0.2924f, -0.0355f, 0.297f, 0.5491f, 0.6237f, 0.6363f, 0.6379f, 0.6381f,
              0.6381f, 0.6381f, 0.6381f, 0.6381f, 0.6381f},
    .answerability_weights = {4.298f, 0.8278f, -5.699f, -2.846f, -3.397f, -1.154f, 0, 0, 0, 0},
    .answerability_constant = 2.642f,
    .no_answer = {default_no_answer, sizeof default_no_answer / sizeof *default_no_answer},
};

/* Limits of the sets considered. A prefix is the set of the n most likely tools, for any n. */
enum {
    PREFIX_MOST = 12, /* maximum length of prefixes */
    CHANGED_PAST = 5, /* number of past sets whose variations by one tool are also considered */
    CHANGED_BY = 8    /* number of most likely tools that a variation may add */
};

/* Added to the score of a tool for each earlier tool, so that no two scores are equal. */
static const float NONCONFORMITY_STEP = 1e-3f;

enum { FURTHEST = 12 }; /* greatest absolute log odds, and logarithm of a size's factor, so that none is infinite */

/* The distribution of the needed set of a request. */
struct weighing {
    const struct candidate_features *candidates;
    float logits[CHOOSE_TOOLS];    /* log odds that each candidate is needed */
    double needed[CHOOSE_TOOLS];   /* the same as probabilities p */
    uint32_t likely[CHOOSE_TOOLS]; /* numbers of the candidates, most likely first */
    double reuse;                  /* probability that the needed set is a past set */
    size_t past_count;
    struct past_set past[NEIGHBOURS_ASKED]; /* the past sets, most likely first; share: P(set | past) */
    double sizes[2 * CHOOSE_SIZES + 1];     /* factor of P(set | new) for sets of n tools; makes the sum 1 */
    size_t count;                           /* S, number of sets considered */
    uint64_t sets[CHOOSE_SETS];             /* [S] distinct */
};

float wt__logistic(const float *weights, float constant, const float *values, size_t count)
{
    double sum = constant;
    for (size_t f = 0; f < count; f++)
        sum += (double)weights[f] * values[f];
    return (float)(1 / (1 + exp(-sum)));
}

static size_t size_of_set(uint64_t set)
{
    return (size_t)__builtin_popcountll(set);
}

/* ---------------------------------------------------------------- new sets */

/* Computes the distribution of the number of needed tools among `tools`, counts [CHOOSE_SIZES + 1]. The last count
 * includes all greater ones. */
static void count_needed(const struct weighing *w, uint64_t tools, double *counts)
{
    memset(counts, 0, (CHOOSE_SIZES + 1) * sizeof *counts);
    counts[0] = 1;
    for (uint64_t rest = tools; rest; rest &= rest - 1) {
        double p = w->needed[__builtin_ctzll(rest)];
        counts[CHOOSE_SIZES] += p * counts[CHOOSE_SIZES - 1];
        for (size_t n = CHOOSE_SIZES; n-- > 0;)
            counts[n] = (1 - p) * counts[n] + (n > 0 ? p * counts[n - 1] : 0);
    }
}

static uint64_t all_candidates(const struct weighing *w)
{
    return w->candidates->tools == CHOOSE_TOOLS ? UINT64_MAX : ((uint64_t)1 << w->candidates->tools) - 1;
}

/* Sets the factors of the sizes. A request needs at least one tool. */
static void weigh_sizes(struct weighing *w, const struct chooser *c)
{
    double counts[CHOOSE_SIZES + 1], all = 0;
    count_needed(w, all_candidates(w), counts);
    w->sizes[0] = 0;
    for (size_t n = 1; n <= CHOOSE_SIZES; n++) {
        w->sizes[n] = exp(fmax(-FURTHEST, fmin(FURTHEST, (double)(c->size * c->sizes[n - 1]))));
        all += w->sizes[n] * counts[n];
    }
    for (size_t n = 1; n <= CHOOSE_SIZES; n++)
        w->sizes[n] /= all;
    for (size_t n = CHOOSE_SIZES + 1; n <= 2 * CHOOSE_SIZES; n++)
        w->sizes[n] = w->sizes[CHOOSE_SIZES];
}

static double expected_new_tracc(const struct weighing *w, uint64_t picked)
{
    double inside[CHOOSE_SIZES + 1], outside[CHOOSE_SIZES + 1], sum = 0;
    size_t size = size_of_set(picked);
    count_needed(w, picked, inside);
    count_needed(w, all_candidates(w) & ~picked, outside);
    for (size_t in = 1; in <= CHOOSE_SIZES; in++) /* TRACC is 0 without a common tool */
        for (size_t out = 0; out <= CHOOSE_SIZES; out++)
            sum += inside[in] * outside[out] * w->sizes[in + out] *
                   wt__tracc((struct overlap){.gold = in + out, .picked = size, .common = in});
    return sum;
}

/* Returns the probability that a new set has all its tools in `tools`. */
static double probability_of_new_subset(const struct weighing *w, uint64_t tools)
{
    double counts[CHOOSE_SIZES + 1], sum = 0, none = 1;
    count_needed(w, tools, counts);
    for (uint64_t rest = all_candidates(w) & ~tools; rest; rest &= rest - 1)
        none *= 1 - w->needed[__builtin_ctzll(rest)];
    for (size_t n = 1; n <= CHOOSE_SIZES; n++)
        sum += counts[n] * w->sizes[n];
    return sum * none;
}

/* Returns the probability that a new set has the candidate `tool`. */
static double probability_in_new_set(const struct weighing *w, size_t tool)
{
    double counts[CHOOSE_SIZES + 1], sum = 0;
    count_needed(w, all_candidates(w) & ~((uint64_t)1 << tool), counts);
    for (size_t n = 0; n <= CHOOSE_SIZES; n++)
        sum += counts[n] * w->sizes[n + 1];
    return w->needed[tool] * sum;
}

/* ---------------------------------------------------------------- past sets */

static int compare_past(const void *a, const void *b)
{
    const struct past_set *x = a, *y = b;
    return x->share != y->share ? (x->share < y->share) - (x->share > y->share)
                                : (x->tools > y->tools) - (x->tools < y->tools);
}

/* Returns the logarithm of the probability that exactly the tools of the set are needed, if independent. */
static double log_likelihood(const struct weighing *w, uint64_t set)
{
    double sum = 0;
    for (size_t t = 0; t < w->candidates->tools; t++)
        sum += log(set >> t & 1 ? w->needed[t] : 1 - w->needed[t]);
    return sum;
}

static void weigh_past_sets(struct weighing *w, const struct chooser *c)
{
    double scores[NEIGHBOURS_ASKED], best = -INFINITY, all = 0;
    const struct candidate_features *s = w->candidates;
    w->past_count = s->past_count;
    memcpy(w->past, s->past, s->past_count * sizeof *s->past);
    for (size_t i = 0; i < w->past_count; i++) {
        scores[i] = c->past * log((double)w->past[i].share) + c->likelihood * log_likelihood(w, w->past[i].tools);
        best = fmax(best, scores[i]);
    }
    for (size_t i = 0; i < w->past_count; i++)
        all += exp(scores[i] - best);
    for (size_t i = 0; i < w->past_count; i++)
        w->past[i].share = (float)(exp(scores[i] - best) / all);
    qsort(w->past, w->past_count, sizeof *w->past, compare_past);
}

static void compute_logits(const struct chooser *chooser, const struct candidate_features *candidates, float *logits)
{
    for (size_t t = 0; t < candidates->tools; t++) {
        float p = wt__logistic(chooser->tool_weights, chooser->tool_constant, candidates->features[t], TOOL_FEATURES);
        logits[t] = fmaxf(-FURTHEST, fminf(FURTHEST, logf(p) - logf(1 - p)));
    }
}

static void read_reuse(const struct candidate_features *s, const float *logits, float *out)
{
    memset(out, 0, REUSE_FEATURES * sizeof *out);
    out[REUSE_NEAREST] = s->answerability[ANSWERABLE_NEAREST];
    for (size_t i = 0; i < s->past_count; i++) {
        float sum = 0;
        for (uint64_t rest = s->past[i].tools; rest; rest &= rest - 1)
            sum += logits[__builtin_ctzll(rest)];
        sum /= (float)size_of_set(s->past[i].tools);
        out[REUSE_SHARE] = fmaxf(out[REUSE_SHARE], s->past[i].share);
        out[REUSE_FIT] = i == 0 ? sum : fmaxf(out[REUSE_FIT], sum);
    }
}

void wt__reuse_features_read(const struct chooser *chooser, const struct candidate_features *candidates,
                             float out[REUSE_FEATURES])
{
    float logits[CHOOSE_TOOLS];
    compute_logits(chooser, candidates, logits);
    read_reuse(candidates, logits, out);
}

/* ---------------------------------------------------------------- sets considered */

static void add_likely_set(struct weighing *w, uint64_t set)
{
    if (set != 0 && w->count < CHOOSE_SETS)
        w->sets[w->count++] = set;
}

static void add_changes(struct weighing *w, uint64_t set)
{
    for (size_t i = 0; i < CHANGED_BY && i < w->candidates->tools; i++)
        add_likely_set(w, set | (uint64_t)1 << w->likely[i]);
    for (uint64_t rest = set; rest; rest &= rest - 1)
        add_likely_set(w, set & ~(rest & -rest));
}

static void collect_sets(struct weighing *w)
{
    uint64_t prefix = 0;
    for (size_t i = 0; i < w->past_count; i++)
        add_likely_set(w, w->past[i].tools);
    for (size_t n = 0; n < PREFIX_MOST && n < w->candidates->tools; n++)
        add_likely_set(w, prefix |= (uint64_t)1 << w->likely[n]);
    for (size_t i = 0; i < CHANGED_PAST && i < w->past_count; i++)
        add_changes(w, w->past[i].tools);
    w->count = wt__sort_unique_u64(w->sets, w->count);
}

static void sort_likely(struct weighing *w)
{
    struct scored tools[CHOOSE_TOOLS];
    for (uint32_t t = 0; t < w->candidates->tools; t++)
        tools[t] = (struct scored){w->logits[t], t};
    wt__scored_sort(tools, w->candidates->tools);
    for (size_t t = 0; t < w->candidates->tools; t++)
        w->likely[t] = tools[t].row;
}

static void compute_needed(struct weighing *w, const struct chooser *chooser)
{
    compute_logits(chooser, w->candidates, w->logits);
    for (size_t t = 0; t < w->candidates->tools; t++)
        w->needed[t] = 1 / (1 + exp(-(double)w->logits[t]));
}

static void weigh_candidates(struct weighing *w, const struct chooser *chooser,
                             const struct candidate_features *candidates)
{
    float reuse[REUSE_FEATURES];
    w->candidates = candidates;
    w->count = 0;
    compute_needed(w, chooser);
    sort_likely(w);
    read_reuse(candidates, w->logits, reuse);
    w->reuse = candidates->past_count == 0
                   ? 0
                   : (double)wt__logistic(chooser->reuse_weights, chooser->reuse_constant, reuse, REUSE_FEATURES);
    weigh_past_sets(w, chooser);
    weigh_sizes(w, chooser);
    collect_sets(w);
}

void wt__size_distribution(const struct chooser *chooser, const struct candidate_features *candidates,
                           double out[CHOOSE_SIZES])
{
    struct weighing w = {.candidates = candidates};
    double counts[CHOOSE_SIZES + 1];
    compute_needed(&w, chooser);
    count_needed(&w, all_candidates(&w), counts);
    for (size_t n = 1; n <= CHOOSE_SIZES; n++)
        out[n - 1] = counts[n] / (1 - counts[0]);
}

void wt__sizes_fit(double (*given)[CHOOSE_SIZES], size_t count, const double *shares, float *sizes)
{
    static const double LITTLE_SHARE = 0.01; /* added to both shares, so that rare sizes keep a factor of about 1 */
    for (size_t n = 0; n < CHOOSE_SIZES; n++) {
        double mean = 0;
        for (size_t q = 0; q < count; q++)
            mean += given[q][n] / (double)count;
        sizes[n] = (float)log((shares[n] + LITTLE_SHARE) / (mean + LITTLE_SHARE));
    }
}

/* ---------------------------------------------------------------- the set to recommend */

static float expected_tracc(const struct weighing *w, uint64_t picked)
{
    double past = 0;
    for (size_t i = 0; i < w->past_count; i++)
        past +=
            (double)w->past[i].share * wt__tracc((struct overlap){.gold = size_of_set(w->past[i].tools),
                                                                  .picked = size_of_set(picked),
                                                                  .common = size_of_set(w->past[i].tools & picked)});
    return (float)(w->reuse * past + (1 - w->reuse) * expected_new_tracc(w, picked));
}

/* Computes the probability of each tool, out [tools]. */
static void sum_probabilities(const struct weighing *w, float *out)
{
    for (size_t t = 0; t < w->candidates->tools; t++) {
        double past = 0;
        for (size_t i = 0; i < w->past_count; i++)
            past += w->past[i].tools >> t & 1 ? (double)w->past[i].share : 0;
        out[t] = (float)fmin(1, w->reuse * past + (1 - w->reuse) * probability_in_new_set(w, t));
    }
}

static float probability_of_subset(const struct weighing *w, uint64_t tools)
{
    double past = 0;
    for (size_t i = 0; i < w->past_count; i++)
        past += (w->past[i].tools & ~tools) == 0 ? (double)w->past[i].share : 0;
    return (float)fmin(1, w->reuse * past + (1 - w->reuse) * probability_of_new_subset(w, tools));
}

void wt__choose(const struct chooser *chooser, const struct candidate_features *candidates, struct chosen *out)
{
    struct weighing w;
    *out = (struct chosen){.tracc = -1};
    if (candidates->tools == 0)
        return;
    weigh_candidates(&w, chooser, candidates);
    sum_probabilities(&w, out->probability);
    for (size_t i = 0; i < w.count; i++) {
        float value = expected_tracc(&w, w.sets[i]);
        if (value > out->tracc) {
            out->tracc = value;
            out->tools = w.sets[i];
        }
    }
    out->complete = probability_of_subset(&w, out->tools);
    out->reuse = (float)w.reuse;
}

/* ---------------------------------------------------------------- complete sets */

void wt__set_order(const struct chooser *chooser, const struct candidate_features *candidates, size_t hits,
                   uint32_t *order, float *nonconformity)
{
    struct weighing w;
    struct scored tools[CHOOSE_TOOLS];
    float probability[CHOOSE_TOOLS];
    uint64_t taken = 0;
    size_t count = candidates->tools, next = 0;
    if (count == 0)
        return;
    weigh_candidates(&w, chooser, candidates);
    sum_probabilities(&w, probability);
    for (size_t i = 0; i < count; i++) /* equal probabilities keep the order of w.likely */
        tools[i] = (struct scored){probability[w.likely[i]], (uint32_t)i};
    wt__scored_sort(tools, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t tool = w.likely[tools[i].row];
        order[i] = candidates->hits[tool];
        nonconformity[i] = probability_of_subset(&w, taken) + NONCONFORMITY_STEP * (float)i;
        taken |= (uint64_t)1 << tool;
    }
    for (uint32_t h = 0; h < hits; h++) { /* append the hits that are not candidates, in ascending order */
        if (next < candidates->tools && candidates->hits[next] == h) {
            next++;
            continue;
        }
        order[count] = h;
        nonconformity[count] = 1 + NONCONFORMITY_STEP * (float)count;
        count++;
    }
}

/* Sets the threshold of a set complete with this probability. Returns false if there are too few values, or if the
 * threshold would be CHOOSE_NEVER. */
static bool threshold_for(const struct calibration *nonconformity, double probability, float *threshold)
{
    double rank = ceil((double)(nonconformity->count + 1) * probability - 1e-9);
    if (!(rank >= 1) || rank > (double)nonconformity->count)
        return false;
    *threshold = nonconformity->values[(size_t)rank - 1];
    return *threshold < CHOOSE_NEVER;
}

bool wt__conformal_thresholds(const struct chooser *chooser, double probability, struct conformal_thresholds *out)
{
    if (!threshold_for(&chooser->nonconformity, probability, &out->used))
        return false;
    out->unused = out->used;
    return chooser->unused.count == 0 || threshold_for(&chooser->unused, probability, &out->unused);
}

/* ---------------------------------------------------------------- no answer */

/* Minimum of wt__no_answer_threshold. A warning at a lower probability would more likely be wrong than right. */
static const float NO_ANSWER_LEAST = 0.5f;

float wt__no_answer_probability(const struct chooser *chooser, const struct candidate_features *candidates)
{
    return candidates->tools == 0 ? 1
                                  : wt__logistic(chooser->answerability_weights, chooser->answerability_constant,
                                                 candidates->answerability, ANSWERABLE_FEATURES);
}

float wt__no_answer_threshold(const struct calibration *no_answer, double false_share)
{
    double above = floor((double)(no_answer->count + 1) * false_share + 1e-9);
    if (!(above >= 1))
        return INFINITY;
    if (above >= (double)no_answer->count)
        return NO_ANSWER_LEAST;
    return fmaxf(no_answer->values[no_answer->count - (size_t)above], NO_ANSWER_LEAST);
}

/* A request is unfamiliar if it is shorter than SHORTER times the first percentile of the dev requests' lengths, or if
 * its cosine is lower than the first percentile of their cosines by more than FARTHER. The
 * first percentile of `count` ascending values is values[count / RARE]. */
enum { RARE = 100 };
static const float SHORTER = 0.75f, FARTHER = 0.05f;

enum familiarity wt__familiarity(const struct chooser *chooser, const struct candidate_features *candidates,
                                 size_t bytes)
{
    const struct calibration *nearest = &chooser->nearest, *lengths = &chooser->lengths;
    float cosine = candidates->answerability[ANSWERABLE_NEAREST];
    if (cosine == 0 || nearest->count == 0 || lengths->count == 0)
        return FAMILIAR;
    if ((float)bytes < SHORTER * lengths->values[lengths->count / RARE])
        return TOO_SHORT;
    return cosine < nearest->values[nearest->count / RARE] - FARTHER ? TOO_FAR : FAMILIAR;
}

/* ---------------------------------------------------------------- JSON */

enum { CALIBRATION_MOST = 100000 };         /* maximum length of a calibration */
static const double LARGEST = CHOOSE_NEVER; /* maximum absolute number, so that products of two numbers are finite */

static bool is_sane(double value)
{
    return fabs(value) <= LARGEST; /* false for NaN */
}

static int read_number_list(float *out, size_t count, const json_t *object, const char *name, wt_error *err)
{
    json_t *list = wt__json_array(object, name), *item;
    size_t i;
    if (json_array_size(list) != count)
        return wt__fail(err, WT_EMODEL, "\"%s\" has %zu numbers instead of %zu", name, json_array_size(list), count);
    json_array_foreach(list, i, item)
    {
        if (!json_is_number(item) || !is_sane(json_number_value(item)))
            return wt__fail(err, WT_EMODEL, "\"%s\" must only have numbers of at most %g", name, LARGEST);
        out[i] = (float)json_number_value(item);
    }
    return 0;
}

static int read_chooser_number(float *out, const json_t *object, const char *name, wt_error *err)
{
    double value = wt__json_real(object, name, NAN);
    *out = is_sane(value) ? (float)value : 0;
    return is_sane(value) ? 0 : wt__fail(err, WT_EMODEL, "\"%s\" is not a number of at most %g", name, LARGEST);
}

/* Reads a calibration. If the member is missing, as in choosers of earlier versions, the calibration is empty. */
static int read_calibration(struct calibration *out, const json_t *object, const char *name, struct arena *arena,
                            wt_error *err)
{
    const json_t *list = json_object_get(object, name);
    size_t count = json_array_size(list);
    if (list && !json_is_array(list))
        return wt__fail(err, WT_EMODEL, "\"%s\" is not a list of numbers", name);
    if (count > CALIBRATION_MOST)
        return wt__fail(err, WT_EMODEL, "\"%s\" has more than %d numbers", name, CALIBRATION_MOST);
    float *values = wt__arena_array(arena, float, count);
    *out = (struct calibration){values, count};
    WT_CHECK_ALLOC(values, err);
    WT_TRY(read_number_list(values, count, object, name, err));
    for (size_t i = 1; i < count; i++)
        if (values[i] < values[i - 1])
            return wt__fail(err, WT_EMODEL, "\"%s\" is not in order", name);
    return 0;
}

/* Reads the relevance model, which is missing in choosers of earlier versions. */
static int read_relevance(struct chooser *out, const json_t *config, wt_error *err)
{
    out->has_relevance = json_object_get(config, "relevance") != NULL;
    if (!out->has_relevance)
        return 0;
    WT_TRY(read_number_list(out->relevance.weights, RELEVANCE_FEATURES, config, "relevance", err));
    return read_chooser_number(&out->relevance.constant, config, "relevance_constant", err);
}

int wt__chooser_read(struct chooser *out, const json_t *config, struct arena *arena, wt_error *err)
{
    const struct {
        float *into;
        size_t count;
        const char *name;
    } lists[] = {{out->tool_weights, TOOL_FEATURES, "tool"},
                 {out->reuse_weights, REUSE_FEATURES, "reuse"},
                 {out->sizes, CHOOSE_SIZES, "sizes"},
                 {out->answerability_weights, ANSWERABLE_FEATURES, "answerability"}};
    const struct {
        float *into;
        const char *name;
    } numbers[] = {{&out->tool_constant, "tool_constant"},
                   {&out->reuse_constant, "reuse_constant"},
                   {&out->likelihood, "likelihood"},
                   {&out->past, "past"},
                   {&out->size, "size"},
                   {&out->answerability_constant, "answerability_constant"}};
    *out = (struct chooser){.likelihood = 0};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        WT_TRY(read_number_list(lists[i].into, lists[i].count, config, lists[i].name, err));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        WT_TRY(read_chooser_number(numbers[i].into, config, numbers[i].name, err));
    WT_TRY(read_calibration(&out->nonconformity, config, "nonconformity", arena, err));
    WT_TRY(read_calibration(&out->unused, config, "unused", arena, err));
    WT_TRY(read_calibration(&out->no_answer, config, "no_answer", arena, err));
    WT_TRY(read_calibration(&out->nearest, config, "nearest", arena, err));
    WT_TRY(read_calibration(&out->lengths, config, "lengths", arena, err));
    return read_relevance(out, config, err);
}

static json_t *write_number_list(const float *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++)
        if (json_array_append_new(list, json_real((double)values[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *wt__chooser_write(const struct chooser *c)
{
    json_t *config =
        json_pack("{s:o, s:f, s:o, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o}", "tool",
                  write_number_list(c->tool_weights, TOOL_FEATURES), "tool_constant", (double)c->tool_constant, "reuse",
                  write_number_list(c->reuse_weights, REUSE_FEATURES), "reuse_constant", (double)c->reuse_constant,
                  "likelihood", (double)c->likelihood, "past", (double)c->past, "size", (double)c->size, "sizes",
                  write_number_list(c->sizes, CHOOSE_SIZES), "answerability",
                  write_number_list(c->answerability_weights, ANSWERABLE_FEATURES), "answerability_constant",
                  (double)c->answerability_constant, "nonconformity",
                  write_number_list(c->nonconformity.values, c->nonconformity.count), "unused",
                  write_number_list(c->unused.values, c->unused.count), "no_answer",
                  write_number_list(c->no_answer.values, c->no_answer.count), "nearest",
                  write_number_list(c->nearest.values, c->nearest.count), "lengths",
                  write_number_list(c->lengths.values, c->lengths.count));
    if (!config || !c->has_relevance)
        return config;
    if (json_object_set_new(config, "relevance", write_number_list(c->relevance.weights, RELEVANCE_FEATURES)) == 0 &&
        json_object_set_new(config, "relevance_constant", json_real((double)c->relevance.constant)) == 0)
        return config;
    json_decref(config);
    return NULL;
}
