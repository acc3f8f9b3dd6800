/* Tests every set of kernels on shapes with remainders in every dimension. Matrix products and gelu are compared with
 * results computed in doubles. Most other kernels are compared with the plain kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>

#include "gradient.h"
#include "nn/layers.h"

static const char *const names[] = {"plain", "avx2", "avxvnni", "avx512", "vnni", "neon", "neondot"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static int8_t *random_bytes(size_t n, bool extreme)
{
    int8_t *x = wt__alloc_aligned(n + 1, 1);

    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = extreme ? INT8_MIN : (int8_t)(wt__rng_below(&rng, 256) - 128);
    return x;
}

static void check_close(const char *what, const float *have, const float *want, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)have[i] - want[i]) <= tolerance * fmax(1, fabs((double)want[i]))))
            fail_msg("%s: [%zu] is %.9g, expected %.9g", what, i, have[i], want[i]);
}

static void gemm_in_doubles(const struct gemm *g)
{
    for (size_t t = 0; t < g->t; t++)
        for (size_t o = 0; o < g->o; o++) {
            double sum = g->bias ? g->bias[o] : 0;

            for (size_t k = 0; k < g->k; k++)
                sum += (double)g->a[t * g->a_stride + k * g->a_step] *
                       g->w[o / WT_PANEL * g->w_panel + k * g->w_step + o % WT_PANEL];
            if (g->activation == ACTIVATION_GELU)
                sum = sum / 2 * (1 + erf(sum * sqrt(0.5)));
            if (g->residual)
                sum += g->residual[t * g->c_stride + o];
            g->c[t * g->c_stride + o] = (float)sum;
        }
}

static void check_gemm(const struct kernels *kernels, size_t t, size_t k, size_t o, bool in_place_w, bool transposed)
{
    size_t panels = (o + WT_PANEL - 1) / WT_PANEL, c_stride = o + 3;
    float *a = random_floats((t + 2) * (k + 1), 1), *w = random_floats(k * panels * WT_PANEL, 1),
          *bias = random_floats(o, 1);
    float *residual = random_floats(t * c_stride, 1), *have = random_floats(t * c_stride, 1),
          *want = random_floats(t * c_stride, 1);
    char what[80];

    for (int variant = 0; variant < 4; variant++) {
        struct gemm g = {.t = t,
                         .k = k,
                         .o = o,
                         .a = a,
                         .a_stride = transposed ? 1 : k + 1,
                         .a_step = transposed ? t + 2 : 1,
                         .w = w,
                         .w_step = in_place_w ? panels * WT_PANEL : WT_PANEL,
                         .w_panel = in_place_w ? WT_PANEL : k * WT_PANEL,
                         .bias = variant & 1 ? bias : NULL,
                         .residual = variant & 2 ? residual : NULL,
                         .c = want,
                         .c_stride = c_stride,
                         .activation = variant & 1 ? ACTIVATION_GELU : ACTIVATION_NONE};

        memcpy(have, want, t * c_stride * sizeof(float));
        gemm_in_doubles(&g);
        g.c = have;
        kernels->gemm(&g);
        snprintf(what, sizeof(what), "%s gemm %zux%zux%zu variant %d", kernels->name, t, k, o, variant);
        check_close(what, have, want, t * c_stride, 1e-5);
    }
    free(a), free(w), free(bias), free(residual), free(have), free(want);
}

/* The compiler's library reads the processor's features, too. */
static void processor_features_are_those_of_the_compiler(void **state)
{
    (void)state;
#if defined(__x86_64__) && !defined(__clang__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    assert_int_equal(wt__cpu_has(CPU_AVX2), avx2);
    assert_int_equal(wt__cpu_has(CPU_AVX512), avx512);
    assert_int_equal(wt__cpu_has(CPU_VNNI), __builtin_cpu_supports("avx512vnni") != 0);
    assert_int_equal(wt__cpu_has(CPU_AVX512_BF16), __builtin_cpu_supports("avx512bf16") != 0);
#endif
}

static void gemm_matches_doubles(void **state)
{
    static const size_t ks[] = {1, 7, 32, 131}, os[] = {1, 15, 16, 17, 40, 64};

    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t t = 0; kernels && t <= 40; t++)
            for (size_t k = 0; k < 4; k++)
                for (size_t o = 0; o < 6; o++)
                    check_gemm(kernels, t, ks[k], os[o], (t + k + o) % 2, (t + k) % 3 == 0);
        if (kernels)
            check_gemm(kernels, 301, 40, 33, false, false);
    }
}

static void gemm_rows_are_independent(void **state)
{
    enum { T = 300, K = 96, O = 48 };
    float *a = random_floats(T * K, 1), *w = random_floats(K * O, 1), *all = random_floats(T * O, 1),
          *one = random_floats(O, 1);

    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);
        struct gemm g = {.t = T,
                         .k = K,
                         .o = O,
                         .a = a,
                         .a_stride = K,
                         .a_step = 1,
                         .w = w,
                         .w_step = WT_PANEL,
                         .w_panel = K * WT_PANEL,
                         .c = all,
                         .c_stride = O,
                         .activation = ACTIVATION_GELU};

        if (!kernels)
            continue;
        kernels->gemm(&g);
        g.t = 1;
        g.c = one;
        for (size_t t = 0; t < T; t++) {
            g.a = a + t * K;
            kernels->gemm(&g);
            assert_memory_equal(one, all + t * O, O * sizeof(float));
        }
    }
    free(a), free(w), free(all), free(one);
}

static void byte_rows_equal_plain_kernels(void **state)
{
    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t len = 1; kernels && kernels->byte_row && len < 400; len += len < 140 ? 1 : 41) {
            size_t codes = (len + WT_GROUP - 1) / WT_GROUP * WT_GROUP, used = codes / WT_GROUP * (WT_GROUP + 8);
            unsigned char *have = wt__alloc_aligned(used, 1), *want = wt__alloc_aligned(used, 1);
            const struct byte_range *ranges = (const void *)(want + codes);
            float *x = random_floats(len, 6);

            assert_true(have && want);
            for (size_t i = 0; len % 3 == 0 && i < len; i++)
                x[i] = -2; /* Equal values in a group give a step of 0. */
            wt__byte_row_plain(x, len, want, kernels->most_code);
            kernels->byte_row(x, len, have);
            assert_memory_equal(have, want, used);
            for (size_t i = 0; i < len; i++) {
                struct byte_range range = ranges[i / WT_GROUP];
                assert_true(fabsf(range.low + range.step * want[i] - x[i]) <= .501f * range.step + 1e-6f);
            }
            free(have), free(want), free(x);
        }
    }
}

/* A matrix of bytes and quantised rows to multiply. */
struct byte_product {
    struct gemm_bytes g;
    size_t k;
    int8_t *w;     /* [O, K] */
    float *scales; /* [O] */
    unsigned char *rows, *panels;
    float *bias, *residual;
};

/* most_weight: at 127, few groups have sums of four products that fit 16 bits. */
static struct byte_product byte_product(size_t t, size_t k, size_t o, int most_code, int most_weight)
{
    size_t stride = wt__byte_row_size(k);
    struct byte_product p = {.k = k,
                             .w = random_bytes(o * k, false),
                             .scales = random_floats(o, .01f),
                             .rows = wt__alloc_aligned(t * stride + 1, 1),
                             .panels = wt__alloc_aligned(wt__linear_bytes_size(o, k), 1),
                             .bias = random_floats(o, 1),
                             .residual = random_floats(t * (o + 3), 1)};

    assert_true(p.rows && p.panels);
    for (size_t i = 0; i < o * k; i++)
        p.w[i] = (int8_t)(p.w[i] * most_weight / INT8_MAX);
    wt__linear_bytes_pack(p.panels, p.w, p.scales, o, k);
    for (size_t i = 0; i < t; i++) {
        float *x = random_floats(k, 2);
        wt__byte_row_plain(x, k, p.rows + i * stride, most_code);
        free(x);
    }
    p.g = (struct gemm_bytes){.t = t,
                              .groups = (k + WT_GROUP - 1) / WT_GROUP,
                              .o = o,
                              .a = p.rows,
                              .a_stride = stride,
                              .w = p.panels,
                              .c_stride = o + 3};
    return p;
}

static void free_byte_product(struct byte_product *p)
{
    free(p->w), free(p->scales), free(p->rows), free(p->panels), free(p->bias), free(p->residual);
}

static void byte_product_in_doubles(const struct byte_product *p, float *c)
{
    for (size_t t = 0; t < p->g.t; t++)
        for (size_t o = 0; o < p->g.o; o++) {
            const unsigned char *row = p->rows + t * p->g.a_stride;
            const struct byte_range *ranges = (const void *)(row + p->g.groups * WT_GROUP);
            double sum = 0;

            for (size_t k = 0; k < p->k; k++) {
                struct byte_range range = ranges[k / WT_GROUP];
                sum += p->w[o * p->k + k] * (range.low + (double)range.step * row[k]);
            }
            sum = sum * p->scales[o] + (p->g.bias ? p->g.bias[o] : 0);
            if (p->g.activation == ACTIVATION_GELU)
                sum = sum / 2 * (1 + erf(sum * sqrt(0.5)));
            c[t * p->g.c_stride + o] = (float)(sum + (p->g.residual ? p->g.residual[t * p->g.c_stride + o] : 0));
        }
}

static void check_byte_product(const struct kernels *kernels, size_t t, size_t k, size_t o, int most_weight)
{
    struct byte_product p = byte_product(t, k, o, kernels->most_code, most_weight);
    size_t n = t * p.g.c_stride;
    float *have = random_floats(n, 1), *want = random_floats(n, 1);
    char what[80];

    for (int variant = 0; variant < 4; variant++) {
        p.g.bias = variant & 1 ? p.bias : NULL;
        p.g.residual = variant & 2 ? p.residual : NULL;
        p.g.activation = variant & 1 ? ACTIVATION_GELU : ACTIVATION_NONE;
        memcpy(have, want, n * sizeof(float));
        byte_product_in_doubles(&p, want);
        p.g.c = have;
        kernels->gemm_bytes(&p.g);
        snprintf(what, sizeof(what), "%s bytes %zux%zux%zu variant %d", kernels->name, t, k, o, variant);
        check_close(what, have, want, n, 2e-5);
    }
    free_byte_product(&p);
    free(have), free(want);
}

static void byte_gemm_matches_doubles(void **state)
{
    static const size_t ks[] = {1, 7, 64, 131, 384}, os[] = {1, 15, 16, 17, 40, 64};
    static const int most_weights[] = {INT8_MAX, 90};

    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        if (!kernels || !kernels->gemm_bytes)
            continue;
        for (size_t t = 0; t <= 14; t++)
            for (size_t i = 0; i < 5 * 6; i++)
                check_byte_product(kernels, t, ks[i / 6], os[i % 6], most_weights[(t + i) % 2]);
        check_byte_product(kernels, 301, 70, 33, 90);
        check_byte_product(kernels, 4, WT_GROUP * (WT_FIT_GROUPS + 2), 17, 40);
    }
}

/* All codes are the greatest. The weights are the least, the greatest, and those of sums of four products that fit 16
 * bits just so, or just not. */
static void byte_gemm_does_not_overflow(void **state)
{
    enum { T = 5, K = 128, O = 32 };
    static const struct {
        int8_t even, odd;
        bool fits;
    } rows[] = {{-128, -128, false}, {127, 127, false}, {64, 65, true},    {65, 65, false},
                {-64, -65, true},    {-65, -65, false}, {127, -127, true}, {0, 127, true}};

    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t w = 0; kernels && kernels->gemm_bytes && w < sizeof rows / sizeof *rows; w++) {
            struct byte_product p = byte_product(T, K, O, kernels->most_code, INT8_MAX);
            float have[T * (O + 3)], want[T * (O + 3)];

            for (size_t i = 0; i < O * K; i++)
                p.w[i] = i % 2 ? rows[w].odd : rows[w].even;
            wt__linear_bytes_pack(p.panels, p.w, p.scales, O, K);
            assert_int_equal(wt__byte_panel_end(&p.g, 1)->fits, rows[w].fits ? 3 : 0);
            for (size_t t = 0; t < T; t++)
                memset(p.rows + t * p.g.a_stride, kernels->most_code, K);
            p.g.c = have;
            byte_product_in_doubles(&p, want);
            kernels->gemm_bytes(&p.g);
            for (size_t t = 0; t < T; t++)
                check_close(kernels->name, have + t * (O + 3), want + t * (O + 3), O, 2e-5);
            free_byte_product(&p);
        }
    }
}

static void byte_gemm_rows_are_independent(void **state)
{
    enum { T = 300, K = 200, O = 48 };
    struct byte_product p = byte_product(T, K, O, WT_CODE_7BITS, INT8_MAX);
    float *all = random_floats(T * O, 1), *one = random_floats(O, 1);

    (void)state;
    p.g.c_stride = O;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        if (!kernels || !kernels->gemm_bytes)
            continue;
        p.g.t = T;
        p.g.a = p.rows;
        p.g.c = all;
        kernels->gemm_bytes(&p.g);
        p.g.t = 1;
        p.g.c = one;
        for (size_t t = 0; t < T; t++) {
            p.g.a = p.rows + t * p.g.a_stride;
            kernels->gemm_bytes(&p.g);
            assert_memory_equal(one, all + t * O, O * sizeof(float));
        }
    }
    free_byte_product(&p);
    free(all), free(one);
}

static void gelu_is_accurate(void **state)
{
    enum { N = 40003 };
    float *x = random_floats(N, 1), *want = random_floats(N, 1), *y = random_floats(N, 1);

    (void)state;
    for (size_t i = 0; i < N; i++) {
        x[i] = ((float)i - N / 2) / 1500.0f;
        want[i] = (float)(0.5 * x[i] * (1 + erf(x[i] * sqrt(0.5))));
    }
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        if (!kernels)
            continue;
        memcpy(y, x, N * sizeof(float));
        kernels->gelu(y, N);
        for (size_t i = 0; i < N; i++)
            if (fabs((double)y[i] - want[i]) > 4e-7 * fmax(1, fabs((double)x[i])))
                fail_msg("%s gelu(%.9g) is %.9g, expected %.9g", names[n], x[i], y[i], want[i]);
    }
    free(x), free(want), free(y);
}

static void row_kernels_match_plain_kernels(void **state)
{
    const struct kernels *plain = &wt__kernels_plain;

    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t len = 1; kernels && len < 400; len += len < 70 ? 1 : 41) {
            float *x = random_floats(len, 6), *y = random_floats(len, 1), *z = random_floats(len, 1),
                  *gain = random_floats(len, 1);
            float *bias = random_floats(len, 1);

            plain->layer_norm(x, gain, bias, 1e-12f, y, len);
            kernels->layer_norm(x, gain, bias, 1e-12f, z, len);
            check_close("layer_norm", z, y, len, len == 1 ? 1 : 4e-6);
            y[0] = plain->dot_f32(x, gain, len);
            z[0] = kernels->dot_f32(x, gain, len);
            check_close("dot", z, y, 1, 1e-5);
            memcpy(y, x, len * sizeof(float));
            memcpy(z, x, len * sizeof(float));
            plain->softmax(y, len, 3.5f);
            kernels->softmax(z, len, 3.5f);
            check_close("softmax", z, y, len, 5e-7);
            free(x), free(y), free(z), free(gain), free(bias);
        }
    }
}

static void backward_kernels_match_plain_kernels(void **state)
{
    const struct kernels *plain = &wt__kernels_plain;
    const struct adamw_factors factors = {0.9f, 0.99f, 1e-6f, 0.3f, 0.99f, 0.01f, 2.5f};

    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t len = 1; kernels && len < 400; len += len < 70 ? 1 : 41) {
            float *x = random_floats(len, 6), *dy = random_floats(len, 1), *gain = random_floats(len, 1),
                  *p = random_floats(len, 1);
            float *a[3], *b[3];

            for (int i = 0; i < 3; i++) {
                a[i] = random_floats(len, 1);
                b[i] = random_floats(len, 1);
                memcpy(b[i], a[i], len * sizeof(float));
            }
            plain->gelu_backward(x, dy, a[0], len);
            kernels->gelu_backward(x, dy, b[0], len);
            check_close("gelu_backward", b[0], a[0], len, 1e-6);

            memcpy(p, x, len * sizeof(float));
            plain->softmax(p, len, 1);
            memcpy(a[0], dy, len * sizeof(float));
            memcpy(b[0], dy, len * sizeof(float));
            plain->softmax_backward(p, a[0], len, 0.5f);
            kernels->softmax_backward(p, b[0], len, 0.5f);
            check_close("softmax_backward", b[0], a[0], len, 1e-6);

            plain->layer_norm_backward(x, gain, 1e-3f, dy, a[0], a[1], a[2], len);
            kernels->layer_norm_backward(x, gain, 1e-3f, dy, b[0], b[1], b[2], len);
            for (int i = 0; i < 3; i++)
                check_close("layer_norm_backward", b[i], a[i], len, len == 1 ? 1e-3 : 1e-5);

            for (size_t i = 0; i < len; i++)
                a[1][i] = b[1][i] = fabsf(a[1][i]);
            for (int step = 0; step < 2; step++) {
                plain->adamw(&factors, step ? NULL : dy, a[0], a[1], a[2], len);
                kernels->adamw(&factors, step ? NULL : dy, b[0], b[1], b[2], len);
            }
            for (int i = 0; i < 3; i++)
                check_close("adamw", b[i], a[i], len, 1e-6);
            for (int i = 0; i < 3; i++)
                free(a[i]), free(b[i]);
            free(x), free(dy), free(gain), free(p);
        }
    }
}

static void transpose_is_exact(void **state)
{
    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t in = 1; kernels && in < 40; in += in < 20 ? 1 : 7)
            for (size_t rows = 1; rows <= WT_PANEL; rows++) {
                size_t stride = WT_PANEL + in % 3;
                float *w = random_floats(rows * (in + 2), 1), *have = random_floats(in * stride, 1);
                float *want = random_floats(in * stride, 1);

                memcpy(want, have, in * stride * sizeof(float));
                kernels->transpose(have, stride, w, in + 2, rows, in);
                for (size_t k = 0; k < in; k++)
                    for (size_t j = 0; j < WT_PANEL; j++)
                        want[k * stride + j] = j < rows ? w[j * (in + 2) + k] : 0;
                assert_memory_equal(have, want, in * stride * sizeof(float));
                free(w), free(have), free(want);
            }
    }
}

static void softmax_handles_extreme_range(void **state)
{
    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);
        float x[19], sum = 0;

        if (!kernels)
            continue;
        for (int i = 0; i < 19; i++)
            x[i] = i == 7 ? 3e30f : -3e30f;
        kernels->softmax(x, 19, 1);
        for (int i = 0; i < 19; i++)
            sum += x[i];
        assert_true(fabsf(sum - 1) < 1e-6f && fabsf(x[7] - 1) < 1e-6f);
    }
}

static void byte_dot_products_are_exact(void **state)
{
    static const size_t dims[] = {32, 64, 96, 384, 416, 1024};

    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t d = 0; kernels && d < sizeof(dims) / sizeof(dims[0]); d++)
            for (int extreme = 0; extreme < 2; extreme++) {
                int8_t *query = random_bytes(dims[d], extreme), *rows = random_bytes(11 * dims[d], extreme);
                int32_t have[11], want[11];

                for (size_t count = 0; count <= 11; count++) {
                    wt__kernels_plain.dots_i8(query, rows, count, dims[d], want);
                    kernels->dots_i8(query, rows, count, dims[d], have);
                    assert_memory_equal(have, want, count * sizeof(int32_t));
                }
                free(query), free(rows);
            }
    }
}

static void sums_of_bits_are_exact(void **state)
{
    static const size_t bytes[] = {4, 8, 12, 48, 1024};
    enum { BLOCKS = 3 };

    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t d = 0; kernels && d < sizeof(bytes) / sizeof(bytes[0]); d++)
            for (int greatest = 0; greatest < 2; greatest++) {
                size_t entries = bytes[d] * 2 * WT_BIT_ENTRIES;
                unsigned char *tables = (unsigned char *)random_bytes(entries, false);
                unsigned char *rows = (unsigned char *)random_bytes(BLOCKS * bytes[d] * WT_BIT_ROWS, false);
                uint16_t have[BLOCKS * WT_BIT_ROWS + 1], want[BLOCKS * WT_BIT_ROWS];

                for (size_t i = 0; i < entries; i++)
                    tables[i] = greatest ? WT_BIT_ENTRY : tables[i] % (WT_BIT_ENTRY + 1);
                for (size_t blocks = 0; blocks <= BLOCKS; blocks++) {
                    have[blocks * WT_BIT_ROWS] = 4711;
                    wt__kernels_plain.sum_bits(tables, rows, blocks, bytes[d], want);
                    kernels->sum_bits(tables, rows, blocks, bytes[d], have);
                    assert_memory_equal(have, want, blocks * WT_BIT_ROWS * sizeof *want);
                    assert_int_equal(have[blocks * WT_BIT_ROWS], 4711);
                }
                assert_true(!greatest || want[0] == bytes[d] * 2 * WT_BIT_ENTRY);
                free(tables), free(rows);
            }
    }
}

static void float_dot_products_match_plain_kernels(void **state)
{
    (void)state;
    for (size_t n = 0; n < NAMES; n++) {
        const struct kernels *kernels = wt__kernels_named(names[n]);

        for (size_t dim = 1; kernels && dim < 400; dim += 13) {
            float *query = random_floats(dim, 1), *rows = random_floats(11 * dim, 1), have[11], want[11];

            for (size_t count = 0; count <= 11; count++) {
                wt__kernels_plain.dots_f32(query, rows, count, dim, want);
                kernels->dots_f32(query, rows, count, dim, have);
                check_close("dots", have, want, count, 1e-5);
            }
            free(query), free(rows);
        }
    }
}

static void finds_kernel_set_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(wt__kernels(), wt__kernels());
    assert_ptr_equal(wt__kernels_named("plain"), &wt__kernels_plain);
    assert_null(wt__kernels_named("abacus"));
    for (size_t n = 0; n < NAMES; n++)
        if (!wt__kernels_named(names[n]))
            print_message("skipped: this processor does not support %s\n", names[n]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_kernel_set_by_name),
        cmocka_unit_test(processor_features_are_those_of_the_compiler),
        cmocka_unit_test(gemm_matches_doubles),
        cmocka_unit_test(gemm_rows_are_independent),
        cmocka_unit_test(byte_rows_equal_plain_kernels),
        cmocka_unit_test(byte_gemm_matches_doubles),
        cmocka_unit_test(byte_gemm_does_not_overflow),
        cmocka_unit_test(byte_gemm_rows_are_independent),
        cmocka_unit_test(gelu_is_accurate),
        cmocka_unit_test(row_kernels_match_plain_kernels),
        cmocka_unit_test(backward_kernels_match_plain_kernels),
        cmocka_unit_test(transpose_is_exact),
        cmocka_unit_test(softmax_handles_extreme_range),
        cmocka_unit_test(byte_dot_products_are_exact),
        cmocka_unit_test(sums_of_bits_are_exact),
        cmocka_unit_test(float_dot_products_match_plain_kernels),
    };

    wt__rng_seed(&rng, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
