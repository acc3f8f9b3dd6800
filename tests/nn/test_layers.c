/* Tests linear layers, activations, layer norm, convolutions and unit vectors against implementations in doubles. The
 * expected gradients are finite differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "gradient.h"
#include "nn/kernels/kernels.h"
#include "nn/layers.h"

enum { T = 7, I = 21, O = 37 };

struct linear_twin {
    double *x, *weight, *bias, *share; /* [T, I], [O, I], [O], [T, O]; the loss is the sum of share * y */
};

static double linear_loss(void *context)
{
    const struct linear_twin *l = context;
    double loss = 0;

    for (size_t t = 0; t < T; t++)
        for (size_t o = 0; o < O; o++) {
            double y = l->bias[o];

            for (size_t i = 0; i < I; i++)
                y += l->x[t * I + i] * l->weight[o * I + i];
            loss += y * l->share[t * O + o];
        }
    return loss;
}

static void linear_backward_matches_differences(void **state)
{
    float *x = random_floats(T * I, 1), *weight = random_floats(O * I, 1), *bias = random_floats(O, 1),
          *dy = random_floats(T * O, 1);
    float *dx = random_floats(T * I, 1), dweight[O * I] = {0}, dbias[O] = {0};
    struct linear_twin twin = {doubles_of(x, T * I), doubles_of(weight, O * I), doubles_of(bias, O),
                               doubles_of(dy, T * O)};
    struct linear l = {.in = I, .out = O, .weight = weight, .bias = bias, .row_major = true};

    (void)state;
    wt__linear_backward(&l, x, I, dy, O, dx, I, dweight, dbias, T);
    gradient_agrees("dx", linear_loss, &twin, twin.x, T * I, dx, 1e-5);
    gradient_agrees("dweight", linear_loss, &twin, twin.weight, O * I, dweight, 1e-5);
    gradient_agrees("dbias", linear_loss, &twin, twin.bias, O, dbias, 1e-5);

    for (size_t i = 0; i < O * I; i++)
        dweight[i] = -dweight[i];
    wt__linear_backward(&l, x, I, dy, O, NULL, 0, dweight, NULL, T);
    for (size_t i = 0; i < O * I; i++)
        assert_true(fabsf(dweight[i]) < 1e-5f); /* Gradients are added, not overwritten. */
    wt__linear_backward(&l, x, I, dy, O, dx, I, NULL, NULL, T);
    free(x), free(weight), free(bias), free(dy), free(dx);
    free(twin.x), free(twin.weight), free(twin.bias), free(twin.share);
}

static void packed_layer_matches_row_major_layer(void **state)
{
    static const enum activation activations[] = {ACTIVATION_NONE, ACTIVATION_GELU, ACTIVATION_RELU};
    float *x = random_floats(T * I, 1), *weight = random_floats(O * I, 1), *bias = random_floats(O, 1),
          *residual = random_floats(T * O, 1);
    float *packed = wt__alloc_aligned(wt__matrix_packed_size(O, I), sizeof(float));
    struct linear rows = {.in = I, .out = O, .weight = weight, .row_major = true};
    struct linear panels = {.in = I, .out = O, .weight = packed};

    (void)state;
    assert_non_null(packed);
    wt__matrix_pack(packed, weight, I, O, I);
    for (int variant = 0; variant < 12; variant++) {
        enum activation activation = activations[variant / 4];
        const float *added = variant & 1 && activation == ACTIVATION_NONE ? residual : NULL;
        float *y = random_floats(T * O, 1), *z = random_floats(T * O, 1);

        rows.bias = panels.bias = variant & 2 ? bias : NULL;
        wt__linear_forward(&rows, x, I, activation, added, y, O, T);
        wt__linear_forward(&panels, x, I, activation, added, z, O, T);
        double *want = doubles_of(z, T * O);
        vectors_agree("row-major", y, want, T * O, 1e-6);
        if (added) { /* residual and y may be the same array */
            memcpy(y, residual, T * O * sizeof(float));
            wt__linear_forward(&rows, x, I, activation, y, y, O, T);
            vectors_agree("residual in place", y, want, T * O, 1e-6);
        }
        free(y), free(z), free(want);
    }
    free(x), free(weight), free(bias), free(residual), free(packed);
}

/* Each group holds integers from 0 to the greatest code, including both ends, so quantisation to bytes is exact. */
static void byte_layer_matches_float_layer(void **state)
{
    enum { LONG = 150 };
    static const enum activation activations[] = {ACTIVATION_NONE, ACTIVATION_GELU, ACTIVATION_RELU};
    float *x = random_floats(T * LONG, 1), *weight = random_floats(O * LONG, 1), *bias = random_floats(O, 1),
          *scales = random_floats(O, 1e-4f);
    unsigned char *panels = wt__alloc_aligned(wt__linear_bytes_size(O, LONG), 1);
    unsigned char *scratch = wt__alloc_aligned(T * wt__byte_row_size(LONG), 1);
    int8_t codes[O * LONG];
    struct linear l = {.in = LONG, .out = O, .weight = weight, .bias = bias, .bytes = panels, .row_major = true};

    float most = (float)wt__kernels()->most_code;

    (void)state;
    assert_true(panels && scratch);
    for (size_t i = 0; i < T * LONG; i++)
        x[i] = i % LONG % 64 == 3 ? 0 : i % LONG % 64 == 5 ? most : rintf(fabsf(x[i]) * most);
    for (size_t i = 0; i < O * LONG; i++) {
        codes[i] = (int8_t)(weight[i] * 127);
        weight[i] = scales[i / LONG] * codes[i];
    }
    wt__linear_bytes_pack(panels, codes, scales, O, LONG);
    if (!wt__bytes_ready())
        print_message("skipped: these kernels do not support products of bytes\n");
    for (size_t i = 0; wt__bytes_ready() && i < 3; i++) {
        float *y = random_floats(T * O, 1), *z = random_floats(T * O, 1);

        wt__linear_forward(&l, x, LONG, activations[i], NULL, y, O, T);
        wt__linear_forward_bytes(&l, x, LONG, activations[i], NULL, z, O, T, scratch);
        double *want = doubles_of(y, T * O);
        vectors_agree("bytes", z, want, T * O, 1e-5);
        free(y), free(z), free(want);
    }
    free(x), free(weight), free(bias), free(scales), free(panels), free(scratch);
}

static void sizes_are_0_on_overflow(void **state)
{
    (void)state;
    assert_int_equal(wt__linear_bytes_size(SIZE_MAX, 64), 0);
    assert_int_equal(wt__linear_bytes_size(16, SIZE_MAX), 0);
    assert_int_equal(wt__byte_row_size(SIZE_MAX), 0);
}

static double activation_in_doubles(enum activation activation, double x)
{
    switch (activation) {
    case ACTIVATION_GELU:
        return x / 2 * (1 + erf(x / sqrt(2)));
    case ACTIVATION_GELU_TANH:
        return x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    case ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case ACTIVATION_TANH:
        return tanh(x);
    case ACTIVATION_SILU:
        return x / (1 + exp(-x));
    default:
        return x;
    }
}

static void activations_match_doubles(void **state)
{
    static const char *const spellings[] = {"linear", "gelu", "gelu_new", "relu", "tanh", "silu"};
    enum { N = 403 };
    float *x = random_floats(N, 1), *dy = random_floats(N, 1), y[N], dx[N];

    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = ((float)i - 200.3f) / 25.0f;
    for (enum activation a = ACTIVATION_NONE; a <= ACTIVATION_SILU; a++) {
        const double step = 1e-5;

        assert_int_equal(wt__activation_named(spellings[a]), a);
        wt__activation_forward(a, x, y, N);
        wt__activation_backward(a, x, dy, dx, N);
        for (size_t i = 0; i < N; i++) {
            double slope = (activation_in_doubles(a, x[i] + step) - activation_in_doubles(a, x[i] - step)) / (2 * step);

            if (fabs(y[i] - activation_in_doubles(a, x[i])) > 1e-6 * fmax(1, fabs((double)x[i])) ||
                fabs(dx[i] - dy[i] * slope) > 2e-6)
                fail_msg("%s at %g: %g, slope %g", spellings[a], x[i], y[i], dx[i] / dy[i]);
        }
    }
    assert_int_equal(wt__activation_named("abacus"), -1);
    free(x), free(dy);
}

struct norm_twin {
    double *x, *gain, *bias, *share; /* [T, I], [I], [I], [T, I] */
};

static double norm_loss(void *context)
{
    const struct norm_twin *n = context;
    double loss = 0;

    for (size_t t = 0; t < T; t++) {
        const double *x = n->x + t * I;
        double mean = 0, variance = 0;

        for (size_t i = 0; i < I; i++)
            mean += x[i] / I;
        for (size_t i = 0; i < I; i++)
            variance += (x[i] - mean) * (x[i] - mean) / I;
        for (size_t i = 0; i < I; i++)
            loss += ((x[i] - mean) / sqrt(variance + 1e-5) * n->gain[i] + n->bias[i]) * n->share[t * I + i];
    }
    return loss;
}

static void layer_norm_backward_matches_differences(void **state)
{
    float *x = random_floats(T * I, 2), *gain = random_floats(I, 1), *bias = random_floats(I, 1),
          *dy = random_floats(T * I, 1);
    float *dx = random_floats(T * I, 1), dgain[I] = {0}, dbias[I] = {0};
    struct norm_twin twin = {doubles_of(x, T * I), doubles_of(gain, I), doubles_of(bias, I), doubles_of(dy, T * I)};
    struct layer_norm norm = {I, gain, bias, 1e-5f};

    (void)state;
    wt__layer_norm_backward(&norm, x, dy, dx, dgain, dbias, I, T);
    gradient_agrees("dx", norm_loss, &twin, twin.x, T * I, dx, 1e-5);
    gradient_agrees("dgain", norm_loss, &twin, twin.gain, I, dgain, 1e-5);
    gradient_agrees("dbias", norm_loss, &twin, twin.bias, I, dbias, 1e-5);
    wt__layer_norm_backward(&norm, x, dy, dy, NULL, NULL, I, T); /* in place, with frozen gain and bias */
    assert_memory_equal(dx, dy, T * I * sizeof(float));
    free(x), free(gain), free(bias), free(dy), free(dx);
    free(twin.x), free(twin.gain), free(twin.bias), free(twin.share);
}

struct unit_twin {
    double *x, *share; /* [I] */
};

static double unit_loss(void *context)
{
    const struct unit_twin *u = context;
    double length = 0, along = 0;

    for (size_t i = 0; i < I; i++) {
        length += u->x[i] * u->x[i];
        along += u->x[i] * u->share[i];
    }
    return along / sqrt(length);
}

static void normalize_backward_matches_differences(void **state)
{
    float *x = random_floats(I, 3), *dy = random_floats(I, 1), dx[I];
    struct unit_twin twin = {doubles_of(x, I), doubles_of(dy, I)};

    (void)state;
    wt__normalize_backward(x, dy, dx, I);
    gradient_agrees("dx", unit_loss, &twin, twin.x, I, dx, 1e-5);
    memset(x, 0, I * sizeof(float));
    wt__normalize_backward(x, dy, dx, I);
    for (size_t i = 0; i < I; i++)
        assert_true(dx[i] == 0);
    free(x), free(dy), free(twin.x), free(twin.share);
}

enum { TAPS = 5 };

struct convolution_twin {
    size_t t;
    double *x, *weight, *bias, *share; /* [T, I], [O, I, TAPS], [O], [T, O] */
    double *y;
};

static double convolution_loss(void *context)
{
    const struct convolution_twin *c = context;
    double loss = 0;

    for (size_t t = 0; t < c->t; t++)
        for (size_t o = 0; o < O; o++) {
            double y = c->bias[o];

            for (size_t j = 0; j < TAPS; j++)
                for (size_t i = 0; i < I && t + j >= TAPS / 2 && t + j - TAPS / 2 < c->t; i++)
                    y += c->weight[(o * I + i) * TAPS + j] * c->x[(t + j - TAPS / 2) * I + i];
            c->y[t * O + o] = y;
            loss += y * c->share[t * O + o];
        }
    return loss;
}

static void check_convolution(size_t t)
{
    float *x = random_floats(t * I, 1), *weight = random_floats(O * I * TAPS, 1), *bias = random_floats(O, 1),
          *dy = random_floats(t * O, 1);
    float *ours = random_floats(O * I * TAPS, 1), *dours = random_floats(O * I * TAPS, 0),
          *dweight = random_floats(O * I * TAPS, 0);
    float *y = random_floats(t * O, 1), *dx = random_floats(t * I, 1), dbias[O] = {0};
    size_t panels = wt__matrix_packed_size(O, I);
    float *packed = random_floats(TAPS * panels, 1);
    struct convolution c = {.taps = TAPS, .in = I, .out = O, .weight = ours, .bias = bias, .row_major = true};
    struct convolution_twin twin = {.t = t,
                                    .x = doubles_of(x, t * I),
                                    .weight = doubles_of(weight, O * I * TAPS),
                                    .bias = doubles_of(bias, O),
                                    .share = doubles_of(dy, t * O),
                                    .y = doubles_of(dy, t * O)};

    wt__convolution_arrange(ours, weight, TAPS, O, I);
    convolution_loss(&twin);
    wt__convolution_forward(&c, x, I, y, O, t);
    vectors_agree("row-major", y, twin.y, t * O, 1e-6);
    for (size_t j = 0; j < TAPS; j++)
        wt__matrix_pack(packed + j * panels, ours + j * O * I, I, O, I);
    wt__convolution_forward(&(struct convolution){.taps = TAPS, .in = I, .out = O, .weight = packed, .bias = bias}, x,
                            I, y, O, t);
    vectors_agree("packed", y, twin.y, t * O, 1e-6);
    wt__convolution_backward(&c, x, I, dy, O, dx, I, dours, dbias, t);
    wt__convolution_add_back(dweight, dours, TAPS, O, I);
    gradient_agrees("dx", convolution_loss, &twin, twin.x, t * I, dx, 1e-5);
    gradient_agrees("dweight", convolution_loss, &twin, twin.weight, O * I * TAPS, dweight, 1e-5);
    gradient_agrees("dbias", convolution_loss, &twin, twin.bias, O, dbias, 1e-5);
    free(x), free(weight), free(bias), free(dy), free(ours), free(dours), free(dweight), free(y), free(dx);
    free(packed), free(twin.x), free(twin.weight), free(twin.bias), free(twin.share), free(twin.y);
}

static void convolution_matches_doubles(void **state)
{
    (void)state;
    for (size_t t = 1; t <= 7; t += 2) /* including sequences shorter than the taps */
        check_convolution(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_backward_matches_differences),
        cmocka_unit_test(packed_layer_matches_row_major_layer),
        cmocka_unit_test(byte_layer_matches_float_layer),
        cmocka_unit_test(sizes_are_0_on_overflow),
        cmocka_unit_test(activations_match_doubles),
        cmocka_unit_test(layer_norm_backward_matches_differences),
        cmocka_unit_test(normalize_backward_matches_differences),
        cmocka_unit_test(convolution_matches_doubles),
    };

    wt__rng_seed(&rng, 3);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
