/* amx.h: products of matrices rounded to bfloat16, with sums in fp32, on processors that have matrix registers (Intel
 * AMX): several times as fast as fp32. For training, where that rounding is far below the noise of a batch. */
#ifndef WT_NN_AMX_H
#define WT_NN_AMX_H

#include <stdbool.h>
#include <stddef.h>

struct matmul;

/* Whether the processor has them and the system lets this process use them, which is asked for once. */
bool wt__amx_ready(void);

/* Bytes of scratch that any product takes. */
enum { AMX_SCRATCH = 1088 << 10 };

/* c as in matmul.h. scratch: AMX_SCRATCH bytes on a 64-byte boundary. Only when ready; the same call gives the same
 * bits. */
void wt__amx_multiply(const struct matmul *product, void *scratch);

#endif
