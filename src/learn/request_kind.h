/* request_kind.h: fits the classifier of rerank/toolrerank.h on requests with known tools: requests for one provider
 * and for several. If a data set has hardly any of one kind, synthetic ones are made of the other: requests for several
 * providers are cut down to the sub-queries with one provider's words, and requests for one are joined in pairs. */
#ifndef WT_LEARN_REQUEST_KIND_H
#define WT_LEARN_REQUEST_KIND_H

#include "learn/dev_evaluator.h"
#include "rerank/toolrerank.h"

enum { KIND_SAMPLES = 1200 /* maximum training requests; a seeded sample of more */ };

/* First stage over the evaluator's tools, and their providers. */
struct first_ranking {
    struct dev_evaluator *evaluator;
    struct retriever retriever; /* dpr, or dpr with words */
    struct tool_vectors documents;
    uint32_t *providers; /* [M] HIERARCHY_NO_PROVIDER for tools without one */
    uint32_t nobody;     /* the snapshot's number for tools without a provider */
};

/* Ranks one request: its k best tools, and the classifier's evidence. Both live in the worker's workspace. */
int wt__kind_rank(const struct first_ranking *ranking, struct str request, size_t k, unsigned worker,
                  struct hit_list *hits, struct request_texts *texts, wt_error *err);

/* True if a request's tools [count] belong to more than one provider. */
bool wt__kind_has_several(const struct first_ranking *ranking, const uint32_t *tools, size_t count);

/* Cuts a request for several providers down to one: keeps the sub-queries whose words match this provider's tools among
 * `tools` [count] best. Uses words, not the encoder: cuts chosen by the encoder would teach the classifier that the
 * encoder is always sure of one provider. Chooses the provider of most of the tools, at least two, because a request
 * for a single tool says nothing about Algorithm 1. `out` stays empty if there is no such provider, or if all or none
 * of the sub-queries are its own. Needs no encoder. */
int wt__kind_cut_down(const struct first_ranking *ranking, struct str request, const uint32_t *tools, size_t count,
                      unsigned worker, struct buffer *out, uint32_t *provider, wt_error *err);

/* True if so few of all requests are of a kind that synthetic ones are added. */
bool wt__kind_is_scarce(size_t of_kind, size_t all);

struct kind_fit {
    struct request_classifier classifier; /* margin 0 */
    size_t single, several, synthetic;    /* number of requests, including synthetic ones */
    double accuracy; /* on the hold-out, with both kinds weighted equally; NaN without a hold-out */
};

/* Fits on training requests. All zero if there is only one kind. Errors: WT_ECANCELLED, WT_ENOMEM, those of the
 * search. */
int wt__kind_fit(const struct first_ranking *ranking, struct kind_fit *out, wt_error *err);

/* Fits the classifier by maximum likelihood to samples with these lacks [count], with equal total weight of both kinds
 * and slight shrinkage. several: [count] kind of each sample. */
void wt__kind_weigh(const float *lacks, const uint8_t *several, size_t count, struct request_classifier *out);

#endif
