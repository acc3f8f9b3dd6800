/* trained.h: what training left for a store, as a query uses it.
 *
 *   FOLDER/encoder/           a model directory: the encoder of requests and tools, when it was trained too
 *   FOLDER/RECIPE/config.json weights of the recipe's evidence, its dev scores, where it came from
 *   FOLDER/mlc/model.safetensors, FOLDER/...+refiner/   what those recipes need beside weights
 *   FOLDER/set/config.json    the chooser of sets, calibrated on the hits of auto
 *   FOLDER/cross/             a cross-encoder, by whoever made it: a model directory ...ForSequenceClassification
 *
 * Every trained retriever is a weighing of words and of one vector a tool. That of dpr is d, as it is; the others' is
 *
 *   tool2vec * T + mlc * C
 *
 * with d the unit vector of the tool's texts, T of retrieve/tool2vec.h and C of retrieve/mlc.h. */
#ifndef WT_RECIPE_TRAINED_H
#define WT_RECIPE_TRAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "catalog/tool.h"
#include "choose/chooser.h"
#include "encoder/encoder.h"
#include "recipe/recipes.h"
#include "rerank/reranker.h"
#include "retrieve/mlc.h"
#include "retrieve/past_requests.h"
#include "retrieve/retrieve.h"
#include "retrieve/tool2vec.h"

#define TRAINED_CONFIG "config.json"
#define TRAINED_ENCODER "encoder"
#define TRAINED_CROSS "cross"
#define TRAINED_SET "set"
#define TRAINED_WEIGHTS "model.safetensors"

struct trained_recipe {
    const char *name;
    bool there;
    struct retriever retriever;
    float tool2vec, mlc;      /* of its tool vectors */
    const char *model, *kind; /* the snapshot's set of them */
    const char *runs;         /* auto: the name of what was chosen; else its own */
    const char *why;          /* auto: how that was found; else "" */
    const char *identity;     /* of its training; "" when it has none */
    struct reranker reranker; /* its model is another recipe's where auto chose that one */
};

struct trained {
    struct arena arena;
    struct encoder *own;           /* the trained encoder; NULL: the recipes use the engine's */
    const struct encoder *encoder; /* the one in use; never NULL */
    char key[65];                  /* of encoder, weights and head: tells vectors of one training from another's */
    struct tool2vec tool2vec;
    struct mlc mlc;                         /* count 0: none */
    struct past_requests past;              /* of neighbours */
    struct trained_recipe recipes[RECIPES]; /* by recipe_id */
    struct cross_encoder *cross;            /* NULL: there is none */
    const struct chooser *chooser;          /* NULL: there is none */
    char *notice;                           /* why something that is there cannot be used, or NULL */
    struct trained *next;                   /* of those before it, when it was replaced */
};

/* Whether the folder has an encoder of its own: then it is the one in use, and the engine's need not be opened. */
bool wt__trained_brings_encoder(const char *folder);

/* A number that changes when a config or weights of the folder are written anew; 0 where there is no folder. Errors:
 * WT_EIO, WT_ETOOLONG (over 10,000 files), WT_ENOMEM. */
int wt__trained_stamp(uint64_t *out, const char *folder, wt_error *err);

/* Reads a folder. base: the engine's encoder, for a folder that brings none; NULL: there is none; outlives out. *out is
 * NULL when the folder is not there, and when there is neither encoder: nothing that was trained does without. A recipe
 * that was made with another encoder than the one found is left out, and notice says so. progress is heard while its
 * encoder is loaded; may be NULL. Errors: WT_EMODEL (malformed), WT_ENOMEM, WT_ECANCELLED.
 */
int wt__trained_open(struct trained **out, const char *folder, const struct encoder *base, struct progress *progress,
                     wt_error *err);
void wt__trained_close(struct trained *trained);

/* The sentence that a trained recipe is not used, and why, in the arena; NULL when memory is out. */
char *wt__trained_unused(const char *recipe, const char *why, struct arena *arena);

/* The recipe when it can run, as far as that is known before its second stage is read (wt__reranker_load), else NULL.
 * trained may be NULL. */
const struct trained_recipe *wt__trained_recipe(const struct trained *trained, const char *name);

/* The tool vector of a recipe. document [D]: d; sum [D] and uses: of its usages; mlc_row: of wt__mlc_row. */
void wt__trained_vector(const struct trained *trained, const struct trained_recipe *recipe, const float *document,
                        const float *sum, uint32_t uses, int64_t mlc_row, float *out);

#endif
