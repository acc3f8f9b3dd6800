/* contrast.h: an encoder is trained so that a request's vector comes nearer to the texts of its tools than to those of
 * the batch's other tools: in-batch contrast (van den Oord et al. 2018), cosine times 20.
 *
 * A batch is requests and all their tools. For each pair of a request and a tool of its own, the loss is that of the
 * tool against the batch's tools that are not the request's; the mean over pairs is the batch's loss. */
#ifndef WT_LEARN_CONTRAST_H
#define WT_LEARN_CONTRAST_H

#include "learn/fine_tuning.h"

extern const struct tuning_kind wt__contrast;

#endif
