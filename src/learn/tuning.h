/* tuning.h: trains an encoder, and measures it on dev requests. */
#ifndef WT_LEARN_TUNING_H
#define WT_LEARN_TUNING_H

#include "engine/engine.h"
#include "learn/examples.h"
#include "learn/learn.h"
#include "learn/loop.h"
#include "learn/training_batch.h"
#include "retrieve/retrieve.h"

/* Measures an encoder during training by recall@5 on dev requests. Each dev request is searched in the snapshot of its
 * catalogue, like a query (retrieve/retrieve.h). The figure is the mean of the means of the data sets, so that a large
 * set does not dominate. Every measurement of a training uses the same sample of dev requests.
 *
 * The vector of a tool is computed from its texts. DEV_USE also has vectors of use: the sum of unit(vector of the
 * texts) and unit(mean of the vectors of the training requests that used the tool). Vectors of use serve dev requests
 * whose tools were all used by training requests. The other dev requests are searched in vectors of texts, because an
 * unused tool is rarely found among vectors of use. */

enum {
    DEV_RECALL_DEV = 1000,    /* maximum dev requests per set */
    DEV_RECALL_USES = 4000,   /* maximum training requests per set */
    DEV_RECALL_CUTOFF = 5,    /* cutoff of the recall */
    DEV_RECALL_REQUEST = 128, /* maximum tokens of a request or sub-query */
    DEV_RECALL_TOOL = 96      /* maximum tokens of each of a tool's texts */
};

/* Evidence with which dev requests are searched. */
enum dev_kind {
    DEV_USE,         /* vectors of use, or of texts */
    DEV_DESCRIPTION, /* vectors of texts */
    DEV_HYBRID,      /* words and vectors of texts */
    DEV_HEAD,        /* rows of a classifier that is trained with the encoder */
    DEV_KINDS
};
extern const char *const wt__dev_kinds[DEV_KINDS];   /* names of the kinds in options */
extern const char *const wt__dev_figures[DEV_KINDS]; /* descriptions of the figures for users */

/* A data set with dev requests. */
struct dev_set {
    const char *name;
    struct index_handle *index; /* snapshot whose rows are the set's tools */
    size_t first, rows;         /* first tool and number of tools of the set in the examples */
    size_t dev_count, use_count, tool_count;
    uint32_t *dev;   /* [dev_count] numbers of the dev requests */
    uint32_t *uses;  /* [use_count] numbers of the training requests in vectors of use */
    bool *by_use;    /* [dev_count] true if training requests used all tools of the request */
    size_t *texts;   /* [dev_count + 1] start of each request's texts in dev_texts: the request, then its sub-queries */
    uint32_t *tools; /* [tool_count] rows of the tools that are searched, ascending */
    uint64_t *allowed; /* bitmap of the rows in `tools`; NULL for all rows */
    struct token_texts dev_texts, use_texts, tool_texts[DOCUMENT_TEXTS];
};

struct dev_recall_options {
    enum dev_kind kind;
    size_t most_tools; /* maximum tools of a set to search, 0 for all; tools of its dev requests are always included */
    uint64_t seed;
    unsigned threads;
};

struct dev_recall {
    const struct examples *examples;
    const struct encoder *encoder; /* initial encoder; gives the dimension and the weights of evidence */
    struct dev_recall_options options;
    struct dev_set *sets; /* [count] sets with dev requests */
    size_t count;
    struct workspace **workspaces; /* [threads] */
};

/* Opens the measurement. engines: [part_count] engine with the catalogue of each part; must outlive *out. Without dev
 * requests out->count is 0, and wt__dev_recall_run gives NaN. Errors: WT_EBUSY (a catalogue has changed), WT_ENOMEM,
 * those of an index. */
int wt__dev_recall_open(struct dev_recall *out, const struct examples *examples, wt_engine *const *engines,
                        const struct encoder *encoder, const struct trainable *model,
                        const struct dev_recall_options *options, wt_error *err);
void wt__dev_recall_dispose(struct dev_recall *dev_recall);
/* Estimates the bytes that a measurement allocates. hidden: D. */
size_t wt__dev_recall_bytes(const struct dev_recall *dev_recall, size_t hidden);
/* Runs the measurement, and records the figure of each set in progress. head: [M, D] the classifier's rows of all tools
 * for DEV_HEAD, else NULL. */
int wt__dev_recall_run(const struct dev_recall *dev_recall, struct training_batch *training_batch, const float *head,
                       struct train_progress *progress, double *figure, wt_error *err);

/* A training of the encoder. struct tuning is the state that all methods share. struct tuning_kind is a method, such as
 * contrast. A method chooses the texts of a step and computes the loss. */

enum {
    TUNING_REQUEST = 96, /* maximum tokens of a request */
    TUNING_TOOL = 96     /* maximum tokens of text 0 of a tool (wt__document_text) */
};

struct tuning;

enum { KIND_PARAMETERS = 2 }; /* most parameters that a method adds to those of the encoder */

struct tuning_kind {
    const char *name; /* name of the loss */
    enum batch_output output;
    double rate; /* default peak learning rate */
    /* Sets the limits of the largest step, and estimates the bytes of the method's own memory. */
    size_t (*measure)(const struct tuning *tuning, struct batch_limits *limits);
    /* Called before the first step. Stores the memory of the method in tuning->own. */
    int (*begin)(struct tuning *tuning, wt_error *err);
    /* Frees tuning->own, which may be NULL. */
    void (*end)(struct tuning *tuning);
    /* prepare, loss and renew: as in struct objective. */
    int (*prepare)(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng, wt_error *err);
    double (*loss)(struct tuning *tuning);
    /* NULL without buffers. With renew, begin must set tuning->objective.buffers. */
    int (*renew)(struct tuning *tuning, struct train_progress *progress, wt_error *err);
    /* Returns the current rows of the method's classifier, [M, H], to save with the encoder. NULL without a
     * classifier. */
    const float *(*head)(const struct tuning *tuning);
};

struct tuning {
    const struct tuning_kind *kind;
    struct training *training;
    const char *base; /* folder of the initial model */
    const char *out;  /* folder of the result */
    json_t *about;    /* description of the training for the result's config.json (wt__training_plan) */
    struct trainable *model;
    enum dev_kind dev;
    struct dev_recall dev_recall;
    struct token_texts requests, tools; /* tokens of the training requests, and of text 0 of every tool */
    struct training_batch training_batch;
    struct batch_limits limits;
    size_t batch;
    struct objective objective; /* has room for KIND_PARAMETERS parameters that kind->begin may add */
    void *own;                  /* memory of the method */
    double earlier; /* figure of an earlier training's model, if that is kept; NaN if this training's model is saved */
};

/* The methods (tuning.c). */
extern const struct tuning_kind wt__contrast, wt__triplet, wt__classify_softmax, wt__classify_bce, wt__likeness;

/* Rows of the tools of a step. A zeroed struct is empty. */
struct step_tools {
    uint32_t *rows;
    size_t count, capacity;
};

/* Lists the tools of a step's requests, distinct and ascending. If they exceed a limit, draws a random sample of the
 * size of the limit. The limit is the larger of 48 and 1.5 times the batch. Errors: WT_ENOMEM. */
int wt__tuning_tools(struct step_tools *out, const struct tuning *tuning, const uint32_t *examples, size_t count,
                     struct rng *rng, wt_error *err);

#endif
