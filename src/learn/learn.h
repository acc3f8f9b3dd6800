/* learn.h: what a lesson sees of a training, and what it gives back.
 *
 * A lesson is a row of lessons.c: a name, words, its defaults, and a function that trains one model from the examples
 * and leaves it in a folder of its own name below `out`. Adding one is one file and one row; the command line, its help
 * and wt_train read the table.
 *
 *   wt_train (train.c)   opens the catalogue, reads the examples, runs the lessons, gathers the report
 *   a lesson             its objective, by the loop of learn/loop.h or by itself
 *
 * Lessons run on the caller's thread, one after the other, and share out work over training->threads. */
#ifndef WT_LEARN_LEARN_H
#define WT_LEARN_LEARN_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "encoder/config.h"
#include "engine/engine.h"
#include "learn/examples.h"
#include "learn/train_progress.h"
#include "learn/loop.h"

/* What a lesson cannot do without. */
enum {
    LESSON_NEEDS_MODEL = 1,   /* an encoder that is installed */
    LESSON_NEEDS_ONE_SET = 2, /* one catalogue alone: it answers from the retrieval over it */
    LESSON_NEEDS_WISH = 4,    /* to be asked for: it takes too long to be one of "all" */
    LESSON_NEEDS_LAYERS = 8   /* that encoder has some: with a static one it is left out of "all" */
};

struct lesson;
struct dev_evaluator;
struct trainable;

struct training {
    wt_engine *engine;
    const wt_train_options *options; /* the caller's: 0 or NULL means the default */
    const struct lesson *lesson;     /* that runs now */
    uint64_t seed;
    unsigned threads;
    bool reduced;    /* products may round to bfloat16 */
    unsigned fields; /* that the caller wants encoder or cross-encoder to read; 0: the usual ones */
    uint64_t memory; /* most bytes that may be taken */
    const char *out; /* folder of the trained models */
    int lock;        /* on it, or -1 */
    struct examples examples;
    wt_engine **engines;               /* [examples.part_count] the catalogue of each part; the first is `engine` */
    wt_engine *others[EXAMPLES_PARTS]; /* [other_count] that were opened for those beside it */
    size_t other_count;
    struct train_progress progress;
    struct dev_evaluator
        *evaluator;     /* what lessons after the encoder share (learn/dev_evaluator.h); NULL until one asks */
    struct arena arena; /* of the report: lives as long as that */
};

struct lesson {
    wt_lesson public;
    const char *figure; /* what it measures on dev */
    const char *losses; /* names with blanks between, its default first; "" where there is no choice */
    unsigned needs;     /* LESSON_NEEDS_... */
    size_t batch;       /* defaults */
    double rate;

    /* Fills out (strings in training->arena; lesson and figure are filled already). A negative result is a WT_E...
     * code with *err filled. */
    int (*run)(struct training *training, wt_trained *out, wt_error *err);
};

extern const struct lesson wt__lessons[];
extern const size_t wt__lesson_count;

/* ---------------------------------------------------------------- what lessons share */

/* out/NAME, in training->arena. NULL when memory is out. */
char *wt__training_folder(struct training *training, const char *name);

/* The folder of the model that lessons after "encoder" start from, the hash of its vectors, and what of a tool it
 * reads: out/encoder where it was trained from the engine's model, else that model. In training->arena. WT_EMODEL,
 * WT_ENOMEM. */
struct training_base {
    const char *folder;
    char hash[65], fields[MODEL_FIELDS];
};
int wt__training_base(struct training *training, struct training_base *out, wt_error *err);
/* The engine's model itself. */
int wt__training_model(struct training *training, struct training_base *out, wt_error *err);

/* Freezes the layers that the caller wants frozen. WT_EINVAL. */
int wt__training_freeze(const struct training *training, struct trainable *model, wt_error *err);

/* Which loss was asked for: its place among lesson->losses. WT_EINVAL lists them. */
int wt__training_loss(const struct training *training, wt_error *err);

enum {
    LEAST_EPOCHS = 10,
    PATIENCE = 3 /* measurements: of a few dozen dev requests two that stand still say nothing */
};

/* A lesson's defaults, beside those of its row. */
struct lesson_plan {
    double rate;   /* 0: the row's */
    double warmup; /* share of the steps */
    enum schedule schedule;
    double enough;    /* requests to be seen: of fewer, as many whole epochs as that makes; 0: `most` */
    double most;      /* epochs */
    double least;     /* requests to be seen, though it take more epochs than `most`, up to LEAST_EPOCHS */
    const char *name; /* of folder and checkpoint; NULL: the lesson's */
};

/* The loop's options from the caller's and the lesson's, with a checkpoint beside the folder of the model; and what the
 * model must remember of its training, for config.json: data, base, options, seed. *about ends with json_decref.
 * Two trainings with the same `about` end in the same bits. Errors: WT_EINVAL, WT_ENOMEM. */
int wt__training_plan(struct training *training, const struct lesson_plan *plan, const struct training_base *base,
                      struct loop_options *out, json_t **about, wt_error *err);

/* Whether a training that is to be resumed had ended already: out is then filled from the model that is there. */
bool wt__training_done(const struct training *training, const struct loop_options *options, wt_trained *out);

/* about with the figures and the training's identity: the "whichtool" member of a model's config.json. NULL when
 * memory is out. */
json_t *wt__training_outcome(const json_t *about, const char *figure, const struct loop_state *state);

/* Fills figures, steps, epochs and seconds. */
void wt__training_result(const struct loop_result *result, wt_trained *out);

#endif
