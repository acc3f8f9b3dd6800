/* steady.h: condition variables with timeouts on the monotonic clock of wt__now_ms. */
#ifndef WT_BASE_STEADY_H
#define WT_BASE_STEADY_H

#include <pthread.h>
#include <stdbool.h>

/* Initialises a condition for wt__steady_wait. Destroy it with pthread_cond_destroy. */
void wt__steady_open(pthread_cond_t *condition);
/* Waits for a signal until the time until_ms. Returns false on timeout. */
bool wt__steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double until_ms);

#endif
