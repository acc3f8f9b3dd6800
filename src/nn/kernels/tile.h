/* tile.h: what the tiles of every processor share. UNROLL before a loop with a constant count takes it apart, so that
 * an array of sums indexed by it stays in registers. gcc needs a number, clang does worse with one. */
#ifndef WT_NN_KERNELS_TILE_H
#define WT_NN_KERNELS_TILE_H

#include <stddef.h>

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* A function whose constant arguments become constants in its body. */
#define INLINED static inline __attribute__((always_inline))

/* How many of the rows that are left the next tile takes, where a tile holds at most `most`: all tiles are about as
 * tall, since a low one waits for its own sums. */
static inline size_t even_part(size_t left, size_t most)
{
    size_t tiles = (left + most - 1) / most;

    return (left + tiles - 1) / tiles;
}

#endif
