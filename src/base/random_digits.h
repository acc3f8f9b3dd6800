/* random_digits.h: names that nobody guesses: of sessions, and of what is kept for one client. */
#ifndef WT_BASE_RANDOM_DIGITS_H
#define WT_BASE_RANDOM_DIGITS_H

#include <stdbool.h>
#include <stddef.h>

/* count hexadecimal digits, an even number of at most 64, of the system's random numbers, and a NUL. False: it gives
 * none. */
bool wt__random_digits(char *out, size_t count);

#endif
