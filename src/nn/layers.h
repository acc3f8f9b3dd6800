/* layers.h: the layers of networks, forward and backward: activations, linear layers, convolution, layer normalisation,
 * and scaling to unit length. */
#ifndef WT_NN_LAYERS_H
#define WT_NN_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/kernels/kernels.h" /* enum activation */
#include "nn/matrix.h"

/* Activations are elementwise. gelu is the exact form with erf; gelu_tanh is the approximation that Hugging Face names
 * gelu_new, gelu_fast or gelu_pytorch_tanh. */

/* Computes y = f(x), where f is the activation. y may be x. */
void wt__activation_forward(enum activation activation, const float *x, float *y, size_t n);

/* Computes dx = dy f'(x), where x is the input of the forward pass. dx may be dy or x. */
void wt__activation_backward(enum activation activation, const float *x, const float *dy, float *dx, size_t n);

/* Returns the enum activation for a name from config.json ("gelu", "gelu_new", "relu", ...), or -1 if unknown. */
int wt__activation_named(const char *name);

/* y = activation(x W^T + b) + residual. For inference, W is packed for the kernels. For training, W is row-major as in
 * model files, because it changes in every step. wt__linear_forward supports both. */
struct linear {
    size_t in, out;
    const float *weight;        /* packed and aligned to 64 bytes, or row-major [O, I] */
    const float *bias;          /* [O], or NULL */
    const unsigned char *bytes; /* the same W in panels of bytes (wt__linear_bytes_pack), or NULL */
    bool row_major;             /* true if weight is [O, I] */
    bool reduced;               /* products may round to bfloat16, as in matrix.h; only if row_major */
};

/* x is [T, I] and y is [T, O]. Strides are floats between rows. y may not overlap x. residual is NULL or has the layout
 * of y, and may be y. A residual requires ACTIVATION_NONE. */
void wt__linear_forward(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                        const float *residual, float *y, size_t y_stride, size_t t);

/* Computes the gradients of x W^T + b. Requires a row-major l. dy [T, O] is the gradient before activation and
 * residual.
 *   dx [T, I] = dy W (overwritten; NULL if not wanted; must not overlap dy)
 *   dweight [O, I] += dy^T x   dbias [O] += sum of dy over T   (each NULL if frozen) */
void wt__linear_backward(const struct linear *l, const float *x, size_t x_stride, const float *dy, size_t dy_stride,
                         float *dx, size_t dx_stride, float *dweight, float *dbias, size_t t);

/* W may also be int8 with one scale per row, which is the compact storage format of models. Inputs are then quantised
 * to bytes in each call; see kernels/kernels.h. Processors multiply bytes several times as fast as floats. */

/* True if the kernels in use have products of bytes. */
bool wt__bytes_ready(void);

/* Returns the size in bytes of W [O, I] in panels of bytes, or 0 on overflow. */
size_t wt__linear_bytes_size(size_t out, size_t in);

/* Packs w [O, I] with scales [O]. panels has wt__linear_bytes_size() bytes and is aligned to 64 bytes. */
void wt__linear_bytes_pack(unsigned char *panels, const int8_t *w, const float *scales, size_t out, size_t in);

/* Returns the size in bytes of a row of `in` quantised values, a multiple of 64, or 0 on overflow. */
size_t wt__byte_row_size(size_t in);

/* Works like wt__linear_forward, with l->bytes; requires wt__bytes_ready(). scratch holds T rows of wt__byte_row_size()
 * bytes and is aligned to 64 bytes. */
void wt__linear_forward_bytes(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                              const float *residual, float *y, size_t y_stride, size_t t, unsigned char *scratch);

/* The Conv1d of DeBERTa-v2 over the tokens of a sequence: y[t] = b + sum over taps j of W[j] x[t + j - taps / 2]. Rows
 * outside the sequence count as zero. Each tap is a linear layer on shifted rows. Its weights are packed or row-major,
 * as in struct linear. */
enum { CONVOLUTION_MAX_TAPS = 15 };

struct convolution {
    size_t taps; /* odd, at most CONVOLUTION_MAX_TAPS */
    size_t in, out;
    const float *weight; /* [taps][O, I], or [taps] packed matrices of wt__matrix_packed_size(O, I) floats */
    const float *bias;   /* [O], or NULL */
    bool row_major;
};

/* Converts weights from the order in model files, [O, I, taps], to ours, [taps, O, I]. */
void wt__convolution_arrange(float *ours, const float *file, size_t taps, size_t out, size_t in);
/* Adds gradients in our order to gradients in file order. */
void wt__convolution_add_back(float *file, const float *ours, size_t taps, size_t out, size_t in);

/* Processes one sequence: x [T, I], y [T, O]. Strides are floats between rows. Overwrites y, which may not overlap x.
 */
void wt__convolution_forward(const struct convolution *c, const float *x, size_t x_stride, float *y, size_t y_stride,
                             size_t t);

/* Requires a row-major c. Overwrites dx (NULL if not wanted); adds to dweight [taps, O, I] and dbias [O] (NULL if
 * frozen). */
void wt__convolution_backward(const struct convolution *c, const float *x, size_t x_stride, const float *dy,
                              size_t dy_stride, float *dx, size_t dx_stride, float *dweight, float *dbias, size_t t);

struct layer_norm {
    size_t width;
    const float *gain, *bias; /* [width] */
    float epsilon;
};

/* Normalises each row of x [T, width] into y. Rows of both are `stride` apart; y may be x. */
void wt__layer_norm_forward(const struct layer_norm *norm, const float *x, float *y, size_t stride, size_t t);

/* x is the input of the forward pass; its mean and variance are recomputed. Overwrites dx, which may be dy. Adds to
 * dgain and dbias [width] (both NULL if frozen). All rows are `stride` apart. */
void wt__layer_norm_backward(const struct layer_norm *norm, const float *x, const float *dy, float *dx, float *dgain,
                             float *dbias, size_t stride, size_t t);

/* Scales x [n] to unit length. A zero vector stays zero. */
void wt__normalize(float *x, size_t n);

/* x is the input of wt__normalize and dy the gradient of its result. Overwrites dx, which may be dy. dx is 0 for a zero
 * vector, because it has no direction. */
void wt__normalize_backward(const float *x, const float *dy, float *dx, size_t n);

#endif
