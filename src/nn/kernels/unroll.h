/* unroll.h: UNROLL before a loop with a constant count takes it apart, so that an array of sums indexed by it stays
 * in registers. gcc needs a number, clang does worse with one. */
#ifndef WT_NN_KERNELS_UNROLL_H
#define WT_NN_KERNELS_UNROLL_H

#include <stddef.h>

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* A function whose constant arguments become constants in its body. */
#define INLINED static inline __attribute__((always_inline))

/* One value of each of up to 24 rows, addressed with seven registers where a pointer a row would take more than there
 * are: a base for every eighth row, and the distances 1, 3, 5 and 7 rows, of which the processor's addressing makes 2,
 * 4 and 6 by its own factor. */
struct rows {
    const char *base[3];
    size_t one, three, five, seven; /* bytes */
};

INLINED struct rows wt__rows(const float *first, size_t stride)
{
    const char *base = (const char *)first;
    size_t one = stride * sizeof(float);

    return (struct rows){{base, base + 8 * one, base + 16 * one}, one, 3 * one, 5 * one, 7 * one};
}

/* The compiler must not see that the distances are constant, or it would fold them into pointers again. */
#define HIDE_ROWS(r) __asm__("" : "+r"((r).one), "+r"((r).three), "+r"((r).five), "+r"((r).seven))

/* r: a constant. */
INLINED const float *wt__row(const struct rows *rows, int r)
{
    const char *base = rows->base[r / 8];
    const char *at = r % 8 == 0   ? base
                     : r % 8 == 1 ? base + rows->one
                     : r % 8 == 2 ? base + rows->one * 2
                     : r % 8 == 3 ? base + rows->three
                     : r % 8 == 4 ? base + rows->one * 4
                     : r % 8 == 5 ? base + rows->five
                     : r % 8 == 6 ? base + rows->three * 2
                                  : base + rows->seven;

    return (const float *)(const void *)at;
}

/* On to the next value of each row. */
INLINED void wt__rows_advance(struct rows *rows)
{
    for (int i = 0; i < 3; i++)
        rows->base[i] += sizeof(float);
}

#endif
