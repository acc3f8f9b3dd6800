/* met_tools.h: a cache of the tools that queries on an index have read. */
#ifndef WT_ENGINE_MET_TOOLS_H
#define WT_ENGINE_MET_TOOLS_H

#include <stddef.h>

#include "base/arena.h"
#include "catalog/tool.h"

struct met_tools;

/* Creates a cache for an index of so many rows. NULL if out of memory; the functions below accept NULL as an empty
 * cache. */
struct met_tools *wt__met_tools_new(size_t rows);
void wt__met_tools_free(struct met_tools *met); /* NULL is a no-op */

/* Returns the cached tool of a row, valid as long as the index, or NULL. Thread-safe. */
const struct tool *wt__met_tool(const struct met_tools *met, size_t row);
/* Caches a copy of a tool, unless the row is cached already or the cache is full. Thread-safe. */
void wt__met_tools_add(struct met_tools *met, size_t row, const struct tool *tool);

#endif
