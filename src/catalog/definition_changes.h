/* definition_changes.h: describes the changes of a definition in sentences, for a person who approves it.
 *
 * Definitions are hostile text. Quotes are JSON strings in which invisible characters are escaped (text/shown.h), and
 * every text has a limit. The members that matter most for an approval come first: annotations, then description, input
 * schema, name, title and output schema. So a long list of other changes cannot hide them. */
#ifndef WT_CATALOG_DEFINITION_CHANGES_H
#define WT_CATALOG_DEFINITION_CHANGES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct definition_changes {
    const char **items; /* [count] sentences in the arena, at most WT_MAX_CHANGES, each at most WT_MAX_CHANGE_BYTES */
    size_t count;
    size_t more; /* number of changes left out */
};

/* Describes the changes from `before` to `after`, or the whole definition `after` if before is NULL. Returns 0 or
 * WT_ENOMEM. */
int wt__definition_changes(struct definition_changes *out, const struct str *before, struct str after,
                           struct arena *arena, wt_error *err);

/* Works like wt__definition_changes for a plain text. The sentences start with the name. */
int wt__plain_text_changes(struct definition_changes *out, const char *name, const struct str *before, struct str after,
                           struct arena *arena, wt_error *err);

#endif
