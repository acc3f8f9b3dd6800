/* metrics.h: quality of a ranking. Every figure of a query is in 0..1; a report shows the mean over queries.
 *
 *   recall@k     |first k and relevant| / |relevant|
 *   ndcg@k       DCG@k / DCG@k of the best ranking; DCG@k = sum over ranks r <= k of gain / log2(r + 1)
 *   complete@k   1 if every relevant tool is among the first k
 *   mrr          1 / rank of the first relevant tool, 0 if no relevant tool was ranked
 *
 * A tool is relevant if its gain is > 0; a tool without a judgement has gain 0. recall, ndcg and mrr are trec_eval's
 * recall_k, ndcg_cut_k and recip_rank. */
#ifndef WT_EVAL_METRICS_H
#define WT_EVAL_METRICS_H

#include <stddef.h>

#include "base/error.h"

/* gains: [ranked], of the tools in rank order. */
double wt__recall_at(const int *gains, size_t ranked, size_t relevant, size_t k);
double wt__complete_at(const int *gains, size_t ranked, size_t relevant, size_t k);
double wt__reciprocal_rank(const int *gains, size_t ranked);

/* ideal: [judged], the gains of all judgements, in descending order. */
double wt__ndcg_at(const int *gains, size_t ranked, const int *ideal, size_t judged, size_t k);

#endif
