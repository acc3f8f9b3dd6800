/* compact.h: whether JSON text is what our own writer would make of it, without making it. Schemas in the store were
 * written by wt__json_write, so reading and writing each again for every hit changes no byte, and costs most of what
 * writing a result does; but a store is a file, and what is in it is not taken on trust. */
#ifndef WT_WIRE_COMPACT_H
#define WT_WIRE_COMPACT_H

#include <stdbool.h>

#include "base/str.h"

/* True: text is JSON of at most WT_MAX_JSON_DEPTH levels, without blanks between its parts, and wt__json_write writes
 * its value with the same bytes. False also where that would take more than a look to tell: numbers with a fraction or
 * an exponent, escapes that could be written otherwise. That keys differ is not looked at. */
bool wt__is_compact(struct str text);

#endif
