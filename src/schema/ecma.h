/* ecma.h: translates ECMA-262 regular expressions to PCRE2.
 *
 * Syntax with the same meaning in both is copied. Differences are written out:
 * - "." and "\s" cover other line ends and blanks
 * - "\v" is a single character
 * - "\u{...}" and the long names of Unicode categories
 * - "{" without a count, and "[" in a class
 * Syntax specific to PCRE2 (verbs, callouts, recursion) is rejected, because a schema must not control the engine. */
#ifndef WT_SCHEMA_ECMA_H
#define WT_SCHEMA_ECMA_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/str.h"

/* Appends the translated pattern. Sets out->failed if out of memory.
 * strict: also reject syntax of other dialects found in real schemas ("\Z", "(?i)", "(?P<name>...)", "\a" for "a")
 * Returns false if the pattern is invalid; *why is then the reason (static text). */
bool wt__ecma_translate(struct buffer *out, struct str pattern, bool strict, const char **why);

#endif
