/* checksum.c: computes a hash from eight 64-bit lanes over 64-byte blocks. Each lane is x = rotate(x + word * P1) * P2.
 * Lanes are independent, so compiled code can run at memory speed. The lanes and the tail are then folded together
 * with the finisher of splitmix64. Words are little-endian, so files agree between little-endian machines. */
#include "base/checksum.h"

#include <string.h>

#define P1 0x9E3779B97F4A7C15u
#define P2 0xC2B2AE3D27D4EB4Fu

enum { LANES = 8 };

static uint64_t finish_hash(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static uint64_t rotate_lane(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static uint64_t fold_tail(uint64_t hash, const unsigned char *bytes, size_t len)
{
    uint64_t word;
    for (; len >= sizeof word; bytes += sizeof word, len -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = rotate_lane(hash ^ word * P1, 29) * P2;
    }
    word = 0;
    if (len)
        memcpy(&word, bytes, len);
    return rotate_lane(hash ^ word * P1, 29) * P2;
}

uint64_t wt__checksum(const void *data, size_t len, uint64_t seed)
{
    const unsigned char *bytes = data;
    size_t left = len;
    uint64_t hash = seed ^ len * P2;

    if (left >= LANES * sizeof(uint64_t)) {
        uint64_t lanes[LANES], words[LANES];
        for (unsigned i = 0; i < LANES; i++)
            lanes[i] = seed + (i + 1) * P1;
        for (; left >= sizeof words; bytes += sizeof words, left -= sizeof words) {
            memcpy(words, bytes, sizeof words);
            for (unsigned i = 0; i < LANES; i++)
                lanes[i] = rotate_lane(lanes[i] + words[i] * P1, 31) * P2;
        }
        for (unsigned i = 0; i < LANES; i++)
            hash = finish_hash(hash ^ lanes[i]) + i;
    }
    return finish_hash(fold_tail(hash, bytes, left));
}
