/* kernels.h: the inner loops with SIMD versions, as tables of function pointers.
 *
 * A set of kernels is one table. plain.c is the reference in portable C. The other sets (x86_avx2.c, ...) are faster.
 * The process chooses the best set for its processor once. WT_KERNELS=plain|avx2|avxvnni|avx512|vnni|neon|neondot
 * requests another set. The variable is ignored if the build or the processor does not support that set. Sets differ
 * only in rounding, within the tolerances of the tests. Integer kernels agree exactly. Within one set, the result of a
 * row does not depend on the other rows of the call.
 *
 * Dimensions: T tokens (rows of a), K inner, O outputs. Callers own all memory. Kernels neither allocate nor fail. */
#ifndef WT_NN_KERNELS_H
#define WT_NN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of outputs in a weight panel. They fill one register of AVX-512, two of AVX2 or four of NEON. The number is
 * part of the format of packed models. */
enum { WT_PANEL = 16 };

/* Rounds n up to a multiple of WT_PANEL. n must be at most SIZE_MAX - WT_PANEL. */
static inline size_t wt__round_up_to_panel(size_t n)
{
    return (n + WT_PANEL - 1) / WT_PANEL * WT_PANEL;
}

enum activation {
    ACTIVATION_NONE,
    ACTIVATION_GELU,
    ACTIVATION_GELU_TANH,
    ACTIVATION_RELU,
    ACTIVATION_TANH,
    ACTIVATION_SILU
};

/* c [T,O] = activation(a [T,K] W^T + bias) + residual. Activations other than ACTIVATION_GELU are ignored. W [O,K] is
 * in panels of WT_PANEL outputs:
 *   w[p * w_panel + k * w_step + j]  is  W[p * WT_PANEL + j, k]
 * For a packed matrix (nn/matrix.h), w_step is WT_PANEL and w_panel is K * WT_PANEL. A row-major matrix V [K,O] can be
 * read in place as W^T. Then w_step is its row stride and w_panel is WT_PANEL. The last panel is read whole, so up to
 * WT_PANEL - 1 floats after O must be readable. They may be NaN. c may not overlap a or w, but residual may be c. */
struct gemm {
    size_t t, k, o;
    const float *a;
    size_t a_stride; /* floats between rows */
    size_t a_step;   /* floats between the values of a row: 1, or more to read `a` transposed */
    const float *w;
    size_t w_step, w_panel;
    const float *bias;     /* [O], or NULL */
    const float *residual; /* [T,O], rows c_stride apart, or NULL */
    float *c;
    size_t c_stride;
    enum activation activation;
};

/* struct gemm_bytes is the product of struct gemm for W in signed bytes, with one scale per row of W. Each row x of `a`
 * is quantised to unsigned bytes, called codes, in groups of WT_GROUP values. Code 0 is the minimum of the group (low),
 * and the greatest code, 255 or 127, is its maximum:
 *   x[k] is about low + step * code[k], so the sum of x[k] * w[k] is step * sum of code * w + low * sum of w.
 * The first sum is an exact integer. The second is known in advance. Groups are short because a hidden state has a few
 * values far larger than the others. In longer groups, these would make the steps of more values coarse. */
enum { WT_GROUP = 64 };

/* The greatest code. With 7 bits, a product of two codes with two signed bytes fits a signed 16-bit sum, which is what
 * AVX2 can add. */
enum { WT_CODE_8BITS = 255, WT_CODE_7BITS = 127 };

struct byte_range {
    float step, low;
};

/* A row of `a` is [groups * WT_GROUP] codes, then [groups] struct byte_range. A panel of W is a list of groups, then a
 * struct panel_end. Each group is [WT_GROUP / 4][WT_PANEL][4] int8, then their [WT_PANEL] float sums. Values after K
 * and O are zero. Rows and panels are aligned to 64 bytes. */
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

enum { WT_PANEL_GROUP = WT_GROUP * WT_PANEL + WT_PANEL * 4 }; /* bytes of a group in a panel */

/* AVX2 adds two products in 16 bits. In most groups, the weights are small enough to add four:
 * WT_CODE_7BITS * WT_FOUR_MOST <= INT16_MAX. */
enum { WT_FOUR_MOST = 258, WT_FIT_GROUPS = 64 };

struct panel_end {
    float scales[WT_PANEL];
    /* Bit i is 1 if sums of four products fit 16 bits in group i: neither the positive nor the negative weights of
     * such a sum are over WT_FOUR_MOST in sum. A sum has the first or the last two weights of two lists of 4 bytes, an
     * even one and the next one. Groups after WT_FIT_GROUPS count as not fitting. */
    uint64_t fits;
    uint64_t zero[7];
};

/* Returns the bytes of a panel. */
static inline size_t wt__byte_panel_size(size_t groups)
{
    return groups * WT_PANEL_GROUP + sizeof(struct panel_end);
}

static inline const struct panel_end *wt__byte_panel_end(const struct gemm_bytes *g, size_t panel)
{
    return (const void *)(g->w + (panel + 1) * wt__byte_panel_size(g->groups) - sizeof(struct panel_end));
}

/* Rows of bits are stored in blocks of WT_BIT_ROWS rows: [bytes][WT_BIT_ROWS]. The low four bits of a byte select an
 * entry of the byte's first table, the high four bits an entry of its second table. An entry is at most WT_BIT_ENTRY,
 * so that the entries of four bytes fit an 8-bit sum. */
enum { WT_BIT_ROWS = 32, WT_BIT_ENTRIES = 16, WT_BIT_ENTRY = 31 };

/* The factors of one step of AdamW, which computes in this order:
 *   g = gradient * scale
 *   first = beta1 * first + (1 - beta1) * g
 *   second = beta2 * second + (1 - beta2) * g^2
 *   value = value * keep - rate * first / (sqrt(second) * root + epsilon) */
struct adamw_factors {
    float beta1, beta2, epsilon, scale, keep;
    float rate; /* learning rate / (1 - beta1^step) */
    float root; /* 1 / sqrt(1 - beta2^step) */
};

struct kernels {
    const char *name;

    void (*gemm)(const struct gemm *gemm);

    /* gemm_bytes and byte_row are NULL if the set has no products of bytes. gemm_bytes ignores activations other than
     * ACTIVATION_GELU, and reads codes of at most most_code. byte_row quantises n floats to a row of struct gemm_bytes
     * with such codes. NaN and infinities give arbitrary bytes. */
    int most_code;
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

    /* Backward of p = softmax(x * scale): replaces dp by the gradient of x, p * (dp - sum of p * dp) * scale. */
    void (*softmax_backward)(const float *p, float *dp, size_t n, float scale);

    /* y = (x - mean) / sqrt(variance + epsilon) * gain + bias over n > 0 values; y may be x. */
    void (*layer_norm)(const float *x, const float *gain, const float *bias, float epsilon, float *y, size_t n);

    /* Backward of layer_norm. Overwrites dx, which may be dy. Adds to dgain and dbias [n]; both are NULL if frozen. */
    void (*layer_norm_backward)(const float *x, const float *gain, float epsilon, const float *dy, float *dx,
                                float *dgain, float *dbias, size_t n);

    /* One step of Adam on n values, see struct adamw_factors. gradient NULL means all zeros. */
    void (*adamw)(const struct adamw_factors *factors, const float *gradient, float *first, float *second, float *value,
                  size_t n);

    /* sum of a[i] * b[i] */
    float (*dot_f32)(const float *a, const float *b, size_t n);

    /* out[i] = query . rows[i], rows [count, dim]: exact search over tool vectors. */
    void (*dots_f32)(const float *query, const float *rows, size_t count, size_t dim, float *out);

    /* Works like dots_f32 for signed bytes. dim is a multiple of 32 and at most 65,536. Exact in every set. */
    void (*dots_i8)(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out);

    /* out[i] = sum of the entries that the bits of row i select; rows: [blocks] blocks. tables: [bytes][2]
     * [WT_BIT_ENTRIES]. bytes is a multiple of 4 and at most 1,024. Exact in every set. */
    void (*sum_bits)(const unsigned char *tables, const unsigned char *rows, size_t blocks, size_t bytes,
                     uint16_t *out);
};

/* Returns the set in use, chosen on the first call. Safe from any thread. */
const struct kernels *wt__kernels(void);

/* Returns a set by name, or NULL if it is not built in or the processor does not support it. */
const struct kernels *wt__kernels_named(const char *name);

/* Built-in sets. */
extern const struct kernels wt__kernels_plain;
/* Works like byte_row of the plain set, with any greatest code. */
void wt__byte_row_plain(const float *x, size_t n, unsigned char *row, int most_code);
#if defined(__x86_64__)
/* Features that the processor has and the operating system supports. CPU_AVX2 includes FMA and F16C; CPU_AVX512 means
 * F, DQ, BW and VL; and CPU_AMX includes tiles and bfloat16. CPU_VNNI needs AVX-512, CPU_AVX_VNNI does not. */
enum { CPU_AVX2 = 1, CPU_AVX512 = 2, CPU_VNNI = 4, CPU_AVX512_BF16 = 8, CPU_AMX = 16, CPU_AVX_VNNI = 32 };
/* True if the processor has all of the wanted features, a sum of the numbers above. */
bool wt__cpu_has(unsigned wanted);

extern const struct kernels wt__kernels_avx2, wt__kernels_avxvnni, wt__kernels_avx512, wt__kernels_vnni;
void wt__gemm_bytes_avx2(const struct gemm_bytes *gemm);
void wt__byte_row_avx2(const float *x, size_t n, unsigned char *row);
void wt__gemm_bytes_avxvnni(const struct gemm_bytes *gemm);
void wt__byte_row_avxvnni(const float *x, size_t n, unsigned char *row);
void wt__dots_i8_avxvnni(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out);
void wt__gemm_bytes_vnni(const struct gemm_bytes *gemm);
void wt__byte_row_vnni(const float *x, size_t n, unsigned char *row);
void wt__dots_i8_vnni(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out);
#elif defined(__aarch64__)
/* True if the processor has the dot product of bytes. */
bool wt__cpu_has_dot(void);

extern const struct kernels wt__kernels_neon, wt__kernels_neon_dot;
void wt__gemm_bytes_neon(const struct gemm_bytes *gemm);
void wt__gemm_bytes_dot(const struct gemm_bytes *gemm);
void wt__dots_i8_dot(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out);
#endif

/* Products of matrices rounded to bfloat16, with sums in fp32, on processors with matrix registers (Intel AMX). They
 * are several times as fast as fp32. Training uses them, because there the rounding is far below the noise of a batch.
 */

struct matmul; /* see matrix.h */

/* True if the processor has AMX and the system permits its use. The first call requests the permission. */
bool wt__amx_ready(void);

/* Bytes of scratch for any product. */
enum { AMX_SCRATCH = 1088 << 10 };

/* Computes the product; requires wt__amx_ready(). scratch has AMX_SCRATCH bytes and is aligned to 64 bytes. The same
 * call gives the same bits. */
void wt__amx_multiply(const struct matmul *product, void *scratch);

#endif
