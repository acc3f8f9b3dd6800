/* tuning.h: trains the encoder, and measures it on dev. */
#ifndef WT_LEARN_TUNING_H
#define WT_LEARN_TUNING_H

#include "engine/engine.h"
#include "learn/examples.h"
#include "learn/learn.h"
#include "learn/loop.h"
#include "learn/training_batch.h"
#include "retrieve/retrieve.h"

/* ---------------------------------------------------------------- recall on dev */

/* Measures an encoder during training by recall@5 on dev requests. Uses the retrieval itself
 * (retrieve/retrieve.h) over the snapshot of the request's own catalogue. The figure is the mean over data sets of each
 * set's mean, so that a large set does not dominate. Of many dev requests always the same seeded sample is used, so
 * figures of one training are comparable.
 *
 * A tool is represented by its texts. If training requests used all tools of a dev request, these requests count as
 * well: unit(texts) + unit(mean of requests), the sum that retrieval works best with. A request for an unused tool is
 * answered from texts only, which treats all tools equally. Against sums the tool would not be found, however well the
 * encoder understands its text. */

enum {
    DEV_RECALL_DEV = 1000,    /* dev requests per set */
    DEV_RECALL_USES = 4000,   /* training requests per set */
    DEV_RECALL_CUTOFF = 5,    /* cutoff of the recall */
    DEV_RECALL_REQUEST = 128, /* tokens of a request */
    DEV_RECALL_TOOL = 96      /* tokens of a tool's texts */
};

/* Evidence for a dev request. */
enum dev_kind {
    DEV_USE,         /* meaning, of texts and of usage if there is any */
    DEV_DESCRIPTION, /* meaning, of texts only */
    DEV_HYBRID,      /* words, and meaning of texts */
    DEV_HEAD,        /* rows of a classifier trained with the encoder */
    DEV_KINDS
};
extern const char *const wt__dev_kinds[DEV_KINDS];   /* their names */
extern const char *const wt__dev_figures[DEV_KINDS]; /* descriptions of their figures for users */

/* Data set with dev requests. */
struct dev_set {
    const char *name;
    struct index_handle *index; /* its rows are the set's tools */
    size_t first, rows;         /* position of the set's tools among all */
    size_t dev_count, use_count, tool_count;
    uint32_t *dev, *uses; /* [dev_count], [use_count] numbers of the examples */
    bool *by_use;         /* [dev_count] training requests used all tools of the request */
    size_t *texts;   /* [dev_count + 1] start of each request's texts in dev_texts: the request, then its sub-queries */
    uint32_t *tools; /* [tool_count] rows of the set, ascending */
    uint64_t *allowed; /* bitmap of rows; NULL for all tools */
    struct token_texts dev_texts, use_texts, tool_texts[DOCUMENT_TEXTS];
};

struct dev_recall_options {
    enum dev_kind kind;
    size_t most_tools; /* maximum tools of a set, besides those of its dev requests; 0 for all */
    uint64_t seed;
    unsigned threads;
};

struct dev_recall {
    const struct examples *examples;
    const struct encoder *encoder; /* original encoder of the model; sets the dimension */
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
size_t wt__dev_recall_bytes(const struct dev_recall *dev_recall, size_t hidden);
/* Runs the measurement. head: for DEV_HEAD the rows of all tools, [M, D]; otherwise NULL. Also reports the figures of
 * the sets to progress. */
int wt__dev_recall_run(const struct dev_recall *dev_recall, struct training_batch *training_batch, const float *head,
                       struct train_progress *progress, double *figure, wt_error *err);

/* ---------------------------------------------------------------- tuning */

/* Shared by all methods of training the encoder: the model, the training batch, the tokens of requests and
 * tools, the figure on dev, and saving. A method is a tuning_kind: the input of a step, and its loss. */

enum {
    TUNING_REQUEST = 96, /* maximum tokens of a request */
    TUNING_TOOL = 96 /* maximum tokens of a tool: its provider, its name and DOCUMENT_HEAD bytes of its description */
};

struct tuning;

struct tuning_kind {
    const char *name; /* name of the loss */
    enum batch_output output;
    double rate; /* default peak learning rate */
    /* Computes the largest step with `batch` examples, and the bytes that begin allocates. */
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
    json_t *about;    /* for its config.json */
    struct trainable *model;
    enum dev_kind dev;
    struct dev_recall dev_recall;
    struct token_texts requests, tools; /* of the training examples, and text 0 of every tool */
    struct training_batch training_batch;
    struct batch_limits limits;
    size_t batch;
    struct objective objective; /* its parameters have room for one of the kind's, which begin may add */
    void *own;                  /* memory of the kind */
    double earlier; /* figure of an earlier training's model, if no step reached it; NAN to drop that model */
};

/* The methods, each in a file of its own. */
extern const struct tuning_kind wt__contrast, wt__triplet, wt__classify_softmax, wt__classify_bce, wt__likeness;

/* Tools by row. All zero if empty. */
struct step_tools {
    uint32_t *rows;
    size_t count, capacity;
};

/* Lists the tools of a step's requests, distinct and ascending; a random sample if they exceed 48 and 1.5 times the
 * batch. WT_ENOMEM. */
int wt__tuning_tools(struct step_tools *out, const struct tuning *tuning, const uint32_t *examples, size_t count,
                     struct rng *rng, wt_error *err);

#endif
