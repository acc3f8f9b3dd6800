/* definition_hash.h: SHA-256 of a definition's canonical JSON (compact, keys sorted). All members count, also unknown
 * ones; the order of keys and white space do not. A definition that is not a JSON object is hashed as bytes. Files of
 * pins and approvals use this hash.
 *
 * A definition of OpenAPI is only a part of the tool: its arguments may be defined anywhere in the document ("$ref",
 * its path), and its method and path are outside as well. So such a tool is hashed as the array [definition, schema of
 * the arguments, source id, title, description], and has the additional members "arguments" and "route". */
#ifndef WT_CATALOG_DEFINITION_HASH_H
#define WT_CATALOG_DEFINITION_HASH_H

#include <jansson.h>

#include "base/error.h"
#include "base/str.h"
#include "catalog/tool.h"

enum { DEFINITION_MEMBER_DIGITS = 16, DEFINITION_DIGITS = 64 };

/* Hashes a definition. *members, unless members is NULL, is a new object from each member's name to the first
 * DEFINITION_MEMBER_DIGITS digits of its own hash; empty if the definition is not an object. Errors: WT_ENOMEM. */
int wt__definition_hash(struct str definition, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err);

/* Hashes a tool of any format. */
int wt__tool_hash(const struct tool *tool, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err);

/* True if an earlier version wrote the members of a pin from only a part of the tool, as for OpenAPI. */
bool wt__is_partial_hash(const struct tool *tool, const json_t *members);

/* Hashes a value's canonical JSON. Returns 0, or -1 if out of memory. */
int wt__json_hash(const json_t *value, char hex[DEFINITION_DIGITS + 1]);

/* Hashes bytes. */
void wt__bytes_hash(struct str bytes, char sha256[DEFINITION_DIGITS + 1]);

/* True if text consists of exactly `digits` lower-case hexadecimal digits. */
bool wt__is_hash(struct str text, size_t digits);

/* Kinds of definitions. The numbers are stored, and equal WT_REVIEW_... in whichtool.h. */
enum review_kind { REVIEW_TOOL, REVIEW_PROMPT, REVIEW_RESOURCE, REVIEW_TEMPLATE };
enum { REVIEW_KINDS = 4, REVIEW_NAME_BYTES_MAX = 8 << 10 /* maximum bytes of a URI that can be approved */ };
/* "tool", "prompt", "resource", "template" */
extern const char *const wt__review_words[REVIEW_KINDS];

#endif
