/* tsne.c: PCA and t-SNE. The gradient descent of t-SNE starts from scaled-down PCA. It uses momentum and a gain per
 * coordinate. In the first steps the attraction is exaggerated by a factor of 12. The learning rate is proportional to
 * the number of points (Belkina et al., 2019), but at least LEAST_RATE. */
#include "eval/report.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "nn/kernels/kernels.h"

enum { POWER_STEPS = 60, SEARCH_STEPS = 40, EARLY_STEPS = 100, STEPS = 400 };
static const double PERPLEXITY = 30, EXAGGERATION = 12, START = 1e-4, LEAST_GAIN = .01, LEAST_RATE = 50;

struct point_cloud {
    const float *points; /* [N, D] */
    size_t count, dim;
    double *mean; /* [D] */
};

/* Sets along [N] to (points - mean) * direction. */
static void project_points(const struct point_cloud *c, const double *direction, double *along)
{
    double shift = 0;
    for (size_t d = 0; d < c->dim; d++)
        shift += c->mean[d] * direction[d];
    for (size_t i = 0; i < c->count; i++) {
        along[i] = -shift;
        for (size_t d = 0; d < c->dim; d++)
            along[i] += c->points[i * c->dim + d] * direction[d];
    }
}

/* Makes direction orthogonal to `other` (of length one, or NULL), and normalises it to length one. */
static void make_direction_orthonormal(double *direction, const double *other, size_t dim)
{
    double inner = 0, square = 0;
    for (size_t d = 0; other && d < dim; d++)
        inner += direction[d] * other[d];
    for (size_t d = 0; d < dim; d++) {
        direction[d] -= other ? inner * other[d] : 0;
        square += direction[d] * direction[d];
    }
    for (size_t d = 0; d < dim && square > 0; d++)
        direction[d] /= sqrt(square);
}

/* Finds a principal direction by power iteration, without building the covariance matrix. The direction is orthogonal
 * to `across`, unless that is NULL. Sets along [N] to the points' coordinates in the direction. */
static void find_direction(const struct point_cloud *c, double *direction, const double *across, double *along,
                           struct rng *rng)
{
    for (size_t d = 0; d < c->dim; d++)
        direction[d] = wt__rng_unit(rng) - .5;
    make_direction_orthonormal(direction, across, c->dim);
    for (unsigned step = 0; step < POWER_STEPS; step++) {
        project_points(c, direction, along);
        memset(direction, 0, c->dim * sizeof *direction);
        for (size_t i = 0; i < c->count; i++)
            for (size_t d = 0; d < c->dim; d++)
                direction[d] += along[i] * (c->points[i * c->dim + d] - c->mean[d]);
        make_direction_orthonormal(direction, across, c->dim);
    }
    project_points(c, direction, along);
}

int wt__pca(double *out, const float *points, size_t count, size_t dim, uint64_t seed, wt_error *err)
{
    struct rng rng;
    WT_AUTO_FREE double *space = wt__alloc_array(3 * dim + count, sizeof *space);
    WT_CHECK_ALLOC(space, err);
    struct point_cloud cloud = {points, count, dim, space};
    double *first = space + dim, *second = first + dim, *along = second + dim;
    memset(space, 0, dim * sizeof *space);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < dim; d++)
            cloud.mean[d] += points[i * dim + d] / (double)count;
    wt__rng_seed(&rng, seed);
    find_direction(&cloud, first, NULL, along, &rng);
    for (size_t i = 0; i < count; i++)
        out[2 * i] = along[i];
    find_direction(&cloud, second, first, along, &rng);
    for (size_t i = 0; i < count; i++)
        out[2 * i + 1] = along[i];
    return 0;
}

/* Replaces row [N], the squared distances from point i, by each point's probability of being a neighbour of i.
 * Bisection finds the precision of the Gaussian for the given perplexity. chances: scratch [N]. */
static void find_row_chances(float *row, size_t count, size_t i, double perplexity, double *chances)
{
    double low = 0, high = INFINITY, width = 1, nearest = INFINITY, sum = 0;
    for (size_t j = 0; j < count; j++)
        if (j != i)
            nearest = fmin(nearest, row[j]);
    for (unsigned step = 0; step < SEARCH_STEPS; step++) {
        double entropy = 0;
        sum = DBL_MIN; /* avoids a division by 0; the nearest point adds 1 */
        for (size_t j = 0; j < count; j++) {
            double far = row[j] - nearest;
            chances[j] = j == i ? 0 : exp(-far * width);
            sum += chances[j];
            entropy += chances[j] * far * width;
        }
        entropy = entropy / sum + log(sum);
        if (fabs(entropy - log(perplexity)) < 1e-4)
            break;
        if (entropy > log(perplexity))
            low = width;
        else
            high = width;
        width = isinf(high) ? 2 * width : (low + high) / 2;
    }
    for (size_t j = 0; j < count; j++)
        row[j] = (float)(chances[j] / sum);
}

/* Computes chances [N, N], the symmetric probabilities of i and j to be neighbours; they sum to one. */
static int find_neighbours(float *chances, const float *points, size_t count, size_t dim, wt_error *err)
{
    double perplexity = fmin(PERPLEXITY, (double)(count - 1) / 3);
    WT_AUTO_FREE double *scratch = wt__alloc_array(count, sizeof *scratch);
    WT_AUTO_FREE double *squares = wt__alloc_array(count, sizeof *squares);
    WT_CHECK_ALLOC(scratch && squares, err);
    for (size_t i = 0; i < count; i++)
        squares[i] = wt__kernels()->dot_f32(points + i * dim, points + i * dim, dim);
    for (size_t i = 0; i < count; i++) {
        float *row = chances + i * count;
        wt__kernels()->dots_f32(points + i * dim, points, count, dim, row);
        for (size_t j = 0; j < count; j++)
            row[j] = (float)fmax(squares[i] + squares[j] - 2 * (double)row[j], 0);
        find_row_chances(row, count, i, perplexity, scratch);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            float both = (chances[i * count + j] + chances[j * count + i]) / (2 * (float)count);
            chances[i * count + j] = chances[j * count + i] = both;
        }
    return 0;
}

/* State of the descent. x and y are separate arrays, so that the inner loop can be vectorised. */
struct tsne_state {
    size_t count;
    const float *chances; /* [N, N] */
    double *place[2];     /* [N] x, y */
    double *pull[2];      /* attraction towards neighbours */
    double *push[2];      /* repulsion from all points */
    double *speed[2], *gain[2];
    double *closeness; /* [N] Student-t similarities of one row */
};

/* Computes pull and push of every pair. Returns the sum of all similarities. */
static double compute_forces(struct tsne_state *s)
{
    double sum = 0;
    for (unsigned a = 0; a < 2; a++) {
        memset(s->pull[a], 0, s->count * sizeof(double));
        memset(s->push[a], 0, s->count * sizeof(double));
    }
    for (size_t i = 1; i < s->count; i++) {
        const float *chances = s->chances + i * s->count;
        double x = s->place[0][i], y = s->place[1][i], pull[2] = {0}, push[2] = {0};
        for (size_t j = 0; j < i; j++) {
            double dx = x - s->place[0][j], dy = y - s->place[1][j];
            s->closeness[j] = 1 / (1 + dx * dx + dy * dy);
        }
        for (size_t j = 0; j < i; j++) {
            double dx = x - s->place[0][j], dy = y - s->place[1][j], q = s->closeness[j];
            double attract = chances[j] * q, repel = q * q;
            s->pull[0][j] -= attract * dx;
            s->pull[1][j] -= attract * dy;
            s->push[0][j] -= repel * dx;
            s->push[1][j] -= repel * dy;
            pull[0] += attract * dx;
            pull[1] += attract * dy;
            push[0] += repel * dx;
            push[1] += repel * dy;
            sum += 2 * q;
        }
        for (unsigned a = 0; a < 2; a++) {
            s->pull[a][i] += pull[a];
            s->push[a][i] += push[a];
        }
    }
    return sum;
}

static void move_points(struct tsne_state *s, double exaggeration, double momentum, double rate)
{
    double sum = compute_forces(s);
    for (unsigned a = 0; a < 2; a++) {
        double middle = 0;
        for (size_t i = 0; i < s->count; i++) {
            double slope = 4 * (exaggeration * s->pull[a][i] - s->push[a][i] / sum);
            bool onward = (slope > 0) != (s->speed[a][i] > 0);
            s->gain[a][i] = fmax(onward ? s->gain[a][i] + .2 : s->gain[a][i] * .8, LEAST_GAIN);
            s->speed[a][i] = momentum * s->speed[a][i] - rate * s->gain[a][i] * slope;
            s->place[a][i] += s->speed[a][i];
            middle += s->place[a][i] / (double)s->count;
        }
        for (size_t i = 0; i < s->count; i++)
            s->place[a][i] -= middle;
    }
}

/* Points the arrays of the state into space [11 N]. Copies the places from start [N, 2], the result of PCA, scaled so
 * that x has a standard deviation of START. */
static void init_places(struct tsne_state *s, double *space, const double *start)
{
    double **arrays[] = {&s->place[0], &s->place[1], &s->pull[0], &s->pull[1], &s->push[0],  &s->push[1],
                         &s->speed[0], &s->speed[1], &s->gain[0], &s->gain[1], &s->closeness};
    double square = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = space + i * s->count;
    for (size_t i = 0; i < s->count; i++)
        square += start[2 * i] * start[2 * i] / (double)s->count;
    double scale = square > 0 ? START / sqrt(square) : 0;
    for (unsigned a = 0; a < 2; a++)
        for (size_t i = 0; i < s->count; i++) {
            s->place[a][i] = start[2 * i + a] * scale;
            s->speed[a][i] = 0;
            s->gain[a][i] = 1;
        }
}

static int run_descent(struct tsne_state *s, struct progress *progress, wt_error *err)
{
    double rate = fmax((double)s->count / EXAGGERATION / 4, LEAST_RATE);
    if (wt__progress_phase(progress, "drawing the map", STEPS))
        return wt__fail_cancelled(err);
    for (unsigned step = 0; step < STEPS; step++) {
        bool early = step < EARLY_STEPS;
        move_points(s, early ? EXAGGERATION : 1, early ? .5 : .8, rate);
        if (wt__progress_step(progress, 1))
            return wt__fail_cancelled(err);
    }
    return 0;
}

int wt__tsne(double *out, const float *points, size_t count, size_t dim, uint64_t seed, struct progress *progress,
             wt_error *err)
{
    WT_TRY(wt__pca(out, points, count, dim, seed, err));
    if (count < 5) /* too few points for the perplexity */
        return 0;
    WT_AUTO_FREE float *chances = wt__alloc_array(count * count, sizeof *chances);
    WT_AUTO_FREE double *space = wt__alloc_array(11 * count, sizeof *space);
    WT_CHECK_ALLOC(chances && space, err);
    struct tsne_state state = {.count = count, .chances = chances};
    WT_TRY(find_neighbours(chances, points, count, dim, err));
    init_places(&state, space, out);
    WT_TRY(run_descent(&state, progress, err));
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = state.place[0][i];
        out[2 * i + 1] = state.place[1][i];
    }
    return 0;
}
