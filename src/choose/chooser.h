/* chooser.h: the exact set of tools that a request needs, without a language model.
 *
 * Which set was needed is unknown; what can be had is a probability of each set that is worth a thought: the sets that
 * similar requests used, the first few tools, and small changes of those. Its logarithm is, up to a constant,
 *
 *   likelihood * sum over its tools of logit(p)  +  past * log(share of past requests' votes)  +  size * log(share of
 *   usage with so many tools)
 *
 * where p, that a tool is needed, is logistic in the numbers of candidate_features.h. From these probabilities comes
 * either
 *
 *   the set with the greatest expected TRACC (set_metrics.h), by minimum Bayes risk over the same sets, or
 *   a set that shall hold all that is needed with a stated probability: tools in the order of how likely a needed set
 *   holds them, as many as it takes.
 *
 * Where to stop is calibrated as in split conformal prediction (Vovk et al. 2005; Angelopoulos and Bates 2021): each of
 * n requests with known tools has a nonconformity score, the greatest at which stopping would have been too early, and
 * a request that is exchangeable with those is complete with probability P or more when stopping is put off beyond the
 * ceil((n + 1) P)-th least of these scores. Tools that nobody used before have scores of their own (Mondrian conformal
 * prediction), so that it does not matter to either kind how many requests need the other.
 *
 * That holds for scores of requests that nothing was fitted to. Ours come by weights of the other folds: a query that
 * asked those same weights (CV+, Barber et al. 2021) would be complete with probability 1 - 2 (1 - P), less at most
 * sqrt(2 / n), in the worst case. It asks the weights of all, which is close to P as long as a fold more or less hardly
 * moves them, and guarantees nothing where it does; and the same requests chose what was trained before.
 *
 * And there may be no tool for it at all: a second logistic gives that probability, and what of the answerable
 * requests' it exceeds is known, so that it can be acted upon at a stated rate of false alarms.
 *
 * All of this was learned from requests as they were logged. A request that is unlike them (much shorter, say) is read
 * wrongly with great confidence, so it is told apart first, and chosen for as in a catalogue without use. */
#ifndef WT_CHOOSE_CHOOSER_H
#define WT_CHOOSE_CHOOSER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "choose/relevance.h"
#include "choose/candidate_features.h"

enum {
    CHOOSE_SIZES = 16, /* sizes that are told apart; the last one stands for all above */
    CHOOSE_SETS = 512  /* sets that are weighed */
};

/* Numbers that were measured on requests with known answers, ascending. */
struct calibration {
    const float *values; /* [count] */
    size_t count;
};

struct chooser {
    float tool_weights[TOOL_FEATURES], tool_constant;
    float likelihood, past, size;
    float sizes[CHOOSE_SIZES]; /* [n - 1] log of the share of usage that needed n tools; all 0: nothing is known */
    float answerability_weights[ANSWERABLE_FEATURES], answerability_constant;
    struct calibration nonconformity; /* up to which a request's tools join, of those that somebody used before */
    struct calibration unused;        /* the same of tools that nobody used; none: they join as the others do */
    struct calibration no_answer;     /* of wt__no_answer_probability on requests that some tool fits */
    struct calibration nearest;       /* cosines of dev requests with the nearest past request; none: not known */
    struct calibration lengths;       /* bytes of dev requests; none: not known */
    struct relevance relevance;       /* of hits by themselves, when fitted */
    bool has_relevance;
};

/* Made of other catalogues, for stores without usage: what it promises is a guess. */
extern const struct chooser wt__chooser_default;

/* The members of a trained chooser's config.json. Errors: WT_EMODEL (a member is missing, of another length, not
 * finite or not in order), WT_ENOMEM. Calibrations live in the arena. */
int wt__chooser_read(struct chooser *out, const json_t *config, struct arena *arena, wt_error *err);
json_t *wt__chooser_write(const struct chooser *chooser); /* NULL when memory is out */

/* ---------------------------------------------------------------- a set */

struct chosen {
    uint64_t tools;                  /* of the candidates; never empty where there are any */
    float probability[CHOOSE_TOOLS]; /* that a tool is needed */
    float tracc;                     /* expected, of this set */
    float complete;                  /* probability that it holds all that is needed, as these probabilities have it */
};

/* The set with the greatest expected TRACC. */
void wt__choose(const struct chooser *chooser, const struct candidate_features *candidates, struct chosen *out);

/* The order in which hits join a set that shall be complete: the candidates, then the others as they come. With
 * the nonconformity score of the set before each joins, ascending. order, nonconformity: [hits]. */
void wt__set_order(const struct chooser *chooser, const struct candidate_features *candidates, size_t hits,
                   uint32_t *order, float *nonconformity);

/* The score of a request whose tools were not all found. */
#define CHOOSE_NEVER 1e9f

/* Up to which nonconformity scores tools join a set that is complete with that probability: those that somebody used,
 * and those that nobody did. false: none are known. */
struct conformal_thresholds {
    float used, unused;
};
bool wt__conformal_thresholds(const struct chooser *chooser, double probability, struct conformal_thresholds *out);

/* ---------------------------------------------------------------- no answer */

float wt__no_answer_probability(const struct chooser *chooser, const struct candidate_features *candidates);

/* What wt__no_answer_probability exceeds for that share of the requests that some tool fits, in [0, 1], but never less
 * than a half; INFINITY where so small a share of so few cannot be told. */
float wt__no_answer_threshold(const struct calibration *no_answer, double false_share);

/* ---------------------------------------------------------------- requests that are unlike those */

enum familiarity { FAMILIAR, TOO_SHORT, TOO_FAR };

/* Whether one of so many bytes with these candidates is clearly shorter, or farther from all past requests, than all
 * but one of 100 dev requests. Where no past requests were asked, or dev is not known, all are familiar. */
enum familiarity wt__familiarity(const struct chooser *chooser, const struct candidate_features *candidates,
                                 size_t bytes);

float wt__logistic(const float *weights, float constant, const float *values, size_t count);

#endif
