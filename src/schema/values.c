/* values.c: compares numbers and JSON values. In a long array, duplicates are found by sorting the hashes of the items.
 * Only items with equal hashes are compared. The JSON parser limits the nesting of values, so the recursion is
 * bounded. */
#include "schema/evaluation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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

/* The absolute value of a decimal number: digits * 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* Returns the shortest decimal of 15 to 17 digits that parses as |x|, most likely the number as written in the JSON.
 * Any decimal separator is accepted in the output of printf, because the separator depends on the locale. */
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

enum { PAIRWISE = 12 }; /* longest array whose items are all compared with each other */

static bool same_objects(const json_t *a, const json_t *b, uint64_t *steps)
{
    const char *key;
    json_t *value;
    if (json_object_size(a) != json_object_size(b))
        return false;
    json_object_foreach((json_t *)a, key, value)
    {
        const json_t *other = json_object_get(b, key);
        if (!other || !wt__json_same(value, other, steps))
            return false;
    }
    return true;
}

static bool same_arrays(const json_t *a, const json_t *b, uint64_t *steps)
{
    size_t size = json_array_size(a);
    if (size != json_array_size(b))
        return false;
    for (size_t i = 0; i < size; i++)
        if (!wt__json_same(json_array_get(a, i), json_array_get(b, i), steps))
            return false;
    return true;
}

bool wt__json_same(const json_t *a, const json_t *b, uint64_t *steps)
{
    (*steps)++;
    if (json_is_number(a) && json_is_number(b))
        return wt__number_compare(a, b) == 0;
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_string(a)) {
        size_t len = json_string_length(a);
        *steps += len / 64;
        return len == json_string_length(b) && memcmp(json_string_value(a), json_string_value(b), len) == 0;
    }
    if (json_is_object(a))
        return same_objects(a, b, steps);
    return !json_is_array(a) || same_arrays(a, b, steps);
}

static uint64_t mix_hash(uint64_t h)
{
    h ^= h >> 31;
    h *= 0x9E3779B97F4A7C15U;
    return h ^ (h >> 29);
}

static uint64_t hash_bytes(const char *bytes, size_t len, uint64_t h)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)bytes[i]) * 0x100000001B3U;
    return mix_hash(h);
}

/* Returns the same hash for equal values. The hashes of an object's members are summed, since they have no order. */
static uint64_t hash_value(const json_t *value, uint64_t *steps)
{
    uint64_t h = 0xCBF29CE484222325U + (uint64_t)json_typeof(value);
    (*steps)++;
    if (json_is_number(value)) {
        double number = json_number_value(value);
        number += 0.0; /* Turns -0 into 0. */
        return hash_bytes((const char *)&number, sizeof number, 7);
    }
    if (json_is_string(value)) {
        *steps += json_string_length(value) / 64;
        return hash_bytes(json_string_value(value), json_string_length(value), h);
    }
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
        h = mix_hash(h * 31 + hash_value(json_array_get(value, i), steps));
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach((json_t *)value, key, member)
        {
            h += mix_hash(hash_bytes(key, strlen(key), 3) * 31 + hash_value(member, steps));
        }
    }
    return mix_hash(h);
}

struct hashed {
    uint64_t hash;
    size_t at;
};

static int compare_item_hashes(const void *left, const void *right)
{
    const struct hashed *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Finds two equal items in `run`, a list of items with the same hash, and sets *first and *second to their indices.
 * Returns false if there is no such pair, or if its second item does not precede the previous *second. */
static bool find_equal_items(const json_t *array, const struct hashed *run, size_t count, size_t *first, size_t *second,
                             uint64_t *steps, uint64_t most)
{
    for (size_t j = 1; j < count; j++)
        for (size_t i = 0; i < j && *steps <= most; i++) {
            if (run[j].at >= *second)
                return false;
            if (!wt__json_same(json_array_get(array, run[i].at), json_array_get(array, run[j].at), steps))
                continue;
            *first = run[i].at;
            *second = run[j].at;
            return true;
        }
    return false;
}

int wt__json_duplicate(const json_t *array, size_t *first, size_t *second, uint64_t *steps, uint64_t most)
{
    size_t size = json_array_size(array);
    struct hashed few[PAIRWISE], *items = few;
    int answer = 0;
    if (size > PAIRWISE && !(items = wt__alloc_array(size, sizeof *items)))
        return -1;
    for (size_t i = 0; i < size; i++)
        items[i] = (struct hashed){size > PAIRWISE ? hash_value(json_array_get(array, i), steps) : 0, i};
    if (size > PAIRWISE)
        qsort(items, size, sizeof *items, compare_item_hashes);
    *second = size;
    for (size_t i = 0; i < size && *steps <= most;) {
        size_t end = i + 1;
        while (end < size && items[end].hash == items[i].hash)
            end++;
        answer |= find_equal_items(array, items + i, end - i, first, second, steps, most);
        i = end;
    }
    if (items != few)
        free(items);
    return answer;
}
