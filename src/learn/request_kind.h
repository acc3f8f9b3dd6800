/* request_kind.h: the classifier of rerank/toolrerank.h, fitted on requests whose tools are known: those of one
 * provider and those of several. Where a data set hardly has one of the kinds, requests of it are made of the others
 * (synthetic ones): several ones are cut down to the sub-queries that have one provider's words, and single ones are
 * put together in twos. */
#ifndef WT_LEARN_REQUEST_KIND_H
#define WT_LEARN_REQUEST_KIND_H

#include "learn/dev_evaluator.h"
#include "rerank/toolrerank.h"

enum { KIND_SAMPLES = 1200 /* training requests that are looked at; of more, a seeded part */ };

/* The first stage over the evaluator's tools, and whose they are. */
struct first_ranking {
    struct dev_evaluator *evaluator;
    struct retriever retriever; /* dpr, or that with words beside it */
    struct tool_vectors documents;
    uint32_t *providers; /* [M] HIERARCHY_NO_PROVIDER for tools that have none */
    uint32_t nobody;     /* what stands for that in the snapshot */
};

/* One request by it: its k best, and what is known of it. Both live in the worker's workspace. */
int wt__first_rank(const struct first_ranking *ranking, struct str request, size_t k, unsigned worker,
                   struct hit_list *hits, struct request_texts *texts, wt_error *err);

/* Whether a request's tools [count] are of more than one provider. */
bool wt__several_providers(const struct first_ranking *ranking, const uint32_t *tools, size_t count);

/* Makes a request for one provider of one for several: the sub-queries that this provider's tools among `tools` [count]
 * have most words of. Words, not the encoder: what is cut where the encoder sees one provider ahead would teach the
 * classifier that it always does. It is the provider of most of them, of two at least: who needs a single tool has no
 * use for its provider's others, and says nothing on Algorithm 1. Leaves `out` empty where there is none, or it has no
 * sub-query or all. Needs no encoder. */
int wt__cut_down(const struct first_ranking *ranking, struct str request, const uint32_t *tools, size_t count,
                 unsigned worker, struct buffer *out, uint32_t *provider, wt_error *err);

/* Whether so few of all requests are of a kind that synthetic ones are made of it. */
bool wt__kind_is_scarce(size_t of_kind, size_t all);

struct kind_fit {
    struct request_classifier classifier; /* margin 0 */
    size_t single, several, synthetic;    /* requests, with the synthetic ones */
    double accuracy;                      /* of those that were held out, both kinds alike; NaN: none */
};

/* Fits on training requests; all zero where there is only one kind. Errors: WT_ECANCELLED, WT_ENOMEM, those of looking.
 */
int wt__kind_fit(const struct first_ranking *ranking, struct kind_fit *out, wt_error *err);

/* The classifier under which samples of these lacks [count], each kind alike in sum, are most likely, with a little
 * shrinkage. several: [count] what each is. */
void wt__kind_weigh(const float *lacks, const uint8_t *several, size_t count, struct request_classifier *out);

#endif
