#include "base/steady.h"

#include <errno.h>
#include <time.h>

void wt__steady_open(pthread_cond_t *condition)
{
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &steady);
    pthread_condattr_destroy(&steady);
}

bool wt__steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double until_ms)
{
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000)};
    until.tv_nsec = (long)((until_ms - (double)until.tv_sec * 1000) * 1e6);
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}
