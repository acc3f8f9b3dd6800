/* rng.h: random numbers. Seeded numbers (xoshiro256**, seeded by splitmix64) are the same everywhere for the same seed.
 * Unguessable digits come from the system and serve as names, such as session identifiers. */
#ifndef WT_BASE_RNG_H
#define WT_BASE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANDOM_BYTES_MAX = 256 }; /* limit of getentropy */

struct rng {
    uint64_t state[4];
};

void wt__rng_seed(struct rng *rng, uint64_t seed);
uint64_t wt__rng_next(struct rng *rng);
/* Returns a uniform number in 0 .. bound-1, without bias. bound must be > 0. */
uint64_t wt__rng_below(struct rng *rng, uint64_t bound);
/* Draws `most` of the numbers 0 .. count-1 without repetition and writes them to the front of numbers, [count]. If most
 * >= count, writes all of 0 .. count-1 in ascending order. */
void wt__rng_draw(struct rng *rng, uint32_t *numbers, size_t count, size_t most);
/* Returns a uniform number in [0, 1). */
double wt__rng_unit(struct rng *rng);

/* Fills `bytes`, of at most RANDOM_BYTES_MAX bytes, with secure random numbers of the system. Returns false if the
 * system has none. */
bool wt__random_bytes(void *bytes, size_t count);
/* Writes count random hexadecimal digits (even, at most 64) and a NUL. Returns false if the system has no random
 * numbers. */
bool wt__random_digits(char *out, size_t count);

#endif
