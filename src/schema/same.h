/* same.h: equality of JSON values as schemas see it: 1 is 1.0, members have no order. What it looks at is counted, so
 * that a caller can stop. */
#ifndef WT_SCHEMA_SAME_H
#define WT_SCHEMA_SAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *steps: values looked at, added to. */
bool wt__json_same(const json_t *a, const json_t *b, uint64_t *steps);

/* Two items of an array that are the same, the earliest second one: 1, 0 where all differ, -1 when memory was out.
 * Gives up, with 0, when *steps passes most. */
int wt__json_duplicate(const json_t *array, size_t *first, size_t *second, uint64_t *steps, uint64_t most);

#endif
