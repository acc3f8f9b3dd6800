/* whichtool/eval.h: measures how well recipes find tools, on a data set with known answers.
 *
 *   wt_eval("data/mytools", NULL, &report, &err);    every available recipe, on the test split
 *   wt_eval_report_free(report);
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_EVAL_H
#define WHICHTOOL_EVAL_H

#include "find.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    WT_MAX_CUTOFFS = 16,   /* cutoffs k of the metrics */
    WT_MAX_OTHER_RUNS = 16 /* runs of other methods */
};

typedef struct wt_eval_options {
    size_t size;
    const char *split;      /* "test", "dev" or "train"; NULL: "test" */
    const char *recipes;    /* comma-separated names from wt_recipe_at; NULL: every available recipe but joint, and
                               those with a cross-encoder only if `trained` is set */
    const char *model;      /* same as in wt_open_options */
    const char *models_dir; /* same as in wt_open_options */
    const char *cache_dir;  /* cache of catalogues, vectors and trained models; NULL: $XDG_CACHE_HOME/whichtool/eval */
    const char *run_path;   /* output file for a TREC run; with several recipes, .RECIPE is inserted before the
                               extension; NULL: do not write */
    const char *qrels_path; /* output file for the judgements of the split, as TREC qrels; NULL: do not write */
    size_t cutoffs[WT_MAX_CUTOFFS]; /* k of the metrics, 0 for unused ones; all 0: 1, 3, 5, 7, 10 */
    size_t max_queries;             /* use only the first queries of the split; 0: all */
    size_t bootstrap;               /* resamples of the paired comparison; 0: 10,000 */
    uint64_t seed;                  /* seed of the bootstrap, of training, and of all samples; 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
    const char *trained;   /* folder of models from wt_train. WT_EFORMAT if they were trained on other data, although
                              this data set has a train split. NULL: train the models that the recipes need, and keep
                              them in cache_dir */
    size_t usages;         /* maximum training usages per tool, drawn by seed; 0: all */
    const char *html_path; /* output file for a page with figures and analyses; NULL: do not write */
    size_t timed;          /* number of queries to repeat one by one for timing, from the first; 0: 200 */
    const char *out_of_domain; /* other data set whose queries no tool fits, to measure how often "set" notices; NULL:
                                  do not measure */
    /* For the recipes "ptr" and "bundle": */
    const char *base_retriever; /* same as in wt_pick_options */
    const char *experiment;     /* same as in wt_pick_options, and in addition
                                   oracle: a stand-in that knows the judgements answers instead of a language model; the
                                   value is the error rate of its decisions, 0 to 1 */
    const char *chat_url, *chat_model, *chat_key, *record_path, *replay_path; /* same as in wt_open_options */

    /* Same as in wt_find_options: */
    size_t max_per_provider;
    int copies, as_typed;
    const char *other_runs; /* TREC runs of other methods for the same queries, one file per line, at most
                               WT_MAX_OTHER_RUNS. Each adds a row under the name of its file; NULL: no such rows */
    const char *split_by; /* "set": divide all requests again, so that no set of tools is in two splits. Two in ten sets
                             are then test, one is dev, and the others are train. NULL: the splits of the data set */
} wt_eval_options;

WT_INIT(wt_eval_options_init, wt_eval_options)

typedef struct wt_metric {
    const char *name; /* "recall@5", "ndcg@5", "complete@5", "mrr"; for recipes that pick also "tracc", ..., and
                         "tracc_unseen", ... for the requests whose set of tools no training request needs */
    double value;     /* mean over queries, 0 to 1; for "size_diff" and "set_size", a number of tools */
} wt_metric;

typedef struct wt_eval_row {
    const char *set, *split, *recipe;
    size_t tools, queries;
    size_t metric_count; /* all rows start with the same metrics; recipes that pick have more */
    const wt_metric *const *metrics;
    double p50_ms, p95_ms, p99_ms; /* latency of one wt_find on one thread; NaN if not timed */
    const char *settings;          /* JSON object with the settings that affect the figures */
    const char *notice;            /* anything missing, or NULL */
    /* Accuracy of wt_hits.multi_provider_probability at a threshold of .5, and its Brier score (mean squared error, 0
     * to 1, lower is better). NaN for recipes without it. */
    double kind_accuracy, kind_brier;
} wt_eval_row;

/* Comparison of b with a, paired by query: mean difference with its 95 % interval, and the two-sided p-value. */
typedef struct wt_eval_comparison {
    const char *a, *b, *metric;
    double difference, low, high, p;
} wt_eval_comparison;

typedef struct wt_eval_report {
    size_t row_count, comparison_count;
    const wt_eval_row *const *rows;
    const wt_eval_comparison *const *comparisons; /* each further recipe against the first */
} wt_eval_report;

WT_API void wt_eval_report_free(wt_eval_report *report);

/* Measures recipes on a data set in BEIR layout (corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv).
 *
 * Recipes that need training learn from the train split and make choices on the dev split. The measured split, unless
 * it is one of these two, is read only after the training. With neither a train split nor options->trained, such
 * recipes are left out, and naming one in options->recipes is WT_ERECIPE.
 *
 * Any thread. Errors: WT_ENOTFOUND, WT_EFORMAT (with file and line; or options->trained is from other data), WT_EINVAL,
 * WT_ERECIPE, WT_EMODEL, WT_EIO, WT_ECANCELLED, those of wt_train, ... */
WT_API int wt_eval(const char *dir, const wt_eval_options *options, wt_eval_report **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
