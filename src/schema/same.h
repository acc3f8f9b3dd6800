/* same.h: equality of JSON values in the sense of JSON Schema: 1 equals 1.0, and members have no order. The work is
 * counted, so that callers can limit it. */
#ifndef WT_SCHEMA_SAME_H
#define WT_SCHEMA_SAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the values are equal. Adds the number of visited values to *steps. */
bool wt__json_same(const json_t *a, const json_t *b, uint64_t *steps);

/* Finds two equal items of an array, with the earliest second item. Returns 1 if found, 0 if all differ or *steps
 * exceeds most, -1 if out of memory. */
int wt__json_duplicate(const json_t *array, size_t *first, size_t *second, uint64_t *steps, uint64_t most);

#endif
