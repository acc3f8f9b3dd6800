/* hub_record.h: names of models on the hub, and the record that a first pull writes next to a model's files
 * (encoder/hub.h). */
#ifndef WT_ENCODER_HUB_RECORD_H
#define WT_ENCODER_HUB_RECORD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "encoder/manifest.h"

/* True for ORG/NAME in the characters that the hub allows; such a name cannot leave the models folder. */
bool wt__hub_is_name(const char *text);

struct hub_record {
    const char *text; /* content of the file */
    struct manifest manifest;
    const char *repo;     /* ORG/NAME */
    const char *revision; /* requested revision */
    const char *commit;   /* commit at the time of the pull; the revision if the server did not tell it */
};

/* Returns 1, or 0 if the folder has no record: the model was not pulled. Strings are allocated in the arena. Errors:
 * WT_EFORMAT (damaged), WT_EIO, WT_ENOMEM. */
int wt__hub_record_read(struct arena *arena, const char *folder, struct hub_record *out, wt_error *err);

#endif
