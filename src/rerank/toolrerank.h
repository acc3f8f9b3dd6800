/* toolrerank.h: ToolRerank after its first stage (section 3.1), over callbacks, so that queries and the search for
 * settings run the same code. Also classifies requests by the number of providers they need.
 *
 *   truncate -> score, corrected by the first stage (and the provider) -> sort -> the rule for this kind of request
 * (rerank/hierarchy.h)
 *
 * The paper's classifier reads only the request. Its words say little: one provider or two may serve "find a hotel and
 * its price", depending on the catalogue. This classifier uses the first stage's result: how well a single provider
 * covers all sub-queries, compared with all providers together. It does not depend on words, so it transfers between
 * catalogues. */
#ifndef WT_RERANK_TOOLRERANK_H
#define WT_RERANK_TOOLRERANK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/topk.h"
#include "index/snapshot.h"
#include "rerank/hierarchy.h"

/* ---------------------------------------------------------------- one provider or several */

/* First-stage results of a request. Text 0 is the whole request, the others its sub-queries. A single text is its own
 * sub-query. */
struct request_texts {
    size_t texts;                 /* T */
    const struct scored *nearest; /* [T, most] rows by cosine, best first */
    const size_t *counts;         /* [T] */
    size_t most;
    const struct snapshot_key *keys; /* keys of the rows, which have their providers */
    uint32_t nobody;                 /* number of the empty provider, or HIERARCHY_NO_PROVIDER */
};

/* Returns the smallest lack of any provider for the request, and sets the lack of candidates [count] to their
 * provider's lack minus this minimum. A provider's lack of a sub-query is the distance of its nearest tool from the
 * nearest tool of all. If it has no tool among the nearest, the last one's score counts. Its lack of the request is the
 * mean over sub-queries. Results are finite for any texts. */
float wt__request_lack(const struct request_texts *texts, struct candidate *candidates, size_t count);

/* Logistic function of the best provider's lack. All zero classifies every request as unknown. */
struct request_classifier {
    float weight, constant;
    float margin; /* a probability within this distance of one half means unknown */
};

/* Returns the probability that the request needs several providers. */
float wt__request_probability(const struct request_classifier *classifier, float lack);
enum request_kind wt__request_kind(const struct request_classifier *classifier, float lack);

/* ---------------------------------------------------------------- order */

/* Callbacks for scores and further tools. A negative result ends the run with that code. */
struct toolrerank_source {
    void *context;
    size_t dim; /* D of the candidates' vectors */
    /* Sets the scores of candidates [count] with the cross-encoder. If NULL, candidates keep their scores and no
     * further tools are fetched, because they would have no scores. */
    int (*score)(void *context, struct candidate *candidates, size_t count, wt_error *err);
    /* Writes at most `most` tools of a provider, without scores. Returns their number. */
    int (*tools_of)(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err);
};

/* Runs ToolRerank. candidates: [HIERARCHY_MAX_CANDIDATES], *count of them filled, in the first stage's order with its
 * shares as scores, and with their providers' lack. Afterwards they are in final order, without those that truncation
 * dropped. *first: number of candidates that the rule put first; *count without a rule. */
int wt__toolrerank(const struct hierarchy_settings *settings, enum request_kind kind,
                   const struct toolrerank_source *source, struct candidate *candidates, size_t *count, size_t *first,
                   wt_error *err);

#endif
