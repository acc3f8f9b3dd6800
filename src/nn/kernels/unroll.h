/* unroll.h: UNROLL before a loop with a constant count takes it apart, so that an array of sums indexed by it stays
 * in registers. gcc needs a number, clang does worse with one. */
#ifndef WT_NN_KERNELS_UNROLL_H
#define WT_NN_KERNELS_UNROLL_H

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* A function whose constant arguments become constants in its body. */
#define INLINED static inline __attribute__((always_inline))

#endif
