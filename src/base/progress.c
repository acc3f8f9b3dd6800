#include "base/progress.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"

static const double INTERVAL_MS = 100;

void wt__progress_init(struct progress *progress, wt_progress_fn report, void *context)
{
    *progress = (struct progress){.report = report, .context = context, .begun_ms = wt__now_ms()};
    pthread_mutex_init(&progress->lock, NULL);
}

void wt__progress_dispose(struct progress *progress)
{
    pthread_mutex_destroy(&progress->lock);
}

void wt__progress_limit(struct progress *progress, unsigned ms)
{
    progress->limit_ms = ms;
}

int wt__progress_end(struct progress *progress, int rc, wt_error *err)
{
    bool late = progress->late;
    wt__progress_dispose(progress);
    if (rc == WT_ECANCELLED && late)
        return wt__fail(err, WT_ETIMEOUT, "the time limit of %u ms ran out", progress->limit_ms);
    return rc;
}

/* Checks the time limit and returns true if cancelled. Requires the lock. */
static bool check_cancelled(struct progress *progress)
{
    if (!progress->cancelled && progress->limit_ms && wt__now_ms() - progress->begun_ms >= progress->limit_ms)
        progress->cancelled = progress->late = true;
    return progress->cancelled;
}

/* Calls the callback. Does nothing if the operation is cancelled, because other threads may still make steps after the
 * cancellation. Requires the lock. */
static void report_progress(struct progress *progress)
{
    if (progress->cancelled)
        return;
    progress->last_ms = wt__now_ms();
    if (progress->report && progress->report(progress->context, progress->phase, progress->done, progress->total))
        progress->cancelled = true;
}

int wt__progress_phase(struct progress *progress, const char *phase, uint64_t total)
{
    if (!progress)
        return 0;
    pthread_mutex_lock(&progress->lock);
    progress->phase = phase;
    progress->done = 0;
    progress->total = total;
    report_progress(progress);
    int cancelled = check_cancelled(progress);
    pthread_mutex_unlock(&progress->lock);
    return cancelled;
}

int wt__progress_step(struct progress *progress, uint64_t steps)
{
    if (!progress)
        return 0;
    pthread_mutex_lock(&progress->lock);
    progress->done += steps;
    bool last = progress->total > 0 && progress->done == progress->total;
    if (last || wt__now_ms() - progress->last_ms >= INTERVAL_MS)
        report_progress(progress);
    int cancelled = check_cancelled(progress);
    pthread_mutex_unlock(&progress->lock);
    return cancelled;
}

struct wt_canceller {
    atomic_bool is_cancelled;
    wt_progress_fn progress;
    void *context;
};

int wt_canceller_new(wt_canceller **out, wt_progress_fn progress, void *context, wt_error *err)
{
    *out = malloc(sizeof **out);
    WT_CHECK_ALLOC(*out, err);
    atomic_init(&(*out)->is_cancelled, false);
    (*out)->progress = progress;
    (*out)->context = context;
    return 0;
}

void wt_canceller_free(wt_canceller *canceller)
{
    free(canceller);
}

void wt_canceller_cancel(wt_canceller *canceller)
{
    atomic_store(&canceller->is_cancelled, true);
}

int wt_canceller_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    wt_canceller *canceller = context;
    if (atomic_load(&canceller->is_cancelled))
        return 1;
    return canceller->progress ? canceller->progress(canceller->context, phase, done, total) : 0;
}
