/* clock.h: monotonic time, calendar times as text, and condition variables with timeouts. */
#ifndef WT_BASE_CLOCK_H
#define WT_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the time of a monotonic clock in milliseconds. Only differences of two times are meaningful. */
double wt__now_ms(void);

enum { CLOCK_TEXT_BYTES = 21 };                /* "2026-11-22T08:30:00Z" with its NUL */
#define CLOCK_TEXT_MAX ((int64_t)253402300799) /* last second of the year 9999 */

/* Formats seconds since 1970 as RFC 3339 in UTC. Values outside the years 1970 to 9999 are clamped. */
void wt__clock_text(int64_t seconds, char out[CLOCK_TEXT_BYTES]);

/* Initialises a condition on the clock of wt__now_ms. Destroy it with pthread_cond_destroy. */
void wt__steady_open(pthread_cond_t *condition);
/* Waits for a signal until the time until_ms. Returns false on timeout. */
bool wt__steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double until_ms);

#endif
