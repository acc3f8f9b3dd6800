/* kernels.h: the inner loops that are worth a processor's own instructions, as one table of function pointers.
 *
 * Each set of kernels is one file: plain.c is the meaning, the others (x86_avx2.c, ...) are its faster twins. A program
 * takes the best set that its processor can run, once; WT_KERNELS=plain|avx2|avx512|vnni|neon asks for another one
 * and is passed over when the processor lacks it. Sets differ only in rounding, within the tolerances of the tests;
 * integer kernels agree exactly. Within one set a row's result does not depend on the rows beside it.
 *
 * Dimensions: T tokens (rows of a), K inner, O outputs. All memory is the caller's; nothing here allocates or fails. */
#ifndef WT_NN_KERNELS_H
#define WT_NN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Outputs of a weight panel: one AVX-512 register, two of AVX2, four of NEON. Part of the packed model's format. */
enum { WT_PANEL = 16 };

/* c [T,O] = activation(a [T,K] W^T + bias) + residual, W [O,K] in panels of WT_PANEL outputs:
 *   w[p * w_panel + k * w_step + j]  is  W[p * WT_PANEL + j, k]
 * A packed matrix (nn/linear.h) has w_step WT_PANEL and w_panel K * WT_PANEL. A row-major matrix V [K,O] is read in
 * place as W^T with w_step its row stride and w_panel WT_PANEL. The last panel is read whole, so that up to
 * WT_PANEL - 1 floats behind O must be readable; they need not be numbers. c may not overlap a or w; residual may be c.
 */
enum activation {
    ACTIVATION_NONE,
    ACTIVATION_GELU,
    ACTIVATION_GELU_TANH,
    ACTIVATION_RELU,
    ACTIVATION_TANH,
    ACTIVATION_SILU
};

struct gemm {
    size_t t, k, o;
    const float *a;
    size_t a_stride; /* floats between rows */
    size_t a_step;   /* floats between a row's values: 1, or more when `a` is read as its own transpose */
    const float *w;
    size_t w_step, w_panel;
    const float *bias;     /* [O], or NULL */
    const float *residual; /* [T,O], rows c_stride apart, or NULL */
    float *c;
    size_t c_stride;
    enum activation activation;
};

/* The same product where W is bytes with a scale a row. A group of WT_GROUP values of a row of x becomes bytes as well,
 * which lie between the group's least and greatest value:
 *   x[k] is about low + step * code[k], so that the sum of a group over k is step * sum of code * w + low * sum of w,
 * of which the first sum is of whole numbers and exact, and the second is known beforehand. Groups are short because a
 * hidden state has a few values that are far larger than all others, and would take the steps of those beside them. */
enum { WT_GROUP = 64 };

struct byte_range {
    float step, low;
};

/* A row of x: [groups * WT_GROUP] codes, and behind them [groups] struct byte_range. A panel of W begins with its
 * groups: [WT_GROUP / 4][WT_PANEL][4] int8, and the group's sums, [WT_PANEL] floats; the outputs' scales end it,
 * [WT_PANEL] floats. Beyond K and O all are zero. Rows and panels lie on 64-byte boundaries. */
struct gemm_bytes {
    size_t t, groups, o;
    const unsigned char *a;
    size_t a_stride; /* bytes between rows */
    const unsigned char *w;
    const float *bias;
    const float *residual;
    float *c;
    size_t c_stride;
    enum activation activation;
};

enum { WT_PANEL_GROUP = WT_GROUP * WT_PANEL + WT_PANEL * 4 }; /* bytes of a panel's group */

/* first = beta1 * first + (1 - beta1) * g, second = beta2 * second + (1 - beta2) * g^2, g = gradient * scale;
 * value = value * keep - rate * first / (sqrt(second) * root + epsilon). */
struct adamw_factors {
    float beta1, beta2, epsilon, scale, keep;
    float rate; /* over 1 - beta1^step */
    float root; /* 1 / sqrt(1 - beta2^step) */
};

struct kernels {
    const char *name;

    void (*gemm)(const struct gemm *gemm);

    /* Both NULL where products of bytes would not be faster; the same in every set up to the order of the groups' sums.
     * gemm_bytes: ACTIVATION_NONE or ACTIVATION_GELU. byte_row: n floats to a row as above; numbers that are none make
     * bytes that mean nothing. */
    void (*gemm_bytes)(const struct gemm_bytes *gemm);
    void (*byte_row)(const float *x, size_t n, unsigned char *row);

    /* out[k * out_stride + j] = w[j * row_stride + k] for j < WT_PANEL, zero for j >= rows; rows at most WT_PANEL. */
    void (*transpose)(float *out, size_t out_stride, const float *w, size_t row_stride, size_t rows, size_t in);

    /* x[i] = x[i] / 2 * (1 + erf(x[i] / sqrt 2)), within 4e-7 * max(1, |x|). */
    void (*gelu)(float *x, size_t n);

    /* dx[i] = dy[i] * gelu'(x[i]), within 1e-6 * |dy|; dx may be dy or x. */
    void (*gelu_backward)(const float *x, const float *dy, float *dx, size_t n);

    /* x = softmax(x * scale) over n > 0 values; scale > 0. */
    void (*softmax)(float *x, size_t n, float scale);

    /* dx = p * (dp - sum of p * dp) * scale: from the gradient of softmax(x * scale) = p to that of x; dx is dp. */
    void (*softmax_backward)(const float *p, float *dp, size_t n, float scale);

    /* y = (x - mean) / sqrt(variance + epsilon) * gain + bias over n > 0 values; y may be x. */
    void (*layer_norm)(const float *x, const float *gain, const float *bias, float epsilon, float *y, size_t n);

    /* Its backward: dx (may be dy), and dgain, dbias [n], which are added to; both NULL: not wanted. */
    void (*layer_norm_backward)(const float *x, const float *gain, float epsilon, const float *dy, float *dx,
                                float *dgain, float *dbias, size_t n);

    /* One step of Adam on n values, as adamw.h has it; gradient NULL stands for zeros. */
    void (*adamw)(const struct adamw_factors *factors, const float *gradient, float *first, float *second, float *value,
                  size_t n);

    /* sum of a[i] * b[i] */
    float (*dot_f32)(const float *a, const float *b, size_t n);

    /* out[i] = query . rows[i], rows [count, dim]: the exact search over tool vectors. */
    void (*dots_f32)(const float *query, const float *rows, size_t count, size_t dim, float *out);

    /* The same over signed bytes, any values; dim a multiple of 32 and at most 65,536. Exact in every set. */
    void (*dots_i8)(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out);
};

/* The set in use, chosen on the first call; safe from any thread. */
const struct kernels *wt__kernels(void);

/* A set by its name, or NULL when it is not built in or this processor cannot run it. */
const struct kernels *wt__kernels_named(const char *name);

/* The sets that were built in, best first. */
extern const struct kernels wt__kernels_plain;
#if defined(__x86_64__)
extern const struct kernels wt__kernels_avx2, wt__kernels_avx512, wt__kernels_vnni;
void wt__gemm_bytes_vnni(const struct gemm_bytes *gemm);
void wt__byte_row_vnni(const float *x, size_t n, unsigned char *row);
void wt__dots_i8_vnni(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out);
#elif defined(__aarch64__)
extern const struct kernels wt__kernels_neon;
#endif

#endif
