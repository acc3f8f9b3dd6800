/* ridge.h: ridge regression from the vector of a request to the tools that the request needs. */
#ifndef WT_LEARN_RIDGE_H
#define WT_LEARN_RIDGE_H

#include "base/error.h"
#include "retrieve/past_requests.h"

/* Fits one row of weights for each label, to 1 for the requests with the label and 0 for the others. Minimises the
 * squared error plus RIDGE_PENALTY times the sum of the squared weights; the constants have no penalty. rows:
 * [labels, D + 1], as in struct neighbours. Errors: WT_ENOMEM. */
int wt__ridge_fit(const struct neighbours *past, size_t labels, float *rows, wt_error *err);

#endif
