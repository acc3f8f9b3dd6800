/* negation.h: finds the unwanted parts of a request: "detach the volume, don't delete it". Their words would otherwise
 * find the wrong tool. */
#ifndef WT_RETRIEVE_NEGATION_H
#define WT_RETRIEVE_NEGATION_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Splits a request into the part to search for, and its denied parts, one a line. If only a denial would be left, as in
 * "never send me mail", *kept is the request and *denied is empty. *kept is the request itself if nothing is denied,
 * else a copy in the arena. Errors: WT_ENOMEM. */
int wt__negation_split(struct str *kept, struct str *denied, struct str request, struct arena *arena, wt_error *err);

#endif
