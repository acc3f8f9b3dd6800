/* measure.h: measures one recipe on the queries of a data set. */
#ifndef WT_EVAL_MEASURE_H
#define WT_EVAL_MEASURE_H

#include <stdbool.h>

#include "base/progress.h"
#include "catalog/dataset.h"
#include "choose/set_metrics.h"
#include "eval/answerability.h"
#include "llm/chat.h"

enum {
    RUN_DEPTH = 100,      /* hits ranked per query; the largest cutoff if that is more */
    LATENCY_SAMPLE = 200, /* default number of timed queries */
    MISS_DEPTH = 5        /* a relevant tool below this rank counts as missed (Tool2Vec, appendix B) */
};

/* Options for the recipes ptr and bundle; see wt_eval_options. */
struct ptr_plan {
    const char *base_retriever, *ablate;
    struct chat_model *oracle; /* NULL to ask the engine's own language model */
    bool once;                 /* questions cost money: take the times from the judged answers */
};

struct eval_plan {
    size_t cutoffs[WT_MAX_CUTOFFS];
    size_t cutoff_count;
    size_t depth;            /* hits requested when measuring quality */
    size_t latency_k;        /* hits requested when measuring time, as many as a caller would request */
    size_t queries;          /* number of queries, the first ones of the data set */
    size_t timed;            /* number of timed queries, the first of those */
    size_t relevant;         /* judgements of those queries with a gain > 0 */
    size_t max_per_provider; /* see wt_eval_options */
    bool copies, as_typed;   /* see wt_eval_options */
    struct ptr_plan ptr;
};

/* Returns the number of figures per query: recall at each cutoff, then ndcg, then complete, then mrr. */
static inline size_t wt__metric_count(const struct eval_plan *plan)
{
    return 3 * plan->cutoff_count + 1;
}

/* Figures of a picked set: those of choose/set_metrics.h, then recall and ndcg at the number of relevant tools, then
 * ndcg as PTR's published code computes it: relative to the best order of the picked tools, so that a miss costs
 * nothing. (PTR's recall is set_recall.) */
enum { PICK_RECALL = SET_METRICS, PICK_NDCG, PICK_PUBLISHED_NDCG, PICK_METRICS };
extern const char *const wt__pick_metrics[PICK_METRICS - SET_METRICS]; /* names of the last three */

struct measurement {
    double *values;                              /* [queries, metrics] */
    double *picks;                               /* [queries, PICK_METRICS]; NULL if the recipe ranks */
    double answerability[ANSWERABILITY_FIGURES]; /* [answerability_count]; of the recipe `set`, filled separately */
    size_t answerability_count;
    size_t timed;
    double *milliseconds;               /* [timed], ascending */
    bool *missed;                       /* [relevant], in the order of queries and judgements */
    double *multi_provider_probability; /* [queries], from wt_hits */
    double *questions, *tokens;         /* [queries] sent to a language model; tokens include the answers */
    char *ran, *notice, *why;           /* from wt_hits at the first query; notice and why may be NULL */
};

/* Measures in two passes. The first is timed: wt_find for one query after another on this thread, after one query to
 * warm up. The second ranks to plan->depth in several threads and is judged. run_path: TREC run to write, or NULL. */
int wt__measure(struct measurement *out, wt_engine *engine, const struct dataset *dataset, const struct eval_plan *plan,
                const char *recipe, const char *run_path, struct progress *progress, wt_error *err);
/* Allocates a measurement with all figures 0. Call wt__measurement_dispose even on failure (WT_ENOMEM). */
int wt__measurement_open(struct measurement *out, const struct eval_plan *plan, wt_error *err);
void wt__measurement_dispose(struct measurement *measurement);

/* Appends the store's ids of the query's relevant tools to ids [*count], skipping tools missing in the store. ids needs
 * room for one id per judgement. */
int wt__find_gold(wt_engine *engine, const struct query *query, int64_t *ids, size_t *count, wt_error *err);

/* Computes the figures of one ranking; out: [wt__metric_count]. ranked: [len] source ids. Errors: WT_ENOMEM. */
int wt__judge_ranking(double *out, const struct eval_plan *plan, const struct query *query, const char *const *ranked,
                      size_t len, wt_error *err);
/* Marks the relevant tools missing in the first MISS_DEPTH; missed: [wt__count_relevant]. */
void wt__note_misses(bool *missed, const struct query *query, const char *const *ranked, size_t len);

/* True if the recipe builds on the ranking of another recipe. */
bool wt__has_base_retriever(const char *recipe);

/* Returns the number of judgements with a gain > 0. */
size_t wt__count_relevant(const struct query *query);

#endif
