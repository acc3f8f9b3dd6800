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
#include "encoder/config.h"
#include "engine/engine.h"
#include "learn/examples.h"
#include "learn/loop.h"

/* ---------------------------------------------------------------- lessons */

/* Requirements of a lesson. */
enum {
    LESSON_NEEDS_MODEL = 1,   /* an installed encoder */
    LESSON_NEEDS_ONE_SET = 2, /* a single catalogue, because it uses the retrieval over it */
    LESSON_NEEDS_WISH = 4,    /* must be requested: takes too long to be part of "all" */
    LESSON_NEEDS_LAYERS = 8   /* an encoder with layers; skipped by "all" for a static one */
};

struct lesson;
struct dev_evaluator;
struct trainable;

struct training {
    wt_engine *engine;
    const wt_train_options *options; /* the caller's; 0 or NULL means the default */
    const struct lesson *lesson;     /* lesson that is running */
    uint64_t seed;
    unsigned threads;
    bool reduced;    /* products may round to bfloat16 */
    unsigned fields; /* fields for encoder or cross-encoder chosen by the caller; 0 for the default */
    uint64_t memory; /* maximum bytes to allocate */
    const char *out; /* folder of the trained models */
    int lock;        /* lock of that folder, or -1 */
    struct examples examples;
    wt_engine **engines;               /* [examples.part_count] catalogue of each part; the first is `engine` */
    wt_engine *others[EXAMPLES_PARTS]; /* [other_count] engines opened for the other parts */
    size_t other_count;
    struct train_progress progress;
    struct dev_evaluator
        *evaluator;     /* shared by lessons after the encoder (learn/dev_evaluator.h); NULL before its first use */
    struct arena arena; /* memory of the report; lives as long as it */
};

struct lesson {
    wt_lesson public;
    const char *figure; /* name of its figure on dev */
    const char *losses; /* names separated by blanks, default first; "" if there is no choice */
    unsigned needs;     /* LESSON_NEEDS_... */
    size_t batch;       /* defaults */
    double rate;

    /* Fills out, whose strings live in training->arena; lesson and figure are already set. Negative WT_E... code with
     * *err on error. */
    int (*run)(struct training *training, wt_trained *out, wt_error *err);
};

/* ---------------------------------------------------------------- shared by lessons */

/* Returns out/NAME in training->arena, or NULL if out of memory. */
char *wt__training_folder(struct training *training, const char *name);

/* Base model of the lessons after "encoder": its folder, the hash of its vectors, and the fields of a tool that it
 * reads. It is out/encoder if that was trained from the engine's model, else the engine's model. In training->arena.
 * WT_EMODEL, WT_ENOMEM. */
struct training_base {
    const char *folder;
    char hash[65], fields[MODEL_FIELDS];
};
int wt__training_base(struct training *training, struct training_base *out, wt_error *err);
/* Returns the engine's model itself. */
int wt__training_model(struct training *training, struct training_base *out, wt_error *err);

/* Freezes the number of layers that the caller asked for. WT_EINVAL. */
int wt__training_freeze(const struct training *training, struct trainable *model, wt_error *err);

/* Returns the index of the chosen loss in lesson->losses. WT_EINVAL lists them. */
int wt__training_loss(const struct training *training, wt_error *err);

enum {
    LEAST_EPOCHS = 10,
    PATIENCE = 3 /* measurements; with a few dozen dev requests, two without a change mean little */
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

/* ---------------------------------------------------------------- memory */

/* The amount of memory available to this process. */

/* Returns the bytes that the system can provide without swapping, or the rest of the process's control group if that is
 * less. 0 if unknown. */
uint64_t wt__memory_available(void);

#endif
