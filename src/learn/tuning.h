/* tuning.h: trains the encoder, and measures it on dev. */
#ifndef WT_LEARN_TUNING_H
#define WT_LEARN_TUNING_H

#include "engine/engine.h"
#include "learn/examples.h"
#include "learn/learn.h"
#include "learn/loop.h"
#include "learn/training_batch.h"
#include "retrieve/retrieve.h"

/* Measures an encoder during training by recall@5 on dev requests, with the retrieval of queries (retrieve/retrieve.h)
 * over the snapshot of the request's own catalogue. The figure is the mean over data sets of each set's mean, so that a
 * large set does not dominate. Every measurement of a training uses the same sample of dev requests.
 *
 * A tool's vector is computed from its texts. For DEV_USE, a dev request whose tools were all used by training requests
 * is searched among sums of unit(texts) and unit(mean of those requests). The other dev requests are searched among
 * vectors of texts, because among sums an unused tool is rarely found. */

enum {
    DEV_RECALL_DEV = 1000,    /* maximum dev requests per set */
    DEV_RECALL_USES = 4000,   /* maximum training requests per set */
    DEV_RECALL_CUTOFF = 5,    /* cutoff of the recall */
    DEV_RECALL_REQUEST = 128, /* maximum tokens of a request or sub-query */
    DEV_RECALL_TOOL = 96      /* maximum tokens of each of a tool's texts */
};

/* Evidence by which dev requests are searched. */
enum dev_kind {
    DEV_USE,         /* vectors of texts, and of usage if there is any */
    DEV_DESCRIPTION, /* vectors of texts */
    DEV_HYBRID,      /* words, and vectors of texts */
    DEV_HEAD,        /* rows of a classifier that is trained with the encoder */
    DEV_KINDS
};
extern const char *const wt__dev_kinds[DEV_KINDS];   /* names of the kinds in options */
extern const char *const wt__dev_figures[DEV_KINDS]; /* descriptions of the figures for users */

/* A data set with dev requests. */
struct dev_set {
    const char *name;
    struct index_handle *index; /* its rows are the set's tools */
    size_t first, rows;         /* range of the set's tools in the examples */
    size_t dev_count, use_count, tool_count;
    uint32_t *dev;   /* [dev_count] numbers of the dev requests */
    uint32_t *uses;  /* [use_count] numbers of the training requests that represent tools */
    bool *by_use;    /* [dev_count] true if training requests used all tools of the request */
    size_t *texts;   /* [dev_count + 1] start of each request's texts in dev_texts: the request, then its sub-queries */
    uint32_t *tools; /* [tool_count] rows of the set, ascending */
    uint64_t *allowed; /* bitmap of rows; NULL for all tools */
    struct token_texts dev_texts, use_texts, tool_texts[DOCUMENT_TEXTS];
};

struct dev_recall_options {
    enum dev_kind kind;
    size_t most_tools; /* maximum tools of a set, but never without those of its dev requests; 0 for all */
    uint64_t seed;
    unsigned threads;
};

struct dev_recall {
    const struct examples *examples;
    const struct encoder *encoder; /* initial encoder; the trained one has its dimension and its weights of evidence */
    struct dev_recall_options options;
    struct dev_set *sets; /* [count] sets with dev requests */
    size_t count;
    struct workspace **workspaces; /* [threads] */
};

/* Opens the measurement. engines: [part_count] catalogue of each part, which must outlive out. Without dev requests
 * count is 0 and run gives NaN. Errors: WT_EBUSY (a catalogue has changed), WT_ENOMEM, those of an index. */
int wt__dev_recall_open(struct dev_recall *out, const struct examples *examples, wt_engine *const *engines,
                        const struct encoder *encoder, const struct trainable *model,
                        const struct dev_recall_options *options, wt_error *err);
void wt__dev_recall_dispose(struct dev_recall *dev_recall);
/* Returns the bytes that a measurement allocates. hidden: D. */
size_t wt__dev_recall_bytes(const struct dev_recall *dev_recall, size_t hidden);
/* Runs the measurement, and records the figure of each set in progress. head: [M, D] rows of all tools for DEV_HEAD,
 * else NULL. */
int wt__dev_recall_run(const struct dev_recall *dev_recall, struct training_batch *training_batch, const float *head,
                       struct train_progress *progress, double *figure, wt_error *err);

/* A training of the encoder. struct tuning has the state that all methods share. struct tuning_kind is a method, such
 * as contrast: it chooses the texts of a step and computes the loss. */

enum {
    TUNING_REQUEST = 96, /* maximum tokens of a request */
    TUNING_TOOL = 96 /* maximum tokens of a tool: its provider, its name and DOCUMENT_HEAD bytes of its description */
};

struct tuning;

struct tuning_kind {
    const char *name; /* name of the loss */
    enum batch_output output;
    double rate; /* default peak learning rate */
    /* Sets the limits of the largest step, and returns the bytes that begin allocates. */
    size_t (*measure)(const struct tuning *tuning, struct batch_limits *limits);
    /* Called before the first step. Memory goes to tuning->own, which end frees and which may be NULL there. */
    int (*begin)(struct tuning *tuning, wt_error *err);
    void (*end)(struct tuning *tuning);
    /* Same as in struct objective. */
    int (*prepare)(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng, wt_error *err);
    double (*loss)(struct tuning *tuning);
    /* Same as in struct objective; NULL without buffers. begin must then set tuning->objective.buffers. */
    int (*renew)(struct tuning *tuning, struct train_progress *progress, wt_error *err);
    /* Returns the current rows of its classifier, [M, H], to save with the encoder. NULL without a classifier. */
    const float *(*head)(const struct tuning *tuning);
};

struct tuning {
    const struct tuning_kind *kind;
    struct training *training;
    const char *base; /* folder of the initial model */
    const char *out;  /* folder of the result */
    json_t *about;    /* description of the training for config.json of the result (wt__training_plan) */
    struct trainable *model;
    enum dev_kind dev;
    struct dev_recall dev_recall;
    struct token_texts requests, tools; /* tokens of the training requests, and of text 0 of every tool */
    struct training_batch training_batch;
    struct batch_limits limits;
    size_t batch;
    struct objective objective; /* its parameters have room for one more, which kind->begin may add */
    void *own;                  /* memory of the kind */
    double earlier; /* figure of an earlier training's model that is kept; NaN if the model of this training is saved */
};

/* The methods (tuning.c). */
extern const struct tuning_kind wt__contrast, wt__triplet, wt__classify_softmax, wt__classify_bce, wt__likeness;

/* Rows of the tools of a step. Zeroed if empty. */
struct step_tools {
    uint32_t *rows;
    size_t count, capacity;
};

/* Lists the tools of a step's requests, distinct and ascending. If there are more than the larger of 48 and 1.5 times
 * the batch, draws a random sample of that size. Errors: WT_ENOMEM. */
int wt__tuning_tools(struct step_tools *out, const struct tuning *tuning, const uint32_t *examples, size_t count,
                     struct rng *rng, wt_error *err);

#endif
