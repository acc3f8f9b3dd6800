/* amx.h: products of matrices rounded to bfloat16, with sums in fp32, on processors with matrix registers (Intel AMX).
 * They are several times as fast as fp32, and are used for training, where the rounding is far below the noise of a
 * batch. */
#ifndef WT_NN_AMX_H
#define WT_NN_AMX_H

#include <stdbool.h>
#include <stddef.h>

struct matmul;

/* True if the processor has AMX and the system permits its use. The first call requests the permission. */
bool wt__amx_ready(void);

/* Bytes of scratch for any product. */
enum { AMX_SCRATCH = 1088 << 10 };

/* Computes the product of matmul.h; requires wt__amx_ready(). scratch has AMX_SCRATCH bytes and is aligned to 64 bytes.
 * The same call gives the same bits. */
void wt__amx_multiply(const struct matmul *product, void *scratch);

#endif
