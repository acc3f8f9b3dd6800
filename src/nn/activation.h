/* activation.h: functions of one number, forward and backward. gelu is the exact one (erf), gelu_tanh what Hugging Face
 * calls gelu_new, gelu_fast or gelu_pytorch_tanh. */
#ifndef WT_NN_ACTIVATION_H
#define WT_NN_ACTIVATION_H

#include <stddef.h>

#include "nn/kernels/kernels.h" /* enum activation */

/* y = f(x); y may be x. */
void wt__activation_forward(enum activation activation, const float *x, float *y, size_t n);

/* dx = dy f'(x), x the forward's input; dx may be dy or x. */
void wt__activation_backward(enum activation activation, const float *x, const float *dy, float *dx, size_t n);

/* A function by its name in config.json ("gelu", "gelu_new", "relu", "tanh", "silu", ...), or -1. */
int wt__activation_named(const char *name);

#endif
