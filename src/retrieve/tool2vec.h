/* tool2vec.h: a tool's vector from the requests that used it (Moon et al., Efficient and Scalable Estimation of Tool
 * Representations in Vector Space, section 4.1):
 *
 *   T = unit(description * d + usage * n / (n + shrink) * u)
 *
 * d is the unit vector of the tool's texts, and u is the unit mean of the vectors of its n requests. Training and
 * serving share this code so that they cannot diverge. */
#ifndef WT_RETRIEVE_TOOL2VEC_H
#define WT_RETRIEVE_TOOL2VEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct tool2vec {
    float description, usage; /* weights */
    float shrink;             /* number of usages at which the mean counts half */
};

/* Reads the weights from member "interpolation" of a config. A missing, non-finite or huge value gets the untrained
 * default. */
struct tool2vec wt__tool2vec_read(const json_t *config);

/* Computes T. document [D]: d. sum [D] and uses: sum and number of the requests' vectors. out [D] may be document. */
void wt__tool2vec(const struct tool2vec *weights, size_t dim, const float *document, const float *sum, uint32_t uses,
                  float *out);

#endif
