/* pins.h: hashes of definitions, and files with the hashes of approved definitions. */
#ifndef WT_CATALOG_PINS_H
#define WT_CATALOG_PINS_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "catalog/tool.h"

/* The hash of a definition is the SHA-256 of its canonical JSON (compact, keys sorted). The hash covers all members,
 * including unknown members. It ignores the order of keys and white space. A definition that is not a JSON object is
 * hashed as bytes. Files of pins and approvals use this hash.
 *
 * A definition of OpenAPI is only a part of the tool. The method, the path and some arguments are in other places of
 * the document. So the hash of such a tool covers the array [definition, schema of the arguments, source id, title,
 * description]. Its pin has the additional members "arguments" and "route". */

enum { DEFINITION_MEMBER_DIGITS = 16, DEFINITION_DIGITS = 64 };

/* Hashes a definition. Unless members is NULL, *members becomes a new object that maps the name of each member to the
 * first DEFINITION_MEMBER_DIGITS digits of the member's hash. The object is empty if the definition is not an object.
 * Errors: WT_ENOMEM. */
int wt__definition_hash(struct str definition, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err);

/* Works like wt__definition_hash for a tool of any format. members is not NULL. */
int wt__tool_hash(const struct tool *tool, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err);

/* True if a pin of the tool with these members covers only a part of the tool. Earlier versions wrote such pins for
 * OpenAPI. */
bool wt__is_partial_hash(const struct tool *tool, const json_t *members);

/* Hashes a value's canonical JSON. Returns 0, or -1 if out of memory. */
int wt__json_hash(const json_t *value, char hex[DEFINITION_DIGITS + 1]);

/* Hashes bytes. */
void wt__bytes_hash(struct str bytes, char sha256[DEFINITION_DIGITS + 1]);

/* Kinds of definitions. The numbers are stored, and equal WT_REVIEW_... in whichtool/review.h. */
enum review_kind { REVIEW_TOOL, REVIEW_PROMPT, REVIEW_RESOURCE, REVIEW_TEMPLATE };
enum { REVIEW_KINDS = 4, REVIEW_NAME_BYTES_MAX = 8 << 10 /* maximum bytes of a URI that can be approved */ };
/* "tool", "prompt", "resource", "template" */
extern const char *const wt__review_words[REVIEW_KINDS];

/* A file of pins is JSON Lines. The first line is {"whichtool_pins": 1}, and each other line is a pin:
 *
 *   {"id": ..., "provider": ..., "sha256": HEX, "members": {NAME: HEX, ...}}
 *   {"instructions": PROVIDER, "sha256": HEX}
 *   {"prompt": NAME, "provider": PROVIDER, "sha256": HEX}, and likewise a "resource" by its URI and a "template"
 *
 * The hash of a member shows which part has changed. Instructions are hashed as bytes. */

struct pin {
    struct str id, provider; /* in the pins' arena; the id is empty unless the pin is of a tool */
    char sha256[DEFINITION_DIGITS + 1];
    json_t *members; /* object of name: digits; NULL if the line has no "members" */
    size_t line;     /* line in the file, 1-based */
    bool met;        /* set by users of struct pins when they find the tool of the pin */
};

/* The pins of a file. An all-zero struct has no pins. Values of the maps are indexes in items. */
struct pins {
    struct pin *items; /* [count] */
    size_t count, capacity;
    /* Pins of tools by id, of instructions by provider, and of prompts, resources and templates by kind, provider and
     * name. */
    struct map by_id, by_server, by_offer;
    struct arena arena;
};

/* Reads a file of pins. Errors: WT_EFORMAT with the line, WT_ENOMEM. */
int wt__pins_read(struct pins *pins, const char *text, size_t len, wt_error *err);
void wt__pins_dispose(struct pins *pins);

/* Return the pin of the tool with this id, or the pin of this provider's instructions. Return NULL if the pin does not
 * exist. */
struct pin *wt__pins_find(const struct pins *pins, struct str id);
const struct pin *wt__pins_instructions(const struct pins *pins, struct str provider);

/* Returns the pin of a prompt, a resource or a template, or NULL. kind is one of wt__review_words. */
const struct pin *wt__pins_offer(const struct pins *pins, const char *kind, struct str provider, struct str name);

/* Append the first line of a file of pins, and the line of a tool, of instructions, or of a prompt, resource or
 * template. */
void wt__pins_begin(struct buffer *out);
int wt__pins_add(struct buffer *out, struct str id, const struct tool *tool, wt_error *err);
void wt__pins_add_instructions(struct buffer *out, struct str provider, const char *sha256);
void wt__pins_add_offer(struct buffer *out, const char *kind, struct str provider, struct str name, const char *sha256);

#endif
