/* tools.h: makes public tools from those of the catalogue, and resolves the names that users give. */
#ifndef WT_ENGINE_TOOLS_H
#define WT_ENGINE_TOOLS_H

#include "base/arena.h"
#include "base/error.h"
#include "store/store.h"
#include "catalog/tool.h"

/* Copies a tool with all its strings into the arena. */
int wt__tool_materialise(struct arena *arena, const struct tool *tool, wt_tool *out, wt_error *err);

/* Returns the tools with these ids as a public list, to be freed with wt_tools_free. The caller holds the store. */
int wt__tool_list(struct store *store, const int64_t *ids, size_t count, wt_tools **out, wt_error *err);

/* True if the text is a valid provider name, by the rules of an import. */
bool wt__is_provider_name(struct str name);

/* Resolves a name to the id of one tool (see wt_get). The caller holds the store. */
int wt__tool_resolve(struct store *store, const char *name, int64_t *id, wt_error *err);

#endif
