#include "learn/train_progress.h"

#include <math.h>

#include "base/clock.h"

static const double INTERVAL_MS = 100;

void wt__train_progress_init(struct train_progress *progress, wt_train_progress_fn report, void *context)
{
    *progress = (struct train_progress){.report = report, .context = context, .interval_ms = INTERVAL_MS};
    wt__train_progress_lesson(progress, "");
}

void wt__train_progress_lesson(struct train_progress *progress, const char *lesson)
{
    progress->state = (wt_train_progress){
        .lesson = lesson, .phase = "", .loss = NAN, .tokens_per_second = NAN, .best = NAN, .seconds_left = NAN};
}

static int tell(struct train_progress *progress)
{
    progress->last_ms = wt__now_ms();
    if (progress->report && progress->report(progress->context, &progress->state))
        progress->cancelled = true;
    return progress->cancelled;
}

int wt__train_progress_phase(struct train_progress *progress, const char *phase, uint64_t total)
{
    progress->state.phase = phase;
    progress->state.done = 0;
    progress->state.total = total;
    return tell(progress);
}

int wt__train_progress_step(struct train_progress *progress, uint64_t done)
{
    progress->state.done = done;
    if (done == progress->state.total || wt__now_ms() - progress->last_ms >= progress->interval_ms)
        return tell(progress);
    return progress->cancelled;
}

int wt__train_progress_forward(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct train_progress *progress = context;
    progress->state.phase = phase;
    progress->state.done = done;
    progress->state.total = total;
    return tell(progress); /* whoever calls keeps the pace */
}
