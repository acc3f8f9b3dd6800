/* checkpoint.h: the state of a training in one file, replaced in one step: a safetensors file with the parameters and
 * the optimiser's two means of each, what the objective carries, and the rest as a JSON text in its metadata. */
#ifndef WT_LEARN_CHECKPOINT_H
#define WT_LEARN_CHECKPOINT_H

#include "base/error.h"
#include "learn/loop.h"
#include "nn/adamw.h"

int wt__checkpoint_write(const char *path, const char *identity, const struct loop_state *state,
                         const struct adamw *adamw, const struct train_buffers *buffers, wt_error *err);

/* Fills parameters, means, buffers and state. Returns 1, or 0 when there is no file. Errors: WT_EFORMAT (damaged, or of
 * another training: nothing that was filled may be used), WT_EIO, WT_ENOMEM. */
int wt__checkpoint_read(const char *path, const char *identity, struct loop_state *state, struct adamw *adamw,
                        const struct train_buffers *buffers, wt_error *err);

/* A file that is not there is fine. */
void wt__checkpoint_remove(const char *path);

#endif
