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

bool wt__steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double ms)
{
    struct timespec until;
    if (ms < 0)
        return pthread_cond_wait(condition, lock) == 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    long nanoseconds = until.tv_nsec + (long)((ms - 1000.0 * (double)(long)(ms / 1000)) * 1e6);
    until.tv_sec += (long)(ms / 1000) + nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}
