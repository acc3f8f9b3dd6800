/* definition_hash.h: what a definition says, as one number: SHA-256 of its canonical JSON (compact, keys sorted), so
 * that every member counts, known or not, and the order of keys and white space do not. A definition that is no JSON
 * object is hashed as it is. Files of pins and approvals have this one hash.
 *
 * A definition of OpenAPI says only a part: what it takes may stand anywhere in its document ("$ref", its path), and
 * its method and path stand before it. So such a tool is hashed as the array [definition, schema of the arguments,
 * source id, title, description], and has the members "arguments" and "route" besides its own. */
#ifndef WT_CATALOG_DEFINITION_HASH_H
#define WT_CATALOG_DEFINITION_HASH_H

#include <jansson.h>

#include "base/error.h"
#include "base/str.h"
#include "catalog/tool.h"

enum { DEFINITION_MEMBER_DIGITS = 16, DEFINITION_DIGITS = 64 };

/* members: NULL, or where a new object is put of each member's name and the first DEFINITION_MEMBER_DIGITS digits of
 * its own hash: none where the definition is no object. Errors: WT_ENOMEM. */
int wt__definition_hash(struct str definition, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err);

/* The same of a tool, whatever its format. */
int wt__tool_hash(const struct tool *tool, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err);

/* Whether the members of a pin are of the tool's definition alone, though more counts: an earlier version wrote it. */
bool wt__is_partial_hash(const struct tool *tool, const json_t *members);

/* Of a value's canonical JSON. 0, or -1 when memory is out. */
int wt__json_hash(const json_t *value, char hex[DEFINITION_DIGITS + 1]);

/* Of bytes that are no definition. */
void wt__bytes_hash(struct str bytes, char sha256[DEFINITION_DIGITS + 1]);

/* Whether text is so many lower-case hexadecimal digits. */
bool wt__is_hash(struct str text, size_t digits);

/* Kinds of definitions. The store keeps their numbers, which equal those of WT_REVIEW_... in whichtool.h. */
enum review_kind { REVIEW_TOOL, REVIEW_PROMPT, REVIEW_RESOURCE, REVIEW_TEMPLATE };
enum { REVIEW_KINDS = 4, REVIEW_NAME_BYTES_MAX = 8 << 10 /* of a URI; longer ones cannot be approved */ };
/* "tool", "prompt", "resource", "template" */
extern const char *const wt__review_words[REVIEW_KINDS];

#endif
