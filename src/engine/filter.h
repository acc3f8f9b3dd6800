/* filter.h: filter masks, which mark the tools that a search may find, and the limit of new tools.
 *
 * A mask has one bit per row of the index. Making a mask takes one pass over the rows to check providers and one over
 * all names to match patterns. The index caches masks for later queries with the same filter. A full cache evicts the
 * least recently used masks. */
#ifndef WT_ENGINE_FILTER_H
#define WT_ENGINE_FILTER_H

#include "engine/engine.h"
#include "engine/notice.h"

struct filter_mask {
    const uint64_t *bits; /* [rows] */
    struct notice notice; /* remarks on providers and patterns that match no tool */
    /* Private to filter.c: */
    struct filter_mask *next; /* less recently used mask of the same index */
    atomic_uint references;
    struct str key; /* lists and condition name of the filter, serialised */
    size_t bytes;   /* memory that the mask uses */
    wt_error why;   /* WT_ENOTFOUND if nothing matches a list that must match; code 0 if the mask is valid */
    struct arena arena;
};

/* Validates a filter and copies it into the arena. provider: added to the providers of the copy, or NULL. The lists of
 * *out are in the arena or borrowed from the caller. given may be NULL. *out is NULL if every tool may be found.
 * Errors: WT_EINVAL, WT_ENOMEM. */
int wt__filter_read(const wt_filter *given, const char *provider, struct arena *arena, const wt_filter **out,
                    wt_error *err);

/* Returns the mask of a filter of wt__filter_read, with a reference for the caller. The mask may outlive the index.
 * progress may be NULL. Errors: WT_ENOTFOUND (no tool has any of the providers, or matches any pattern of `only`),
 * WT_ECANCELLED, WT_ENOMEM, those of reading the store. */
int wt__filter_mask(wt_engine *engine, struct index_handle *index, const wt_filter *filter, struct progress *progress,
                    struct filter_mask **out, wt_error *err);
void wt__filter_mask_release(struct filter_mask *mask); /* NULL is a no-op */

/* Releases all masks of an index. Masks in use live until their last release. */
void wt__filter_masks_free(struct filter_mask *masks);

/* ---------------------------------------------------------------- new tools */

/* The functions below limit new tools. A tool is new for WT_NEW_TOOL_DAYS after its approval, unless it is called. With
 * every recipe, the new tools of a provider take at most one place in a list of hits. So a provider cannot fill the
 * first places with freshly approved tools (docs/floods.md).
 *
 * The new tools are read from the store once per index. A tool is no longer new as soon as this engine records a usage
 * of the tool. The tools that a provider listed when it was first trusted are never new. */

/* Reads the new tools of a snapshot. *out is NULL if no tool is new. */
int wt__new_tools_read(struct new_tools **out, wt_engine *engine, const struct snapshot *snapshot, wt_error *err);
void wt__new_tools_free(struct new_tools *tools); /* NULL is a no-op */

/* Returns the number of tools that are new at the time `now`, in seconds since 1970. tools may be NULL. */
size_t wt__new_tools_count(const struct new_tools *tools, int64_t now);

/* Removes all new tools from the hits except the first of each provider. */
void wt__new_tools_limit(const struct new_tools *tools, int64_t now, const struct snapshot_key *keys,
                         struct hit_list *hits);

/* Marks the tools of recorded usages as no longer new in the current index. */
void wt__new_tools_called(wt_engine *engine, const struct usage *usages, size_t count);

#endif
