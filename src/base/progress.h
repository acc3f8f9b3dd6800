/* progress.h: tells a caller how far a long operation is, at most ten times a second, from one thread at a time,
 * and hears whether to stop. */
#ifndef WT_BASE_PROGRESS_H
#define WT_BASE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct progress {
    wt_progress_fn report; /* NULL: nobody listens */
    void *context;
    const char *phase;
    uint64_t done, total;
    double last_ms;
    double begun_ms;
    unsigned limit_ms; /* 0: none */
    bool cancelled;
    bool late; /* cancelled because the limit ran out */
    pthread_mutex_t lock;
};

void wt__progress_init(struct progress *progress, wt_progress_fn report, void *context);
void wt__progress_dispose(struct progress *progress);

/* Cancels so long after wt__progress_init, at the next phase or step; 0: never. */
void wt__progress_limit(struct progress *progress, unsigned ms);
/* Disposes of it. rc is what came of the operation: WT_ECANCELLED becomes WT_ETIMEOUT where the limit was the reason.
 */
int wt__progress_end(struct progress *progress, int rc, wt_error *err);

/* A NULL progress is allowed everywhere and never cancels. */

/* Starts a phase and reports it. Non-zero: cancelled. */
int wt__progress_phase(struct progress *progress, const char *phase, uint64_t total);
/* Adds to done, from any thread. Non-zero: cancelled, now or earlier. The last step of a phase always reports. */
int wt__progress_step(struct progress *progress, uint64_t steps);

#endif
