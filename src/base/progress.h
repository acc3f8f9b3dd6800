/* progress.h: reports the progress of a long operation from one thread at a time, and lets the callback cancel the
 * operation. The start of a phase and its last step are always reported, other steps at most ten times a second. */
#ifndef WT_BASE_PROGRESS_H
#define WT_BASE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct progress {
    wt_progress_fn report; /* NULL if progress is not reported */
    void *context;
    const char *phase;    /* name of the current phase; borrowed */
    uint64_t done, total; /* steps of the current phase; total is 0 if unknown */
    double last_ms;       /* time of the last report, as wt__now_ms */
    double begun_ms;      /* time of wt__progress_init */
    unsigned limit_ms;    /* time limit, counted from begun_ms; 0 for no limit */
    bool cancelled;
    bool late; /* cancelled by the time limit */
    pthread_mutex_t lock;
};

void wt__progress_init(struct progress *progress, wt_progress_fn report, void *context);
void wt__progress_dispose(struct progress *progress);

/* Sets a time limit, counted from wt__progress_init; 0 for no limit. The first phase or step after the limit cancels
 * the operation. */
void wt__progress_limit(struct progress *progress, unsigned ms);
/* Disposes of the progress. Returns rc, the operation's result, or WT_ETIMEOUT if the time limit caused
 * WT_ECANCELLED. */
int wt__progress_end(struct progress *progress, int rc, wt_error *err);

/* The functions below accept a NULL progress, and then return 0. */

/* Starts a phase and reports it. Returns non-zero if cancelled. */
int wt__progress_phase(struct progress *progress, const char *phase, uint64_t total);
/* Adds to done, from any thread. Returns non-zero if cancelled now or earlier. The last step of a phase is always
 * reported if the phase has a known total. */
int wt__progress_step(struct progress *progress, uint64_t steps);

#endif
