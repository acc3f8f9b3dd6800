/* cache.h: finds the packed model of a directory, and makes it where there is none that is current.
 *
 * It lies in the model's folder, or, where that cannot be written, in the cache folder; where neither can, the image
 * stays in memory. A stale or damaged one is replaced in one rename; processes that still map the old one keep it. */
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
    struct mapping map;   /* where it was mapped */
    unsigned char *image; /* where it lies in memory ... */
    wt_error unwritten;   /* ... and why no file has it */
};

/* Opens or makes the packed model of the folder. whole: look at every byte of one that is there. *made (may be NULL)
 * tells whether it was made now; progress (may be NULL) is heard while it is made. out must stay where it is.
 * Errors: WT_EMODEL, WT_ENOMEM, WT_ECANCELLED. */
int wt__model_cache_open(struct model_cache *out, const char *folder, bool whole, bool *made, struct progress *progress,
                         wt_error *err);
/* To be called before the layers are read as a stream: one call for their pages instead of a fault every few. Not when
 * it is opened: who only asks what a model is has no use for them. */
void wt__model_cache_populate(const struct model_cache *cache);
void wt__model_cache_close(struct model_cache *cache);

/* Whether there is a packed model that is current. header: of it, where it is; may be NULL. */
bool wt__model_cache_current(const char *folder, struct packed_header *header);

#endif
