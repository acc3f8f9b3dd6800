/* learn.h: the interface between a training and its lessons.
 *
 * A lesson is a row of the table in train.c: a name, descriptions, defaults, and a function that trains one model from
 * the examples and saves it in a folder of its own below `out`. To add one, add a file and a row; the command line, its
 * help and wt_train read the table.
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
    LESSON_NEEDS_ONE_SET = 2, /* a single catalogue, because it uses the retrieval over it */
    LESSON_NEEDS_WISH = 4,    /* must be named: takes too long to be part of "all" */
    LESSON_NEEDS_LAYERS = 8   /* an encoder with layers; skipped by "all" for a static one */
};

struct lesson;
struct dev_evaluator;
struct trainable;

struct training {
    wt_engine *engine;
    const wt_train_options *options; /* the caller's; 0 or NULL means the default */
    const struct lesson *lesson;     /* running lesson */
    uint64_t seed;
    unsigned threads;
    bool reduced;    /* products may round to bfloat16 */
    unsigned fields; /* bits of the fields that the encoder or cross-encoder reads, as chosen by the caller; 0 for the
                        default */
    uint64_t memory; /* maximum bytes to allocate */
    const char *out; /* folder of the trained models */
    int lock;        /* lock of that folder, or -1 */
    struct examples examples;
    wt_engine **engines;               /* [examples.part_count] engine with the catalogue of each part */
    wt_engine *others[EXAMPLES_PARTS]; /* [other_count] engines opened for the other parts */
    size_t other_count;
    struct train_progress progress;
    struct dev_evaluator *evaluator; /* shared by lessons after the encoder; NULL before its first use */
    struct arena arena;              /* memory of the report, which takes it over */
};

struct lesson {
    wt_lesson public;   /* name and description */
    const char *figure; /* name of its figure on dev */
    const char *losses; /* names separated by blanks, default first; "" if there is no choice */
    unsigned needs;     /* LESSON_NEEDS_... */
    size_t batch;       /* default number of requests per batch */
    double rate;        /* default learning rate; 0 if the lesson's plan has it */

    /* Trains and fills out, whose strings live in training->arena; lesson, figure and path are already set. Returns 0
     * or a negative WT_E... code. */
    int (*run)(struct training *training, wt_trained *out, wt_error *err);
};

/* Calls work for each of 0 .. count-1 on the training's threads. errors: [threads], zeroed; work fills the element of
 * its worker on failure, which is then copied to *err. Returns 0 or the result that stopped the run. */
int wt__training_run(const struct training *training, size_t count, pool_work work, void *context,
                     const wt_error *errors, wt_error *err);

/* Returns out/NAME in training->arena, or NULL if out of memory. */
char *wt__training_folder(struct training *training, const char *name);

/* Base model of a lesson. */
struct training_base {
    const char *folder;        /* in training->arena */
    char hash[65];             /* hash of the model's vectors, hexadecimal */
    char fields[MODEL_FIELDS]; /* names of the fields of a tool that it reads */
};
/* Returns the base model of the lessons after "encoder": out/encoder if that was trained from the engine's model, else
 * the engine's model. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__training_base(struct training *training, struct training_base *out, wt_error *err);
/* Returns the engine's model itself. */
int wt__training_model(struct training *training, struct training_base *out, wt_error *err);

/* Freezes the number of layers that the caller asked for. WT_EINVAL. */
int wt__training_freeze(const struct training *training, struct trainable *model, wt_error *err);

/* Returns the index of the chosen loss in lesson->losses. WT_EINVAL lists them. */
int wt__training_loss(const struct training *training, wt_error *err);

enum {
    LEAST_EPOCHS = 10, /* maximum epochs that struct lesson_plan.least may extend a training to */
    /* Measurements without improvement that end a training. With a few dozen dev requests, two mean little. */
    PATIENCE = 3
};

/* Defaults of a lesson, in addition to those of its row. */
struct lesson_plan {
    double rate;   /* 0 for the row's */
    double warmup; /* share of the steps */
    enum schedule schedule;
    double enough;    /* number of requests to process; rounded up to whole epochs; 0 for `most` */
    double most;      /* maximum epochs */
    double least;     /* minimum requests to process, even if that takes more than `most` epochs, up to LEAST_EPOCHS */
    const char *name; /* name of folder and checkpoint; NULL for the lesson's */
};

/* Builds the loop's options from the caller's and the lesson's, with a checkpoint next to the model's folder. *about is
 * the description of the training for config.json: data, base, options, seed; release it with json_decref. Trainings
 * with equal `about` give identical bits. Errors: WT_EINVAL, WT_ENOMEM. */
int wt__training_plan(struct training *training, const struct lesson_plan *plan, const struct training_base *base,
                      struct loop_options *out, json_t **about, wt_error *err);

/* True if a training to be resumed had already ended; fills out from the existing model. */
bool wt__training_done(const struct training *training, const struct loop_options *options, wt_trained *out);

/* Returns `about` with the figures and the training's identity: member "whichtool" of a model's config.json. NULL if
 * out of memory. */
json_t *wt__training_outcome(const json_t *about, const char *figure, const struct loop_state *state);

/* Fills figures, steps, epochs and seconds. */
void wt__training_result(const struct loop_result *result, wt_trained *out);

/* Returns the bytes of memory that the system can provide without swapping, or the rest of the limit of the process's
 * control group if that is less; 0 if unknown. */
uint64_t wt__memory_available(void);

#endif
