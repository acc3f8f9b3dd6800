/* project.h: projection of high-dimensional points onto the plane.
 *
 *   PCA     the two directions of largest variance
 *   t-SNE   keeps neighbours together (van der Maaten & Hinton, Visualizing Data using t-SNE, 2008)
 *
 * t-SNE is exact, so its time grows with the square of the points: meant for up to about 1,500. It starts from PCA and
 * returns bit-identical results for the same points. */
#ifndef WT_EVAL_PROJECT_H
#define WT_EVAL_PROJECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"

/* points [count, D]; out [count, 2]. seed: for the initial directions of the power iteration. Errors: WT_ENOMEM. */
int wt__pca(double *out, const float *points, size_t count, size_t dim, uint64_t seed, wt_error *err);

/* Takes the same arguments; progress may be NULL. Errors: WT_ENOMEM, WT_ECANCELLED. */
int wt__tsne(double *out, const float *points, size_t count, size_t dim, uint64_t seed, struct progress *progress,
             wt_error *err);

#endif
