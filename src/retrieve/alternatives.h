/* alternatives.h: other words for everyday words of a request, as tools say them: "call off" is "cancel", and "bill" is
 * "invoice". */
#ifndef WT_RETRIEVE_ALTERNATIVES_H
#define WT_RETRIEVE_ALTERNATIVES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum { EXPANSIONS_MAX = 8 }; /* phrases of a request that get alternatives; further ones get none */

/* Weight of an inserted word next to a word of the request. Chosen on dev. */
#define ALTERNATIVE_WEIGHT 0.5f

/* A text with inserted alternatives. */
struct expanded_text {
    struct str text;                       /* the text itself if nothing was inserted, else a copy in the arena */
    size_t at[EXPANSIONS_MAX];             /* [count] places of the insertions in the original, ascending */
    size_t lengths[EXPANSIONS_MAX], count; /* lengths: bytes inserted at each place */
};

/* Inserts alternatives before the phrases of the text: "(cancel) call off the meeting". Errors: WT_ENOMEM. */
int wt__alternatives_insert(struct expanded_text *out, struct str text, struct arena *arena, wt_error *err);

/* Returns the part of the expanded text that belongs to a part [from, from + len) of the original. */
struct str wt__expanded_part(const struct expanded_text *expanded, size_t from, size_t len);

/* Returns insertion i, a part of the expanded text. */
struct str wt__inserted_part(const struct expanded_text *expanded, size_t i);

#endif
