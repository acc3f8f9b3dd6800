/* glob.h: name patterns with two wildcards. '*' matches any run of characters, also an empty one and '/'. '?' matches
 * one character. All other characters match themselves, case-sensitively. Time is at most pattern length times text
 * length. */
#ifndef WT_BASE_GLOB_H
#define WT_BASE_GLOB_H

#include <stdbool.h>

#include "base/str.h"

bool wt__glob_matches(struct str pattern, struct str text);

#endif
