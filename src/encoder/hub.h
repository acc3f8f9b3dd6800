/* hub.h: pulls a model by its name on the Hugging Face hub, ORG/NAME or ORG/NAME@REVISION, into MODELS/ORG/NAME.
 *
 * The hashes are not known before the first pull. It accepts the files of one commit over HTTPS and writes their hashes
 * next to them as a manifest (encoder/manifest.h) with further members:
 *
 *   MODEL_RECORD   {"name", ..., "files", "sources": [{"type": "hub", "repo": "ORG/NAME", "revision": the commit}],
 *                   "revision": as requested; and for model families whose files lack these settings (hub.c)
 *                   "prompts": {"query", "document"}, "dense_weight"}
 *
 * From then on the model has a manifest: later pulls check the files, fetch missing or damaged ones, and reject changed
 * ones. The list of file names to fetch is fixed here; file lists of the hub are not used. */
#ifndef WT_ENCODER_HUB_H
#define WT_ENCODER_HUB_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"

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
