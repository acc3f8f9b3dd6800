/* decide.h: chooses among options that the caller gives, with the scorer of the search.
 *
 * The options of a question become a catalogue of their own in memory, and the input is the request. So an answer says
 * how well each option fits what the input asks for. It is made for choosing tools; it does not reason about facts. */
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

/* Writes the probability that the input needs each option alone to fits, [count], each above 0 and below 1. The result
 * depends on the order of the options only in that equal options have equal results; callers that need the same bits
 * for each order must give the options in one order. Errors: WT_EINVAL (the input is empty or too long), WT_ENOMEM,
 * WT_ECANCELLED. */
int wt__decide(struct decider *decider, struct str input, const struct decision_option *options, size_t count,
               float *fits, wt_error *err);

/* Probabilities if at most one option is right, given the probabilities of wt__decide. Writes the probability of each
 * option, provided that one is right, to shares, [count]; they sum to 1. Returns the probability that none is right. */
float wt__decision_shares(const float *fits, size_t count, float *shares);

#endif
