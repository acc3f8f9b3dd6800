/* metrics.h: how good a ranking is. Every figure of a query lies in 0..1; a report shows the mean over queries.
 *
 *   recall@k     |first k and relevant| / |relevant|
 *   ndcg@k       DCG@k / DCG@k of the best ranking; DCG@k = sum over ranks r <= k of gain / log2(r + 1)
 *   complete@k   1 when every relevant tool is among the first k
 *   mrr          1 / rank of the first relevant tool, 0 when none was ranked
 *
 * Relevant is gain > 0, and a tool without a judgement has gain 0. The first two and mrr are trec_eval's recall_k,
 * ndcg_cut_k and recip_rank. */
#ifndef WT_EVAL_METRICS_H
#define WT_EVAL_METRICS_H

#include <stddef.h>

#include "base/error.h"

/* gains: [ranked], of the tools in rank order. */
double wt__recall_at(const int *gains, size_t ranked, size_t relevant, size_t k);
double wt__complete_at(const int *gains, size_t ranked, size_t relevant, size_t k);
double wt__reciprocal_rank(const int *gains, size_t ranked);

/* ideal: [judged], every judgement's gain, highest first. */
double wt__ndcg_at(const int *gains, size_t ranked, const int *ideal, size_t judged, size_t k);

#endif
