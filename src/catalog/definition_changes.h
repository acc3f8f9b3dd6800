/* definition_changes.h: what a definition says now and did not say before, in sentences that a person reads before
 * approving of it.
 *
 * Definitions are hostile text. Whatever is quoted is written as a JSON string in which every character that nobody
 * sees is spelled out (text/shown.h), nothing is longer than it may be, and what could be used to have somebody look
 * elsewhere comes late: annotations first, then what a model reads, then the rest. */
#ifndef WT_CATALOG_DEFINITION_CHANGES_H
#define WT_CATALOG_DEFINITION_CHANGES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct definition_changes {
    const char **items; /* [count] in the arena; at most WT_MAX_CHANGES, of at most WT_MAX_CHANGE_BYTES */
    size_t count;
    size_t more; /* that are not told */
};

/* What is different in `after`; before NULL: what it says. */
int wt__definition_changes(struct definition_changes *out, const struct str *before, struct str after,
                           struct arena *arena, wt_error *err);

/* The same of a text by that name. */
int wt__plain_text_changes(struct definition_changes *out, const char *name, const struct str *before, struct str after,
                           struct arena *arena, wt_error *err);

#endif
