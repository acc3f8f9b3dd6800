/* hub.h: fetching a model by its name on the Hugging Face hub, ORG/NAME or ORG/NAME@REVISION, into MODELS/ORG/NAME.
 *
 * Nothing says beforehand what its files hold, so the first pull takes them as they come over HTTPS, of one commit, and
 * writes their hashes beside them as a manifest (encoder/manifest.h) with some members more:
 *
 *   MODEL_RECORD   {"name", ..., "files", "sources": [{"type": "hub", "repo": "ORG/NAME", "revision": the commit}],
 *                   "revision": as it was asked for, and of families whose files are silent (hub.c)
 *                   "prompts": {"query", "document"}, "dense_weight"}
 *
 * From then on it is a model with a manifest: a later pull checks the files, fetches what is missing or damaged, and
 * refuses what is not as it was. Which files are asked for is fixed here; no list of the hub's is followed. */
#ifndef WT_ENCODER_HUB_H
#define WT_ENCODER_HUB_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"

/* Limits of what is fetched of a model that nothing is known of; beyond is WT_ETOOLONG. */
enum { HUB_MAX_TEXT_BYTES = 64 << 20 /* a file of settings, or a tokenizer's */, HUB_REVISION_BYTES = 128 };
#define HUB_MAX_WEIGHTS_BYTES ((uint64_t)8 << 30)

#define HUB_REVISION "main" /* where none is named */

/* Fetches, or checks what is there. Returns 1 when something was fetched, 0 when all was there and right. progress may
 * be NULL. Errors: WT_EINVAL (the name; another revision is there, or a folder that was not pulled), WT_ENOTFOUND (no
 * such model or revision), WT_EMODEL (gated; of a kind that does not run; without safetensors; a hash is wrong),
 * WT_ENETWORK, WT_ETOOLONG, WT_EBUSY, WT_EFULL, WT_EREADONLY, WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
int wt__hub_pull(const char *models_dir, const char *name, struct progress *progress, wt_error *err);

#endif
