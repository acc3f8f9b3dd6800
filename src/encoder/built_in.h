/* built_in.h: the static encoder that is linked into the library: the packed model of models/whichtool-static-v1,
 * created by the build (cmake/built_in.cmake). */
#ifndef WT_ENCODER_BUILT_IN_H
#define WT_ENCODER_BUILT_IN_H

#include <stddef.h>

/* Page-aligned. */
extern const unsigned char wt__built_in_model[];
extern const size_t wt__built_in_model_len;

#endif
