/* compact.h: checks if JSON text has the form that our own writer produces, without parsing it.
 *
 * Stored schemas were written by wt__json_write. Parsing and writing them again for every hit would not change a byte,
 * and would dominate the cost of writing a result. They are still checked, because a store is an untrusted file. */
#ifndef WT_WIRE_COMPACT_H
#define WT_WIRE_COMPACT_H

#include <stdbool.h>

#include "base/str.h"

/* True if the text is JSON of at most WT_MAX_JSON_DEPTH levels, and wt__json_write would write its value with the same
 * bytes. May be false for such a text if the check would be costly: numbers with a fraction or exponent, and escapes with
 * several forms. Does not check that keys are unique. */
bool wt__is_compact(struct str text);

#endif
