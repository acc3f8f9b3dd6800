/* train_progress.h: tells a caller how a training goes, at most ten times a second, and hears whether to stop. Used
 * from one thread at a time. */
#ifndef WT_LEARN_TRAIN_PROGRESS_H
#define WT_LEARN_TRAIN_PROGRESS_H

#include <stdbool.h>

#include "base/error.h"

struct train_progress {
    wt_train_progress_fn report; /* NULL: nobody listens */
    void *context;
    wt_train_progress state; /* fill it, then tell */
    double interval_ms;      /* between two tellings */
    double last_ms;
    bool cancelled;
};

void wt__train_progress_init(struct train_progress *progress, wt_train_progress_fn report, void *context);

/* Everything but the lesson's name is unknown again. */
void wt__train_progress_lesson(struct train_progress *progress, const char *lesson);

/* Starts a phase and tells of it. Non-zero: stop. */
int wt__train_progress_phase(struct train_progress *progress, const char *phase, uint64_t total);
/* So far is done. The last step of a phase is always told. Non-zero: stop. */
int wt__train_progress_step(struct train_progress *progress, uint64_t done);

/* A wt_progress_fn with a struct train_progress as its context, for the library's own long operations. */
int wt__train_progress_forward(void *context, const char *phase, uint64_t done, uint64_t total);

#endif
