/* principal.h: principal axes of a set of vectors. The vectors are not centred, because the axes should preserve inner
 * products. */
#ifndef WT_NN_PRINCIPAL_H
#define WT_NN_PRINCIPAL_H

#include <stddef.h>

#include "base/error.h"

/* Fills axes [keep, width] with the orthonormal axes of largest second moment of vectors [count, width], in descending
 * order; keep is at most width. If the vectors span fewer directions, the remaining axes are arbitrary. Errors:
 * WT_ENOMEM. */
int wt__principal_axes(const float *vectors, size_t count, size_t width, size_t keep, float *axes, wt_error *err);

#endif
