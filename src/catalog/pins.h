/* pins.h: files with the hashes of approved definitions.
 *
 * A file of pins is JSON Lines: {"whichtool_pins": 1}, then one line per tool, by id, and one per server with approved
 * instructions:
 *
 * {"id": ..., "provider": ..., "sha256": HEX, "members": {NAME: HEX, ...}}
 * {"instructions": PROVIDER, "sha256": HEX}
 * {"prompt": NAME, "provider": PROVIDER, "sha256": HEX}, and likewise a "resource" by its URI and a "template"
 *
 * Hashes are those of definition_hash.h. The hash of a member shows which part has changed. Instructions are hashed as
 * bytes. */
#ifndef WT_CATALOG_PINS_H
#define WT_CATALOG_PINS_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "catalog/definition_hash.h"

struct pin {
    struct str id, provider; /* in the pins' arena; the id is empty unless the pin is of a tool */
    char sha256[DEFINITION_DIGITS + 1];
    json_t *members; /* object of name: digits; NULL for instructions */
    size_t line;     /* line in the file, 1-based */
    bool met;
};

/* All zero is empty. */
struct pins {
    struct pin *items; /* [count] */
    size_t count, capacity;
    struct map by_id, by_server, by_offer;
    struct arena arena;
};

/* Reads a file of pins. Errors: WT_EFORMAT with the line, WT_ENOMEM. */
int wt__pins_read(struct pins *pins, const char *text, size_t len, wt_error *err);
void wt__pins_dispose(struct pins *pins);

/* Returns the pin with that id, or of that provider's instructions, or NULL. */
struct pin *wt__pins_find(const struct pins *pins, struct str id);
const struct pin *wt__pins_instructions(const struct pins *pins, struct str provider);

/* Returns the pin of a prompt, a resource or a template, or NULL. kind is one of wt__review_words. */
const struct pin *wt__pins_offer(const struct pins *pins, const char *kind, struct str provider, struct str name);

/* Append the first line, and the lines of a tool, of instructions, and of a prompt, resource or template. */
void wt__pins_begin(struct buffer *out);
int wt__pins_add(struct buffer *out, struct str id, const struct tool *tool, wt_error *err);
void wt__pins_add_instructions(struct buffer *out, struct str provider, const char *sha256);
void wt__pins_add_offer(struct buffer *out, const char *kind, struct str provider, struct str name, const char *sha256);

#endif
