/* refiner_fit.c: losses over candidates, and the fit of the features' weights. */
#include <math.h>
#include <string.h>

#include "learn/refiner_trainer.h"

enum { FIT_STEPS = 200 };
static const double FIT_RATE = 0.2, FIT_DECAY = 1e-3;

/* ---------------------------------------------------------------- losses */

static double sum_logits(const float *logits, const uint8_t *gold, size_t n)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        if (!gold[i] && logits[i] > most)
            most = logits[i];
    for (size_t i = 0; i < n; i++)
        if (!gold[i])
            sum += exp(logits[i] - most);
    return sum > 0 ? most + log(sum) : -INFINITY;
}

static double softplus_of_logit(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double wt__refiner_softmax(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms)
{
    double others = sum_logits(logits, gold, n), loss = 0, pushed = 0;
    *terms = 0;
    for (size_t i = 0; i < n; i++) {
        double against = others - logits[i];
        if (!gold[i])
            continue;
        double share = 1 / (1 + exp(-against));
        ++*terms;
        loss += isinf(against) ? 0 : softplus_of_logit(against);
        dlogits[i] = (float)-share;
        pushed += share;
    }
    for (size_t i = 0; i < n; i++)
        if (!gold[i])
            dlogits[i] = (float)(pushed * exp(logits[i] - others));
    return loss;
}

double wt__refiner_bce(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms)
{
    double loss = 0;
    *terms = n;
    for (size_t i = 0; i < n; i++) {
        loss += softplus_of_logit(gold[i] ? -(double)logits[i] : (double)logits[i]);
        dlogits[i] = (float)(1 / (1 + exp(-(double)logits[i])) - gold[i]);
    }
    return loss;
}

/* ---------------------------------------------------------------- weights of features */

/* Computes the gradient of the mean loss over all samples by the weights; the last weight is the constant. */
static void compute_feature_gradient(const struct refiner_samples *samples, refiner_loss loss, float prior,
                                     const double *weights, double *gradient)
{
    size_t n = samples->candidates, all = 0;
    memset(gradient, 0, FIT_WEIGHTS * sizeof *gradient);
    for (size_t i = 0; i < samples->count; i++) {
        float logits[REFINER_MAX_CANDIDATES];
        size_t terms;
        for (size_t c = 0; c < samples->lengths[i]; c++) {
            const float *features = samples->features[i * n + c];
            double sum = prior * (features[FEATURE_SCORE] - 1) + weights[RETRIEVE_FEATURES];
            for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                sum += weights[f] * features[f];
            logits[c] = (float)sum;
        }
        loss(logits, samples->gold + i * n, samples->lengths[i], logits, &terms);
        all += terms;
        for (size_t c = 0; c < samples->lengths[i]; c++) {
            for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                gradient[f] += (double)logits[c] * samples->features[i * n + c][f];
            gradient[RETRIEVE_FEATURES] += (double)logits[c];
        }
    }
    for (size_t f = 0; f < FIT_WEIGHTS; f++)
        gradient[f] = gradient[f] / (double)(all ? all : 1) + FIT_DECAY * weights[f];
}

/* Runs Adam over all samples at once, with a rate that falls to 0. */
void wt__refiner_fit(const struct refiner_samples *samples, refiner_loss loss, float prior, float weights[FIT_WEIGHTS])
{
    static const double keep = .9, keep_square = .99, least = 1e-9;
    double w[FIT_WEIGHTS] = {0}, mean[FIT_WEIGHTS] = {0}, square[FIT_WEIGHTS] = {0};
    for (int step = 1; step <= FIT_STEPS; step++) {
        double gradient[FIT_WEIGHTS], rate = FIT_RATE * (1 - (double)step / (FIT_STEPS + 1));
        compute_feature_gradient(samples, loss, prior, w, gradient);
        for (size_t f = 0; f < FIT_WEIGHTS; f++) {
            mean[f] = keep * mean[f] + (1 - keep) * gradient[f];
            square[f] = keep_square * square[f] + (1 - keep_square) * gradient[f] * gradient[f];
            w[f] -= rate * mean[f] / (1 - pow(keep, step)) / (sqrt(square[f] / (1 - pow(keep_square, step))) + least);
        }
    }
    for (size_t f = 0; f < FIT_WEIGHTS; f++)
        weights[f] = (float)w[f];
}
