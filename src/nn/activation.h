/* activation.h: elementwise activations, forward and backward. gelu is the exact form with erf; gelu_tanh is the
 * approximation named gelu_new, gelu_fast or gelu_pytorch_tanh by Hugging Face. */
#ifndef WT_NN_ACTIVATION_H
#define WT_NN_ACTIVATION_H

#include <stddef.h>

#include "nn/kernels/kernels.h" /* enum activation */

/* Computes y = f(x). y may be x. */
void wt__activation_forward(enum activation activation, const float *x, float *y, size_t n);

/* Computes dx = dy f'(x), where x is the input of the forward pass. dx may be dy or x. */
void wt__activation_backward(enum activation activation, const float *x, const float *dy, float *dx, size_t n);

/* Returns the enum activation for a name from config.json ("gelu", "gelu_new", "relu", ...), or -1 if unknown. */
int wt__activation_named(const char *name);

#endif
