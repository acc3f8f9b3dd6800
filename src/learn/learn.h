/* learn.h: the interface between a training and its lessons.
 *
 * A lesson trains one model from the examples and saves it in its own folder below `out`. It is a row of the table in
 * train.c: a name, descriptions, defaults, and a function. To add a lesson, add a file with the function, and a row.
 * The command line, its help and wt_train read the table.
 *
 *   wt_train (train.c)   opens the catalogue, reads the examples, runs the lessons, builds the report
 *   a lesson             its objective, with the loop of learn/loop.h or its own code
 *
 * Lessons run on the caller's thread, one after the other, and distribute work over training->threads. */
#ifndef WT_LEARN_LEARN_H
#define WT_LEARN_LEARN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/pool.h"
#include "encoder/config.h"
#include "engine/engine.h"
#include "learn/examples.h"
#include "learn/loop.h"

/* Requirements of a lesson. */
enum {
    LESSON_NEEDS_MODEL = 1,   /* an installed encoder */
    LESSON_NEEDS_ONE_SET = 2, /* a single catalogue, because the lesson retrieves from its snapshot */
    LESSON_NEEDS_WISH = 4,    /* must be named by the user; takes too long to be part of "all" */
    LESSON_NEEDS_LAYERS = 8   /* an encoder with layers; "all" skips the lesson for a static encoder */
};

struct lesson;
struct dev_evaluator;
struct trainable;

struct training {
    wt_engine *engine;
    const wt_train_options *options; /* options of the caller; 0 or NULL for the default of a field */
    const struct lesson *lesson;     /* running lesson */
    uint64_t seed;
    unsigned threads;
    bool reduced; /* true if matrix products may round to bfloat16 */
    /* bits of the fields of a tool that the encoder or cross-encoder reads, from the options; 0 for the default */
    unsigned fields;
    uint64_t memory; /* maximum bytes to allocate */
    const char *out; /* folder of the trained models */
    int lock;        /* lock of the folder `out`, or -1 */
    struct examples examples;
    wt_engine **engines;               /* [examples.part_count] engine with the catalogue of each part */
    wt_engine *others[EXAMPLES_PARTS]; /* [other_count] engines opened for the other parts */
    size_t other_count;
    struct train_progress progress;
    struct dev_evaluator *evaluator; /* shared by the lessons after "encoder"; NULL before its first use */
    struct arena arena;              /* memory of the report; the report takes it over at the end */
};

struct lesson {
    wt_lesson public;   /* name and description */
    const char *figure; /* name of the lesson's figure on dev */
    const char *losses; /* names of the losses, separated by blanks, default first; "" if there is no choice */
    unsigned needs;     /* LESSON_NEEDS_... */
    size_t batch;       /* default number of requests per batch */
    double rate;        /* default learning rate; 0 if struct lesson_plan has it or the lesson has no steps */

    /* Trains a model and fills *out. out->lesson, figure and path are already set. Strings of *out live in
     * training->arena. Returns 0 or a negative WT_E... code. */
    int (*run)(struct training *training, wt_trained *out, wt_error *err);
};

/* Calls work for each of 0 .. count-1 on the training's threads. errors: [threads] zeroed. If work fails, it fills the
 * element of its worker, and this error is copied to *err. Returns 0 or the result that stopped the run. */
int wt__training_run(const struct training *training, size_t count, pool_work work, void *context,
                     const wt_error *errors, wt_error *err);

/* Returns the path training->out/NAME, allocated in training->arena. Returns NULL if out of memory. */
char *wt__training_folder(struct training *training, const char *name);

/* Base model of a lesson. */
struct training_base {
    const char *folder;        /* borrowed from the engine or from training->arena */
    char hash[65];             /* hash of the model's vectors, hexadecimal */
    char fields[MODEL_FIELDS]; /* names of the fields of a tool that the model reads */
};
/* Finds the base model of the lessons after "encoder": the model in out/encoder if it was trained from the engine's
 * model, else the engine's model. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__training_base(struct training *training, struct training_base *out, wt_error *err);
/* Finds the engine's model. */
int wt__training_model(struct training *training, struct training_base *out, wt_error *err);

/* Removes upper layers, and freezes the embeddings and the first layers, as the options specify. Returns 0 or
 * WT_EINVAL. */
int wt__training_layers(const struct training *training, struct trainable *model, wt_error *err);

/* Returns the index in lesson->losses of the loss given in the options, or 0 if no loss is given. Returns WT_EINVAL for
 * an unknown loss. */
int wt__training_loss(const struct training *training, wt_error *err);

enum {
    LEAST_EPOCHS = 10, /* maximum epochs to which lesson_plan.least may extend a training */
    /* Number of measurements in a row without improvement after which a training ends. Two are too few: with a few
     * dozen dev requests, figures vary by chance. */
    PATIENCE = 3
};

/* Defaults of a lesson, in addition to those of its row. */
struct lesson_plan {
    double rate;   /* learning rate; 0 for the rate in the lesson's row */
    double warmup; /* share of the steps */
    enum schedule schedule;
    double enough; /* requests to process, rounded to whole epochs if that is an epoch or more; 0 for `most` epochs */
    double most;   /* maximum epochs, unless `least` raises it */
    double least;  /* raises `most` so that this many requests are processed, but not above LEAST_EPOCHS */
    const char *name; /* name of the folder and the checkpoint; NULL for the lesson's name */
};

/* Builds the options of the loop from the options of the caller and the defaults of the lesson. The checkpoint is next
 * to the model's folder. *about: description of the training for config.json (data, base, options, seed), to be
 * released with json_decref. Trainings with equal `about` give identical bits. Errors: WT_EINVAL, WT_ENOMEM. */
int wt__training_plan(struct training *training, const struct lesson_plan *plan, const struct training_base *base,
                      struct loop_options *out, json_t **about, wt_error *err);

/* True if the training should be resumed but has already ended. Then fills *out from the existing model. */
bool wt__training_done(const struct training *training, const struct loop_options *options, wt_trained *out);

/* Returns the member "whichtool" of a model's config.json: `about`, the figures and the numbers of steps.
 * Returns NULL if out of memory. */
json_t *wt__training_outcome(const json_t *about, const char *figure, const struct loop_state *state);

/* Sets the figures, steps, epochs and seconds of *out. */
void wt__training_result(const struct loop_result *result, wt_trained *out);

/* Returns the available memory in bytes, or 0 if unknown. This is the smaller of two values: the memory that the system
 * can provide without swapping, and the unused part of the limit of the process's control group. */
uint64_t wt__memory_available(void);

#endif
