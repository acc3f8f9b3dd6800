/* portion.h: a part of a train split in which each tool has few usages, to see how quality grows with use.
 *
 * Requests are met in an order drawn by the seed; one is taken when any of its tools has been used fewer than `most`
 * times yet. So no tool is short of a usage that the split has, and of one seed the portion of 2 holds that of 1. */
#ifndef WT_EVAL_PORTION_H
#define WT_EVAL_PORTION_H

#include <stdbool.h>

#include "catalog/dataset.h"

/* taken: [train->len]. most 0: every request. Returns how many were taken, or WT_ENOMEM. */
int64_t wt__portion_draw(const struct dataset *train, size_t most, uint64_t seed, bool *taken, wt_error *err);

/* A data set in BEIR layout with the corpus of dir, the requests that were taken as train, and dev (NULL: none) as dev,
 * at folder, in place of what is there. */
int wt__portion_write(const char *folder, const char *dir, const struct dataset *train, const bool *taken,
                      const struct dataset *dev, wt_error *err);

#endif
