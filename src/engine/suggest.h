/* suggest.h: suggests a tool or provider for a mistyped name.
 *
 * Names are compared, not ids, because the provider may be mistyped, wrong or missing. At most 2 * SUGGEST_NAMES names
 * are compared, which takes some tens of milliseconds: first those with the same first byte, then any. Do not use it to
 * look up many names. */
#ifndef WT_ENGINE_SUGGEST_H
#define WT_ENGINE_SUGGEST_H

#include "base/buffer.h"
#include "store/store.h"

enum { SUGGEST_NAMES = 100000 };

/* Appends "; did you mean "..."?" to a sentence. Does nothing if no name is near or the store cannot be read. */
void wt__suggest_tool(struct buffer *sentence, struct store *store, struct str name);
void wt__suggest_provider(struct buffer *sentence, struct store *store, struct str name);

/* Fails with WT_ENOTFOUND and "no tool is named ..." or "no tool has the provider ...", with a suggestion. */
int wt__fail_no_tool(struct store *store, const char *name, wt_error *err);
int wt__fail_no_provider(struct store *store, const char *provider, wt_error *err);

#endif
