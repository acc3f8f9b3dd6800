/* project.h: many dimensions on a page.
 *
 *   PCA     the two directions in which the points differ most
 *   t-SNE   places in which neighbours stay neighbours (van der Maaten & Hinton, Visualizing Data using t-SNE, 2008)
 *
 * t-SNE is exact, so its time grows with the square of the points: meant for up to some 1,500. It begins at PCA and is
 * the same to the last bit for the same points. */
#ifndef WT_EVAL_PROJECT_H
#define WT_EVAL_PROJECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"

/* points [count, D]; out [count, 2]. seed: of the directions that the search for the first two begins with.
 * Errors: WT_ENOMEM. */
int wt__pca(double *out, const float *points, size_t count, size_t dim, uint64_t seed, wt_error *err);

/* The same; progress may be NULL. Errors: WT_ENOMEM, WT_ECANCELLED. */
int wt__tsne(double *out, const float *points, size_t count, size_t dim, uint64_t seed, struct progress *progress,
             wt_error *err);

#endif
