/* whichtool/train.h: models that are made of a store's own tools and requests.
 *
 *   wt_train(engine, "all", NULL, &report, &err);    from recorded use; beside the store, and in use at the next search
 *   wt_train_report_free(report);
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_TRAIN_H
#define WHICHTOOL_TRAIN_H

#include "../whichtool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- training */

/* What can be trained: the models that make a store's recipes fit its own tools and requests, from requests whose
 * tools are known. By index from 0; NULL past the last. Static. */
typedef struct wt_lesson {
    const char *name;    /* "encoder", ... */
    const char *summary; /* one line */
} wt_lesson;

WT_API const wt_lesson *wt_lesson_at(size_t index);

/* The figure on dev after some steps, 0 before the first: of all and, where it is the mean over data sets, of each. */
typedef struct wt_dev_figure {
    const char *set; /* the last part of its folder */
    double value;
} wt_dev_figure;

typedef struct wt_measurement {
    uint64_t step;
    double figure;
    size_t len; /* sets; 0: the figure is not a mean over sets */
    const wt_dev_figure *sets;
} wt_measurement;

/* How far a training is. What is not known yet is NaN, or 0 for counts. */
typedef struct wt_train_progress {
    const char *lesson;   /* a name of wt_lesson_at */
    const char *phase;    /* static: "reading", "encoding", "training", "measuring", "saving", ... */
    uint64_t done, total; /* of the phase; when training: steps */
    double loss;          /* mean of the last steps */
    double tokens_per_second;
    double best;                    /* the best figure on dev so far, 0 to 1 */
    double seconds_left;            /* of this lesson */
    const wt_measurement *measured; /* the last one, of another address than the one before; NULL: none yet */
} wt_train_progress;

/* Called as wt_progress_fn is. A non-zero return stops: the state is kept for `resume`, and the best model so far
 * stays where it is. */
typedef int (*wt_train_progress_fn)(void *context, const wt_train_progress *progress);

typedef struct wt_train_options {
    size_t size;
    const char *data;       /* a data set in BEIR layout: learn from its train split, choose on dev; NULL: learn from
                               the store's recorded use, of which a tenth, drawn by request, is dev. Without an engine
                               also several, a line each: then each keeps its own catalogue */
    const char *out;        /* folder of the trained models; NULL: STORE-models, beside the store */
    const char *model;      /* without an engine, as in wt_open_options */
    const char *models_dir; /* the same */
    const char *cache_dir;  /* the same, as in wt_eval_options */
    unsigned threads;       /* 0: one a processor. The same number and seed give the same model, to the last bit */
    uint64_t seed;          /* 0: 1 */
    double epochs;          /* passes over the requests; 0: by their number */
    size_t batch;           /* requests a step; 0: the lesson's own */
    size_t accumulate;      /* batches a step; 0: 1 */
    double rate;            /* highest learning rate; 0: the lesson's own */
    size_t freeze;          /* layers of the encoder, and its embeddings, that stay as they are; 0: none */
    const char *loss;       /* one of the lesson's losses; NULL: its first; not with "all" */
    size_t candidates;      /* tools that a refiner looks at; 0: its own */
    const char *precision;  /* "fp32", or "bf16": products round to bfloat16 where the processor has matrix registers,
                               sums stay fp32; NULL: bf16 where that is faster. The model remembers which it was */
    int resume;             /* go on where a stopped training of the same model with the same options ended */
    uint64_t memory;        /* most bytes to take; 0: what the machine has left */
    wt_train_progress_fn progress;
    void *progress_context;
    size_t most;        /* training requests of each data set, beyond which a seeded part is taken; 0: all */
    size_t negatives;   /* wrong tools of a request that the model takes for right, to learn from beside its right ones;
                           for the encoder's loss "contrast" and the cross-encoder; 0: none, and the latter's own */
    const char *fields; /* of a tool, that encoder or cross-encoder reads: some of category, provider, name, description
                           and parameters, with commas between; NULL: provider,name,description */
    size_t synthetic;   /* so many requests made of the descriptions of each catalogue's tools (inverse cloze task), to
                           learn from beside the recorded ones, or in their place where there are none; for the encoder
                           and the cross-encoder; 0: none */
    const char *most_of; /* the same as most of one data set, a line each: "NAME=N", NAME being the last part of its
                            folder; a line "N" is for those that no line names. NULL: all have most */
    double join;         /* requests that need several tools, made of those of one catalogue that need few: two or three
                            in one text, with the tools of all, as this share of all training requests, 0 to
                            below 1; dev has none; for the encoder and the cross-encoder; 0: none */
    int keep_last;       /* the last model is kept, not the best on dev, and training does not stop early: for a caller
                            who chooses by something else */
    const char *dev;     /* what of an encoder is measured on dev: "use" (NULL): each request by the tools' texts and,
                            where training requests used all tools that it needs, by those as well; "description": by
                            texts alone; "hybrid": by texts and words; "head": by the rows of the classifier that
                            the losses "softmax" and "bce" train with it */
    size_t dev_tools;    /* tools of each catalogue that answer dev requests of an encoder: those that are needed, and
                            others up to this number; 0: all */
    const char *teacher; /* model, by name or folder, whose likenesses between texts the encoder's loss "likeness"
                            learns; for that alone */
} wt_train_options;

WT_INIT(wt_train_options_init, wt_train_options)

/* One model that was trained. */
typedef struct wt_trained {
    const char *lesson;
    const char *path;     /* folder, in the layout of the Hugging Face hub; its config.json tells all of this; "" where
                              there was too little to learn from or, of "all", no layers to train, and notice says */
    const char *figure;   /* what was measured on dev, such as "recall@5 by description and use" */
    double before, after; /* the figure before training (NaN: there was no model) and of the model that was kept */
    uint64_t steps;
    double epochs, seconds;
    int stopped_early;  /* the figure had stopped growing */
    const char *notice; /* one line on what to know, or NULL */
    size_t measurement_count;
    const wt_measurement *const *measurements; /* of this run, in order, the worse ones too */
} wt_trained;

typedef struct wt_train_report {
    size_t len;
    const wt_trained *const *items;
} wt_train_report;

WT_API void wt_train_report_free(wt_train_report *report);

/* Trains a model: a name of wt_lesson_at, or "all" of them in that order. engine may be NULL when options->data is
 * given: the catalogue is then the data set's own. The model in out/NAME is replaced when a better one was found on
 * dev; a stop, a failure or a kill leaves the last good one.
 * Errors: WT_EEMPTY (nothing to learn from), WT_EINVAL (unknown lesson or loss, an option out of range), WT_EMODEL (no
 * encoder, one without the layers that the lesson trains, or the loss became infinite), WT_ENOMEM (it would not fit:
 * the sentence says how much it needs), WT_EBUSY (another training writes to that folder), WT_ECANCELLED (state is
 * kept), WT_ENOTFOUND, WT_EFORMAT (data, or state of another training), WT_EIO, ...
 *
 * With an error of a later model, *out holds the earlier ones. */
WT_API int wt_train(wt_engine *engine, const char *lesson, const wt_train_options *options, wt_train_report **out,
                    wt_error *err);

/* What a training with this data and seed is said to have learned from: "data"."sha256" of a model's config.json. data
 * and seed as in wt_train_options. Errors: WT_EEMPTY, WT_ENOTFOUND, WT_EFORMAT, ... */
WT_API int wt_training_data(wt_engine *engine, const char *data, uint64_t seed, char sha256[65], wt_error *err);

/* ---------------------------------------------------------------- distilling */

typedef struct wt_distil_options {
    size_t size;
    const char *data; /* data sets in BEIR layout, a line each: their tools' texts and training requests are learned
                         from, where they have any; dev requests are measured, test requests not read. NULL: the
                         store's tools and recorded use */
    const char *out;  /* folder of the model; it may not hold one yet */
    const char *model, *models_dir; /* the teacher: without an engine, as in wt_open_options */
    const char *cache_dir;          /* without an engine, as in wt_eval_options */
    unsigned threads;               /* 0: one a processor. Their number changes no bit of the model */
    uint64_t seed;                  /* 0: 1 */
    size_t dimension;               /* of the vectors; 0: 256. At most the teacher's */
    double smoothing;               /* a of the tokens' weights a / (a + p), p their share of all tokens; 0: 0.001 */
    double epochs; /* passes over the texts while they are fitted to the teacher's vectors; 0: by their number */
    double contrast_epochs; /* passes over the requests while they are brought near to their tools; 0: the same */
    double dense_weight;    /* of meaning in hybrid, that the model's config.json asks for, at most
                               WT_MAX_DENSE_WEIGHT; 0: none is said */
    double brief_weight;    /* the same in brief requests; 0: dense_weight in all */
    const char *ablate; /* for experiments: leave out some of weights, fit, likeness, contrast and merge, with commas
                           between; NULL: none */
    wt_progress_fn progress;
    void *progress_context;
} wt_distil_options;

WT_INIT(wt_distil_options_init, wt_distil_options)

/* A static encoder that was made. */
typedef struct wt_distilled {
    const char *path;         /* its folder */
    const char *teacher;      /* name */
    size_t tokens, dimension; /* rows of its table, and numbers of a row */
    uint64_t bytes;           /* of its model.safetensors */
    size_t texts, requests;   /* it was fitted to, all different; and contrasted on */
    size_t dev_requests;      /* that were measured */
    double cosine;            /* of its vectors with the teacher's: the mean over those; NaN: there are none */
    double seconds;
    const char *notice; /* one line on what to know, or NULL */
} wt_distilled;

WT_API void wt_distilled_free(wt_distilled *distilled);

/* Makes a static encoder: a table with a vector a token, whose sum is a text's vector, in the place of an encoder that
 * takes a thousand times as long. Its rows begin as the teacher's vectors of single tokens, are fitted to its vectors
 * of texts, and contrasted on requests and their tools (docs/encoders.md). It becomes a model directory like any other,
 * in options->out. The teacher is the engine's encoder; engine may be NULL when options->data is given. Takes minutes,
 * nearly all of them the teacher's; a stop leaves no model, and nothing to go on from. The same texts, teacher, options
 * and seed give the same bytes on the same machine. Queries and imports may run beside it.
 * Errors: WT_EINVAL (no folder was named, it holds a model, or an option is out of range), WT_EEMPTY (no texts),
 * WT_EMODEL (no teacher, or one that is static itself), WT_ENOTFOUND, WT_EFORMAT (data), WT_ECANCELLED, WT_ENOMEM,
 * WT_EIO, ... */
WT_API int wt_distil(wt_engine *engine, const wt_distil_options *options, wt_distilled **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
