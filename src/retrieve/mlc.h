/* mlc.h: a classifier of requests with a row for each tool (multi-label classification, section 4.2 of the Tool2Vec
 * paper). It has no bias, so that its rows C are one more set of tool vectors. A tool that came after training has no
 * row: its T (tool2vec.h), at the mean length of the rows, stands in, since that is what rows start from. */
#ifndef WT_RETRIEVE_MLC_H
#define WT_RETRIEVE_MLC_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/str.h"

#define MLC_HEAD "head.weight" /* [rows, D] of the model's file; its config's "tools" names the rows */

struct mlc {
    struct map row_of; /* a tool's id */
    float *rows;       /* [count, D] */
    size_t count, dim;
    float mean_length; /* of the rows */
};

/* Reads a model's file, whose bytes also go into `key`. Names live in arena; out is disposed of even when this fails.
 * Errors: WT_EMODEL (malformed, another dimension, a number that is not finite or too large), WT_ENOMEM. */
int wt__mlc_open(struct mlc *out, const char *path, const json_t *config, size_t dim, struct arena *arena,
                 struct sha256 *key, wt_error *err);
void wt__mlc_dispose(struct mlc *mlc);

/* A tool's row, or -1. */
int64_t wt__mlc_row(const struct mlc *mlc, struct str id);

/* Component d of C. row: as wt__mlc_row gave it; t: the component of T that stands in. */
static inline float wt__mlc_value(const struct mlc *mlc, int64_t row, size_t d, float t)
{
    return row >= 0 ? mlc->rows[(size_t)row * mlc->dim + d] : mlc->mean_length * t;
}

/* A component of the vectors that are searched, from those of T and C. Training weighs them by this and serving, too.
 */
static inline float wt__mlc_mix(float tool2vec, float t, float mlc, float c)
{
    return tool2vec * t + mlc * c;
}

#endif
