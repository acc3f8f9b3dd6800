/* trained_vectors.h: the tool vectors of training: Tool2Vec from past requests, and the rows of a multi-label
 * classifier (Moon et al., Efficient and Scalable Estimation of Tool Representations in Vector Space).
 *
 * Tool2Vec, section 4.1:
 *
 *   T = unit(description * d + usage * n / (n + shrink) * u)
 *
 * d is the unit vector of the tool's texts, and u is the unit mean of the vectors of its n requests. Training and
 * serving share this code so that they cannot diverge.
 *
 * The classifier of section 4.2 has one row per tool and no bias, so its rows C are another set of tool vectors. A tool
 * added after training has no row. It gets its vector T, scaled to the mean length of the rows, because training
 * initialises rows with T. */
#ifndef WT_RETRIEVE_TRAINED_VECTORS_H
#define WT_RETRIEVE_TRAINED_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/str.h"

struct tool2vec {
    float description, usage; /* weights */
    float shrink;             /* number of usages at which the mean counts half */
};

/* Reads the weights from member "interpolation" of a config. A missing weight is 1, and a missing shrink is 0. A
 * value that is not finite or is too large becomes 0 (wt__config_weight). */
struct tool2vec wt__tool2vec_read(const json_t *config);

/* Computes T. document [D]: d. sum [D] and uses: sum and number of the requests' vectors. out [D] may be document. */
void wt__tool2vec(const struct tool2vec *weights, size_t dim, const float *document, const float *sum, uint32_t uses,
                  float *out);

#define MLC_HEAD "head.weight" /* [rows, D] tensor in the model's file; "tools" in its config names the rows */

struct mlc {
    struct map row_of; /* row by tool id */
    float *rows;       /* [count, D] */
    size_t count, dim;
    float mean_length; /* mean length of the rows */
};

/* Reads a model's file and adds its bytes to the hash `key`. Names live in the arena. The caller disposes of `out` even
 * on error. Errors: WT_EMODEL (malformed, wrong dimension, or a number that is not finite or too large), WT_ENOMEM. */
int wt__mlc_open(struct mlc *out, const char *path, const json_t *config, size_t dim, struct arena *arena,
                 struct sha256 *key, wt_error *err);
void wt__mlc_dispose(struct mlc *mlc);

/* Returns the row of a tool, or -1. */
int64_t wt__mlc_row(const struct mlc *mlc, struct str id);

/* Returns component d of C. row: result of wt__mlc_row. t: component of T, used if the tool has no row. */
static inline float wt__mlc_value(const struct mlc *mlc, int64_t row, size_t d, float t)
{
    return row >= 0 ? mlc->rows[(size_t)row * mlc->dim + d] : mlc->mean_length * t;
}

/* Returns a component of the searched vector: the sum of t, a component of T, and c, of C, weighted by tool2vec and
 * mlc. Training and serving both use this formula. */
static inline float wt__mlc_mix(float tool2vec, float t, float mlc, float c)
{
    return tool2vec * t + mlc * c;
}

#endif
