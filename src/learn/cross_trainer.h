/* cross_trainer.h: the lesson "cross": trains a cross-encoder (rerank/cross.h) to distinguish a request's tools from
 * similar ones (section 4.1 of ToolRerank, which gives no further details).
 *
 * Positives are the labels. Negatives are drawn from the encoder's nearest tools by description in the request's own
 * data set, without the labels, tools with the same text and tools that no request needs. Each request is a group of
 * some positives and some negatives. The loss is per group: the share of each positive against the negatives (softmax),
 * or of each pair alone (bce). The saved model gives log odds in both cases: Platt scaling, the logistic function that
 * best separates right and wrong dev pairs, is folded into the head's last weights. Without dev requests the scale is
 * that of the loss.
 *
 * The model starts as the trained encoder, if there is one, with a new head. */
#ifndef WT_LEARN_CROSS_TRAINER_H
#define WT_LEARN_CROSS_TRAINER_H

#include "learn/learn.h"

enum {
    CROSS_BATCH = 8,     /* requests per step */
    CROSS_POSITIVES = 3, /* maximum positives of a request per step */
    CROSS_NEGATIVES = 4, /* default number of negatives */
    CROSS_DEPTH = 30,    /* first-stage hits that negatives are drawn from, and that are reranked on dev */
    CROSS_DEV = 200      /* maximum number of dev requests; a seeded sample of a larger set */
};
#define CROSS_RATE 5e-5

#endif
