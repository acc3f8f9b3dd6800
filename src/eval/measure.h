/* measure.h: one recipe over the queries of a data set. */
#ifndef WT_EVAL_MEASURE_H
#define WT_EVAL_MEASURE_H

#include <stdbool.h>

#include "base/progress.h"
#include "catalog/dataset.h"
#include "choose/set_metrics.h"
#include "eval/answerability.h"
#include "llm/chat.h"

enum {
    RUN_DEPTH = 100,      /* hits ranked for a query, or the greatest cutoff when that is more */
    LATENCY_SAMPLE = 200, /* queries that are timed, the first ones, unless told otherwise */
    MISS_DEPTH = 5        /* a relevant tool is missed when it is not among the first so many (Tool2Vec, appendix B) */
};

/* How the recipes ptr and bundle are measured; as in wt_eval_options. */
struct ptr_plan {
    const char *base_retriever, *ablate;
    struct chat_model *oracle; /* NULL: the engine's own language model is asked */
    bool once;                 /* each question costs: times are those of the answers that are judged */
};

struct plan {
    size_t cutoffs[WT_MAX_CUTOFFS];
    size_t cutoff_count;
    size_t depth;            /* hits asked for where quality is measured */
    size_t latency_k;        /* hits asked for where time is measured: what a caller would ask for */
    size_t queries;          /* the first so many of the data set */
    size_t timed;            /* of those, the first so many */
    size_t relevant;         /* judgements of those queries with a gain over 0 */
    size_t max_per_provider; /* as in wt_eval_options */
    bool copies, as_typed;   /* the same */
    struct ptr_plan ptr;
};

/* A query's figures: recall at each cutoff, then ndcg, then complete, then mrr. */
static inline size_t wt__plan_metrics(const struct plan *plan)
{
    return 3 * plan->cutoff_count + 1;
}

/* Of what a recipe picked: those of choose/set_metrics.h, then recall and ndcg with as many places as there are
 * relevant tools, and ndcg as PTR's published code has it: against the best order of what was picked, so that a miss
 * costs nothing. (Its recall is set_recall.) */
enum { PICK_RECALL = SET_METRICS, PICK_NDCG, PICK_PUBLISHED_NDCG, PICK_METRICS };
extern const char *const wt__pick_metrics[PICK_METRICS - SET_METRICS]; /* names of the last three */

struct measurement {
    double *values;                              /* [queries, metrics] */
    double *picks;                               /* [queries, PICK_METRICS]; NULL where the recipe ranks */
    double answerability[ANSWERABILITY_FIGURES]; /* [answerability_count], asked for apart; of the recipe `set` */
    size_t answerability_count;
    size_t timed;
    double *milliseconds;               /* [timed], ascending */
    bool *missed;                       /* [relevant], in the order of queries and judgements */
    double *multi_provider_probability; /* [queries] what wt_hits said of it */
    double *questions, *tokens; /* [queries] put to a language model; tokens: of questions and answers together */
    char *ran, *notice, *why;   /* what wt_hits said at the first query; notice and why may be NULL */
};

/* run_path: where to write a TREC run, or NULL. Two passes: the first is timed, one wt_find after another on this
 * thread, after one that warms up; the second ranks to plan->depth and is judged, by several threads. */
int wt__measure(struct measurement *out, wt_engine *engine, const struct dataset *dataset, const struct plan *plan,
                const char *recipe, const char *run_path, struct progress *progress, wt_error *err);
/* One with no figures yet; wt__measurement_dispose ends it, whether it worked or not. WT_ENOMEM. */
int wt__measurement_open(struct measurement *out, const struct plan *plan, wt_error *err);
void wt__measurement_dispose(struct measurement *measurement);

/* The store's ids of the query's relevant tools, as far as it has them: ids has room for one a judgement. */
int wt__find_gold(wt_engine *engine, const struct query *query, int64_t *ids, size_t *count, wt_error *err);

/* What a ranking of tools is worth for one query; out: [wt__plan_metrics]. ranked: [len] source ids. WT_ENOMEM. */
int wt__judge_ranking(double *out, const struct plan *plan, const struct query *query, const char *const *ranked,
                      size_t len, wt_error *err);
/* Notes which relevant tools are not among the first MISS_DEPTH; missed: [wt__relevant]. */
void wt__note_misses(bool *missed, const struct query *query, const char *const *ranked, size_t len);

/* Whether the recipe stands on another one. */
bool wt__has_base_retriever(const char *recipe);

/* Judgements of a query with a gain over 0. */
size_t wt__relevant(const struct query *query);

#endif
