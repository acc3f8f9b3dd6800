/* rng.c: xoshiro256** (Blackman and Vigna, 2018) with a splitmix64 seed. */
#include "base/rng.h"

#include <sys/random.h> /* getentropy on macOS */
#include <unistd.h>

static uint64_t rotate_state(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

void wt__rng_seed(struct rng *rng, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        rng->state[i] = z ^ z >> 31;
    }
}

uint64_t wt__rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_state(s[1] * 5, 7) * 9, shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_state(s[3], 45);
    return result;
}

uint64_t wt__rng_below(struct rng *rng, uint64_t bound)
{
    uint64_t rejected = -bound % bound; /* 2^64 mod bound; smaller numbers would bias the remainder */
    uint64_t drawn;
    do
        drawn = wt__rng_next(rng);
    while (drawn < rejected);
    return drawn % bound;
}

double wt__rng_unit(struct rng *rng)
{
    return (double)(wt__rng_next(rng) >> 11) * 0x1.0p-53;
}

void wt__rng_draw(struct rng *rng, uint32_t *numbers, size_t count, size_t most)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)i;
    for (size_t i = 0; most < count && i < most; i++) {
        size_t other = i + (size_t)wt__rng_below(rng, count - i);
        uint32_t moved = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = moved;
    }
}

bool wt__random_bytes(void *bytes, size_t count)
{
    return getentropy(bytes, count) == 0;
}

bool wt__random_digits(char *out, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bits[32];
    if (!wt__random_bytes(bits, count / 2))
        return false;
    for (size_t i = 0; i < count / 2; i++) {
        out[2 * i] = digits[bits[i] >> 4];
        out[2 * i + 1] = digits[bits[i] & 15];
    }
    out[count] = '\0';
    return true;
}
