/* number.h: numbers as text, for answers that have hundreds of them. */
#ifndef WT_BASE_NUMBER_H
#define WT_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum { NUMBER_BYTES = 32, NUMBER_DIGITS = 9 };

/* What printf makes of "%.9g" and "%llu", in the locale C, without a NUL. Both return how many bytes that is. */
size_t wt__number_text(char out[NUMBER_BYTES], double value);
size_t wt__count_text(char out[NUMBER_BYTES], uint64_t value);

#endif
