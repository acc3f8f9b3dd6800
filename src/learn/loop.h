/* loop.h: the training loop: progress reports, the order of examples, the steps, and checkpoints. */
#ifndef WT_LEARN_LOOP_H
#define WT_LEARN_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "nn/adamw.h"

/* Reports of a training's progress: the start and the end of each phase, and in between at most ten reports a second. A
 * report may cancel the training. Not thread-safe. */

struct train_progress {
    wt_train_progress_fn report; /* NULL for no reports */
    void *context;
    wt_train_progress state; /* content of the next report */
    double interval_ms;      /* minimum time between two reports */
    double last_ms;          /* time of the last report */
    bool cancelled;          /* true once a report has cancelled the training */
    struct arena *arena;     /* memory of measurements; NULL to keep none */
    const wt_measurement **measurements;
    size_t measurement_count, measurement_capacity;
    wt_dev_figure *sets; /* figures of the current measurement */
    size_t set_count, set_capacity;
};

void wt__train_progress_init(struct train_progress *progress, wt_train_progress_fn report, void *context);

/* Starts a lesson: sets its name, and resets the state and the measurements. */
void wt__train_progress_lesson(struct train_progress *progress, const char *lesson);

/* Starts and reports a phase. Returns non-zero if the training is cancelled. */
int wt__train_progress_phase(struct train_progress *progress, const char *phase, uint64_t total);
/* Reports the work done, unless the last report is too recent. The end of a phase is always reported. Returns non-zero
 * if the training is cancelled. */
int wt__train_progress_step(struct train_progress *progress, uint64_t done);

/* Records the figure of one data set for the current measurement. set: name of the data set, borrowed until the
 * measurement ends. Errors: WT_ENOMEM. */
int wt__train_progress_set(struct train_progress *progress, const char *set, double figure, wt_error *err);
/* Copies the measurements of the lesson to the arena, and stores them in *out. Errors: WT_ENOMEM. */
int wt__train_progress_move(struct train_progress *progress, wt_trained *out, wt_error *err);
void wt__train_progress_dispose(struct train_progress *progress);

/* Forwards the progress of another long operation of the library to a struct train_progress (context). Has the type
 * wt_progress_fn. */
int wt__train_progress_forward(void *context, const char *phase, uint64_t done, uint64_t total);

/* Selects the examples of each batch.
 *
 * Examples lie in consecutive parts, one for each catalogue. A batch has examples of only one part, because contrast
 * with a tool of another catalogue would teach nothing. The number of batches of a part is proportional to the square
 * root of its size, by the Sainte-Lague method. Within a part, batches run through a sequence of epochs, each with its
 * own random order. Batch number b depends only on (seed, b), not on earlier calls. */

struct sampled_part {
    size_t first, count; /* first example and number of examples */
    uint64_t epoch;      /* epoch whose order is in sampler.order; UINT64_MAX before the first epoch */
    uint64_t batches;    /* number of this part's batches among the batches before sampler.next */
};

struct sampler {
    uint64_t seed;
    size_t batch;
    struct sampled_part *parts; /* [part_count] */
    size_t part_count;
    uint32_t *order; /* [examples] numbers of the examples, each part shuffled within its range */
    uint64_t next;   /* number of the next batch; state of the Sainte-Lague method */
};

/* Opens a sampler. batch: examples per batch; a batch of a smaller part has all its examples. ends: [part_count] ends
 * of the parts; the last end is the number of examples. An empty part has no batches. Errors: WT_ENOMEM. */
int wt__sampler_open(struct sampler *out, uint64_t seed, size_t batch, const size_t *ends, size_t part_count,
                     wt_error *err);
void wt__sampler_dispose(struct sampler *sampler);

/* Selects the examples of batch number `batch`. chosen: room for sampler->batch numbers of examples. Returns the number
 * of examples. Selecting batches in ascending order is fastest. */
size_t wt__sampler_choose(struct sampler *sampler, uint64_t batch, uint32_t *chosen);

/* The training loop, independent of the trained model.
 *
 * An objective computes the steps. The loop orders the examples, distributes work over threads, drives the optimiser,
 * measures on dev, keeps the best model, and writes the state from which a stopped training resumes.
 *
 * All random numbers of step s come from a generator seeded by (seed, s). A batch depends only on the seed and its
 * number. So the state of a training consists of the parameters, the optimiser's moments, the number of the step and
 * the objective's buffers. A training that was stopped and resumed ends with the same bits as an uninterrupted
 * training.
 *
 * The parts of a step are: prepare, forward on each worker, loss, backward on each worker, reduce, optimiser step.
 * Worker w always computes share w of the batch, whichever thread runs the worker. So equal numbers of workers give
 * equal bits. */

/* Further state of a training: numbers that objective.renew recomputes after each measurement interval. */
struct train_buffers {
    float *values;
    size_t count;
};

/* Progress of a training. */
struct loop_state {
    uint64_t step, steps; /* completed and total steps */
    double before;        /* figure on dev before the first step; NaN if not measured */
    double best;          /* figure of the saved model; equal to `before` while no model is saved */
    uint64_t best_step;   /* step of the saved model; 0 while no model is saved */
    uint64_t measured;    /* last step that was measured */
    uint64_t worse;       /* consecutive measurements without improvement */
    double seconds;       /* total duration over all runs */
};

struct objective {
    void *self;
    struct model_parameter *parameters; /* borrowed by the optimiser until the loop ends */
    size_t parameter_count;
    size_t examples;         /* number of examples per epoch */
    const size_t *part_ends; /* [part_count] ends of the parts, which batches must not mix; the last is `examples` */
    size_t part_count;       /* 0 for a single part */
    size_t bytes;            /* estimate of the memory that self uses or will use; checked before the start */

    /* Allocates memory, after the estimate was accepted. May be NULL. */
    int (*begin)(void *self, wt_error *err);
    /* Prepares the work of a step. examples: [count] numbers of the examples. rng: generator for random draws. Adds the
     * number of tokens that forward will read to *tokens. */
    int (*prepare)(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens, wt_error *err);
    void (*forward)(void *self, unsigned worker); /* workers run in parallel; NULL if loss does all the work */
    double (*loss)(void *self); /* returns the loss of the whole batch; computes the gradients of forward's results */
    void (*backward)(void *self, unsigned worker);
    /* Adds up the gradients of all workers for part `part` of `parts` of the parameters. Parts run in parallel. */
    void (*reduce)(void *self, unsigned part, unsigned parts);
    /* Recomputes `buffers` from the parameters after each measurement interval. NULL without buffers. */
    int (*renew)(void *self, struct train_progress *progress, wt_error *err);
    struct train_buffers buffers; /* set by begin */
    /* Measures the figure on dev. A higher figure is better. NULL to keep the last model without measuring. */
    int (*measure)(void *self, struct train_progress *progress, double *figure, wt_error *err);
    /* Saves the current model and replaces the previous one. */
    int (*save)(void *self, const struct loop_state *state, wt_error *err);
    /* Restores the model from before the first step, because training did not improve it. NULL if it did not exist. */
    int (*revert)(void *self, const struct loop_state *state, wt_error *err);
};

struct loop_options {
    uint64_t seed;
    unsigned workers;
    uint64_t memory; /* maximum bytes of objective and optimiser; 0 for no limit */
    double epochs;
    size_t batch;      /* examples per batch; reduced to objective.examples if larger */
    size_t accumulate; /* batches per step; 0 for 1 */
    double rate;       /* peak learning rate */
    double warmup;     /* share of the steps during which the learning rate rises */
    enum schedule schedule;
    struct adamw_options adamw;
    bool keep_last;            /* keep the last measured model, whatever its figure */
    uint64_t patience;         /* value of loop_state.worse at which the training stops; 0 for no limit */
    const char *checkpoint;    /* file of the state; NULL to write no checkpoints */
    double checkpoint_seconds; /* seconds between two checkpoints, 0 for LOOP_CHECKPOINT; measurements write one too */
    bool resume;               /* resume from the checkpoint, if it exists */
    const char *identity;      /* identity of the training; a checkpoint with another identity is rejected */
};

enum {
    LOOP_CHECKPOINT = 300, /* default seconds between two checkpoints */
    LOOP_MEASUREMENTS = 2  /* minimum number of measurements in a training of at least two steps */
};

struct loop_result {
    struct loop_state state;
    double epochs;
    double loss; /* mean loss of the last steps of this run; NaN if it made no step */
    bool stopped_early;
};

/* Runs a training. Errors: WT_ENOMEM (with the estimate), WT_EMODEL (infinite or NaN loss or gradient), WT_EFORMAT
 * (damaged checkpoint, or of another training), WT_ECANCELLED, and those of the objective. Removes the checkpoint when
 * the training has ended. */
int wt__loop_run(struct objective *objective, const struct loop_options *options, struct train_progress *progress,
                 struct loop_result *out, wt_error *err);

/* Returns the number of steps of a training. */
uint64_t wt__loop_steps(const struct loop_options *options, size_t examples);

/* A checkpoint is a safetensors file with the state of a training: the parameters, the two moments of each parameter,
 * and the objective's buffers. The metadata contain the rest of the state as JSON. */

/* Writes a checkpoint. Replaces the file atomically. */
int wt__checkpoint_write(const char *path, const char *identity, const struct loop_state *state,
                         const struct adamw *adamw, const struct train_buffers *buffers, wt_error *err);

/* Reads parameters, moments, buffers and state. Returns 1, or 0 if the file does not exist. After an error the data
 * must not be used. Errors: WT_EFORMAT (damaged, or of another training), WT_EIO, WT_ENOMEM. */
int wt__checkpoint_read(const char *path, const char *identity, struct loop_state *state, struct adamw *adamw,
                        const struct train_buffers *buffers, wt_error *err);

/* Removes the file, if it exists. */
void wt__checkpoint_remove(const char *path);

#endif
