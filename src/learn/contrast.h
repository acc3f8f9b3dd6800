/* contrast.h: an encoder is trained so that a request's vector comes nearer to the texts of its tools than to those of
 * the batch's other tools: in-batch contrast (van den Oord et al. 2018), cosine times 20.
 *
 * A batch is requests and all their tools. For each pair of a request and a tool of its own, the loss is that of the
 * tool against the batch's tools that are not the request's; the mean over pairs is the batch's loss.
 *
 * Hard negatives, when they are asked for: after the first stretch of steps between two measurements, the tools of each
 * batch are joined by wrong tools that the model ranks high for its requests. Tools are encoded when a stretch begins,
 * requests with the model of the step, so that the mistakes are those of now and only requests that are read are
 * paid for. A tool that has the text of one of the request's own is no negative of it. */
#ifndef WT_LEARN_CONTRAST_H
#define WT_LEARN_CONTRAST_H

#include "learn/tuning.h"

extern const struct tuning_kind wt__contrast;

#endif
