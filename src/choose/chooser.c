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

static void read_tool_features(float *out, const struct hit_list *hits, size_t h, float expected)
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
        read_tool_features(out->features[t], hits, out->hits[t], expected);
    read_answerability_features(out->answerability, hits, expected);
}

/* ---------------------------------------------------------------- default parameters */

/* The chooser for stores without usage. Fitted by bench/bench_default_parameters.c on the train splits of metatool,
 * metatool-multi and numpybank (MIT licences), 300 requests each, with the untrained recipe. default_no_answer has
 * percentiles of wt__no_answer_probability on answerable requests. docs/recommend.md has measurements on other
 * catalogues. */

static const float default_no_answer[] = {
    0.04f,   0.05126f, 0.06067f, 0.07854f, 0.08427f, 0.09236f, 0.09691f, 0.1057f, 0.1139f, 0.1195f, 0.1267f,
    0.1383f, 0.1412f,  0.1449f,  0.151f,   0.1577f,  0.1654f,  0.1703f,  0.1732f, 0.1775f, 0.182f,  0.1874f,
    0.1933f, 0.1998f,  0.2073f,  0.2124f,  0.217f,   0.2245f,  0.2267f,  0.2332f, 0.2387f, 0.2424f, 0.2454f,
    0.2498f, 0.2561f,  0.2607f,  0.266f,   0.2691f,  0.2739f,  0.2835f,  0.2916f, 0.3001f, 0.3105f, 0.3156f,
    0.3202f, 0.3235f,  0.329f,   0.3347f,  0.3406f,  0.3452f,  0.3502f,  0.3558f, 0.3633f, 0.3695f, 0.3755f,
    0.3805f, 0.3864f,  0.3911f,  0.3961f,  0.4026f,  0.4079f,  0.4161f,  0.4249f, 0.4321f, 0.4389f, 0.4509f,
    0.4586f, 0.467f,   0.4776f,  0.4862f,  0.4966f,  0.5095f,  0.5145f,  0.5214f, 0.5313f, 0.5362f, 0.5446f,
    0.5541f, 0.5687f,  0.5772f,  0.5846f,  0.5908f,  0.6029f,  0.6197f,  0.6307f, 0.6435f, 0.6651f, 0.6736f,
    0.6897f, 0.7051f,  0.7205f,  0.7366f,  0.7476f,  0.7687f,  0.7832f,  0.803f,  0.8185f, 0.8415f, 0.8706f};

const struct chooser wt__chooser_default = {
    .likelihood = 0.75f,
    .past = 0.25f,
    .size = 0.5f,
    .tool_weights = {2.511f, 0.07186f, 1.134f, -1.404f, 2.007f, 1.972f, 0.4581f, 0, 0},
    .tool_constant = -2.705f,
    .sizes = {-1.222f, -0.9444f, -1.873f, -3.098f, -3.993f, -4.617f, -4.718f, -4.718f, -4.718f, -4.718f, -4.718f,
              -4.718f, -4.718f, -4.718f, -4.718f, -4.718f},
    .answerability_weights = {1.134f, 0.9674f, -2.661f, -3.792f, -1.99f, -1.449f, 0, 0, 0, 0},
    .answerability_constant = 2.779f,
    .no_answer = {default_no_answer, sizeof default_no_answer / sizeof *default_no_answer},
};

/* Limits of the sets considered. A prefix is the set of the n most likely tools, for any n. */
enum {
    PREFIX_MOST = 12, /* maximum length of prefixes */
    SMALL_OF = 7,     /* number of most likely tools of which all sets of one to three are considered */
    CHANGED_PAST = 5, /* number of past sets whose variations by one tool are also considered */
    CHANGED_BY = 8,   /* number of most likely tools that a variation may add */
    LEAST_PREFIX = 2, /* variations of prefixes of length LEAST_PREFIX .. MOST_PREFIX - 1 are also considered */
    MOST_PREFIX = 4
};

/* Added to the vote share of every set, because most sets were used by no past request. */
static const float UNUSED_SHARE = 0.003f;

/* Added to the score of a tool for each earlier tool, so that no two scores are equal. */
static const float NONCONFORMITY_STEP = 1e-3f;

/* The sets considered for a request, with their probabilities. */
struct weighing {
    const struct chooser *chooser;
    const struct candidate_features *candidates;
    float logits[CHOOSE_TOOLS];    /* log odds that each candidate is needed */
    uint32_t likely[CHOOSE_TOOLS]; /* numbers of the candidates, most likely first */
    size_t count;                  /* S, number of sets */
    uint64_t sets[CHOOSE_SETS];    /* [S] distinct */
    float weights[CHOOSE_SETS];    /* [S] probabilities, which sum to 1 */
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

/* ---------------------------------------------------------------- candidate sets */

static void add_likely_set(struct weighing *w, uint64_t set)
{
    if (set != 0 && w->count < CHOOSE_SETS)
        w->sets[w->count++] = set;
}

static uint64_t bit_of(const struct weighing *w, size_t place)
{
    return (uint64_t)1 << w->likely[place];
}

static uint64_t likely_prefix(const struct weighing *w, size_t length)
{
    uint64_t set = 0;
    for (size_t i = 0; i < length && i < w->candidates->tools; i++)
        set |= bit_of(w, i);
    return set;
}

static void add_small_sets(struct weighing *w)
{
    size_t n = w->candidates->tools < SMALL_OF ? w->candidates->tools : SMALL_OF;
    for (size_t a = 0; a < n; a++) {
        add_likely_set(w, bit_of(w, a));
        for (size_t b = a + 1; b < n; b++) {
            add_likely_set(w, bit_of(w, a) | bit_of(w, b));
            for (size_t c = b + 1; c < n; c++)
                add_likely_set(w, bit_of(w, a) | bit_of(w, b) | bit_of(w, c));
        }
    }
}

static void add_changes(struct weighing *w, uint64_t set)
{
    for (size_t i = 0; i < CHANGED_BY && i < w->candidates->tools; i++)
        add_likely_set(w, set | bit_of(w, i));
    for (uint64_t rest = set; rest; rest &= rest - 1)
        add_likely_set(w, set & ~(rest & -rest));
}

static int compare_past(const void *a, const void *b)
{
    const struct past_set *x = a, *y = b;
    return (x->share < y->share) - (x->share > y->share);
}

static void collect_sets(struct weighing *w)
{
    struct past_set past[NEIGHBOURS_ASKED];
    size_t count = w->candidates->past_count;
    memcpy(past, w->candidates->past, count * sizeof *past);
    qsort(past, count, sizeof *past, compare_past);
    for (size_t i = 0; i < count; i++)
        add_likely_set(w, past[i].tools);
    for (size_t n = 1; n <= PREFIX_MOST && n <= w->candidates->tools; n++)
        add_likely_set(w, likely_prefix(w, n));
    add_small_sets(w);
    for (size_t i = 0; i < CHANGED_PAST && i < count; i++)
        add_changes(w, past[i].tools);
    for (size_t n = LEAST_PREFIX; n < MOST_PREFIX; n++)
        add_changes(w, likely_prefix(w, n));
    w->count = wt__sort_unique_u64(w->sets, w->count);
}

/* ---------------------------------------------------------------- probabilities */

static float past_share(const struct candidate_features *s, uint64_t set)
{
    float share = UNUSED_SHARE;
    for (size_t i = 0; i < s->past_count; i++)
        if (s->past[i].tools == set)
            share += s->past[i].share;
    return share;
}

static double score_set(const struct weighing *w, uint64_t set)
{
    const struct chooser *c = w->chooser;
    size_t size = size_of_set(set);
    double logits = 0;
    for (uint64_t rest = set; rest; rest &= rest - 1)
        logits += w->logits[__builtin_ctzll(rest)];
    return c->likelihood * logits + c->past * log((double)past_share(w->candidates, set)) +
           c->size * c->sizes[(size < CHOOSE_SIZES ? size : CHOOSE_SIZES) - 1];
}

static void weigh_sets(struct weighing *w)
{
    double scores[CHOOSE_SETS], best = -INFINITY, all = 0;
    for (size_t i = 0; i < w->count; i++) {
        scores[i] = score_set(w, w->sets[i]);
        best = fmax(best, scores[i]);
    }
    for (size_t i = 0; i < w->count; i++)
        all += exp(scores[i] - best);
    for (size_t i = 0; i < w->count; i++)
        w->weights[i] = (float)(exp(scores[i] - best) / all);
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

static void weigh_candidates(struct weighing *w, const struct chooser *chooser,
                             const struct candidate_features *candidates)
{
    enum { FURTHEST = 12 }; /* greatest absolute logit */
    w->chooser = chooser;
    w->candidates = candidates;
    w->count = 0;
    for (size_t t = 0; t < candidates->tools; t++) {
        float p = wt__logistic(chooser->tool_weights, chooser->tool_constant, candidates->features[t], TOOL_FEATURES);
        w->logits[t] = fmaxf(-FURTHEST, fminf(FURTHEST, logf(p) - logf(1 - p)));
    }
    sort_likely(w);
    collect_sets(w);
    weigh_sets(w);
}

/* ---------------------------------------------------------------- the set to recommend */

static float expected_tracc(const struct weighing *w, uint64_t picked)
{
    double sum = 0;
    for (size_t i = 0; i < w->count; i++)
        sum += (double)w->weights[i] * wt__tracc((struct overlap){.gold = size_of_set(w->sets[i]),
                                                                  .picked = size_of_set(picked),
                                                                  .common = size_of_set(w->sets[i] & picked)});
    return (float)sum;
}

/* Computes the probability of each tool, out [tools]: the sum of the weights of the sets with the tool. */
static void sum_probabilities(const struct weighing *w, float *out)
{
    memset(out, 0, w->candidates->tools * sizeof *out);
    for (size_t i = 0; i < w->count; i++)
        for (uint64_t rest = w->sets[i]; rest; rest &= rest - 1)
            out[__builtin_ctzll(rest)] += w->weights[i];
}

static float probability_of_subset(const struct weighing *w, uint64_t tools)
{
    double sum = 0;
    for (size_t i = 0; i < w->count; i++)
        sum += (w->sets[i] & ~tools) == 0 ? (double)w->weights[i] : 0;
    return (float)sum;
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
                 {out->sizes, CHOOSE_SIZES, "sizes"},
                 {out->answerability_weights, ANSWERABLE_FEATURES, "answerability"}};
    const struct {
        float *into;
        const char *name;
    } numbers[] = {{&out->tool_constant, "tool_constant"},
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
    json_t *config = json_pack("{s:o, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o}", "tool",
                               write_number_list(c->tool_weights, TOOL_FEATURES), "tool_constant",
                               (double)c->tool_constant, "likelihood", (double)c->likelihood, "past", (double)c->past,
                               "size", (double)c->size, "sizes", write_number_list(c->sizes, CHOOSE_SIZES),
                               "answerability", write_number_list(c->answerability_weights, ANSWERABLE_FEATURES),
                               "answerability_constant", (double)c->answerability_constant, "nonconformity",
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
