/* steady.h: waiting for a condition by the clock that nobody turns back. */
#ifndef WT_BASE_STEADY_H
#define WT_BASE_STEADY_H

#include <pthread.h>
#include <stdbool.h>

/* A condition for wt__steady_wait. Ends with pthread_cond_destroy. */
void wt__steady_open(pthread_cond_t *condition);
/* Waits until it is signalled, or so many milliseconds (below 0: without a limit). False: that long is over. */
bool wt__steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double ms);

#endif
