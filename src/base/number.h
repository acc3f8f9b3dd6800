/* number.h: fast number formatting, for answers with hundreds of numbers. */
#ifndef WT_BASE_NUMBER_H
#define WT_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum { NUMBER_BYTES = 32, NUMBER_DIGITS = 9 };

/* Format like printf's "%.9g" and "%llu" in the C locale, without a NUL. Return the number of bytes. */
size_t wt__number_text(char out[NUMBER_BYTES], double value);
size_t wt__count_text(char out[NUMBER_BYTES], uint64_t value);

#endif
