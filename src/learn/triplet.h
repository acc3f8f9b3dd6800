/* triplet.h: an encoder is trained so that requests that share a tool lie nearer to each other than those that share
 * none: triplets (Tool2Vec, section 5.1.1, which says no more than that), mined as in the authors' code: Euclidean,
 * margin 1, on vectors that are pooled but not at length one.
 *
 * The nearest requests of each are mined once, with the encoder as it is before training; the request itself is no
 * positive of its own. Of those near it, the first few that share a tool are its positives, the first few that share
 * none its negatives, and an example is one pair of them drawn anew in each step, where the authors take every pair. */
#ifndef WT_LEARN_TRIPLET_H
#define WT_LEARN_TRIPLET_H

#include "learn/tuning.h"

extern const struct tuning_kind wt__triplet;

#endif
