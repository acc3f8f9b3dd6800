/* numbers.c: comparison and divisibility of integers and decimals. */
#include "schema/numbers.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Compares an integer with a float exactly: the integer part first, then the fraction. */
static int compare_mixed(int64_t a, double b)
{
    if (b >= 9223372036854775808.0)
        return -1;
    if (b < -9223372036854775808.0)
        return 1;
    double whole = trunc(b);
    int64_t other = (int64_t)whole;
    if (a != other)
        return a < other ? -1 : 1;
    return (b < whole) - (b > whole);
}

int wt__number_compare(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b)) {
        json_int_t x = json_integer_value(a), y = json_integer_value(b);
        return (x > y) - (x < y);
    }
    if (json_is_integer(a))
        return compare_mixed(json_integer_value(a), json_real_value(b));
    if (json_is_integer(b))
        return -compare_mixed(json_integer_value(b), json_real_value(a));
    double x = json_real_value(a), y = json_real_value(b);
    return (x > y) - (x < y);
}

bool wt__number_is_integer(const json_t *a)
{
    if (json_is_integer(a))
        return true;
    double x = json_real_value(a);
    return isfinite(x) && trunc(x) == x;
}

/* digits * 10^exponent; digits are below 10^19. */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* Returns the shortest decimal that parses as x, most likely the text as written. The decimal separator depends on the
 * locale. */
static struct decimal shortest_decimal(double x)
{
    char text[40];
    struct decimal d = {0, 0};
    for (int precision = 14; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, fabs(x));
        if (strtod(text, NULL) == fabs(x))
            break;
    }
    int fraction = -1;
    char *at = text;
    for (; *at != '\0' && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') {
            d.digits = d.digits * 10 + (uint64_t)(*at - '0');
            fraction++;
        }
    d.exponent = (*at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0) - fraction;
    return d;
}

static struct decimal read_decimal(const json_t *number)
{
    struct decimal d = {0, 0};
    if (json_is_integer(number)) {
        json_int_t value = json_integer_value(number);
        d.digits = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    } else {
        d = shortest_decimal(json_real_value(number));
    }
    for (; d.digits > 0 && d.digits % 10 == 0; d.digits /= 10)
        d.exponent++;
    return d;
}

/* Returns a * 10 mod m without overflow. Requires a < m. */
static uint64_t multiply_by_ten(uint64_t a, uint64_t m)
{
    uint64_t sum = 0;
    for (int i = 0; i < 10; i++)
        sum = sum >= m - a ? sum - (m - a) : sum + a;
    return sum;
}

bool wt__number_is_multiple(const json_t *value, const json_t *unit)
{
    if (json_is_integer(value) && json_is_integer(unit))
        return json_integer_value(value) % json_integer_value(unit) == 0;
    struct decimal a = read_decimal(value), b = read_decimal(unit);
    if (a.digits == 0)
        return true;
    if (b.digits == 0)
        return false;
    for (; a.exponent < b.exponent; b.exponent--) { /* a has no trailing zeros, so ten does not divide it. */
        if (b.digits > UINT64_MAX / 10)
            return false;
        b.digits *= 10;
    }
    uint64_t rest = a.digits % b.digits;
    for (; rest > 0 && a.exponent > b.exponent; a.exponent--)
        rest = multiply_by_ten(rest, b.digits);
    return rest == 0;
}
