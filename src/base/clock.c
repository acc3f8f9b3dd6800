/* clock.c: see clock.h. */
#include "base/clock.h"

#include <time.h>

double wt__now_ms(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
