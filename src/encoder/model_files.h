/* model_files.h: making one model directory from another: what is not weights goes along, so that the reference
 * libraries find in the new one what they found in the source. Each file is replaced in one step, and config.json,
 * which makes a folder a model, comes last. */
#ifndef WT_ENCODER_MODEL_FILES_H
#define WT_ENCODER_MODEL_FILES_H

#include <jansson.h>

#include <stdbool.h>

#include "base/error.h"

/* The tokenizer's files, and those of sentence-transformers with the configuration of each module that modules.json
 * names. out is made where it is missing. Errors: WT_EIO, WT_EFULL, WT_EREADONLY, WT_EFORMAT, WT_ENOMEM. */
int wt__model_copy_tokenizer(const char *source, const char *out, wt_error *err);
int wt__model_copy_modules(const char *source, const char *out, wt_error *err);

/* WT_EINVAL where out is a file or holds a model, or weights of one: half of an old model and half of a new one are
 * none. */
int wt__model_refuse_replacing(const char *out, wt_error *err);

/* config.json of a folder. Errors: WT_EMODEL (there is none), WT_EFORMAT, WT_EIO, WT_ENOMEM. */
int wt__model_config_open(json_t **out, const char *folder, wt_error *err);

/* A member below "whichtool" of config goes to members, where those lack it. False when memory is out. */
bool wt__model_member_keep(json_t *members, const json_t *config, const char *name);

/* Writes config to out/config.json: numbers are of the type dtype ("float32") where it names one, and members (NULL:
 * those that it has) stand below "whichtool". */
int wt__model_config_save(json_t *config, const char *out, const char *dtype, const json_t *members, wt_error *err);

#endif
