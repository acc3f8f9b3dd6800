/* built_in.h: the static encoder that is part of the library: the packed model of models/whichtool-static-v1, which is
 * made when the library is built (cmake/built_in.cmake) and used where it was linked, as it lies. */
#ifndef WT_ENCODER_BUILT_IN_H
#define WT_ENCODER_BUILT_IN_H

#include <stddef.h>

/* On a page of its own. */
extern const unsigned char wt__built_in_model[];
extern const size_t wt__built_in_model_len;

#endif
