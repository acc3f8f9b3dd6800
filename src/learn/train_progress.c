#include "learn/train_progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

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
    progress->measurement_count = progress->set_count = 0;
}

void wt__train_progress_dispose(struct train_progress *progress)
{
    free(progress->measurements);
    free(progress->sets);
}

static int report_training(struct train_progress *progress)
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
    return report_training(progress);
}

int wt__train_progress_step(struct train_progress *progress, uint64_t done)
{
    progress->state.done = done;
    if (done == progress->state.total || wt__now_ms() - progress->last_ms >= progress->interval_ms)
        return report_training(progress);
    return progress->cancelled;
}

int wt__train_progress_forward(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct train_progress *progress = context;
    progress->state.phase = phase;
    progress->state.done = done;
    progress->state.total = total;
    return report_training(progress); /* the caller limits the rate */
}

int wt__train_progress_set(struct train_progress *progress, const char *set, double figure, wt_error *err)
{
    if (wt__grow((void **)&progress->sets, &progress->set_capacity, progress->set_count + 1, sizeof *progress->sets) <
        0)
        return wt__fail_nomem(err);
    progress->sets[progress->set_count++] = (wt_dev_figure){set, figure};
    return 0;
}

int wt__train_progress_measured(struct train_progress *progress, uint64_t step, double figure, wt_error *err)
{
    size_t count = progress->set_count;
    progress->set_count = 0;
    if (!progress->arena)
        return 0;
    wt_measurement *made = wt__arena_array(progress->arena, wt_measurement, 1);
    wt_dev_figure *sets = wt__arena_array(progress->arena, wt_dev_figure, count);
    if (!made || !sets ||
        wt__grow((void **)&progress->measurements, &progress->measurement_capacity, progress->measurement_count + 1,
                 sizeof(wt_measurement *)) < 0)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        sets[i] =
            (wt_dev_figure){wt__arena_copy(progress->arena, wt__str(progress->sets[i].set)), progress->sets[i].value};
        if (!sets[i].set)
            return wt__fail_nomem(err);
    }
    *made = (wt_measurement){.step = step, .figure = figure, .len = count, .sets = sets};
    progress->measurements[progress->measurement_count++] = progress->state.measured = made;
    return report_training(progress) ? wt__fail_cancelled(err) : 0;
}

int wt__train_progress_move(struct train_progress *progress, wt_trained *out, wt_error *err)
{
    size_t count = progress->measurement_count;
    const wt_measurement **all =
        progress->arena ? wt__arena_array(progress->arena, const wt_measurement *, count) : NULL;
    if (count > 0 && !all)
        return wt__fail_nomem(err);
    if (count > 0)
        memcpy(all, progress->measurements, count * sizeof *all);
    out->measurements = all;
    out->measurement_count = count;
    return 0;
}
