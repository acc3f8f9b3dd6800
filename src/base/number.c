/* number.c: formats doubles from 1e-4 to 999,999,999, the range of scores, shares and times. Such a double is m * 2^-s
 * with m of 53 bits and s at most 66, so m * 10^k fits exactly in 128 bits. Rounding half to even is therefore exact
 * and gives printf's digits at a tenth of its time. Other doubles are passed to printf. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef unsigned __int128 wide;

enum { MANTISSA = 53, POINT_LEAST = -4 /* smallest exponent written without an e */ };

size_t wt__count_text(char out[NUMBER_BYTES], uint64_t value)
{
    char digits[NUMBER_BYTES];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

/* Returns value * 10^k, rounded like printf. value: 1e-4 to 999,999,999; k: 0 to 13. */
static uint64_t scale_rounded(double value, int k)
{
    int exponent;
    wide exact = (wide)(uint64_t)ldexp(frexp(value, &exponent), MANTISSA);
    for (int i = 0; i < k; i++)
        exact *= 10;
    int shift = MANTISSA - exponent;
    wide half = (wide)1 << (shift - 1), rest = exact & ((half << 1) - 1);
    uint64_t whole = (uint64_t)(exact >> shift);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

/* Writes NUMBER_DIGITS digits with a decimal point. exponent: power of ten of the first digit. */
static size_t write_decimal(char *out, uint64_t digits, int exponent)
{
    char text[NUMBER_BYTES];
    size_t len = wt__count_text(text, digits), at = 0;
    size_t whole = exponent >= 0 ? (size_t)exponent + 1 : 0;
    while (len > whole && text[len - 1] == '0')
        len--;
    if (whole == 0)
        out[at++] = '0';
    memcpy(out + at, text, whole);
    at += whole;
    if (len == whole)
        return at;
    out[at++] = '.';
    for (int i = exponent; i < -1; i++)
        out[at++] = '0';
    memcpy(out + at, text + whole, len - whole);
    return at + len - whole;
}

size_t wt__number_text(char out[NUMBER_BYTES], double value)
{
    static const uint64_t least = 100000000, above = 1000000000; /* range of nine-digit numbers */
    double size = fabs(value);
    if (!(size >= 1e-4 && size <= 999999999))
        return (size_t)snprintf(out, NUMBER_BYTES, "%.9g", value);
    int exponent = NUMBER_DIGITS - 1;
    for (double bound = 1e8; exponent > POINT_LEAST && size < bound; bound /= 10)
        exponent--;
    uint64_t digits = scale_rounded(size, NUMBER_DIGITS - 1 - exponent);
    if (digits < least) /* bound is inexact after the divisions */
        digits = scale_rounded(size, NUMBER_DIGITS - 1 - --exponent);
    if (digits >= above) { /* rounded up to the next power of ten */
        digits = least;
        exponent++;
    }
    size_t sign = value < 0;
    out[0] = '-';
    return sign + write_decimal(out + sign, digits, exponent);
}
