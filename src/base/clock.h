/* clock.h: monotonic time, and moments of the calendar as text. */
#ifndef WT_BASE_CLOCK_H
#define WT_BASE_CLOCK_H

#include <stdint.h>

double wt__now_ms(void);

enum { CLOCK_TEXT_BYTES = 21 };                /* "2026-11-22T08:30:00Z" and its NUL */
#define CLOCK_TEXT_MAX ((int64_t)253402300799) /* the last second of the year 9999 */

/* RFC 3339, UTC, of seconds since 1970; what is outside 1970 to 9999 is written as the nearer end. */
void wt__clock_text(int64_t seconds, char out[CLOCK_TEXT_BYTES]);

#endif
