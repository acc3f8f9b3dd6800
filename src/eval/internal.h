/* internal.h: declarations shared by the files of src/eval: metrics, TREC files, the measurement of recipes, and the
 * training before it. */
#ifndef WT_EVAL_INTERNAL_H
#define WT_EVAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "catalog/dataset.h"
#include "choose/set_metrics.h"
#include "llm/chat.h"
#include "recipe/trained.h"

/* ---------------------------------------------------------------- metrics */

/* Quality of a ranking. Every figure of a query is in 0..1; a report shows the mean over queries.
 *
 *   recall@k     |first k and relevant| / |relevant|
 *   ndcg@k       DCG@k / DCG@k of the best ranking; DCG@k = sum over ranks r <= k of gain / log2(r + 1)
 *   complete@k   1 if every relevant tool is among the first k
 *   mrr          1 / rank of the first relevant tool, 0 if no relevant tool was ranked
 *
 * A tool is relevant if its gain is > 0; a tool without a judgement has gain 0. recall, ndcg and mrr are trec_eval's
 * recall_k, ndcg_cut_k and recip_rank. */

/* gains: [ranked], of the tools in rank order. */
double wt__recall_at(const int *gains, size_t ranked, size_t relevant, size_t k);
double wt__complete_at(const int *gains, size_t ranked, size_t relevant, size_t k);
double wt__reciprocal_rank(const int *gains, size_t ranked);

/* ideal: [judged], the gains of all judgements, in descending order. */
double wt__ndcg_at(const int *gains, size_t ranked, const int *ideal, size_t judged, size_t k);

/* ---------------------------------------------------------------- TREC files */

/* Runs and judgements in the text format of trec_eval, for other programs.
 *
 *   run     QUERY Q0 TOOL RANK SCORE RECIPE          qrels   QUERY 0 TOOL GAIN
 *
 * Fields are separated by blanks. In an id, control characters, the blank and '%' are escaped as %XX.
 * trec_eval ignores RANK, reads SCORE as a 32-bit float and breaks ties by id. To preserve our ranking, a score equal
 * to or above the previous one is written as the float just below the previous one. */

/* Appends one hit. *last: the score written before, INFINITY at the first hit of a query. */
void wt__trec_run_line(struct buffer *out, struct str query, struct str tool, size_t rank, double score, float *last,
                       const char *recipe);
void wt__trec_qrels_line(struct buffer *out, struct str query, const struct judgement *judgement);

/* Escapes an id. */
void wt__trec_escape(struct buffer *out, struct str id);
/* Unescapes an id in place. Keeps "%00", and a '%' without two hexadecimal digits after it. */
void wt__trec_unescape(char *field);

/* ---------------------------------------------------------------- answerability */

/* Measures how well the chooser recognises requests that no tool can answer. Such requests come from two sources:
 * requests of the data set whose tools are removed together with their recorded use, and requests of another data
 * set. */

enum {
    ANSWERABILITY_FALSE_POSITIVES,     /* share of answerable requests that get no answer, at the default threshold */
    ANSWERABILITY_REMOVED_AUROC,       /* area under the ROC curve, tools removed */
    ANSWERABILITY_REMOVED_RECALL,      /* share of the requests with removed tools that get no answer */
    ANSWERABILITY_OUT_OF_DOMAIN_AUROC, /* area and recall for the requests of the other data set */
    ANSWERABILITY_OUT_OF_DOMAIN_RECALL,
    ANSWERABILITY_FIGURES
};
extern const char *const wt__answerability_names[ANSWERABILITY_FIGURES];

/* Fills out and sets *count to the number of figures. If out_of_domain is NULL, the last two figures are left out.
 * Uses the first `queries` requests of the data set, and at most `queries` requests of out_of_domain. */
int wt__measure_answerability(double out[ANSWERABILITY_FIGURES], size_t *count, wt_engine *engine,
                              const struct dataset *dataset, size_t queries, const struct dataset *out_of_domain,
                              struct progress *progress, wt_error *err);

/* ---------------------------------------------------------------- measurement */

enum {
    RUN_DEPTH = 100,      /* minimum number of hits ranked per query; a larger cutoff raises it */
    LATENCY_SAMPLE = 200, /* default number of timed queries */
    MISS_DEPTH = 5        /* a relevant tool below this rank counts as missed (Tool2Vec, appendix B) */
};

/* Options for the recipes ptr and bundle; see wt_eval_options. */
struct ptr_plan {
    const char *base_retriever, *experiment; /* experiment: only for ptr */
    struct chat_model *oracle;               /* NULL to ask the engine's own language model */
    bool once; /* true to time the judged answers instead of asking twice, because questions cost money */
};

struct eval_plan {
    size_t cutoffs[WT_MAX_CUTOFFS];
    size_t cutoff_count;
    size_t depth;            /* hits requested when measuring quality: the largest cutoff, at least RUN_DEPTH */
    size_t latency_k;        /* hits requested when measuring time: the largest cutoff, at least 10 */
    size_t queries;          /* number of queries; the first `queries` of the data set are used */
    size_t timed;            /* number of timed queries; the first `timed` queries are timed */
    size_t relevant;         /* number of judgements with a gain > 0 in all used queries */
    size_t max_per_provider; /* see wt_eval_options */
    bool copies, as_typed;   /* see wt_eval_options */
    struct ptr_plan ptr;
};

/* Returns the number of figures per query: recall at each cutoff, then ndcg, then complete, then mrr. */
static inline size_t wt__metric_count(const struct eval_plan *plan)
{
    return 3 * plan->cutoff_count + 1;
}

/* Returns the index of the cutoff for comparisons and charts: 5, or the last cutoff if the plan does not have 5. */
static inline size_t wt__main_cutoff(const struct eval_plan *plan)
{
    size_t main = plan->cutoff_count - 1;
    for (size_t c = 0; c < plan->cutoff_count; c++)
        if (plan->cutoffs[c] == 5)
            main = c;
    return main;
}

/* Figures of a picked set: the figures of choose/set_metrics.h, then recall and ndcg at the number of relevant tools,
 * then ndcg as PTR's published code computes it: relative to the best order of the picked tools, so that a miss costs
 * nothing. (PTR's recall is set_recall.) */
enum { PICK_RECALL = SET_METRICS, PICK_NDCG, PICK_PUBLISHED_NDCG, PICK_METRICS };
extern const char *const wt__pick_metrics[PICK_METRICS - SET_METRICS]; /* names of the last three */

struct measurement {
    double *values;                              /* [queries, metrics] */
    double *picks;                               /* [queries, PICK_METRICS]; NULL if the recipe ranks */
    double answerability[ANSWERABILITY_FIGURES]; /* [answerability_count], for the recipe `set` only */
    size_t answerability_count;
    size_t timed;                       /* number of times in `milliseconds` */
    double *milliseconds;               /* [timed], ascending */
    bool *missed;                       /* [relevant], in the order of queries and judgements; see wt__note_misses */
    double *multi_provider_probability; /* [queries], from wt_hits; NaN if the recipe gives none */
    double *questions, *tokens;         /* [queries] sent to a language model; tokens include the answers */
    char *ran, *notice, *why;           /* from the answer to the first query; notice and why may be NULL */
};

/* Measures in two passes. The first pass answers one query without timing it, then times plan->timed queries one after
 * another on this thread. With plan->ptr.once, the recipe ptr is timed in the second pass instead. The second pass
 * ranks to plan->depth in several threads and is judged. run_path: TREC run to write, or NULL. */
int wt__measure(struct measurement *out, wt_engine *engine, const struct dataset *dataset, const struct eval_plan *plan,
                const char *recipe, const char *run_path, struct progress *progress, wt_error *err);
/* Allocates a measurement with all figures 0. Call wt__measurement_dispose even on failure (WT_ENOMEM). */
int wt__measurement_open(struct measurement *out, const struct eval_plan *plan, wt_error *err);
void wt__measurement_dispose(struct measurement *measurement);

/* Computes the figures of one ranking; out: [wt__metric_count]. ranked: [len] source ids. Errors: WT_ENOMEM. */
int wt__judge_ranking(double *out, const struct eval_plan *plan, const struct query *query, const char *const *ranked,
                      size_t len, wt_error *err);
/* Sets missed [wt__count_relevant]: true for each relevant tool that is not among the first MISS_DEPTH of `ranked`. */
void wt__note_misses(bool *missed, const struct query *query, const char *const *ranked, size_t len);

/* True if the recipe builds on the ranking of another recipe. */
bool wt__has_base_retriever(const char *recipe);

/* Returns the number of judgements with a gain > 0. */
size_t wt__count_relevant(const struct query *query);

/* ---------------------------------------------------------------- runs of other programs */

enum {
    OTHER_RUN_LINES_MAX = 20000000 /* maximum number of a file's lines that are about the measured queries */
};

/* Judges rankings of the same queries by another program, read from a TREC run. Ranks by score. Equal scores are ranked
 * by id in descending order, as trec_eval does. A query missing in the run has no hits. The measurement's notice counts
 * such queries, tools missing in the engine's catalogue, and lines about other queries. Nothing is timed.
 *
 * *name: label of the row, the last part of `path`, borrowed from it. Errors: WT_EFORMAT with file and line,
 * WT_ENOTFOUND (also if no line is about one of the queries), WT_ETOOLONG, WT_ENOMEM. */
int wt__measure_other_run(struct measurement *out, wt_engine *engine, const struct dataset *dataset,
                          const struct eval_plan *plan, const char *path, const char **name, wt_error *err);

/* ---------------------------------------------------------------- portion of a train split */

/* A part of a train split with few usages per tool, to measure how quality grows with use.
 *
 * Requests are visited in random order; a request is taken if one of its tools has fewer than `most` usages so far. So
 * each tool gets at least `most` usages if the split has that many. For the same seed, the portion for most = 2
 * contains the portion for most = 1. */

/* Sets taken [train->len]. most: 0 for every request. Returns the number of requests taken, or WT_ENOMEM. */
int64_t wt__portion_draw(const struct dataset *train, size_t most, uint64_t seed, bool *taken, wt_error *err);

/* Writes a data set in BEIR layout to `folder`, replacing its files: the corpus of dir, the taken requests as train,
 * and dev (may be NULL) as dev. */
int wt__portion_write(const char *folder, const char *dir, const struct dataset *train, const bool *taken,
                      const struct dataset *dev, wt_error *err);

/* ---------------------------------------------------------------- requests divided by their sets of tools */

/* Divides all requests of a data set so that no set of tools is in two splits: two in ten sets are test, one is dev,
 * and the others are train, in the order of a hash. Writes the result as a data set to a folder in the cache; a split
 * without requests is not written. cache: NULL for the default folder. *out: path of the data set, in the arena.
 * Errors: WT_EEMPTY (no request), those of wt__dataset_read, WT_EIO, WT_ENOMEM. */
int wt__divide_by_set(const char *dir, const char *cache, struct arena *arena, const char **out, wt_error *err);

/* Marks the requests whose set of relevant tools is not that of any request of `past`. unseen: [count] for the first
 * `count` requests of dataset. Errors: WT_ENOMEM. */
int wt__mark_unseen_sets(const struct dataset *dataset, size_t count, const struct dataset *past, bool *unseen,
                         wt_error *err);

/* ---------------------------------------------------------------- training */

/* The store and the models for recipes that need training. The store has the train split recorded as use; the models
 * are trained on that split and selected on the dev split.
 *
 *   CACHE/KEY.wt           the corpus and the usages
 *   CACHE/KEY.wt-models/   the models; the file "finished" lists the completed lessons
 *   CACHE/KEY.wt-data/     the training data, if it is a part of the train split
 *
 * KEY is the SHA-256 of all inputs: corpus, training and dev requests, seed, model, library version, and the dense
 * weights if the caller set them. These files and folders may be deleted at any time. */

struct eval_learning {
    wt_eval_options options; /* the caller's; set before wt__learning_plan */
    struct arena arena;
    const char *dir;    /* the data set */
    const char *data;   /* training data: dir, or a part of it */
    const char *store;  /* path */
    const char *models; /* folder */
    size_t requests;    /* number of training requests */
    bool other_data;    /* true if the data set has no train split: options.trained then holds models of other data */
    const char *trained_on; /* name of that other data, from the first model that has one; else NULL */
    double seconds;         /* training time of this run; 0 if the models existed */
    wt_error *err;
};

/* True if the recipe needs training, or is better with it. */
bool wt__recipe_uses_training(const char *recipe);

/* True if the recipe uses the cross-encoder, which takes long to train. If the caller names no recipes, such a recipe
 * is measured only with options.trained. */
bool wt__recipe_trains_slowly(const char *recipe);

/* True if the recipe's model exists. trained: NULL if no model exists. */
bool wt__recipe_is_trained(const struct trained *trained, const char *recipe);

/* Reads the splits and determines the paths. Writes the training data if it is a part of the train split. */
int wt__learning_plan(struct eval_learning *learning, const char *dir, wt_error *err);

/* Opens the store; imports the corpus and records the usages if the store lacks them. */
int wt__learning_open(struct eval_learning *learning, wt_engine **out);

/* Makes the models of these recipes available: trains the missing ones, or checks that the models in options.trained
 * were trained on this data (not checked without a train split). Then updates the vectors. recipes: [count] names;
 * recipes without training are skipped; "auto" needs the models that it combines. Errors: WT_EFORMAT (trained on other
 * data), and the errors of wt_train. */
int wt__learning_train(struct eval_learning *learning, wt_engine *engine, const char *const *recipes, size_t count);

/* Appends a comma and the member "trained" of a row's settings. Does nothing for a recipe without training. */
int wt__learning_settings(struct eval_learning *learning, wt_engine *engine, const char *recipe, struct buffer *out);

void wt__learning_dispose(struct eval_learning *learning);

#endif
