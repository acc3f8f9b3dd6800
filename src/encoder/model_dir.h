/* model_dir.h: finds and describes models. A model is a folder in the layout of the Hugging Face hub. */
#ifndef WT_ENCODER_MODEL_DIR_H
#define WT_ENCODER_MODEL_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/* Used as the folder of the built-in encoder. */
#define MODEL_BUILT_IN ":built-in/" WT_BUILT_IN_MODEL
bool wt__model_is_built_in(const char *folder);
/* True if the folder exists or is MODEL_BUILT_IN. */
bool wt__model_exists(const char *folder);

enum { MODELS_MAX = 4096 }; /* maximum number of models in a listing */

/* Returns models_dir, else $WHICHTOOL_MODELS, else models/ in the data folder, allocated in the arena. Errors:
 * WT_ENOTFOUND (the environment names no data folder, base/file.h), WT_ENOMEM. */
int wt__models_folder(char **out, struct arena *arena, const char *models_dir, wt_error *err);

/* Returns the folder of a model, allocated in the arena. The folder need not exist.
 * A plain name is looked up in the models folder. If no model with config.json and weights is there, the result is
 * MODEL_BUILT_IN for the name WT_BUILT_IN_MODEL, or the folder of a model of this name that came with the program. If
 * there is no such model, the result is the path in the models folder.
 * A name with a slash is a model pulled as ORG/NAME, or else the path of a folder.
 * Errors: WT_EINVAL (empty name), and those of wt__models_folder. */
int wt__model_folder(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err);

/* Works like wt__model_folder, and fails with WT_ENOTFOUND if the folder does not exist. */
int wt__model_find_installed(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err);

/* Returns `name`. If it is NULL, returns the first of WT_DEFAULT_MODEL and WT_BASE_MODEL whose folder has config.json
 * and weights, or WT_BUILT_IN_MODEL if neither has them. The result is `name` or a static string. */
const char *wt__model_choose(const char *name, const char *models_dir);

/* Returns the last part of a model folder's path without trailing slashes. Borrows from `folder`. */
struct str wt__model_name(const char *folder);

/* True if a folder of wt__model_folder came with the program (wt__program_models) and is not in the models folder. */
bool wt__model_included(const char *folder, const char *models_dir);

/* Lists the models below `models`, sorted by name. A model is a folder with config.json and weights. A folder ORG that
 * is not a model is searched too, and its models are listed as ORG/NAME. The list is empty if `models` does not exist.
 * Names are allocated in the arena. Errors: WT_EIO, WT_ENOMEM. */
int wt__model_names(struct arena *arena, const char *models, char ***names, size_t *count, wt_error *err);

struct model_info {
    bool packed;              /* true if the packed model is current */
    const char *architecture; /* model_type of config.json; a static string */
    size_t dimension, layers, heads, max_tokens;
    uint64_t parameters; /* numbers in the weights file */
    uint64_t bytes;      /* size of the weights file */
};

/* Describes the model of a folder. Errors: WT_EMODEL (missing, damaged or unsupported), WT_EIO, WT_ENOMEM. */
int wt__model_info_read(struct model_info *out, const char *folder, wt_error *err);

#endif
