/* ecma.h: regular expressions of ECMA-262 written for PCRE2.
 *
 * What the two understand alike goes through; what they understand differently ("." and "\s" know more blanks and line
 * ends, "\v" is one character, "\u{...}", long names of Unicode's categories, "{" that counts nothing, "[" in a class)
 * is spelled out. What only PCRE2 has (verbs, callouts, recursion) is refused, since a schema is not to steer it. */
#ifndef WT_SCHEMA_ECMA_H
#define WT_SCHEMA_ECMA_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/str.h"

/* Appends pattern for PCRE2; a failed buffer means that memory was out. strict: also what other dialects have and
 * schemas in the wild use ("\Z", "(?i)", "(?P<name>...)", "\a" for "a") is refused. False: *why says why, as the end of
 * a sentence. Static. */
bool wt__ecma_translate(struct buffer *out, struct str pattern, bool strict, const char **why);

#endif
