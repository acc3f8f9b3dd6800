/* checkpoint.h: stores the state of a training in one file and replaces it atomically. It is a safetensors file with
 * the parameters, the optimiser's two moments of each, the objective's buffers, and the remaining state as JSON in its
 * metadata. */
#ifndef WT_LEARN_CHECKPOINT_H
#define WT_LEARN_CHECKPOINT_H

#include "base/error.h"
#include "learn/loop.h"
#include "nn/adamw.h"

int wt__checkpoint_write(const char *path, const char *identity, const struct loop_state *state,
                         const struct adamw *adamw, const struct train_buffers *buffers, wt_error *err);

/* Reads parameters, moments, buffers and state. Returns 1, or 0 if the file does not exist. Errors: WT_EFORMAT
 * (damaged, or of another training; the data read so far must not be used), WT_EIO, WT_ENOMEM. */
int wt__checkpoint_read(const char *path, const char *identity, struct loop_state *state, struct adamw *adamw,
                        const struct train_buffers *buffers, wt_error *err);

/* Removes the file, if it exists. */
void wt__checkpoint_remove(const char *path);

#endif
