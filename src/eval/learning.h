/* learning.h: the store and the models for recipes that need training. The store has the train split recorded as use;
 * the models are trained on that split and selected on the dev split.
 *
 *   CACHE/KEY.wt           the corpus and the usages
 *   CACHE/KEY.wt-models/   the models; the file "finished" lists the completed lessons
 *   CACHE/KEY.wt-data/     the training data, if it is a part of the train split
 *
 * KEY is the SHA-256 of all inputs: corpus, training and dev requests, seed, model, library version. Each of them may
 * be deleted at any time. */
#ifndef WT_EVAL_LEARNING_H
#define WT_EVAL_LEARNING_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "recipe/trained.h"

struct eval_learning {
    wt_eval_options options; /* the caller's; set before wt__learning_plan */
    struct arena arena;
    const char *dir;        /* the data set */
    const char *data;       /* training data: dir, or a part of it */
    const char *store;      /* path */
    const char *models;     /* folder */
    size_t requests;        /* number of training requests */
    bool other_data;        /* the data set has no train split: options.trained holds models of other data */
    const char *trained_on; /* data named by the first of those models, or NULL */
    double seconds;         /* training time of this run; 0 if the models existed */
    wt_error *err;
};

/* True if the data set has a train split. */
bool wt__has_train_split(const char *dir);

/* True if the recipe needs training, or is better with it. */
bool wt__recipe_uses_training(const char *recipe);

/* True if training takes so long that the caller must name the recipe. */
bool wt__recipe_trains_slowly(const char *recipe);

/* True if the recipe's model exists. trained: NULL if no model exists. */
bool wt__recipe_is_trained(const struct trained *trained, const char *recipe);

/* Reads the splits and determines the paths. */
int wt__learning_plan(struct eval_learning *learning, const char *dir, wt_error *err);

/* Opens the store; imports the corpus and records the usages if that is still to do. */
int wt__learning_open(struct eval_learning *learning, wt_engine **out);

/* Makes the models of these recipes available: trains the missing ones, or checks that the models in options.trained
 * were trained on this data (not checked without a train split). Then updates the vectors. recipes: [count] names;
 * recipes without training are skipped, "auto" needs every model. Errors: WT_EFORMAT (trained on other data), and those
 * of wt_train. */
int wt__learning_train(struct eval_learning *learning, wt_engine *engine, const char *const *recipes, size_t count);

/* Appends a comma and the member "trained" of a row's settings. Does nothing for a recipe without training. */
int wt__learning_settings(struct eval_learning *learning, wt_engine *engine, const char *recipe, struct buffer *out);

void wt__learning_dispose(struct eval_learning *learning);

#endif
