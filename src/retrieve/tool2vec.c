#include "retrieve/tool2vec.h"

#include <math.h>

#include "nn/layers.h"
#include "retrieve/retrieve.h"

struct tool2vec wt__tool2vec_read(const json_t *config)
{
    const json_t *object = wt__json_object(config, "interpolation");
    return (struct tool2vec){wt__config_weight(object, "description", 1), wt__config_weight(object, "usage", 1),
                             fmaxf(wt__config_weight(object, "shrink", 0), 0)};
}

void wt__tool2vec(const struct tool2vec *weights, size_t dim, const float *document, const float *sum, uint32_t uses,
                  float *out)
{
    double square = 0;
    for (size_t d = 0; d < dim; d++)
        square += (double)sum[d] * sum[d];
    float n = (float)uses;
    float share = square > 0 ? weights->usage * n / (n + weights->shrink) / (float)sqrt(square) : 0;
    for (size_t d = 0; d < dim; d++)
        out[d] = weights->description * document[d] + share * sum[d];
    wt__normalize(out, dim);
}
