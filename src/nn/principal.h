/* principal.h: the few directions in which many vectors differ most, seen from the origin: inner products are what is
 * to be kept, so nothing is centred. */
#ifndef WT_NN_PRINCIPAL_H
#define WT_NN_PRINCIPAL_H

#include <stddef.h>

#include "base/error.h"

/* axes [keep, width]: orthonormal, of largest second moment, in falling order; keep is at most width. vectors
 * [count, width]. Where the vectors span fewer directions, the others are any. Errors: WT_ENOMEM. */
int wt__principal_axes(const float *vectors, size_t count, size_t width, size_t keep, float *axes, wt_error *err);

#endif
