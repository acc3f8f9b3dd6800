/* activation.c: only the exact gelu has a kernel, because nearly every encoder uses it and the others are rare. */
#include "nn/activation.h"

#include <math.h>
#include <string.h>

#define TANH_FACTOR 0.79788456080286536f /* sqrt(2 / pi) */
#define TANH_CUBIC 0.044715f

static float logistic_float(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

static float activation_value(enum activation activation, float x)
{
    switch (activation) {
    case ACTIVATION_GELU_TANH:
        return 0.5f * x * (1.0f + tanhf(TANH_FACTOR * (x + TANH_CUBIC * x * x * x)));
    case ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case ACTIVATION_TANH:
        return tanhf(x);
    case ACTIVATION_SILU:
        return x * logistic_float(x);
    default:
        return x;
    }
}

static float activation_slope(enum activation activation, float x)
{
    float h;

    switch (activation) {
    case ACTIVATION_GELU_TANH:
        h = tanhf(TANH_FACTOR * (x + TANH_CUBIC * x * x * x));
        return 0.5f * (1.0f + h) + 0.5f * x * (1.0f - h * h) * TANH_FACTOR * (1.0f + 3.0f * TANH_CUBIC * x * x);
    case ACTIVATION_RELU:
        return x > 0;
    case ACTIVATION_TANH:
        h = tanhf(x);
        return 1.0f - h * h;
    case ACTIVATION_SILU:
        h = logistic_float(x);
        return h * (1.0f + x * (1.0f - h));
    default:
        return 1;
    }
}

void wt__activation_forward(enum activation activation, const float *x, float *y, size_t n)
{
    if (activation == ACTIVATION_GELU) {
        if (y != x)
            memcpy(y, x, n * sizeof(float));
        wt__kernels()->gelu(y, n);
    } else {
        for (size_t i = 0; i < n; i++)
            y[i] = activation_value(activation, x[i]);
    }
}

void wt__activation_backward(enum activation activation, const float *x, const float *dy, float *dx, size_t n)
{
    if (activation == ACTIVATION_GELU)
        wt__kernels()->gelu_backward(x, dy, dx, n);
    else
        for (size_t i = 0; i < n; i++)
            dx[i] = dy[i] * activation_slope(activation, x[i]);
}

int wt__activation_named(const char *name)
{
    static const struct {
        const char *name;
        enum activation activation;
    } names[] = {{"gelu", ACTIVATION_GELU},           {"gelu_python", ACTIVATION_GELU},
                 {"gelu_new", ACTIVATION_GELU_TANH},  {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},
                 {"gelu_fast", ACTIVATION_GELU_TANH}, {"relu", ACTIVATION_RELU},
                 {"tanh", ACTIVATION_TANH},           {"silu", ACTIVATION_SILU},
                 {"swish", ACTIVATION_SILU},          {"linear", ACTIVATION_NONE}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, name) == 0)
            return (int)names[i].activation;
    return -1;
}
