/* kept_head.h: the head of a classifier that was trained together with the encoder (classify.c), kept in a file beside
 * its weights: head.safetensors, one tensor MLC_HEAD [M, D], a row a tool in the order of the training's examples. Its
 * metadata name the training and the step that it is of, so that it is never taken for another encoder's. */
#ifndef WT_LEARN_KEPT_HEAD_H
#define WT_LEARN_KEPT_HEAD_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"

/* folder: the encoder's. outcome: of the model that it goes with (wt__training_outcome). */
int wt__kept_head_write(const char *folder, const float *rows, size_t tools, size_t dim, const json_t *outcome,
                        wt_error *err);

/* Takes away the one of an earlier training, where there is one. */
int wt__kept_head_remove(const char *folder, wt_error *err);

/* rows: [tools, dim]. data: SHA-256 of the examples that these are the tools of. Errors: WT_EMODEL (there is none, or
 * it is of another encoder or other data, or malformed), WT_ENOMEM, WT_EIO. */
int wt__kept_head_read(const char *folder, float *rows, size_t tools, size_t dim, const char *data, wt_error *err);

#endif
