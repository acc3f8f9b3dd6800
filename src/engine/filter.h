/* filter.h: which tools a search may find, as a bit for each row of its index.
 *
 * A filter is turned into a mask once: its providers by one pass over the rows, its patterns by one over all names.
 * Masks stay with the index for the queries that bring the same filter, the least recently used leaving first. */
#ifndef WT_ENGINE_FILTER_H
#define WT_ENGINE_FILTER_H

#include "engine/engine.h"
#include "engine/notice.h"

struct filter_mask {
    const uint64_t *bits; /* [rows] */
    struct notice notice; /* names without a tool */
    /* filter.c */
    struct filter_mask *next;
    atomic_uint references;
    struct str key;
    size_t bytes;
    wt_error why; /* the filter cannot be: code below 0 */
    struct arena arena;
};

/* What the caller gave, in full, with `provider` (NULL: none) as one more; its lists are in the arena, or the caller's.
 * *out is NULL where every tool may be found. WT_EINVAL. */
int wt__filter_read(const wt_filter *given, const char *provider, struct arena *arena, const wt_filter **out,
                    wt_error *err);

/* The mask of what wt__filter_read gave, with a reference for the caller, which may outlive the index. progress: may be
 * NULL. Errors: WT_ENOTFOUND (no tool has any of the providers, or matches any pattern of `only`), WT_ECANCELLED, ...
 */
int wt__filter_mask(wt_engine *engine, struct index_handle *index, const wt_filter *filter, struct progress *progress,
                    struct filter_mask **out, wt_error *err);
void wt__filter_mask_release(struct filter_mask *mask); /* NULL is a no-op */

/* All of an index; those that a query holds live on until it lets go. */
void wt__filter_masks_free(struct filter_mask *masks);

#endif
