/* ridge.c: see ridge.h. With vectors and labels centred, all labels share one matrix of D rows. */
#include "learn/ridge.h"

#include <string.h>

#include "base/memory.h"
#include "learn/cholesky.h"
#include "nn/matrix.h"

/* Chosen among .3, 1, 3, 10 and 30 on dev requests of rectools and metatool-multi whose sets training had not seen. */
static const double RIDGE_PENALTY = 3;

struct ridge_fit {
    const struct neighbours *past;
    float *centred; /* [N, D] vectors of the requests minus their mean */
    float *product; /* [D, D] centred^T centred */
    double *mean;   /* [D] */
    double *factor; /* [D, D] Cholesky factor of product + penalty */
    double *sums;   /* [labels, D] sum of the centred vectors of each label's requests */
    size_t *uses;   /* [labels] number of requests */
};

static void dispose_ridge(struct ridge_fit *fit)
{
    free(fit->centred);
    free(fit->product);
    free(fit->mean);
    free(fit->factor);
    free(fit->sums);
    free(fit->uses);
}

static void centre_requests(struct ridge_fit *fit)
{
    size_t count = fit->past->count, dim = fit->past->dim;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < dim; d++)
            fit->mean[d] += (double)fit->past->requests[i * dim + d] / (double)count;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < dim; d++)
            fit->centred[i * dim + d] = (float)((double)fit->past->requests[i * dim + d] - fit->mean[d]);
}

static void factor_product(struct ridge_fit *fit)
{
    size_t dim = fit->past->dim;
    wt__multiply_dense(dim, dim, fit->past->count, fit->centred, true, fit->centred, false, fit->product);
    for (size_t i = 0; i < dim * dim; i++)
        fit->factor[i] = (double)fit->product[i] + (i % (dim + 1) == 0 ? RIDGE_PENALTY : 0);
    wt__cholesky(fit->factor, dim, dim);
}

static void sum_label_requests(struct ridge_fit *fit)
{
    const struct neighbours *past = fit->past;
    for (size_t i = 0; i < past->count; i++)
        for (uint32_t l = past->starts[i]; l < past->starts[i + 1]; l++) {
            fit->uses[past->labels[l]]++;
            for (size_t d = 0; d < past->dim; d++)
                fit->sums[past->labels[l] * past->dim + d] += (double)fit->centred[i * past->dim + d];
        }
}

int wt__ridge_fit(const struct neighbours *past, size_t labels, float *rows, wt_error *err)
{
    size_t dim = past->dim;
    WT_CLEANUP(dispose_ridge)
    struct ridge_fit fit = {.past = past,
                            .centred = wt__alloc_array(past->count * dim, sizeof(float)),
                            .product = wt__alloc_array(dim * dim, sizeof(float)),
                            .mean = wt__alloc_zeros(dim, sizeof(double)),
                            .factor = wt__alloc_array(dim * dim, sizeof(double)),
                            .sums = wt__alloc_zeros(labels * dim, sizeof(double)),
                            .uses = wt__alloc_zeros(labels, sizeof(size_t))};
    WT_CHECK_ALLOC(fit.centred && fit.product && fit.mean && fit.factor && fit.sums && fit.uses, err);
    centre_requests(&fit);
    factor_product(&fit);
    sum_label_requests(&fit);
    for (size_t l = 0; l < labels; l++) {
        double *weights = fit.sums + l * dim, constant = (double)fit.uses[l] / (double)past->count;
        float *row = rows + l * (dim + 1);
        memset(row, 0, (dim + 1) * sizeof *row);
        if (fit.uses[l] == 0)
            continue;
        wt__cholesky_solve(fit.factor, dim, dim, weights);
        for (size_t d = 0; d < dim; d++) {
            row[d] = (float)weights[d];
            constant -= weights[d] * fit.mean[d];
        }
        row[dim] = (float)constant;
    }
    return 0;
}
