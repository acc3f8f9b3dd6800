/* tuning.h: shared by all methods of training the encoder: the model, the training batch, the tokens of requests and
 * tools, the figure on dev, and saving. A method is a tuning_kind: the input of a step, and its loss. */
#ifndef WT_LEARN_TUNING_H
#define WT_LEARN_TUNING_H

#include "learn/dev_recall.h"
#include "learn/learn.h"
#include "learn/loop.h"
#include "learn/training_batch.h"

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

/* Lists the tools of a step's requests, distinct and ascending; of more than wt__tuning_most_tools a random sample.
 * WT_ENOMEM. */
int wt__tuning_tools(struct step_tools *out, const struct tuning *tuning, const uint32_t *examples, size_t count,
                     struct rng *rng, wt_error *err);
size_t wt__tuning_most_tools(const struct tuning *tuning);

/* Adds a text by its number to the training batch's step. */
static inline void wt__tuning_add(struct tuning *tuning, const struct token_texts *texts, size_t number)
{
    size_t first = texts->starts[number];
    wt__batch_add(&tuning->training_batch, texts->ids + first, texts->starts[number + 1] - first);
}

#endif
