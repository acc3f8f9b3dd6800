/* met_tools.h: the tools that queries on an index have met, in memory for those that meet them again. */
#ifndef WT_ENGINE_MET_TOOLS_H
#define WT_ENGINE_MET_TOOLS_H

#include <stddef.h>

#include "base/arena.h"
#include "catalog/tool.h"

struct met_tools;

/* For an index of so many rows. NULL when memory is out, which makes no difference but time. */
struct met_tools *wt__met_tools_new(size_t rows);
void wt__met_tools_free(struct met_tools *met); /* NULL is a no-op */

/* The tool of the row, as long as the index lives; NULL where none is kept, or met is. From any thread. */
const struct tool *wt__met_tool(const struct met_tools *met, size_t row);
/* Keeps a copy of a tool that was read, if there is room and it has none of that row. From any thread. */
void wt__met_tools_add(struct met_tools *met, size_t row, const struct tool *tool);

#endif
