/* logistic.c: see logistic.h. */
#include <math.h>
#include <string.h>

#include "learn/logistic.h"

#include "learn/cholesky.h"

enum {
    STEPS = 30,             /* maximum number of steps */
    ROW = LOGISTIC_MOST + 1 /* maximum number of unknowns: the weights, then the constant */
};

static const double CLOSE = 1e-10; /* the fit ends after a step whose squared length is at most this */

struct logistic_fit {
    const struct logistic_samples *samples;
    size_t n;                                  /* number of unknowns: F + 1 */
    double counts[2];                          /* weight of a sample with answer 0, and with answer 1 */
    double mean[ROW], inverse[ROW];            /* mean, and inverse standard deviation, of each feature */
    double unknown[ROW];                       /* weights of the standardised features, then the constant */
    double gradient[ROW], curvature[ROW][ROW]; /* derivatives of the loss; curvature has only its lower triangle */
};

/* Computes the mean and the inverse standard deviation of each feature; the latter is 0 for a constant feature. */
static void standardise_features(struct logistic_fit *fit)
{
    const struct logistic_samples *s = fit->samples;
    for (size_t f = 0; f < s->features; f++) {
        double sum = 0, squares = 0, all = (double)s->count;
        for (size_t i = 0; i < s->count; i++) {
            double value = s->values[i * s->features + f];
            sum += value;
            squares += value * value;
        }
        fit->mean[f] = sum / all;
        double variance = squares / all - fit->mean[f] * fit->mean[f];
        fit->inverse[f] = variance > 1e-9 ? 1 / sqrt(variance) : 0;
    }
}

static double count_answers(const struct logistic_samples *samples, size_t i)
{
    return samples->counts ? (double)samples->counts[i] : 1;
}

static void add_logistic_sample(struct logistic_fit *fit, size_t i)
{
    const struct logistic_samples *s = fit->samples;
    double x[ROW], sum = 0, weight = fit->counts[s->answers[i]] * count_answers(s, i);
    for (size_t f = 0; f < s->features; f++)
        x[f] = ((double)s->values[i * s->features + f] - fit->mean[f]) * fit->inverse[f];
    x[s->features] = 1;
    for (size_t f = 0; f < fit->n; f++)
        sum += fit->unknown[f] * x[f];
    double p = 1 / (1 + exp(-sum)), slope = weight * p * (1 - p);
    for (size_t f = 0; f < fit->n; f++) {
        fit->gradient[f] += weight * (p - s->answers[i]) * x[f];
        for (size_t g = 0; g <= f; g++)
            fit->curvature[f][g] += slope * x[f] * x[g];
    }
}

/* Makes one step of Newton's method and returns its squared length. */
static double newton_step(struct logistic_fit *fit, double shrinkage)
{
    double length = 0;
    memset(fit->gradient, 0, sizeof fit->gradient);
    memset(fit->curvature, 0, sizeof fit->curvature);
    for (size_t i = 0; i < fit->samples->count; i++)
        add_logistic_sample(fit, i);
    for (size_t f = 0; f + 1 < fit->n; f++) {
        fit->gradient[f] += shrinkage * fit->unknown[f];
        fit->curvature[f][f] += shrinkage;
    }
    wt__cholesky(&fit->curvature[0][0], fit->n, ROW);
    wt__cholesky_solve(&fit->curvature[0][0], fit->n, ROW, fit->gradient); /* the gradient becomes the step */
    for (size_t f = 0; f < fit->n; f++)
        length += fit->gradient[f] * fit->gradient[f];
    double limit = fmin(1, 4 / sqrt(fmax(length, 1e-300))); /* a full step far from the optimum may overshoot */
    for (size_t f = 0; f < fit->n; f++)
        fit->unknown[f] -= limit * fit->gradient[f];
    return length;
}

void wt__logistic_fit(const struct logistic_samples *samples, double shrinkage, float *weights, float *constant)
{
    struct logistic_fit fit = {.samples = samples, .n = samples->features + 1};
    double answers[2] = {0, 0};
    memset(weights, 0, samples->features * sizeof *weights);
    *constant = 0;
    for (size_t i = 0; i < samples->count; i++)
        answers[samples->answers[i]] += count_answers(samples, i);
    if (answers[0] == 0 || answers[1] == 0)
        return;
    for (size_t a = 0; a < 2; a++)
        fit.counts[a] = samples->balanced ? 0.5 / answers[a] : 1 / (answers[0] + answers[1]);
    standardise_features(&fit);
    for (int i = 0; i < STEPS && newton_step(&fit, shrinkage) > CLOSE; i++)
        ;
    double shift = fit.unknown[samples->features];
    for (size_t f = 0; f < samples->features; f++) {
        weights[f] = (float)(fit.unknown[f] * fit.inverse[f]);
        shift -= fit.unknown[f] * fit.inverse[f] * fit.mean[f];
    }
    *constant = (float)shift;
}
