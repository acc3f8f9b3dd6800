/* tools.h: converts tools of the catalogue to public tools, and resolves the names that users give. */
#ifndef WT_ENGINE_TOOLS_H
#define WT_ENGINE_TOOLS_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/tool.h"
#include "store/store.h"

/* Copies a tool with all its strings into the arena. */
int wt__tool_materialise(struct arena *arena, const struct tool *tool, wt_tool *out, wt_error *err);

/* Returns the tools with these ids as a public list, to be freed with wt_tools_free. Ids without a tool are skipped. No
 * other thread may use `store` meanwhile. */
int wt__tool_list(struct store *store, const int64_t *ids, size_t count, wt_tools **out, wt_error *err);

/* Works like wt__tool_list for tools that were read already. Tools with an empty name are skipped. */
int wt__tool_list_of(const struct tool *tools, size_t count, wt_tools **out, wt_error *err);

/* True if the text is a valid provider name: 1 to WT_MAX_NAME_BYTES bytes of UTF-8 without control characters or
 * surrounding blanks. */
bool wt__is_provider_name(struct str name);

/* Resolves a name to the id of one tool (see wt_get). No other thread may use `store` meanwhile. */
int wt__tool_resolve(struct store *store, const char *name, int64_t *id, wt_error *err);

/* ---------------------------------------------------------------- suggestions */

/* The functions below suggest a tool or provider for a mistyped name.
 *
 * They compare names, not ids, because the provider may be mistyped, wrong or missing. If no name that follows the
 * typed name in sort order is near, they compare up to SUGGEST_NAMES names with the same first byte. If none of these
 * is near, they compare up to SUGGEST_NAMES names of any kind. This takes some tens of milliseconds, so do not use
 * these functions for many names. */

enum { SUGGEST_NAMES = 100000 };

/* Appends "; did you mean "..."?" to a sentence, or "; it is the name of a provider" if that is so. Does nothing if no
 * name is near or the store cannot be read. */
void wt__suggest_tool(struct buffer *sentence, struct store *store, struct str name);

/* Fails with WT_ENOTFOUND and "no tool has the provider ...", with a suggestion. */
int wt__fail_no_provider(struct store *store, const char *provider, wt_error *err);

#endif
