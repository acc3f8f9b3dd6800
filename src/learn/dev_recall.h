/* dev_recall.h: measures an encoder during training by recall@5 on dev requests. Uses the retrieval itself
 * (retrieve/retrieve.h) over the snapshot of the request's own catalogue. The figure is the mean over data sets of each
 * set's mean, so that a large set does not dominate. Of many dev requests always the same seeded sample is used, so
 * figures of one training are comparable.
 *
 * A tool is represented by its texts. If training requests used all tools of a dev request, these requests count as
 * well: unit(texts) + unit(mean of requests), the sum that retrieval works best with. A request for an unused tool is
 * answered from texts only, which treats all tools equally. Against sums the tool would not be found, however well the
 * encoder understands its text. */
#ifndef WT_LEARN_DEV_RECALL_H
#define WT_LEARN_DEV_RECALL_H

#include "engine/engine.h"
#include "learn/examples.h"
#include "learn/training_batch.h"
#include "retrieve/retrieve.h"

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

#endif
