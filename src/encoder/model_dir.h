/* model_dir.h: where models live, and what is there. A model is a folder in the layout of the Hugging Face hub. */
#ifndef WT_ENCODER_MODEL_DIR_H
#define WT_ENCODER_MODEL_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/* Stands where a model's folder would, for the encoder that is built in. */
#define MODEL_BUILT_IN ":built-in/" WT_BUILT_IN_MODEL
bool wt__model_is_built_in(const char *folder);
/* Whether the folder is there, or none is needed. */
bool wt__model_is_there(const char *folder);

enum { MODELS_MAX = 4096 }; /* folders looked at in one models folder */

/* models_dir, else $WHICHTOOL_MODELS, else the data folder's models/. In the arena.
 * Errors: WT_ENOTFOUND (no environment says where, base/file.h), WT_ENOMEM. */
int wt__models_folder(char **out, struct arena *arena, const char *models_dir, wt_error *err);

/* The folder of a model: of that name below the models folder, or, where that holds no config.json and weights, of the
 * models that came with the program; of WT_BUILT_IN_MODEL MODEL_BUILT_IN in place of the latter; when the name holds a
 * slash, that of ORG/NAME below the models folder, where such a model was pulled, else that folder itself. It need not
 * be there. In the arena. Errors: WT_EINVAL (no name), and as of wt__models_folder. */
int wt__model_folder(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err);

/* The same, of a model that is there; else WT_ENOTFOUND. */
int wt__model_installed(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err);

/* The model that is meant: the named one, or, where name is NULL, the first of WT_DEFAULT_MODEL, WT_BASE_MODEL and
 * WT_BUILT_IN_MODEL whose folder holds config.json and weights: half a copy is none yet. Borrowed from name, or static.
 */
const char *wt__model_chosen(const char *name, const char *models_dir);

/* The last part of a model folder's path. Borrowed from it, without a slash behind it where the path has one. */
struct str wt__model_name(const char *folder);

/* Whether a folder of wt__model_folder is one of the models that came with the program (wt__program_models), and not in
 * the models folder. */
bool wt__model_included(const char *folder, const char *models_dir);

/* Folders below the folder `models` that hold a config.json and weights, and those in its other folders as ORG/NAME,
 * sorted by name; a folder that is not there holds none. Names live in the arena. Errors: WT_EIO, WT_ENOMEM. */
int wt__model_names(struct arena *arena, const char *models, char ***names, size_t *count, wt_error *err);

struct model_info {
    bool packed;              /* the packed cache is there and current */
    const char *architecture; /* model_type of config.json; static */
    size_t dimension, layers, heads, max_tokens;
    uint64_t parameters; /* numbers in the weights file */
    uint64_t bytes;      /* of the weights file */
};

/* Errors: WT_EMODEL (missing, damaged or unsupported), WT_ENOMEM. */
int wt__model_info_read(struct model_info *out, const char *folder, wt_error *err);

#endif
