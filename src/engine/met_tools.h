/* tool_cache.h: a cache of the tools that queries on an index have read. */
#ifndef WT_ENGINE_MET_TOOLS_H
#define WT_ENGINE_MET_TOOLS_H

#include <stddef.h>

#include "base/arena.h"
#include "catalog/tool.h"

struct tool_cache;

/* Creates a cache for an index of so many rows. NULL if out of memory; the functions below accept NULL as an empty
 * cache. */
struct tool_cache *wt__tool_cache_new(size_t rows);
void wt__tool_cache_free(struct tool_cache *met); /* NULL is a no-op */

/* Returns the cached tool of a row, valid as long as the index, or NULL. Thread-safe. */
const struct tool *wt__tool_cache_get(const struct tool_cache *met, size_t row);
/* Caches a copy of a tool, unless the row is cached already or the cache is full. Thread-safe. */
void wt__tool_cache_add(struct tool_cache *met, size_t row, const struct tool *tool);

#endif
