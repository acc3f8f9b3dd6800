/* tile.h: helpers for the tiles of all processors. UNROLL unrolls a loop with a constant count, to keep an array of
 * sums indexed by the loop in registers. gcc needs a number; clang generates worse code with one. */
#ifndef WT_NN_KERNELS_TILE_H
#define WT_NN_KERNELS_TILE_H

#include <stddef.h>

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* Forces inlining, so that constant arguments become constants in the body. */
#define INLINED static inline __attribute__((always_inline))

/* Returns the number of rows of the next tile, given the remaining rows and the maximum height of a tile. All tiles
 * become about equally tall, because a low tile stalls on the latency of its sums. */
static inline size_t choose_tile_rows(size_t left, size_t most)
{
    size_t tiles = (left + most - 1) / most;

    return (left + tiles - 1) / tiles;
}

#endif
