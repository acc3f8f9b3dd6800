/* pins.h: what a definition was when somebody read and approved of it.
 *
 * A file of pins is JSON Lines: {"whichtool_pins": 1}, then a line for each tool, by id:
 *
 *   {"id": ..., "provider": ..., "sha256": HEX, "members": {NAME: HEX, ...}}
 *
 * Hashes are of canonical JSON (compact, keys sorted), so that only what a definition says counts. A member's has
 * PIN_MEMBER_DIGITS digits: it tells what changed, and the whole one that something did. A definition that is no JSON
 * object is hashed as it is, without members. */
#ifndef WT_AUDIT_PINS_H
#define WT_AUDIT_PINS_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"

enum { PIN_MEMBER_DIGITS = 16, PIN_DIGITS = 64 };

struct pin {
    struct str id, provider; /* in the pins' arena */
    char sha256[PIN_DIGITS + 1];
    json_t *members; /* object of name: digits */
    bool met;
};

/* All zero is empty. */
struct pins {
    struct pin *items; /* [count] */
    size_t count, capacity;
    struct map by_id;
    struct arena arena;
};

/* Errors: WT_EFORMAT with the line, WT_ENOMEM. */
int wt__pins_read(struct pins *pins, const char *text, size_t len, wt_error *err);
void wt__pins_dispose(struct pins *pins);

/* The pin with that id, or NULL. */
struct pin *wt__pins_find(const struct pins *pins, struct str id);

/* Hashes a definition. *members: a new object. Errors: WT_ENOMEM. */
int wt__pin_hash(struct str definition, char sha256[PIN_DIGITS + 1], json_t **members, wt_error *err);

/* Appends the first line, and a tool's. */
void wt__pins_begin(struct buffer *out);
int wt__pins_add(struct buffer *out, struct str id, struct str provider, struct str definition, wt_error *err);

#endif
