#include "base/clock.h"

#include <errno.h>
#include <time.h>

double wt__now_ms(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void wt__clock_text(int64_t seconds, char out[CLOCK_TEXT_BYTES])
{
    time_t time = seconds < 0 ? 0 : seconds > CLOCK_TEXT_MAX ? CLOCK_TEXT_MAX : seconds;
    struct tm clock = {0};
    gmtime_r(&time, &clock);
    strftime(out, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &clock);
}

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
