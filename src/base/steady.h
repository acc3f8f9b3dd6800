/* steady.h: waiting for a condition by the clock that nobody turns back, which is that of wt__now_ms. */
#ifndef WT_BASE_STEADY_H
#define WT_BASE_STEADY_H

#include <pthread.h>
#include <stdbool.h>

/* A condition for wt__steady_wait. Ends with pthread_cond_destroy. */
void wt__steady_open(pthread_cond_t *condition);
/* Waits until it is signalled, or until then. False: it is then. */
bool wt__steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double until_ms);

#endif
