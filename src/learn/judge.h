/* judge.h: how well an encoder finds the tools of the dev requests: recall@5 where a tool is known by its texts and by
 * the training requests that used it, unit(texts) + unit(mean of requests), the sum that retrieval was measured best
 * with. Of large sets a seeded part is looked at, always the same: figures of one training can be compared. Where
 * several data sets are learned from, a request is answered from the tools of its own. */
#ifndef WT_LEARN_JUDGE_H
#define WT_LEARN_JUDGE_H

#include "learn/examples.h"
#include "learn/tower.h"

enum {
    JUDGE_DEV = 1000,    /* dev requests */
    JUDGE_USES = 4000,   /* training requests */
    JUDGE_TOOLS = 5000,  /* tools: those of dev requests, and others up to this number */
    JUDGE_CUTOFF = 5,    /* of the recall */
    JUDGE_REQUEST = 128, /* tokens of a request */
    JUDGE_TOOL = 96      /* of a tool's texts */
};

struct judge {
    const struct examples *examples;
    size_t dev_count, use_count, tool_count;
    uint32_t *dev, *uses; /* [dev_count], [use_count] which examples */
    uint32_t *tools;      /* [tool_count] rows, ascending */
    uint32_t *slots;      /* [M] place of a row among them, or UINT32_MAX */
    struct token_texts dev_texts, use_texts, tool_texts[DOCUMENT_TEXTS];
};

/* Without a dev request there is nothing to measure: dev_count is 0, and run gives NaN. */
int wt__judge_open(struct judge *out, const struct examples *examples, const struct trainable *model, uint64_t seed,
                   unsigned threads, wt_error *err);
void wt__judge_dispose(struct judge *judge);
size_t wt__judge_bytes(const struct judge *judge, size_t hidden);
int wt__judge_run(const struct judge *judge, struct tower *tower, struct listener *listener, double *figure,
                  wt_error *err);

#endif
