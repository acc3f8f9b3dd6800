/* cross_trainer.h: the lesson "cross": a cross-encoder (rerank/cross.h), trained to tell a request's tools from those
 * that the encoder takes for them (section 4.1 of ToolRerank, which says no more than that).
 *
 * Positives are labels; negatives are drawn from the best that the encoder finds by the tools' descriptions, in the
 * request's own data set, without the labels, tools of the same text and tools that no request needs. Each request is a
 * group: some of its tools and some wrong ones. The loss is that of the group: each right one's share beside the wrong
 * ones (softmax), or each pair for itself (bce). What is saved gives log odds all the same: by Platt's scale, the
 * logistic function that says best which of the dev pairs are right, in the head's last weights. Without dev the scale
 * is the loss' own.
 *
 * The model begins as the trained encoder, where there is one, with a new head. */
#ifndef WT_LEARN_CROSS_TRAINER_H
#define WT_LEARN_CROSS_TRAINER_H

#include "learn/learn.h"

enum {
    CROSS_BATCH = 8,     /* requests of a step */
    CROSS_POSITIVES = 3, /* most tools of a request in a step */
    CROSS_NEGATIVES = 4, /* wrong ones, by default */
    CROSS_DEPTH = 30,    /* of the first stage: where wrong ones are drawn from, and what is ranked anew on dev */
    CROSS_DEV = 200      /* dev requests that are looked at; of more, a seeded part */
};
#define CROSS_RATE 5e-5

#endif
