/* refiner_fit.c: losses of candidates, and the weights of features that make one small. */
#include <math.h>
#include <string.h>

#include "learn/refiner.h"

enum { FIT_STEPS = 200 };
static const double FIT_RATE = 0.2, FIT_DECAY = 1e-3;

/* ---------------------------------------------------------------- losses */

static double log_sum(const float *logits, const uint8_t *gold, size_t n)
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

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double wt__refiner_softmax(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms)
{
    double others = log_sum(logits, gold, n), loss = 0, pushed = 0;
    *terms = 0;
    for (size_t i = 0; i < n; i++) {
        double against = others - logits[i];
        if (!gold[i])
            continue;
        double share = 1 / (1 + exp(-against));
        ++*terms;
        loss += isinf(against) ? 0 : softplus(against);
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
        loss += softplus(gold[i] ? -(double)logits[i] : (double)logits[i]);
        dlogits[i] = (float)(1 / (1 + exp(-(double)logits[i])) - gold[i]);
    }
    return loss;
}

/* ---------------------------------------------------------------- weights of features */

/* One look at all samples: the gradient of the mean loss by the weights. */
static void gradient_of(const struct refiner_samples *samples, refiner_loss loss, float prior, const double *weights,
                        double *gradient)
{
    size_t n = samples->candidates, all = 0;
    memset(gradient, 0, RETRIEVE_FEATURES * sizeof *gradient);
    for (size_t i = 0; i < samples->count; i++) {
        const float(*features)[RETRIEVE_FEATURES] = (const float(*)[RETRIEVE_FEATURES])samples->features + i * n;
        float logits[REFINER_MAX_CANDIDATES];
        size_t terms;
        for (size_t c = 0; c < samples->lengths[i]; c++) {
            double sum = prior * (features[c][FEATURE_SCORE] - 1);
            for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                sum += weights[f] * features[c][f];
            logits[c] = (float)sum;
        }
        loss(logits, samples->gold + i * n, samples->lengths[i], logits, &terms);
        all += terms;
        for (size_t c = 0; c < samples->lengths[i]; c++)
            for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                gradient[f] += (double)logits[c] * features[c][f];
    }
    for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
        gradient[f] = gradient[f] / (double)(all ? all : 1) + FIT_DECAY * weights[f];
}

void wt__refiner_fit(const struct refiner_samples *samples, refiner_loss loss, float prior,
                     float weights[RETRIEVE_FEATURES])
{
    double w[RETRIEVE_FEATURES] = {0}, first[RETRIEVE_FEATURES] = {0}, second[RETRIEVE_FEATURES] = {0};
    for (int step = 1; step <= FIT_STEPS; step++) {
        double gradient[RETRIEVE_FEATURES], rate = FIT_RATE * (1 - (double)step / (FIT_STEPS + 1));
        gradient_of(samples, loss, prior, w, gradient);
        for (size_t f = 0; f < RETRIEVE_FEATURES; f++) {
            first[f] = .9 * first[f] + .1 * gradient[f];
            second[f] = .99 * second[f] + .01 * gradient[f] * gradient[f];
            w[f] -= rate * first[f] / (1 - pow(.9, step)) / (sqrt(second[f] / (1 - pow(.99, step))) + 1e-9);
        }
    }
    for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
        weights[f] = (float)w[f];
}
