/* learning.h: what a recipe that needs training is measured with: a store in which the data set's train split was
 * recorded as use, and models that were trained on that split and chosen on the dev split.
 *
 *   CACHE/KEY.wt           the corpus and the usages
 *   CACHE/KEY.wt-models/   the models, and in "finished" the lessons that ended
 *   CACHE/KEY.wt-data/     what is learned from, when that is a part of the train split
 *
 * KEY is the SHA-256 of all that decides them: corpus, training and dev requests, seed, model, library version. Any of
 * them may be deleted at any time. */
#ifndef WT_EVAL_LEARNING_H
#define WT_EVAL_LEARNING_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "recipe/trained.h"

struct learning {
    wt_eval_options options; /* the caller's, filled in before wt__learning_plan */
    struct arena arena;
    const char *dir;    /* the data set */
    const char *data;   /* what is learned from: dir, or a part of it */
    const char *store;  /* path */
    const char *models; /* folder */
    size_t requests;    /* that are learned from */
    bool other_data;    /* the set has no train split: the models in options.trained are of other data */
    const char
        *trained_on; /* what the first of those says that it was trained on; NULL: nothing, or other_data is false */
    double seconds;  /* that training took now; 0: the models were there */
    wt_error *err;
};

/* Whether the data set has a train split. */
bool wt__learning_possible(const char *dir);

/* Whether the recipe needs training, or is the better for it. */
bool wt__learning_helps(const char *recipe);

/* Whether that is so much of it that it is to be asked for by name. */
bool wt__learning_takes_long(const char *recipe);

/* Whether its model is there. trained: NULL when nothing is. */
bool wt__learning_there(const struct trained *trained, const char *recipe);

/* Reads the splits and settles the paths. */
int wt__learning_plan(struct learning *learning, const char *dir, wt_error *err);

/* Opens the store, importing and recording what was not yet. */
int wt__learning_open(struct learning *learning, wt_engine **out);

/* Sees to it that the models of these recipes are there: trains those that are not, or looks whether those in
 * options.trained are of this data, where it has any to train on. recipes: [count] names; those that need no training
 * are passed over, "auto" needs every model. Then brings the vectors up to date. Errors: WT_EFORMAT (trained on other
 * data), those of wt_train. */
int wt__learning_train(struct learning *learning, wt_engine *engine, const char *const *recipes, size_t count);

/* The member "trained" of a row's settings, after a comma; nothing for a recipe without training. */
int wt__learning_settings(struct learning *learning, wt_engine *engine, const char *recipe, struct buffer *out);

void wt__learning_dispose(struct learning *learning);

#endif
