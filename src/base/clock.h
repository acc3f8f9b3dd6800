/* clock.h: monotonic time. */
#ifndef WT_BASE_CLOCK_H
#define WT_BASE_CLOCK_H

double wt__now_ms(void);

#endif
