/* tools.h: from the catalogue's view of a tool to the public one, and from a name that a person gives to a tool. */
#ifndef WT_ENGINE_TOOLS_H
#define WT_ENGINE_TOOLS_H

#include "base/arena.h"
#include "base/error.h"
#include "store/store.h"
#include "catalog/tool.h"

/* Copies a tool with all its texts into the arena. */
int wt__tool_materialise(struct arena *arena, const struct tool *tool, wt_tool *out, wt_error *err);

/* The tools with these ids as a public list, to be freed with wt_tools_free. The caller holds the store. */
int wt__tool_list(struct store *store, const int64_t *ids, size_t count, wt_tools **out, wt_error *err);

/* True if the text can be a provider's name: it is as an import would leave it. */
bool wt__is_provider_name(struct str name);

/* The store's id of the one tool that name stands for (see wt_get). The caller holds the store. */
int wt__tool_resolve(struct store *store, const char *name, int64_t *id, wt_error *err);

#endif
