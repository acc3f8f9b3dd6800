/* dev_recall.h: how well an encoder in training finds the tools of the dev requests: recall@5, answered by the
 * retrieval itself (retrieve/retrieve.h) over the snapshot of the request's own catalogue; the mean over data sets of
 * the mean over their requests, so that a large set does not decide alone. Of many dev requests a seeded part is asked,
 * always the same: figures of one training can be compared.
 *
 * A tool is known by its texts or, where training requests used all tools that a dev request needs, by these requests
 * as well: unit(texts) + unit(mean of requests), the sum that retrieval was measured best with. A request for a tool
 * that nobody used is answered from texts alone, in which all tools are equal: beside a sum it would not be found,
 * however well the encoder knows what it says. */
#ifndef WT_LEARN_DEV_RECALL_H
#define WT_LEARN_DEV_RECALL_H

#include "engine/engine.h"
#include "learn/examples.h"
#include "learn/training_batch.h"
#include "retrieve/retrieve.h"

enum {
    DEV_RECALL_DEV = 1000,    /* dev requests of a set */
    DEV_RECALL_USES = 4000,   /* training requests of a set */
    DEV_RECALL_CUTOFF = 5,    /* of the recall */
    DEV_RECALL_REQUEST = 128, /* tokens of a request */
    DEV_RECALL_TOOL = 96      /* of a tool's texts */
};

/* What a dev request is answered with. */
enum dev_kind {
    DEV_USE,         /* meaning, of texts and of use where there is any */
    DEV_DESCRIPTION, /* meaning, of texts alone */
    DEV_HYBRID,      /* words, and meaning of texts */
    DEV_HEAD,        /* the rows of a classifier that is trained with the encoder */
    DEV_KINDS
};
extern const char *const wt__dev_kinds[DEV_KINDS];   /* their names */
extern const char *const wt__dev_figures[DEV_KINDS]; /* what they measure, for people */

/* A data set with dev requests. */
struct dev_set {
    const char *name;
    struct index_handle *index; /* its rows are the set's tools */
    size_t first, rows;         /* of the set's tools among all */
    size_t dev_count, use_count, tool_count;
    uint32_t *dev, *uses; /* [dev_count], [use_count] which examples */
    bool *by_use;         /* [dev_count] training requests used every tool that it needs */
    size_t *texts;        /* [dev_count + 1] where the texts of each begin in dev_texts: it, and its sub-queries */
    uint32_t *tools;      /* [tool_count] rows of the set, ascending */
    uint64_t *allowed;    /* a bit a row; NULL: every tool is looked at */
    struct token_texts dev_texts, use_texts, tool_texts[DOCUMENT_TEXTS];
};

struct dev_recall_options {
    enum dev_kind kind;
    size_t most_tools; /* of a set, beyond those that its dev requests need; 0: all */
    uint64_t seed;
    unsigned threads;
};

struct dev_recall {
    const struct examples *examples;
    const struct encoder *encoder; /* that the model comes from: its dimension */
    struct dev_recall_options options;
    struct dev_set *sets; /* [count], those with a dev request */
    size_t count;
    struct workspace **workspaces; /* [threads] */
};

/* engines: [part_count] the catalogue of each part, which must outlive out. Without a dev request there is nothing to
 * measure: count is 0, and run gives NaN. Errors: WT_EBUSY (a catalogue has changed), WT_ENOMEM, those of an index. */
int wt__dev_recall_open(struct dev_recall *out, const struct examples *examples, wt_engine *const *engines,
                        const struct encoder *encoder, const struct trainable *model,
                        const struct dev_recall_options *options, wt_error *err);
void wt__dev_recall_dispose(struct dev_recall *dev_recall);
size_t wt__dev_recall_bytes(const struct dev_recall *dev_recall, size_t hidden);
/* head: of DEV_HEAD the rows of all tools, [M, D]; else NULL. The figures of the sets are left with progress, too. */
int wt__dev_recall_run(const struct dev_recall *dev_recall, struct training_batch *training_batch, const float *head,
                       struct train_progress *progress, double *figure, wt_error *err);

#endif
