/* whichtool/train.h: trains models on a store's own tools and requests.
 *
 *   wt_train(engine, "all", NULL, &report, &err);    from recorded use; the next search uses the models
 *   wt_train_report_free(report);
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_TRAIN_H
#define WHICHTOOL_TRAIN_H

#include "find.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- training */

/* A lesson: a model that can be trained from requests whose tools are known. */
typedef struct wt_lesson {
    const char *name;    /* "encoder", ... */
    const char *summary; /* one line */
} wt_lesson;

/* Returns the lesson at an index from 0, or NULL past the last. Static. */
WT_API const wt_lesson *wt_lesson_at(size_t index);

/* Dev metric on one of several data sets. */
typedef struct wt_dev_figure {
    const char *set; /* last part of the folder's path */
    double value;
} wt_dev_figure;

/* Dev metric after a number of steps. */
typedef struct wt_measurement {
    uint64_t step; /* 0 before the first step */
    double figure;
    size_t len;                /* number of data sets; 0 if the figure is not a mean over data sets */
    const wt_dev_figure *sets; /* [len] an array of structs, unlike other arrays in results */
} wt_measurement;

/* Progress of a training. Unknown values are NaN, or 0 for counts. */
typedef struct wt_train_progress {
    const char *lesson;   /* name from wt_lesson_at */
    const char *phase;    /* static: "reading", "encoding", "training", "measuring", "saving", ... */
    uint64_t done, total; /* progress within the phase; for "training", in steps */
    double loss;          /* mean over recent steps */
    double tokens_per_second;
    double best;                    /* best dev metric so far, 0 to 1 */
    double seconds_left;            /* remaining time of this lesson */
    const wt_measurement *measured; /* latest measurement, at a new address each time; NULL before the first */
} wt_train_progress;

/* Progress callback, called under the rules of wt_progress_fn. Return non-zero to stop: the state is kept for `resume`,
 * and the best model so far stays in place. */
typedef int (*wt_train_progress_fn)(void *context, const wt_train_progress *progress);

typedef struct wt_train_options {
    size_t size;
    /* Data set in BEIR layout: its train split is learned from, and its dev split chooses the best model. Without an
     * engine, several data sets may be given, one per line, each with its own catalogue. NULL: the store's recorded
     * use, with a tenth of its requests as dev. */
    const char *data;
    const char *out;        /* folder of the trained models; NULL: STORE-models */
    const char *model;      /* without an engine: same as in wt_open_options */
    const char *models_dir; /* without an engine: same as in wt_open_options */
    const char *cache_dir;  /* without an engine: same as in wt_eval_options */
    unsigned threads;       /* 0: the engine's, else one per processor. Results are bit-identical for the same number of
                               threads and seed */
    uint64_t seed;          /* 0: 1 */
    double epochs;          /* passes over the requests; 0: chosen by their number */
    size_t batch;           /* requests per batch; 0: the lesson's default */
    size_t accumulate;      /* batches per step; 0: 1 */
    double rate;            /* peak learning rate, at most 1; 0: the lesson's default */
    size_t freeze;          /* layers of the encoder to freeze, in addition to its embeddings; 0: freeze nothing */
    const char *loss;       /* one of the lesson's losses; NULL: its first. Not with "all" */
    size_t candidates;      /* tools per request for a refiner, at most 1024; 0: its default */
    const char *precision;  /* "fp32", or "bf16": matrix products rounded to bfloat16 and summed in fp32, on processors
                               with matrix registers (AMX). NULL: "bf16" on these, else "fp32". Stored in the model */
    int resume;             /* continue a stopped training of the same model with the same options */
    uint64_t memory;        /* memory limit in bytes; 0: the free memory */
    wt_train_progress_fn progress;
    void *progress_context;
    size_t most;      /* maximum training requests per data set, drawn by seed; 0: all */
    size_t negatives; /* hard negatives per request: wrong tools that the model ranks high, at most 8. For the encoder's
                         loss "contrast" and the cross-encoder. 0: none, or the cross-encoder's default */
    const char *fields; /* fields of a tool for encoder or cross-encoder: comma-separated from category, provider, name,
                           description, parameters. NULL: provider,name,description */
    size_t synthetic;   /* requests to generate from the tool descriptions of each catalogue (inverse cloze task), for
                           encoder and cross-encoder. They supplement recorded requests, or replace them if there are
                           none. 0: no synthetic requests */
    const char *most_of; /* `most` for single data sets, one per line: "NAME=N", with the last part of the folder's path
                            as NAME. A line "N" applies to all others. NULL: `most` applies to all */
    double join;   /* share of training requests made by joining, 0 to 0.9. A joined request consists of two or three
                    requests of a catalogue, and needs the tools of all of these. Not in dev. For encoder and
                    cross-encoder. 0: do not join */
    int keep_last; /* keep the last model rather than the best on dev, and never stop early */
    /* Dev metric of the encoder. NULL: "use".
     * - "use": by the tools' texts, and also by training requests if these used all tools that the request needs
     * - "description": by the tools' texts
     * - "hybrid": by the tools' texts and by words
     * - "head": by the classifier trained with the losses "softmax" and "bce" */
    const char *dev;
    size_t dev_tools;    /* tools per catalogue that the encoder's dev requests search: those needed, plus others up to
                            this number; 0: all */
    const char *teacher; /* name or folder of the model whose similarities between texts the encoder's loss "likeness"
                            learns. Only for that loss */
    size_t siblings;     /* hard negatives per request that are siblings of a right tool, at most 8. A sibling is a tool
                            of the same provider with a similar name. Only for the encoder's loss "contrast". 0: none */
    size_t layers;       /* encoder and cross-encoder: keep only the first layers of the base model, for a smaller and
                            faster model; the hard negatives of a cross-encoder still come from the whole model. 0: all.
                            Refiner: the number of last layers in which the request and the candidates meet; with all
                            layers of the model, they meet in the first one, as in the paper. 0: 2 */
} wt_train_options;

WT_INIT(wt_train_options_init, wt_train_options)

/* Result of one lesson. */
typedef struct wt_trained {
    const char *lesson;
    const char *path;   /* folder of the model in the Hugging Face layout, whose config.json describes the training. ""
                           if skipped, with a notice: too little data, or with "all" a static encoder */
    const char *figure; /* dev metric, such as "recall@5 by description and use" */
    double before, after; /* dev metric before the training (NaN without a previous model), and of the kept model */
    uint64_t steps;
    double epochs, seconds;
    int stopped_early;  /* true if the dev metric stopped improving */
    const char *notice; /* remark in one line, or NULL */
    size_t measurement_count;
    const wt_measurement *const *measurements; /* all measurements of this run, in order */
} wt_trained;

typedef struct wt_train_report {
    size_t len;
    const wt_trained *const *items;
} wt_train_report;

WT_API void wt_train_report_free(wt_train_report *report);

/* Trains a model.
 *
 * engine: may be NULL with options->data and options->out. The catalogue is then that of the data set.
 * lesson: a name from wt_lesson_at, or "all" for every lesson except the slow "cross", in the order of wt_lesson_at.
 *
 * A model that is better on dev replaces the one in out/LESSON. Stopping, failing or being killed leaves the last good
 * model in place. Afterwards the engine uses the new models. If a later lesson fails, *out has the results of the
 * earlier ones.
 *
 * Errors:
 * - WT_EEMPTY: no data to learn from.
 * - WT_EINVAL: unknown lesson or loss, or an option out of range.
 * - WT_EMODEL: no encoder, an encoder without trainable layers, or an infinite loss.
 * - WT_ENOMEM: beyond options->memory. The message gives the required amount.
 * - WT_EBUSY: another training writes to the folder.
 * - WT_ECANCELLED: stopped; the state is kept.
 * - WT_EFORMAT: malformed data, or the state of another training.
 * - WT_ENOTFOUND, WT_EIO, ... */
WT_API int wt_train(wt_engine *engine, const char *lesson, const wt_train_options *options, wt_train_report **out,
                    wt_error *err);

/* Computes the hash of the training data, to compare with "data"."sha256" in a trained model's config.json. data and
 * seed: same as in wt_train_options. sha256: receives 64 hexadecimal digits and NUL.
 * Errors: WT_EEMPTY, WT_ENOTFOUND, WT_EFORMAT, ... */
WT_API int wt_training_data(wt_engine *engine, const char *data, uint64_t seed, char sha256[65], wt_error *err);

/* ---------------------------------------------------------------- distilling */

typedef struct wt_distil_options {
    size_t size;
    /* Data sets in BEIR layout, one per line. Their tools' texts and training requests, if any, are learned from, and
     * their dev requests measured. Test requests are not read. NULL: the store's tools and recorded use. */
    const char *data;
    const char *out;                /* folder of the model, which must not contain one yet */
    const char *model, *models_dir; /* the teacher, without an engine: same as in wt_open_options */
    const char *cache_dir;          /* without an engine: same as in wt_eval_options */
    unsigned threads;               /* 0: the engine's, else one per processor. Does not change the model */
    uint64_t seed;                  /* 0: 1 */
    size_t dimension;               /* dimension of the vectors, at most the teacher's; 0: 256 */
    double smoothing;       /* a in the token weights a / (a + p), with p the frequency of the token; 0: 0.001 */
    double epochs;          /* passes over the texts when fitting the teacher's vectors; 0: chosen by their number */
    double contrast_epochs; /* passes over the requests when contrasting them with their tools; 0: by their number */
    const char *experiment; /* reproduces a comparison, as "NAME=VALUE"; may be NULL. without: comma-separated steps to
                               leave out: weights, fit, likeness, contrast, merge */
    wt_progress_fn progress;
    void *progress_context;
} wt_distil_options;

WT_INIT(wt_distil_options_init, wt_distil_options)

/* Result of wt_distil. */
typedef struct wt_distilled {
    const char *path;         /* folder of the model */
    const char *teacher;      /* name of the teacher */
    size_t tokens, dimension; /* rows and columns of the table */
    uint64_t bytes;           /* size of model.safetensors */
    size_t texts, requests;   /* distinct texts fitted, and requests contrasted */
    size_t dev_requests;      /* requests measured */
    double cosine;            /* mean cosine with the teacher's vectors over dev_requests; NaN if 0 */
    double seconds;
    const char *notice; /* remark in one line, or NULL */
} wt_distilled;

WT_API void wt_distilled_free(wt_distilled *distilled);

/* Distils an encoder into a static one: a table with a vector per token, so that a text's vector is a sum of rows. The
 * static encoder is about a thousand times faster (docs/encoders.md).
 *
 * The rows start as the teacher's vectors of single tokens. They are then fitted to the teacher's vectors of texts, and
 * contrasted on requests and their tools. The result in options->out is an ordinary model folder.
 *
 * engine: its encoder is the teacher. May be NULL with options->data.
 *
 * Takes minutes, mostly in the teacher. Stopping leaves neither a model nor a state to resume. The same texts, teacher,
 * options and seed give identical bytes on the same machine. Searches and imports may run at the same time.
 *
 * Errors: WT_EINVAL (no folder, a folder with a model, or an option out of range), WT_EEMPTY (no texts), WT_EMODEL (no
 * teacher, or a static one), WT_ENOTFOUND, WT_EFORMAT (data), WT_ECANCELLED, WT_ENOMEM, WT_EIO, ... */
WT_API int wt_distil(wt_engine *engine, const wt_distil_options *options, wt_distilled **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
