/* signs.c: codes, checksums and query tables for estimates from signs (signs.h). */
#include "index/signs.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

enum { ROUNDS = 4 };
#define ROTATION_SEED 0x5167

/* Standard deviations that an estimate may be too low. */
#define SIGMAS 3.0
/* Standard deviation of an estimate divided by factor * |q|: sqrt(1 - r^2) with r = 2 / pi, rounded. r is the squared
 * cosine between a rotated vector and its signs. */
#define DEVIATION .6

/* Multiplies n values, a power of two, by the Hadamard matrix. */
static void transform_hadamard(float *x, size_t n)
{
    for (size_t half = 1; half < n; half *= 2)
        for (size_t begin = 0; begin < n; begin += 2 * half)
            for (size_t i = begin; i < begin + half; i++) {
                float a = x[i], b = x[i + half];
                x[i] = a + b;
                x[i + half] = a - b;
            }
}

static void flip_random_signs(float *x, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i += 64) {
        uint64_t bits = wt__rng_next(rng);
        for (size_t j = 0; j < 64; j++)
            x[i + j] = bits >> j & 1 ? -x[i + j] : x[i + j];
    }
}

/* Adds and subtracts the two halves of x, and scales x. */
static void mix_halves(float *x, size_t n, float scale)
{
    for (size_t i = 0; i < n / 2; i++) {
        float a = x[i], b = x[i + n / 2];
        x[i] = (a + b) * scale;
        x[i + n / 2] = (a - b) * scale;
    }
}

/* Rotates x. n need not be a power of two, so rounds transform the first and the last `whole` values in turns. The
 * halves are mixed with the values outside. The result has the same bits on every processor. */
static void rotate_vector(float *x, size_t n)
{
    struct rng rng;
    size_t whole = 64;
    while (whole * 2 <= n)
        whole *= 2;
    wt__rng_seed(&rng, ROTATION_SEED);
    for (int round = 0; round < ROUNDS; round++) {
        float *part = x + (round % 2 ? n - whole : 0), scale = 1 / sqrtf((float)whole);
        flip_random_signs(x, n, &rng);
        transform_hadamard(part, whole);
        for (size_t i = 0; i < whole; i++)
            part[i] *= scale;
        mix_halves(x, n, 0.70710678F);
    }
}

float wt__signs_put(unsigned char *block, size_t at, float *x, size_t n)
{
    double squares = 0, sum = 0;
    rotate_vector(x, n);
    for (size_t b = 0; b < wt__signs_bytes(n); b++) {
        unsigned char bits = 0;
        for (size_t i = 0; i < 8; i++) {
            double value = x[b * 8 + i];
            bits |= (unsigned char)((value >= 0) << i);
            squares += value * value;
            sum += fabs(value);
        }
        block[b * WT_BIT_ROWS + at] = bits;
    }
    return sum > 0 ? (float)(squares / sum) : 0;
}

void wt__signs_checksums(const unsigned char *block, size_t n, uint32_t *seeds)
{
    for (size_t b = 0; b < wt__signs_bytes(n); b++, block += WT_BIT_ROWS)
        for (size_t i = 0; i < WT_BIT_ROWS; i++)
            seeds[i] = ((seeds[i] << 5) + seeds[i]) ^ block[i];
}

/* Writes the table of four values: for each combination of their signs, the rounded signed sum, counted from its
 * minimum. */
static void fill_bit_table(const float *q, float reach, float step, unsigned char *table)
{
    for (unsigned bits = 0; bits < WT_BIT_ENTRIES; bits++) {
        float sum = reach;
        for (size_t i = 0; i < 4; i++)
            sum += bits >> i & 1 ? q[i] : -q[i];
        float entry = step > 0 ? rintf(sum / step) : 0;
        table[bits] = (unsigned char)(entry < 0 ? 0 : entry > WT_BIT_ENTRY ? WT_BIT_ENTRY : entry);
    }
}

struct sign_query wt__signs_prepare(float *q, size_t n, double norm, unsigned char *tables)
{
    float most = 0, offset = 0;
    rotate_vector(q, n);
    for (size_t i = 0; i < n; i += 4) {
        float reach = fabsf(q[i]) + fabsf(q[i + 1]) + fabsf(q[i + 2]) + fabsf(q[i + 3]);
        most = reach > most ? reach : most;
        offset += reach;
    }
    float step = 2 * most / WT_BIT_ENTRY;
    for (size_t i = 0; i < n; i += 4)
        fill_bit_table(q + i, fabsf(q[i]) + fabsf(q[i + 1]) + fabsf(q[i + 2]) + fabsf(q[i + 3]), step,
                       tables + i / 4 * WT_BIT_ENTRIES);
    double rounding = step * sqrt((double)n / 4 / 12); /* of n / 4 entries, uniform in a step each */
    return (struct sign_query){step, offset, (float)(SIGMAS * hypot(DEVIATION * norm, rounding))};
}
