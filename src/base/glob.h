/* glob.h: patterns of names, with two wildcards: '*' stands for any run of characters, none and '/' included, and '?'
 * for one character. Everything else stands for itself, letters by their case. Time is at most pattern times text,
 * whatever the pattern. */
#ifndef WT_BASE_GLOB_H
#define WT_BASE_GLOB_H

#include <stdbool.h>

#include "base/str.h"

bool wt__glob_matches(struct str pattern, struct str text);

#endif
