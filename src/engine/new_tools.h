/* new_tools.h: tools that were approved a short while ago and that nobody called since: together they take at most one
 * place a provider in a list of hits, over every recipe. A provider whose definitions somebody approved in a row gets
 * few of the first places before anyone has seen what they are good for (docs/floods.md).
 *
 * Who is new is read from the store once an index, and a usage that this engine records ends it at once; a query looks
 * at memory alone. What a provider listed first, where it was trusted, is never new. */
#ifndef WT_ENGINE_NEW_TOOLS_H
#define WT_ENGINE_NEW_TOOLS_H

#include "engine/engine.h"

/* *out is NULL where there are none. */
int wt__new_tools_read(struct new_tools **out, wt_engine *engine, const struct snapshot *snapshot, wt_error *err);
void wt__new_tools_free(struct new_tools *tools); /* NULL is a no-op */

/* How many are new at that time, seconds since 1970. NULL: none. */
size_t wt__new_tools_count(const struct new_tools *tools, int64_t now);

/* Leaves the first of each provider among the hits. */
void wt__new_tools_limit(const struct new_tools *tools, int64_t now, const struct snapshot_key *keys,
                         struct hit_list *hits);

/* These usages were recorded: what they used is not new any more. */
void wt__new_tools_called(wt_engine *engine, const struct usage *usages, size_t count);

#endif
