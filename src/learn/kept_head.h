/* kept_head.h: stores the head of a classifier that was trained together with the encoder (classify.c). The file
 * head.safetensors next to the encoder's weights has one tensor MLC_HEAD [M, D] with a row per tool, in the order of
 * the training's examples. Its metadata identify training and step, so that it is never used with another encoder. */
#ifndef WT_LEARN_KEPT_HEAD_H
#define WT_LEARN_KEPT_HEAD_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"

/* Writes the head. folder: the encoder's. outcome: of the matching model (wt__training_outcome). */
int wt__kept_head_write(const char *folder, const float *rows, size_t tools, size_t dim, const json_t *outcome,
                        wt_error *err);

/* Removes the head of an earlier training, if there is one. */
int wt__kept_head_remove(const char *folder, wt_error *err);

/* Reads the head into rows [tools, dim]. data: SHA-256 of the examples with these tools. Errors: WT_EMODEL (missing,
 * malformed, or of another encoder or other data), WT_ENOMEM, WT_EIO. */
int wt__kept_head_read(const char *folder, float *rows, size_t tools, size_t dim, const char *data, wt_error *err);

#endif
