/* train_progress.h: tells a caller how a training goes, at most ten times a second, and hears whether to stop. Used
 * from one thread at a time. */
#ifndef WT_LEARN_TRAIN_PROGRESS_H
#define WT_LEARN_TRAIN_PROGRESS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

struct train_progress {
    wt_train_progress_fn report; /* NULL: nobody listens */
    void *context;
    wt_train_progress state; /* fill it, then tell */
    double interval_ms;      /* between two tellings */
    double last_ms;
    bool cancelled;
    struct arena *arena; /* of measurements; NULL: none is kept */
    const wt_measurement **measurements;
    size_t measurement_count, measurement_capacity;
    wt_dev_figure *sets; /* of the measurement in hand */
    size_t set_count, set_capacity;
};

void wt__train_progress_init(struct train_progress *progress, wt_train_progress_fn report, void *context);

/* Everything but the lesson's name is unknown again. */
void wt__train_progress_lesson(struct train_progress *progress, const char *lesson);

/* Starts a phase and tells of it. Non-zero: stop. */
int wt__train_progress_phase(struct train_progress *progress, const char *phase, uint64_t total);
/* So far is done. The last step of a phase is always told. Non-zero: stop. */
int wt__train_progress_step(struct train_progress *progress, uint64_t done);

/* A set's figure, whose name is borrowed until the figure of the measurement, which is told at once. Errors: WT_ENOMEM;
 * WT_ECANCELLED, of the latter. */
int wt__train_progress_set(struct train_progress *progress, const char *set, double figure, wt_error *err);
int wt__train_progress_measured(struct train_progress *progress, uint64_t step, double figure, wt_error *err);
/* Moves the measurements of the lesson into the arena. WT_ENOMEM. */
int wt__train_progress_take(struct train_progress *progress, wt_trained *out, wt_error *err);
void wt__train_progress_dispose(struct train_progress *progress);

/* A wt_progress_fn with a struct train_progress as its context, for the library's own long operations. */
int wt__train_progress_forward(void *context, const char *phase, uint64_t done, uint64_t total);

#endif
