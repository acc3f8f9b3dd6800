/* chooser.c: see chooser.h. Sets are words, so an intersection is one instruction. The expected TRACC of every set
 * against every other takes some hundred thousand of them. */
#include "choose/chooser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "choose/set_metrics.h"

enum {
    PREFIX_MOST = 12, /* prefixes of the tools by probability, up to this length */
    SMALL_OF = 7,     /* sets of up to three of this many most likely tools */
    CHANGED_PAST = 5, /* number of past sets to vary by one tool */
    CHANGED_BY = 8,   /* number of most likely tools added in a variation */
    LEAST_PREFIX = 2, /* lengths of prefixes to vary, from here to MOST_PREFIX */
    MOST_PREFIX = 4
};

/* Vote share of a set that no past request used. */
static const float UNUSED_SHARE = 0.003f;

/* Added to the score per tool, to order tools with equal probabilities. */
static const float NONCONFORMITY_STEP = 1e-3f;

struct weighing {
    const struct chooser *chooser;
    const struct candidate_features *candidates;
    float logits[CHOOSE_TOOLS];
    uint32_t likely[CHOOSE_TOOLS]; /* tools, most likely first */
    size_t count;                  /* S */
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
    enum { FURTHEST = 12 }; /* limit of logits; values beyond it carry no information */
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

/* Computes the probability of each tool, out [tools]: the total weight of the sets with it. */
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
    for (size_t i = 0; i < count; i++) /* ties keep the order by the tool's own probability */
        tools[i] = (struct scored){probability[w.likely[i]], (uint32_t)i};
    wt__scored_sort(tools, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t tool = w.likely[tools[i].row];
        order[i] = candidates->hits[tool];
        nonconformity[i] = probability_of_subset(&w, taken) + NONCONFORMITY_STEP * (float)i;
        taken |= (uint64_t)1 << tool;
    }
    for (uint32_t h = 0; h < hits; h++) { /* both lists of hits ascend */
        if (next < candidates->tools && candidates->hits[next] == h) {
            next++;
            continue;
        }
        order[count] = h;
        nonconformity[count] = 1 + NONCONFORMITY_STEP * (float)count;
        count++;
    }
}

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

/* A higher threshold would withhold warnings that are more likely right than wrong. */
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
    return above >= (double)no_answer->count
               ? NO_ANSWER_LEAST
               : fmaxf(no_answer->values[no_answer->count - (size_t)above], NO_ANSWER_LEAST);
}

/* ---------------------------------------------------------------- familiarity */

/* Distance from all but one in RARE dev requests. With few dev requests, the extreme one alone is not rare enough. */
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
