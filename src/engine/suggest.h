/* suggest.h: what tool or provider somebody may have meant who named one that is not there.
 *
 * Names are held against what was typed, not ids: the provider may be mistyped, or another one, and is often left out.
 * At most 2 * SUGGEST_NAMES names are looked at, some tens of milliseconds: those that begin as what was typed does,
 * then any. It is for the message of one call; what looks up many names does without. */
#ifndef WT_ENGINE_SUGGEST_H
#define WT_ENGINE_SUGGEST_H

#include "base/buffer.h"
#include "store/store.h"

enum { SUGGEST_NAMES = 100000 };

/* Appends "; did you mean "..."?" to a sentence, or nothing where nothing is near or the store cannot be read. */
void wt__suggest_tool(struct buffer *sentence, struct store *store, struct str name);
void wt__suggest_provider(struct buffer *sentence, struct store *store, struct str name);

/* WT_ENOTFOUND: "no tool is named ...", or "no tool has the provider ...", with what may have been meant. */
int wt__fail_no_tool(struct store *store, const char *name, wt_error *err);
int wt__fail_no_provider(struct store *store, const char *provider, wt_error *err);

#endif
