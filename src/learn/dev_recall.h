/* dev_recall.h: how well an encoder finds the tools of the dev requests: recall@5 where a tool is known by its texts
 * and by the training requests that used it, unit(texts) + unit(mean of requests), the sum that retrieval was measured
 * best with. Of large sets a seeded part is looked at, always the same: figures of one training can be compared. Where
 * several data sets are learned from, a request is answered from the tools of its own. */
#ifndef WT_LEARN_DEV_RECALL_H
#define WT_LEARN_DEV_RECALL_H

#include "learn/examples.h"
#include "learn/training_batch.h"

enum {
    DEV_RECALL_DEV = 1000,    /* dev requests */
    DEV_RECALL_USES = 4000,   /* training requests */
    DEV_RECALL_TOOLS = 5000,  /* tools: those of dev requests, and others up to this number */
    DEV_RECALL_CUTOFF = 5,    /* of the recall */
    DEV_RECALL_REQUEST = 128, /* tokens of a request */
    DEV_RECALL_TOOL = 96      /* of a tool's texts */
};

struct dev_recall {
    const struct examples *examples;
    size_t dev_count, use_count, tool_count;
    uint32_t *dev, *uses; /* [dev_count], [use_count] which examples */
    uint32_t *tools;      /* [tool_count] rows, ascending */
    uint32_t *slots;      /* [M] place of a row among them, or UINT32_MAX */
    struct token_texts dev_texts, use_texts, tool_texts[DOCUMENT_TEXTS];
};

/* Without a dev request there is nothing to measure: dev_count is 0, and run gives NaN. */
int wt__dev_recall_open(struct dev_recall *out, const struct examples *examples, const struct trainable *model,
                        uint64_t seed, unsigned threads, wt_error *err);
void wt__dev_recall_dispose(struct dev_recall *dev_recall);
size_t wt__dev_recall_bytes(const struct dev_recall *dev_recall, size_t hidden);
int wt__dev_recall_run(const struct dev_recall *dev_recall, struct training_batch *training_batch,
                       struct train_progress *progress, double *figure, wt_error *err);

#endif
