/* chooser.h: predicts the exact set of tools that a request needs, from candidate tools and their features. */
#ifndef WT_CHOOSE_CHOOSER_H
#define WT_CHOOSE_CHOOSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "choose/relevance.h"
#include "retrieve/retrieve.h"

/* The input of a chooser of tool sets: a few dozen candidate tools with some numbers each, and the sets that the most
 * similar past requests used.
 *
 * Candidates are limited to 64, so that a set is one word and an intersection one instruction. A chooser can then
 * compare hundreds of sets in microseconds. */

enum {
    CHOOSE_TOOLS = 64, /* maximum number of candidates */
    CHOOSE_FIRST = 40  /* candidates from the first hits; the others come from past requests */
};

/* Features of a tool. */
enum tool_feature {
    TOOL_SHARE, /* score divided by the best hit's score */
    TOOL_GAP,   /* score minus the best hit's score */
    TOOL_RANK,  /* -log(1 + number of hits before it) */
    TOOL_MEANING,
    TOOL_WORDS,
    TOOL_SUBQUERY_MEANING,
    TOOL_SUBQUERY_WORDS,
    TOOL_NEIGHBOUR_VOTES, /* log(share of the past requests' votes + a small constant) */
    TOOL_EXPECTED,        /* log of the mean number of tools of past requests; equal for all tools of a request */
    TOOL_FEATURES
};

/* Features that predict whether any tool fits. */
enum answerability_feature {
    ANSWERABLE_BEST,             /* score of the best hit */
    ANSWERABLE_SECOND,           /* its lead over the second hit */
    ANSWERABLE_FIFTH,            /* its lead over the fifth hit */
    ANSWERABLE_MEANING,          /* greatest cosine of a tool with the request */
    ANSWERABLE_SUBQUERY_MEANING, /* greatest cosine of a tool with a sub-query */
    ANSWERABLE_WORDS,            /* greatest share of the request's words that a tool has */
    ANSWERABLE_NEAREST,          /* cosine of the most similar past request */
    ANSWERABLE_NEAR,             /* mean cosine of all past requests that voted */
    ANSWERABLE_THERE,            /* share of their votes for tools that still exist */
    ANSWERABLE_NEIGHBOUR_VOTE,   /* greatest share of neighbour votes of a tool */
    ANSWERABLE_FEATURES
};

/* Set of tools used by past requests. */
struct past_set {
    uint64_t tools;
    float share; /* share of the neighbours' votes */
};

struct candidate_features {
    size_t tools;                                /* C */
    uint32_t hits[CHOOSE_TOOLS];                 /* [C] indices of hits, ascending */
    float features[CHOOSE_TOOLS][TOOL_FEATURES]; /* [C] */
    size_t past_count;
    struct past_set past[NEIGHBOURS_ASKED]; /* distinct sets; sets with a tool outside the candidates are omitted */
    float answerability[ANSWERABLE_FEATURES];
};

/* Reads the features of a request. hits: with features, at least CHOOSE_FIRST if that many exist. neighbours: source of
 * the hits' votes, or NULL. */
void wt__candidate_features_read(struct candidate_features *out, const struct hit_list *hits,
                                 const struct neighbours *neighbours);

/* Predicts the exact set of tools that a request needs, without a language model.
 *
 * The chooser estimates a probability for each plausible set: the sets of similar past requests, the first few tools,
 * and small changes of both. The logarithm of this probability is, up to a constant,
 *
 *   likelihood * sum over the set's tools of logit(p)
 *     + past * log(share of the past requests' votes)
 *     + size * log(share of usages with so many tools)
 *
 * where p, the probability that a tool is needed, is a logistic function of the features above. The result is either
 *
 *   the set with the greatest expected TRACC (set_metrics.h), by minimum Bayes risk over the same sets, or
 *   a set that is complete with a given probability. Tools join in the order of their probability, as many as needed.
 *
 * The point to stop is calibrated as in split conformal prediction (Vovk et al. 2005; Angelopoulos and Bates 2021).
 * Each of n requests with known tools has a nonconformity score, the greatest score at which stopping would be too
 * early. Let a request be exchangeable with these n. If it stops only beyond the ceil((n + 1) P)-th smallest score, its
 * set is complete with probability P or more. Tools without past use have scores of their own (Mondrian conformal
 * prediction), so the mix of both kinds does not matter.
 *
 * The guarantee holds for scores from requests that were not used for fitting. Ours come from cross-validation: each
 * fold is scored with the weights of the other folds. A query with those same weights (CV+, Barber et al. 2021) would
 * be complete with probability 1 - 2 (1 - P), less at most sqrt(2 / n), in the worst case. A query uses the weights
 * fitted to all folds instead. That is close to P as long as one fold more or less hardly changes the weights, and is
 * not guaranteed otherwise. The same requests also selected the models trained before.
 *
 * A request may need no tool at all. A second logistic function estimates that probability. Its distribution over
 * answerable requests is known, so a caller can act on it at a chosen rate of false alarms.
 *
 * All parameters come from logged requests. For a very different request (for example, a much shorter one) the chooser
 * would be wrong with great confidence. Such a request is detected first and handled as in a catalogue without
 * usage. */

enum {
    CHOOSE_SIZES = 16, /* distinct sizes; the last one includes all larger sets */
    CHOOSE_SETS = 512  /* maximum number of sets considered */
};

/* Values measured on requests with known answers, ascending. */
struct calibration {
    const float *values; /* [count] */
    size_t count;
};

struct chooser {
    float tool_weights[TOOL_FEATURES], tool_constant;
    float likelihood, past, size;
    float sizes[CHOOSE_SIZES]; /* [n - 1] log of the share of usages with n tools; all 0 if unknown */
    float answerability_weights[ANSWERABLE_FEATURES], answerability_constant;
    struct calibration nonconformity; /* thresholds for tools with past use */
    struct calibration unused;        /* thresholds for tools without past use; if empty, those of used tools apply */
    struct calibration no_answer;     /* wt__no_answer_probability of answerable requests */
    struct calibration nearest;       /* cosine of dev requests with their nearest past request; empty if unknown */
    struct calibration lengths;       /* bytes of dev requests; empty if unknown */
    struct relevance_model relevance; /* for single hits, if fitted */
    bool has_relevance;
};

/* Fitted on other catalogues, for stores without usage. Its probabilities are rough estimates. */
extern const struct chooser wt__chooser_default;

/* Reads the members of a trained chooser's config.json. Calibrations live in the arena. Errors: WT_EMODEL (a member is
 * missing, has a wrong length, is not finite or not in order), WT_ENOMEM. */
int wt__chooser_read(struct chooser *out, const json_t *config, struct arena *arena, wt_error *err);
json_t *wt__chooser_write(const struct chooser *chooser); /* NULL if out of memory */

struct chosen {
    uint64_t tools;                  /* bitmap of candidates; not empty if there are candidates */
    float probability[CHOOSE_TOOLS]; /* probability that each tool is needed */
    float tracc;                     /* expected TRACC of this set */
    float complete;                  /* estimated probability that the set has all needed tools */
};

/* Chooses the set with the greatest expected TRACC. */
void wt__choose(const struct chooser *chooser, const struct candidate_features *candidates, struct chosen *out);

/* Orders hits for a complete set: the candidates, then the remaining hits in order. nonconformity: score of the set
 * before each tool joins, ascending. order, nonconformity: [hits]. */
void wt__set_order(const struct chooser *chooser, const struct candidate_features *candidates, size_t hits,
                   uint32_t *order, float *nonconformity);

/* Score of a request whose tools were not all found. */
#define CHOOSE_NEVER 1e9f

/* Sets the maximum nonconformity scores of tools in a set that is complete with the given probability, for tools with
 * and without past use. False if the calibration does not allow it. */
struct conformal_thresholds {
    float used, unused;
};
bool wt__conformal_thresholds(const struct chooser *chooser, double probability, struct conformal_thresholds *out);

float wt__no_answer_probability(const struct chooser *chooser, const struct candidate_features *candidates);

/* Returns the threshold that wt__no_answer_probability exceeds for a share `false_share`, in [0, 1], of answerable
 * requests. The threshold is at least one half. INFINITY if there are too few calibration values for so small a
 * share. */
float wt__no_answer_threshold(const struct calibration *no_answer, double false_share);

enum familiarity { FAMILIAR, TOO_SHORT, TOO_FAR };

/* Compares a request of so many bytes with the dev requests. Returns TOO_SHORT or TOO_FAR (from all past requests) if
 * it is clearly more so than all but one in a hundred of them. Returns FAMILIAR if past requests or dev values are
 * missing. */
enum familiarity wt__familiarity(const struct chooser *chooser, const struct candidate_features *candidates,
                                 size_t bytes);

float wt__logistic(const float *weights, float constant, const float *values, size_t count);

#endif
