/* tuning.h: what every way to train the encoder shares: the model, the training batch, the tokens of requests and
 * tools, the figure on dev, and where the model goes. A way is a tuning_kind: what a step reads, and its loss. */
#ifndef WT_LEARN_TUNING_H
#define WT_LEARN_TUNING_H

#include "learn/dev_recall.h"
#include "learn/learn.h"
#include "learn/loop.h"
#include "learn/training_batch.h"

enum {
    TUNING_REQUEST = 96, /* tokens of a request that are read */
    TUNING_TOOL = 96     /* of a tool: its provider, its name and the DOCUMENT_HEAD bytes of its description */
};

struct tuning;

struct tuning_kind {
    const char *name; /* of the loss */
    enum batch_output output;
    double rate; /* highest, by default */
    /* The largest step with `batch` examples, and the bytes that begin takes. */
    size_t (*measure)(const struct tuning *tuning, struct batch_limits *limits);
    /* Before the first step; memory goes to tuning->own, freed by end, which may find NULL. */
    int (*begin)(struct tuning *tuning, wt_error *err);
    void (*end)(struct tuning *tuning);
    /* As in struct objective. */
    int (*prepare)(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng, wt_error *err);
    double (*loss)(struct tuning *tuning);
    /* As in struct objective; NULL where there are no buffers. begin then sets tuning->objective.buffers. */
    int (*renew)(struct tuning *tuning, struct train_progress *progress, wt_error *err);
    /* The rows of its classifier as they are now, [M, H], which are kept beside the encoder; NULL where it has none. */
    const float *(*head)(const struct tuning *tuning);
};

struct tuning {
    const struct tuning_kind *kind;
    struct training *training;
    const char *base; /* folder of the model that training begins with */
    const char *out;  /* where it goes */
    json_t *about;    /* for its config.json */
    struct trainable *model;
    enum dev_kind dev;
    struct dev_recall dev_recall;
    struct token_texts requests, tools; /* of the training examples, and text 0 of every tool */
    struct training_batch training_batch;
    struct batch_limits limits;
    size_t batch;
    struct objective objective; /* its parameters have room for one of the kind's, which begin may add */
    void *own;                  /* the kind's */
    double earlier; /* figure of the model that an earlier training left, where no step came to it; NAN: it goes */
};

/* The ways, a file each. */
extern const struct tuning_kind wt__contrast, wt__triplet, wt__classify_softmax, wt__classify_bce, wt__likeness;

/* Tools by row. All zero: none. */
struct tool_list {
    uint32_t *rows;
    size_t count, capacity;
};

/* The tools that a step's requests need, each once, ascending; of more than wt__tuning_most_tools some that are drawn.
 * WT_ENOMEM. */
int wt__tuning_tools(struct tool_list *out, const struct tuning *tuning, const uint32_t *examples, size_t count,
                     struct rng *rng, wt_error *err);
size_t wt__tuning_most_tools(const struct tuning *tuning);

/* Adds a text by its number to the training batch's step. */
static inline void wt__tuning_add(struct tuning *tuning, const struct token_texts *texts, size_t number)
{
    size_t first = texts->starts[number];
    wt__batch_add(&tuning->training_batch, texts->ids + first, texts->starts[number + 1] - first);
}

#endif
