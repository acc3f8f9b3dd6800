/* new_tools.h: limits new tools, those approved a short while ago and not called since: together they take at most one
 * place per provider in a list of hits, with every recipe. A provider cannot fill the first places with freshly
 * approved tools before anyone has used them (docs/floods.md).
 *
 * The new tools are read from the store once per index. Usage that this engine records makes a tool old at once. The
 * tools that a provider listed when it was first trusted are never new. */
#ifndef WT_ENGINE_NEW_TOOLS_H
#define WT_ENGINE_NEW_TOOLS_H

#include "engine/engine.h"

/* Reads the new tools of a snapshot. *out is NULL if there are none. */
int wt__new_tools_read(struct new_tools **out, wt_engine *engine, const struct snapshot *snapshot, wt_error *err);
void wt__new_tools_free(struct new_tools *tools); /* NULL is a no-op */

/* Returns the number of tools that are new at the time `now`, in seconds since 1970. tools may be NULL. */
size_t wt__new_tools_count(const struct new_tools *tools, int64_t now);

/* Removes all new tools from the hits except the first of each provider. */
void wt__new_tools_limit(const struct new_tools *tools, int64_t now, const struct snapshot_key *keys,
                         struct hit_list *hits);

/* Notes recorded usages: the tools they used are no longer new. */
void wt__new_tools_called(wt_engine *engine, const struct usage *usages, size_t count);

#endif
