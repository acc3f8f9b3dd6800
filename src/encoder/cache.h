/* cache.h: finds the packed model of a model folder, or creates it if it is missing or stale.
 *
 * The file lies in the model folder or, if that is read-only, in the cache folder. If neither can be written, the image
 * stays in memory. A stale or damaged file is replaced by one rename; processes that map the old file keep it. */
#ifndef WT_ENCODER_CACHE_H
#define WT_ENCODER_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/file.h"
#include "base/progress.h"
#include "encoder/packed.h"

#define MODEL_CACHE_NAME "packed-f32.wtm"

struct model_cache {
    struct packed packed;
    struct mapping map;   /* mapped file, empty if the image is in memory */
    unsigned char *image; /* image in memory, NULL if the model is mapped */
    wt_error unwritten;   /* why the image could not be written */
};

/* Opens the packed model of a folder, or creates it. `whole` also verifies every checksum of an existing file. *made
 * (may be NULL) is set to true if the model was created. `progress` (may be NULL) is updated during creation. `out`
 * must not move. Errors: WT_EMODEL, WT_ENOMEM, WT_ECANCELLED. */
int wt__model_cache_open(struct model_cache *out, const char *folder, bool whole, bool *made, struct progress *progress,
                         wt_error *err);
/* Loads the pages of the layers with one system call instead of a fault per few pages. Call it before the first forward
 * pass, not on opening: reading the header of a model does not need its layers. */
void wt__model_cache_populate(const struct model_cache *cache);
void wt__model_cache_close(struct model_cache *cache);

/* True if the folder has a current packed model. Then copies its header to *header, unless NULL. */
bool wt__model_cache_current(const char *folder, struct packed_header *header);

#endif
