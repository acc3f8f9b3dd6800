/* decide.h: chooses among given options with the scorer of the search.
 *
 * The options of a question become a catalogue of their own in memory, and the input is the request. The result says
 * how well each option fits the input. It is made for choosing tools and does not reason about facts. */
#ifndef WT_QUERY_DECIDE_H
#define WT_QUERY_DECIDE_H

#include "base/progress.h"
#include "engine/engine.h"

/* The models and the memory of several decisions. Use it on one thread. */
struct decider;

/* Errors: WT_EMODEL (the engine has no encoder), WT_ENOMEM, WT_ECANCELLED. progress: polled by the decisions as well;
 * may be NULL. */
int wt__decider_open(struct decider **out, wt_engine *engine, struct progress *progress, wt_error *err);
void wt__decider_close(struct decider *decider); /* NULL is a no-op */

struct decision_option {
    struct str name, description; /* UTF-8; description may be empty */
};

/* Writes the probability of need of each option alone to fits, [count]: above 0 and below 1. Callers sort the options
 * to get the same bits for each order. Errors: WT_EINVAL (the input is empty or too long), WT_ENOMEM, WT_ECANCELLED. */
int wt__decide(struct decider *decider, struct str input, const struct decision_option *options, size_t count,
               float *fits, wt_error *err);

/* Converts the result of wt__decide for questions with at most one right option. Writes the probability of each option,
 * if one of them is right, to shares, [count]; their sum is 1. Returns the probability of the other case. */
float wt__decision_shares(const float *fits, size_t count, float *shares);

#endif
