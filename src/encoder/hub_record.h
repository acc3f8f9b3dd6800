/* hub_record.h: names of models on the hub, and what a first pull wrote beside a model's files (encoder/hub.h). */
#ifndef WT_ENCODER_HUB_RECORD_H
#define WT_ENCODER_HUB_RECORD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "encoder/manifest.h"

/* Whether it is ORG/NAME, of characters that the hub's names have: nothing that leads out of a folder. */
bool wt__hub_is_name(const char *text);

struct hub_record {
    const char *text; /* the file */
    struct manifest manifest;
    const char *repo;     /* ORG/NAME */
    const char *revision; /* as it was asked for */
    const char *commit;   /* what it was then; the revision again where the server did not say */
};

/* 1, or 0 where the folder has none: a model that was made here or copied. Strings in the arena. Errors: WT_EFORMAT
 * (damaged), WT_EIO, WT_ENOMEM. */
int wt__hub_record_read(struct arena *arena, const char *folder, struct hub_record *out, wt_error *err);

#endif
