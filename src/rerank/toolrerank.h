/* toolrerank.h: the whole of ToolRerank behind its first stage (section 3.1), over callbacks, so that a query and the
 * search for its settings run the same code; and what says whether a request needs one provider or several.
 *
 *   truncate -> score, leaning on the first stage (and on the provider) -> sort -> the rule for this kind of request
 * (rerank/hierarchy.h)
 *
 * The paper's classifier reads the request alone. Its words tell little: "find a hotel and its price" may be one
 * provider's work or two's, and which it is depends on the catalogue. Here it is told by what the first stage found:
 * how well a single provider covers all sub-queries of the request, beside how well all of them together do. It knows
 * no words, so that what was learned on one catalogue holds on another. */
#ifndef WT_RERANK_TOOLRERANK_H
#define WT_RERANK_TOOLRERANK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/topk.h"
#include "index/snapshot.h"
#include "rerank/hierarchy.h"

/* ---------------------------------------------------------------- one provider or several */

/* What the first stage knows of a request. Text 0 is the whole of it, the others its sub-queries; with one text alone
 * that is its only sub-query. */
struct request_texts {
    size_t texts;                 /* T */
    const struct scored *nearest; /* [T, most] rows by cosine, best first */
    const size_t *counts;         /* [T] how many */
    size_t most;
    const struct snapshot_key *keys; /* of the rows, for their providers */
    uint32_t nobody;                 /* the number of those that have none, or HIERARCHY_NO_PROVIDER */
};

/* A provider lacks of a sub-query what its nearest tool is further from it than the nearest of all, and of a request
 * the mean over its sub-queries; a provider that is not among the nearest of a sub-query counts as its last one.
 * Returns the least that a provider lacks of the request, and fills the lack of candidates [count]: their own
 * provider's, less that least. Finite, whatever the texts. */
float wt__request_lack(const struct request_texts *texts, struct candidate *candidates, size_t count);

/* Logistic, of what the provider that covers best lacks; all zero knows nothing of any request. */
struct request_classifier {
    float weight, constant;
    float margin; /* a probability that is no further than this from one half means "don't know" */
};

/* That it needs several providers. */
float wt__request_probability(const struct request_classifier *classifier, float lack);
enum request_kind wt__request_kind(const struct request_classifier *classifier, float lack);

/* ---------------------------------------------------------------- the order */

/* Where candidates get scores and company. A negative result ends it with that code. */
struct toolrerank_source {
    void *context;
    size_t dim; /* D of the candidates' vectors */
    /* Fills the scores of candidates [count] by the cross-encoder. NULL: the scores that they come with stay, and no
     * provider's other tools are fetched, since nothing could tell them apart. */
    int (*score)(void *context, struct candidate *candidates, size_t count, wt_error *err);
    /* Writes a provider's tools, at most `most`, scores aside. Returns how many. */
    int (*tools_of)(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err);
};

/* candidates: [HIERARCHY_MAX_CANDIDATES], *count of them filled, in the first stage's order and with its shares for
 * scores, and what their providers lack; then in the final order.
 * *first: how many the rule put first; *count where there was none. Those that truncation dropped are gone. */
int wt__toolrerank(const struct hierarchy_settings *settings, enum request_kind kind,
                   const struct toolrerank_source *source, struct candidate *candidates, size_t *count, size_t *first,
                   wt_error *err);

#endif
