/* numbers.h: numbers of JSON as the mathematician sees them: 1 and 1.0 are the same, and a 64-bit integer keeps all its
 * digits beside a float. */
#ifndef WT_SCHEMA_NUMBERS_H
#define WT_SCHEMA_NUMBERS_H

#include <jansson.h>
#include <stdbool.h>

/* Less than, equal to, greater than 0, as a is to b. Both are numbers. */
int wt__number_compare(const json_t *a, const json_t *b);

/* Whether a has no fraction. */
bool wt__number_is_integer(const json_t *a);

/* Whether value is a whole multiple of unit, which is above 0, as both are written in decimal: 0.3 is one of 0.1. */
bool wt__number_is_multiple(const json_t *value, const json_t *unit);

#endif
