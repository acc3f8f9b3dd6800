#include "base/clock.h"

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
