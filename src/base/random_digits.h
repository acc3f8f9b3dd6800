/* random_digits.h: unguessable names, such as session identifiers. */
#ifndef WT_BASE_RANDOM_DIGITS_H
#define WT_BASE_RANDOM_DIGITS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes count random hexadecimal digits (even, at most 64) and a NUL. Returns false if the system has no random
 * numbers. */
bool wt__random_digits(char *out, size_t count);

#endif
