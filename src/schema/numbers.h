/* numbers.h: compares JSON numbers by mathematical value: 1 equals 1.0, and a 64-bit integer is compared exactly with a
 * float. */
#ifndef WT_SCHEMA_NUMBERS_H
#define WT_SCHEMA_NUMBERS_H

#include <jansson.h>
#include <stdbool.h>

/* Returns a number below, equal to or above 0, if a is below, equal to or above b. Both must be numbers. */
int wt__number_compare(const json_t *a, const json_t *b);

/* True if the number has no fraction. */
bool wt__number_is_integer(const json_t *a);

/* True if value is a multiple of unit, which must be above 0. Both count as decimals: 0.3 is a multiple of 0.1. */
bool wt__number_is_multiple(const json_t *value, const json_t *unit);

#endif
