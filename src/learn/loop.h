/* loop.h: the steps of a training, whatever is trained.
 *
 * An objective says what a step computes; the loop says in which order the examples come, shares the work out over
 * threads, steers the optimiser, measures on dev, keeps the best model, writes the state from which a stopped training
 * goes on, and ends.
 *
 * Everything random in step s is drawn from a generator that is seeded by (seed, s), and the batches are of the
 * seed and their numbers (learn/sampler.h). So the state of a training is its parameters, the optimiser's means, the
 * number of its step and the objective's buffers, and a training that was stopped, or killed, and resumed ends in the
 * bits of one that ran through.
 *
 * A step: prepare, forward a worker, loss, backward a worker, reduce, the optimiser's step. Workers are numbers, not
 * threads: worker w always does share w of the batch, so the same number of workers gives the same bits. */
#ifndef WT_LEARN_LOOP_H
#define WT_LEARN_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rng.h"
#include "learn/train_progress.h"
#include "nn/adamw.h"

/* What the state of a training has beside parameters and means: numbers that the objective makes now and then, and
 * that the steps after read. */
struct train_buffers {
    float *values;
    size_t count;
};

/* How far a training is. */
struct loop_state {
    uint64_t step, steps; /* done, and all */
    double before;        /* the figure on dev before the first step; NaN: none */
    double best;          /* of the model that was saved; `before` while none was */
    uint64_t best_step;   /* 0: none was better than before */
    uint64_t measured;    /* the last step after which the figure was measured */
    uint64_t worse;       /* measurements since the best one */
    double seconds;       /* that the training took so far, in all its runs */
};

struct objective {
    void *self;
    struct parameter *parameters; /* borrowed by the optimiser until the loop ends */
    size_t parameter_count;
    size_t examples; /* of an epoch */
    /* Where the parts that batches are kept apart by end (learn/sampler.h), the last at `examples`; 0: all are one. */
    const size_t *part_ends;
    size_t part_count;
    size_t bytes; /* that self takes or will take: for the estimate before the start */

    /* Takes up what the loop is about to use; called once the estimate was found to fit. May be NULL. */
    int (*begin)(void *self, wt_error *err);
    /* The step's work: examples [count] by number. rng: for what is drawn. *tokens: what forward will read. */
    int (*prepare)(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens, wt_error *err);
    void (*forward)(void *self, unsigned worker); /* each worker on its own thread; NULL: loss does it all */
    double (*loss)(void *self);                   /* of the whole batch, and the gradients of what forward made */
    void (*backward)(void *self, unsigned worker);
    /* Adds the workers' gradients up: part `part` of `parts`, each on its own thread. */
    void (*reduce)(void *self, unsigned part, unsigned parts);
    /* Between two measurements' stretches of steps, not before the first: makes `buffers` anew from the parameters and
     * the seed alone. NULL: there are none. */
    int (*renew)(void *self, struct train_progress *progress, wt_error *err);
    struct train_buffers buffers; /* set by begin */
    /* The figure on dev, higher is better. NULL: nothing is measured, and the last model is kept. */
    int (*measure)(void *self, struct train_progress *progress, double *figure, wt_error *err);
    /* Leaves the model as it is now where it belongs, replacing the last one. */
    int (*save)(void *self, const struct loop_state *state, wt_error *err);
    /* Leaves the model as it was before the first step: training made it no better. NULL: there was none. */
    int (*revert)(void *self, const struct loop_state *state, wt_error *err);
};

struct loop_options {
    uint64_t seed;
    unsigned workers;
    uint64_t memory; /* most bytes that objective and optimiser may take; 0: no limit */
    double epochs;
    size_t batch;      /* examples at once; at most objective.examples are taken */
    size_t accumulate; /* batches a step; 0: 1 */
    double rate;       /* highest */
    double warmup;     /* share of the steps in which it rises */
    enum schedule schedule;
    struct adamw_options adamw;
    bool keep_last;            /* the model of the last measurement is kept, whatever it measured */
    uint64_t patience;         /* stop after so many measurements without a better figure; 0: never */
    const char *checkpoint;    /* file of the state; NULL: none is kept */
    double checkpoint_seconds; /* between two states; they also come after each measurement; 0: LOOP_CHECKPOINT */
    bool resume;               /* go on from the checkpoint where there is one */
    const char *identity;      /* names the training: a checkpoint of another one is refused */
};

enum { LOOP_CHECKPOINT = 300, /* seconds */ LOOP_MEASUREMENTS = 2 /* at least, in a training */ };

struct loop_result {
    struct loop_state state;
    double epochs;
    double loss; /* mean of the last steps of this run; NaN: it made none */
    bool stopped_early;
};

/* Errors: WT_ENOMEM (with the estimate), WT_EMODEL (the loss or a gradient became infinite or no number), WT_EFORMAT
 * (the checkpoint is damaged or of another training), WT_ECANCELLED, and those of the objective. The checkpoint goes
 * when the training has ended. */
int wt__loop_run(struct objective *objective, const struct loop_options *options, struct train_progress *progress,
                 struct loop_result *out, wt_error *err);

/* Steps of a training. */
uint64_t wt__loop_steps(const struct loop_options *options, size_t examples);

#endif
