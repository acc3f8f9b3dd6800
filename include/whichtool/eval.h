/* whichtool/eval.h: how well recipes find, on a data set whose answers are known.
 *
 *   wt_eval("data/mytools", NULL, &report, &err);    every recipe that can run, on the test split
 *   wt_eval_report_free(report);
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_EVAL_H
#define WHICHTOOL_EVAL_H

#include "../whichtool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    WT_MAX_CUTOFFS = 16,   /* of one evaluation's metrics */
    WT_MAX_OTHER_RUNS = 16 /* rankings of other methods in one evaluation */
};

typedef struct wt_eval_options {
    size_t size;
    const char *split;      /* "test", "dev", "train"; NULL: "test" */
    const char *recipes;    /* comma-separated; NULL: every recipe that can run */
    const char *model;      /* as in wt_open_options */
    const char *models_dir; /* as in wt_open_options */
    const char *cache_dir;  /* imported catalogues and their vectors; NULL: $XDG_CACHE_HOME/whichtool/eval */
    const char *run_path;   /* write a TREC run of each recipe to PATH (with several recipes, RECIPE is put before
                               the extension); NULL: none */
    const char *qrels_path; /* write the split's judgements as TREC qrels; NULL: none */
    size_t cutoffs[WT_MAX_CUTOFFS]; /* k of the metrics; all 0: 1, 3, 5, 7, 10 */
    size_t max_queries;             /* the first so many of the split; 0: all */
    size_t bootstrap;               /* resamples of the paired comparison; 0: 10,000 */
    uint64_t seed;                  /* of bootstrap, training and whatever is drawn; 0: 1 */
    wt_progress_fn progress;
    void *progress_context;
    const char *trained;   /* folder that wt_train filled from this data set, which is checked; NULL: what the recipes
                              need is trained first, and kept in cache_dir */
    size_t usages;         /* learn from at most so many usages a tool, drawn by seed; 0: from all */
    const char *html_path; /* write the figures with their analyses as one page; NULL: none */
    size_t timed;          /* queries, the first ones, that are asked once more, one by one, to time them; 0: 200 */
    const char *out_of_domain; /* another data set, whose queries of the split no tool fits: how often the recipe "set"
                                  tells; NULL: none */
    /* Of the recipes "ptr" and "bundle": */
    const char *base_retriever, *ablate; /* as in wt_pick_options */
    int oracle;          /* non-zero: a stand-in that knows the judgements answers in place of a language model */
    double oracle_error; /* the share of its decisions that are wrong, 0 to 1 */
    const char *chat_url, *chat_model, *chat_key, *record_path, *replay_path; /* as in wt_open_options */
    size_t max_per_provider;                                                  /* as in wt_find_options */
    int copies;                                                               /* the same */
    double dense_weight;    /* of meaning in hybrid, at most WT_MAX_DENSE_WEIGHT; 0: the model's own, as its config.json
                               says */
    double brief_weight;    /* the same in brief requests; 0: dense_weight in all */
    int as_typed;           /* as in wt_find_options */
    const char *other_runs; /* files with rankings of other methods, TREC runs of the split's queries, a line each: they
                               are measured after the recipes, each as a row under the file's name; NULL: none */
} wt_eval_options;

WT_INIT(wt_eval_options_init, wt_eval_options)

typedef struct wt_metric {
    const char *name; /* "recall@5", "ndcg@5", "complete@5", "mrr"; of recipes that pick also "tracc", ... */
    double value;     /* mean over queries, 0 to 1; "size_diff" and "set_size": tools */
} wt_metric;

typedef struct wt_eval_row {
    const char *set, *split, *recipe;
    size_t tools, queries;
    size_t metric_count; /* the first ones are the same in all rows; a recipe that picks has more behind them */
    const wt_metric *const *metrics;
    double p50_ms, p95_ms, p99_ms; /* of one wt_find, one thread; NaN: nothing was timed */
    const char *settings;          /* JSON object: what the figures depend on */
    const char *notice;            /* what was missing, or NULL */
    /* Of wt_hits.multi_provider_probability: the share of queries that it puts on the right side of .5, and its mean
     * squared error (0 to 1, less is better); NaN where none looked. */
    double kind_accuracy, kind_brier;
} wt_eval_row;

/* b against a, paired by query: mean difference with a 95 % interval and a two-sided p. */
typedef struct wt_eval_comparison {
    const char *a, *b, *metric;
    double difference, low, high, p;
} wt_eval_comparison;

typedef struct wt_eval_report {
    size_t row_count, comparison_count;
    const wt_eval_row *const *rows;
    const wt_eval_comparison *const *comparisons; /* each recipe after the first against the first */
} wt_eval_report;

WT_API void wt_eval_report_free(wt_eval_report *report);

/* Measures recipes on a data set in BEIR layout (corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv).
 * Recipes that need training learn from its train split, and what is to be chosen is chosen on its dev split: the split
 * that is measured is not looked at before the figures are taken, unless it is one of those. Without a train split
 * such recipes are left out, or WT_ERECIPE when they were named.
 * Errors: WT_ENOTFOUND, WT_EFORMAT (with file and line; or options->trained was made from other data), WT_ERECIPE,
 * WT_EMODEL, WT_EIO, WT_ECANCELLED, those of wt_train, ... */
WT_API int wt_eval(const char *dir, const wt_eval_options *options, wt_eval_report **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
