/* trained.h: the results of training for a store, as used by queries.
 *
 *   FOLDER/encoder/              a model directory: the encoder of requests and tools, if it was trained
 *   FOLDER/RECIPE/config.json    weights of the recipe's sources, its dev scores, its origin
 *   FOLDER/mlc/model.safetensors, FOLDER/...+refiner/   further data of these recipes
 *   FOLDER/set/config.json       the chooser of sets, calibrated on the hits of auto
 *   FOLDER/cross/                a cross-encoder of any origin: a model directory ...ForSequenceClassification
 *
 * The recipe's weights `tool2vec` and `mlc` define its vector of a tool:
 *
 *   d                        if both weights are 0, as in dpr: the unit vector of the tool's texts
 *   tool2vec * T + mlc * C   otherwise; retrieve/trained_vectors.h defines T and C */
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
#include "retrieve/trained_vectors.h"
#include "retrieve/past_requests.h"
#include "retrieve/retrieve.h"

#define TRAINED_CONFIG "config.json"
#define TRAINED_ENCODER "encoder"
#define TRAINED_CROSS "cross"
#define TRAINED_SET "set"
#define TRAINED_WEIGHTS "model.safetensors"

struct trained_recipe {
    const char *name;
    bool there; /* true if the folder has what the recipe needs */
    struct retriever retriever;
    float tool2vec, mlc;      /* weights of its tool vectors */
    const char *model, *kind; /* identify the set of its vectors in a snapshot */
    const char *runs;         /* for auto, the name of the chosen recipe; for other recipes, equal to `name` */
    const char *why;          /* reason of auto's choice; "" for other recipes */
    const char *identity;     /* identifies one training; "" if untrained */
    struct reranker reranker; /* for auto, shares the model of the chosen recipe */
};

struct trained {
    struct arena arena;
    struct encoder *own;           /* trained encoder; NULL if the recipes use the engine's encoder */
    const struct encoder *encoder; /* current encoder; never NULL */
    char key[65]; /* hash of the encoder, the configs and the MLC weights; identifies a training's vectors */
    struct tool2vec tool2vec;
    struct mlc mlc;                         /* count is 0 if untrained */
    struct past_requests past;              /* data of neighbours */
    struct trained_recipe recipes[RECIPES]; /* indexed by recipe_id */
    struct cross_encoder *cross;            /* NULL if the folder has no cross-encoder */
    const struct chooser *chooser;          /* NULL if not trained */
    char *notice;                           /* reason why some existing part cannot be used; NULL if all can be used */
    struct trained *next;                   /* next in the list of retired models */
};

/* True if the folder has a trained encoder. The engine's encoder is then not needed. */
bool wt__trained_brings_encoder(const char *folder);

/* Computes a stamp that changes when a config or weights of the folder are rewritten; 0 if the folder does not exist.
 * Errors: WT_EIO, WT_ETOOLONG (over 10,000 files), WT_ENOMEM. */
int wt__trained_stamp(uint64_t *out, const char *folder, wt_error *err);

/* Reads a folder. *out is NULL if the folder does not exist. *out is also NULL without an encoder, because all trained
 * data needs an encoder. Recipes trained with another encoder are ignored, and `notice` says so. base: the engine's
 * encoder, used if the folder has no encoder; must outlive *out; may be NULL. progress: reported while the encoder is
 * loaded; may be NULL. Errors: WT_EMODEL (malformed), WT_ENOMEM, WT_ECANCELLED. */
int wt__trained_open(struct trained **out, const char *folder, const struct encoder *base, struct progress *progress,
                     wt_error *err);
void wt__trained_close(struct trained *trained);

/* Returns the notice that a recipe is not used, in the arena. why: the reason. Returns NULL if out of memory. */
char *wt__trained_unused(const char *recipe, const char *why, struct arena *arena);

/* Returns the recipe if it can run, else NULL. Loading its second stage may still fail (wt__reranker_load). trained may
 * be NULL. */
const struct trained_recipe *wt__trained_recipe(const struct trained *trained, const char *name);

/* Computes a recipe's vector of a tool, out [D]. document [D]: the vector d. sum [D]: sum of the vectors of the tool's
 * usages. uses: number of usages. mlc_row: result of wt__mlc_row. */
void wt__trained_vector(const struct trained *trained, const struct trained_recipe *recipe, const float *document,
                        const float *sum, uint32_t uses, int64_t mlc_row, float *out);

/* Converts the config.json of a model trained by an earlier version: renames members with old names. If the new name
 * exists as well, it keeps its value. False if out of memory. */
bool wt__rename_members(json_t *config);

#endif
