#include "learn/listener.h"

#include <math.h>

#include "base/clock.h"

static const double INTERVAL_MS = 100;

void wt__listener_init(struct listener *listener, wt_train_progress_fn report, void *context)
{
    *listener = (struct listener){.report = report, .context = context, .interval_ms = INTERVAL_MS};
    wt__listener_lesson(listener, "");
}

void wt__listener_lesson(struct listener *listener, const char *lesson)
{
    listener->state = (wt_train_progress){
        .lesson = lesson, .phase = "", .loss = NAN, .tokens_per_second = NAN, .best = NAN, .seconds_left = NAN};
}

static int tell(struct listener *listener)
{
    listener->last_ms = wt__now_ms();
    if (listener->report && listener->report(listener->context, &listener->state))
        listener->cancelled = true;
    return listener->cancelled;
}

int wt__listener_phase(struct listener *listener, const char *phase, uint64_t total)
{
    listener->state.phase = phase;
    listener->state.done = 0;
    listener->state.total = total;
    return tell(listener);
}

int wt__listener_step(struct listener *listener, uint64_t done)
{
    listener->state.done = done;
    if (done == listener->state.total || wt__now_ms() - listener->last_ms >= listener->interval_ms)
        return tell(listener);
    return listener->cancelled;
}

int wt__listener_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct listener *listener = context;
    listener->state.phase = phase;
    listener->state.done = done;
    listener->state.total = total;
    return tell(listener); /* whoever calls keeps the pace */
}
