/* Tests the implementations of the matrix product against a triple loop in doubles, on shapes with remainders in every
 * dimension. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/pool.h"
#include "gradient.h"
#include "nn/kernels/kernels.h"
#include "nn/matrix.h"

static void multiply_in_doubles(const struct matmul *p, double *out)
{
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double sum = p->accumulate ? p->c[i * p->c_stride + j] : 0;

            for (size_t k = 0; k < p->k; k++)
                sum += (double)(p->a_transposed ? p->a[k * p->a_stride + i] : p->a[i * p->a_stride + k]) *
                       (p->b_transposed ? p->b[j * p->b_stride + k] : p->b[k * p->b_stride + j]);
            out[i * p->n + j] = sum;
        }
}

/* Bits of variant: 1 a transposed, 2 b transposed, 4 accumulate, 8 reduced. A reduced product calls wt__amx_multiply,
 * because wt__matmul uses AMX for large products only. */
static void check_product(size_t m, size_t n, size_t k, unsigned variant)
{
    bool a_transposed = variant & 1, b_transposed = variant & 2;
    size_t a_stride = (a_transposed ? m : k) + 3, b_stride = (b_transposed ? k : n) + 5, c_stride = n + 2;
    float *a = random_floats((a_transposed ? k : m) * a_stride, 1),
          *b = random_floats((b_transposed ? n : k) * b_stride, 1);
    float *c = random_floats(m * c_stride, 1), *have = random_floats(m * n, 1);
    double *want = wt__alloc_array(m * n + 1, sizeof(double));
    struct matmul product = {.m = m,
                             .n = n,
                             .k = k,
                             .a = a,
                             .a_stride = a_stride,
                             .a_transposed = a_transposed,
                             .b = b,
                             .b_stride = b_stride,
                             .b_transposed = b_transposed,
                             .c = c,
                             .c_stride = c_stride,
                             .accumulate = variant & 4,
                             .reduced = variant & 8};
    char what[80];

    assert_non_null(want);
    float behind[2] = {m ? c[n] : 0, m ? c[n + 1] : 0};
    multiply_in_doubles(&product, want);
    if (product.reduced) {
        void *scratch = wt__alloc_aligned(AMX_SCRATCH, 1);

        assert_non_null(scratch);
        wt__amx_multiply(&product, scratch);
        free(scratch);
    } else {
        wt__matmul(&product);
    }
    snprintf(what, sizeof(what), "matmul %zu x %zu x %zu, variant %u", m, n, k, variant);
    for (size_t i = 0; i < m; i++)
        memcpy(have + i * n, c + i * c_stride, n * sizeof(float));
    vectors_agree(what, have, want, m * n, product.reduced ? 6e-3 : 2e-6);
    if (m)
        assert_memory_equal(behind, c + n, sizeof(behind)); /* The space between rows stays unchanged. */
    free(a), free(b), free(c), free(have), free(want);
}

static void check_all_shapes(void)
{
    static const size_t shapes[][3] = {{0, 3, 3},   {3, 0, 3},     {3, 3, 0},     {1, 1, 1},      {2, 17, 5},
                                       {7, 16, 33}, {13, 31, 64},  {32, 32, 32},  {49, 33, 257},  {145, 40, 12},
                                       {25, 70, 1}, {150, 1, 300}, {64, 96, 513}, {290, 65, 100}, {5, 20, 5000}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (unsigned variant = 0; variant < 8; variant++)
            check_product(shapes[i][0], shapes[i][1], shapes[i][2], variant);
}

static void own_product_matches_doubles(void **state)
{
    (void)state;
    check_all_shapes();
}

static void product_works_in_minimum_scratch(void **state)
{
    enum { M = 40, N = 70, K = 700 };
    float *a = random_floats(M * K, 1), *b = random_floats(N * K, 1), *c = random_floats(M * N, 1);
    float *scratch = random_floats(MATMUL_LEAST, 1);
    double *want = wt__alloc_array(M * N, sizeof(double));

    (void)state;
    assert_non_null(want);
    for (unsigned variant = 0; variant < 4; variant++) {
        struct matmul product = {.m = M,
                                 .n = N,
                                 .k = K,
                                 .a = a,
                                 .a_stride = variant & 1 ? M : K,
                                 .a_transposed = variant & 1,
                                 .b = b,
                                 .b_stride = variant & 2 ? K : N,
                                 .b_transposed = variant & 2,
                                 .c = c,
                                 .c_stride = N};

        multiply_in_doubles(&product, want);
        wt__matmul_within(&product, scratch, MATMUL_LEAST);
        vectors_agree("minimum scratch", c, want, M * N, 2e-6);
        for (size_t i = 0; i < WT_PANEL; i++)
            assert_true(isnan(scratch[MATMUL_LEAST + i])); /* The space after the scratch stays unchanged. */
    }
    free(a), free(b), free(c), free(scratch), free(want);
}

static void openblas_product_matches_doubles(void **state)
{
    wt_error err = {0};
    int rc = wt__blas_load(&err);

    (void)state;
    if (rc < 0) {
        assert_int_equal(rc, WT_EMODEL);
        assert_string_equal(err.message, "cannot load OpenBLAS (libopenblas.so.0); training continues without it");
        print_message("skipped: libopenblas.so.0 is not installed\n");
        skip();
    }
    assert_int_equal(wt__blas_load(NULL), 0);
    check_all_shapes();
}

static void same_call_gives_same_bits(void **state)
{
    enum { N = 200 };
    float *a = random_floats(N * N, 1), *b = random_floats(N * N, 1), *c = random_floats(N * N, 1),
          *d = random_floats(N * N, 1);
    struct matmul product = {
        .m = N, .n = N, .k = N, .a = a, .a_stride = N, .b = b, .b_stride = N, .c = c, .c_stride = N};

    (void)state;
    wt__matmul(&product);
    product.c = d;
    wt__matmul(&product);
    assert_memory_equal(c, d, N * N * sizeof(float));
    free(a), free(b), free(c), free(d);
}

enum { MANY = 64, SIDE = 90 };

struct many {
    const float *a, *b;
    float *c; /* [MANY][SIDE, SIDE] */
};

static int multiply_one_of_many(void *context, size_t index, unsigned worker)
{
    const struct many *m = context;

    (void)worker;
    wt__matmul(&(struct matmul){.m = SIDE,
                                .n = SIDE,
                                .k = SIDE,
                                .a = m->a,
                                .a_stride = SIDE,
                                .b = m->b,
                                .b_stride = SIDE,
                                .b_transposed = true,
                                .c = m->c + index * SIDE * SIDE,
                                .c_stride = SIDE});
    return 0;
}

static void concurrent_products_are_independent(void **state)
{
    float *a = random_floats(SIDE * SIDE, 1), *b = random_floats(SIDE * SIDE, 1),
          *c = random_floats(MANY * SIDE * SIDE, 1);
    struct many many = {a, b, c};

    (void)state;
    assert_int_equal(wt__pool_run(8, MANY, multiply_one_of_many, &many), 0);
    for (size_t i = 1; i < MANY; i++)
        assert_memory_equal(c, c + i * SIDE * SIDE, SIDE * SIDE * sizeof(float));
    free(a), free(b), free(c);
}

/* bfloat16 has 8 bits of mantissa, so each factor is off by up to 2^-9. The errors average out in long sums. */
static void amx_product_matches_doubles(void **state)
{
    static const size_t shapes[][3] = {{2, 3, 40},   {32, 32, 32},  {33, 31, 47},   {16, 48, 64},
                                       {100, 17, 5}, {7, 1100, 40}, {65, 90, 1030}, {64, 1056, 520}};
    (void)state;
    if (!wt__amx_ready()) {
        print_message("skipped: this processor does not support AMX\n");
        skip();
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned variant = 8; variant < 16; variant++)
            check_product(shapes[i][0], shapes[i][1], shapes[i][2], variant);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amx_product_matches_doubles),
        cmocka_unit_test(own_product_matches_doubles), /* must run before OpenBLAS is loaded */
        cmocka_unit_test(product_works_in_minimum_scratch),
        cmocka_unit_test(openblas_product_matches_doubles),
        cmocka_unit_test(same_call_gives_same_bits),
        cmocka_unit_test(concurrent_products_are_independent),
    };

    wt__rng_seed(&rng, 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
