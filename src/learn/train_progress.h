/* train_progress.h: reports the progress of a training, at most ten times a second, and learns whether to stop. For one
 * thread at a time. */
#ifndef WT_LEARN_TRAIN_PROGRESS_H
#define WT_LEARN_TRAIN_PROGRESS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

struct train_progress {
    wt_train_progress_fn report; /* NULL for no reports */
    void *context;
    wt_train_progress state; /* set before each report */
    double interval_ms;      /* minimum interval of reports */
    double last_ms;
    bool cancelled;
    struct arena *arena; /* memory of measurements; NULL to keep none */
    const wt_measurement **measurements;
    size_t measurement_count, measurement_capacity;
    wt_dev_figure *sets; /* figures of the current measurement */
    size_t set_count, set_capacity;
};

void wt__train_progress_init(struct train_progress *progress, wt_train_progress_fn report, void *context);

/* Resets everything except the lesson's name. */
void wt__train_progress_lesson(struct train_progress *progress, const char *lesson);

/* Starts and reports a phase. Non-zero to stop. */
int wt__train_progress_phase(struct train_progress *progress, const char *phase, uint64_t total);
/* Reports the work done. The last step of a phase is always reported. Non-zero to stop. */
int wt__train_progress_step(struct train_progress *progress, uint64_t done);

/* Records the figure of a set, whose name is borrowed until the measurement's figure, and reports it at once. Errors:
 * WT_ENOMEM; WT_ECANCELLED from the report. */
int wt__train_progress_set(struct train_progress *progress, const char *set, double figure, wt_error *err);
int wt__train_progress_measured(struct train_progress *progress, uint64_t step, double figure, wt_error *err);
/* Moves the lesson's measurements into the arena. WT_ENOMEM. */
int wt__train_progress_move(struct train_progress *progress, wt_trained *out, wt_error *err);
void wt__train_progress_dispose(struct train_progress *progress);

/* Adapts a struct train_progress (context) to wt_progress_fn, for the library's other long operations. */
int wt__train_progress_forward(void *context, const char *phase, uint64_t done, uint64_t total);

#endif
