/* classify.h: an encoder is trained with a head of a row for each tool on the request's vector: a multi-label
 * classifier (Tool2Vec, section 4.2), by the sum of log-softmax of the gold tools, as the authors' code has it, or by
 * binary cross-entropy, as their text says.
 *
 * Departs from the paper: the head reads the pooled vector at length one, times 20, not the first token's state, and
 * its rows begin as the vectors of the tools' texts. The paper keeps the head that was trained with the encoder and
 * ranks by it; here it serves the training and is then given up, so that no recipe is the paper's MLC end to end: the
 * lesson "mlc" makes the head that is kept, on what the encoder has become. */
#ifndef WT_LEARN_CLASSIFY_H
#define WT_LEARN_CLASSIFY_H

#include "learn/tuning.h"

extern const struct tuning_kind wt__classify_softmax, wt__classify_bce;

#endif
