/* tool2vec.h: a tool's vector from the requests that used it (Moon et al., Efficient and Scalable Estimation of Tool
 * Representations in Vector Space, section 4.1):
 *
 *   T = unit(description * d + usage * n / (n + shrink) * u)
 *
 * with d the unit vector of the tool's texts and u the unit mean of the vectors of the n requests. Training and serving
 * both get it here, so that they cannot drift apart. */
#ifndef WT_RETRIEVE_TOOL2VEC_H
#define WT_RETRIEVE_TOOL2VEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct tool2vec {
    float description, usage; /* weights */
    float shrink;             /* usages at which a mean counts half */
};

/* From a config's member "interpolation"; what is missing, not finite or huge is as if nothing had been learned. */
struct tool2vec wt__tool2vec_read(const json_t *config);

/* T. document [D]: d; sum [D] and uses: of the requests' vectors. out [D] may be document. */
void wt__tool2vec(const struct tool2vec *weights, size_t dim, const float *document, const float *sum, uint32_t uses,
                  float *out);

#endif
