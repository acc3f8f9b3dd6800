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

/* The input of the chooser is a few dozen candidate tools with their features, and the sets of tools of the most
 * similar past requests. A set is a bitmap of candidates in a 64-bit word, so hundreds of sets can be compared in
 * microseconds. */

enum {
    CHOOSE_TOOLS = 64, /* maximum number of candidates */
    CHOOSE_FIRST = 40  /* number of first hits that are always candidates */
};

/* Features of a tool. */
enum tool_feature {
    TOOL_SHARE,   /* score divided by the best hit's score */
    TOOL_GAP,     /* score minus the best hit's score */
    TOOL_RANK,    /* -log(1 + number of better hits) */
    TOOL_MEANING, /* features of the hit with the same name (retrieve/retrieve.h), up to TOOL_SUBQUERY_WORDS */
    TOOL_WORDS,
    TOOL_SUBQUERY_MEANING,
    TOOL_SUBQUERY_WORDS,
    TOOL_NEIGHBOUR_VOTES, /* log(share of the votes of past requests for the tool + a small constant) */
    TOOL_RIDGE,           /* wt__neighbours_ridge of the request */
    TOOL_RIDGE_LOG,       /* its logarithm, from a small positive number */
    TOOL_EXPECTED,        /* log of the mean number of tools of the past requests; the same for all tools */
    TOOL_FEATURES
};

/* Features for predicting whether any tool fits. */
enum answerability_feature {
    ANSWERABLE_BEST,             /* score of the best hit */
    ANSWERABLE_SECOND,           /* best hit's score minus the second hit's score */
    ANSWERABLE_FIFTH,            /* best hit's score minus the fifth hit's score */
    ANSWERABLE_MEANING,          /* greatest cosine of a tool with the request */
    ANSWERABLE_SUBQUERY_MEANING, /* greatest cosine of a tool with a sub-query */
    ANSWERABLE_WORDS,            /* greatest weighted share of the request's words in a single tool */
    ANSWERABLE_NEAREST,          /* cosine of the most similar past request */
    ANSWERABLE_NEAR,             /* mean cosine of all past requests that voted for tools */
    ANSWERABLE_THERE,            /* share of past requests' votes that are for tools still in the catalogue */
    ANSWERABLE_NEIGHBOUR_VOTE,   /* greatest share of past requests' votes for a single tool */
    ANSWERABLE_FEATURES
};

/* A set of tools that past requests used. */
struct past_set {
    uint64_t tools; /* bitmap of candidates */
    float share;    /* share of the votes that belong to the requests with this set */
};

struct candidate_features {
    size_t tools;                                /* C, number of candidates */
    uint32_t hits[CHOOSE_TOOLS];                 /* [C] index of each candidate's hit, ascending */
    float features[CHOOSE_TOOLS][TOOL_FEATURES]; /* [C] */
    size_t past_count;
    struct past_set past[NEIGHBOURS_ASKED]; /* [past_count] distinct sets; a set with a tool outside the candidates is
                                               omitted */
    float answerability[ANSWERABLE_FEATURES];
};

/* Reads the features of a request. hits: the hits with their features; at least CHOOSE_FIRST of them if the search
 * found as many. neighbours: the past requests that voted for the hits; NULL without past requests. */
void wt__candidate_features_read(struct candidate_features *out, const struct hit_list *hits,
                                 const struct neighbours *neighbours);

/* The chooser estimates the probability of each set. Either the request needs a set that similar past requests used,
 * or it needs a new set:
 *
 *   P(set) = reuse * P(set | past) + (1 - reuse) * P(set | new)
 *
 *   P(set | past)  in proportion to share of the past requests' votes ^ past
 *                    * (product of p over its tools, and of 1 - p over the other candidates) ^ likelihood
 *   P(set | new)   in proportion to (product of p over its tools, and of 1 - p over the other candidates)
 *                    * exp(sizes[n]) ^ size, where n is its number of tools
 *
 * Here p is the probability that a tool is needed, a logistic function of the tool's features. `reuse` is another one,
 * of the similarity of the past requests. The result is either
 *
 *   the set with the greatest expected TRACC (set_metrics.h) among the past sets, their small changes and the sets of
 *   the likeliest tools, or
 *   a set complete with a given probability P: tools join in the order of their probability until it is complete.
 *
 * The second set is calibrated by split conformal prediction (Vovk et al. 2005; Angelopoulos and Bates 2021). Each
 * tool has a score, the estimated probability that the set is complete before the tool joins. The nonconformity score
 * of a request with known tools is the score of its last needed tool. Given n such requests, let t be the ceil((n + 1)
 * P)-th smallest nonconformity score. A set with all tools of a score up to t is complete with probability P or more,
 * if the request is exchangeable with the n requests. Requests for tools without past use have a separate list of
 * scores (Mondrian conformal prediction).
 *
 * The nonconformity scores come from cross-validation: each fold is scored with weights fitted to the other folds. A
 * query uses weights fitted to all folds. The probability P therefore holds only if one fold hardly changes the
 * weights.
 *
 * A second logistic function estimates the probability that no tool fits. Its values for answerable requests are
 * stored, so that a caller can choose the rate of false alarms. For a request unlike the logged requests
 * (wt__familiarity), use wt__chooser_default. */

enum {
    CHOOSE_SIZES = 16, /* number of distinct set sizes; the last includes all larger sets */
    CHOOSE_SETS = 256  /* maximum number of sets considered */
};

/* Features for predicting whether the request needs a set that similar past requests used. */
enum reuse_feature {
    REUSE_NEAREST, /* cosine of the most similar past request */
    REUSE_SHARE,   /* greatest share of the votes for one set */
    REUSE_FIT,     /* greatest mean log odds of the tools of a past set */
    REUSE_FEATURES
};

/* Values measured on requests with known tools. */
struct calibration {
    const float *values; /* [count] ascending */
    size_t count;
};

struct chooser {
    float tool_weights[TOOL_FEATURES], tool_constant;
    float reuse_weights[REUSE_FEATURES], reuse_constant;
    float likelihood, past, size; /* exponents above */
    float sizes[CHOOSE_SIZES];    /* [n - 1] log of how much more often n tools are needed than p says */
    float answerability_weights[ANSWERABLE_FEATURES], answerability_constant;
    struct calibration nonconformity; /* nonconformity scores of requests for tools with past use */
    struct calibration unused;    /* scores of requests for tools without past use; if empty, `nonconformity` is used */
    struct calibration no_answer; /* wt__no_answer_probability of answerable requests */
    struct calibration nearest;   /* cosines of dev requests with their nearest past request; empty if unknown */
    struct calibration lengths;   /* lengths of dev requests in bytes; empty if unknown */
    bool has_relevance;           /* false for the default relevance model */
    struct relevance_model relevance; /* model of the probability that a hit is needed; only if has_relevance */
};

/* Chooser for stores without usage, fitted on other catalogues. Its probabilities are rough estimates. */
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
    float reuse;                     /* probability that the request needs a set that similar past requests used */
};

/* Reads the features of a request with past sets. Uses the chooser's tool weights. */
void wt__reuse_features_read(const struct chooser *chooser, const struct candidate_features *candidates,
                             float out[REUSE_FEATURES]);

/* Computes the distribution of the number of needed tools n that the tool weights give, out [CHOOSE_SIZES] with n - 1
 * as index, if the candidates are independent and at least one is needed. */
void wt__size_distribution(const struct chooser *chooser, const struct candidate_features *candidates,
                           double out[CHOOSE_SIZES]);

/* Computes a chooser's `sizes`: the logarithm of `shares` [CHOOSE_SIZES], the share of requests for 1, 2, ... tools,
 * divided by the mean of given [count], the wt__size_distribution of requests. */
void wt__sizes_fit(double (*given)[CHOOSE_SIZES], size_t count, const double *shares, float *sizes);

/* Chooses the set with the greatest expected TRACC. */
void wt__choose(const struct chooser *chooser, const struct candidate_features *candidates, struct chosen *out);

/* Orders the hits for a complete set: first the candidates by probability, then the other hits in their order. order:
 * [hits] indexes of hits. nonconformity: [hits] for each hit in this order, the estimated probability that the set is
 * complete before the hit joins; ascending. */
void wt__set_order(const struct chooser *chooser, const struct candidate_features *candidates, size_t hits,
                   uint32_t *order, float *nonconformity);

/* Nonconformity score of a request if not all of its tools were found. */
#define CHOOSE_NEVER 1e9f

/* Maximum nonconformity scores of the tools of a complete set, for tools with and without past use. */
struct conformal_thresholds {
    float used, unused;
};
/* Sets the thresholds of a set complete with the given probability. Returns false if there are too few calibration
 * values, or if a threshold would be CHOOSE_NEVER. */
bool wt__conformal_thresholds(const struct chooser *chooser, double probability, struct conformal_thresholds *out);

/* Returns the probability that no tool fits the request; 1 without candidates. */
float wt__no_answer_probability(const struct chooser *chooser, const struct candidate_features *candidates);

/* Returns the threshold that wt__no_answer_probability exceeds for the share `false_share` (0 .. 1) of answerable
 * requests; at least one half. Returns INFINITY if there are too few calibration values for this share. */
float wt__no_answer_threshold(const struct calibration *no_answer, double false_share);

enum familiarity { FAMILIAR, TOO_SHORT, TOO_FAR };

/* Compares a request of `bytes` bytes with the dev requests. Returns TOO_SHORT if the request is clearly shorter than
 * 99 % of the dev requests, TOO_FAR if its cosine with the nearest past request is clearly lower than for 99 % of the
 * dev requests, else FAMILIAR. Also returns FAMILIAR without past requests or calibrations. */
enum familiarity wt__familiarity(const struct chooser *chooser, const struct candidate_features *candidates,
                                 size_t bytes);

/* Returns the logistic function of weights . values + constant. */
float wt__logistic(const float *weights, float constant, const float *values, size_t count);

#endif
