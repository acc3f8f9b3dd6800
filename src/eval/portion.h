/* portion.h: a part of a train split with few usages per tool, to measure how quality grows with use.
 *
 * Requests are visited in random order; a request is taken if one of its tools has fewer than `most` usages so far. So
 * each tool gets `most` usages if the split has as many. For the same seed, the portion for most = 2 contains the one
 * for most = 1. */
#ifndef WT_EVAL_PORTION_H
#define WT_EVAL_PORTION_H

#include <stdbool.h>

#include "catalog/dataset.h"

/* Sets taken [train->len]. most: 0 for every request. Returns the number of requests taken, or WT_ENOMEM. */
int64_t wt__portion_draw(const struct dataset *train, size_t most, uint64_t seed, bool *taken, wt_error *err);

/* Writes a data set in BEIR layout to `folder`, replacing its files: the corpus of dir, the taken requests as train,
 * and dev (may be NULL) as dev. */
int wt__portion_write(const char *folder, const char *dir, const struct dataset *train, const bool *taken,
                      const struct dataset *dev, wt_error *err);

#endif
