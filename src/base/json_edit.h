/* json_edit.h: adds and removes members of one object in hand-written JSON. All other bytes stay the same: comments,
 * blanks, order, line ends, and the spelling of numbers.
 *
 * The whole text is parsed first, to check that it is valid JSON with unique keys. Comments and trailing commas are
 * accepted, as in wt__json_parse_relaxed. Then the byte ranges of the members are located. The new text is the old text
 * with some ranges removed or replaced. A member is removed with its comma. A line left blank is removed. A line with a
 * comment stays. The result is valid JSON, but callers should still parse it before they write it. */
#ifndef WT_BASE_JSON_EDIT_H
#define WT_BASE_JSON_EDIT_H

#include "base/arena.h"
#include "base/buffer.h"

enum { JSON_EDIT_BYTES_MAX = 16 << 20, JSON_EDIT_PATH_MAX = 4 };

struct json_member {
    const char *name;    /* unescaped key */
    size_t begin;        /* offset of the key's opening quote */
    size_t value, end;   /* offsets of the value's first byte and of the byte after the value */
    size_t comma;        /* offset of the comma after the value, or SIZE_MAX */
    struct str text;     /* value as written, including comments */
    struct str readable; /* value with comments blanked out */
};

struct json_members {
    struct str text;
    struct json_member *members; /* [count] */
    size_t count;
    size_t open, close; /* offsets of the object's brackets */
    const char *line_end;
    const char *indent, *deeper; /* blanks before each key, and per level; NULL if the object is on one line */
};

/* Locates the members of an object. path: keys from the root, ends in NULL. Returns 1, or 0 if no such object exists.
 * text is borrowed; everything else lives in the arena. Errors: WT_EFORMAT, WT_ETOOLONG, WT_ENOMEM. */
int wt__json_members(struct json_members *out, struct arena *arena, struct str text, const char *const *path,
                     wt_error *err);
/* Returns the member with this unescaped key, or NULL. */
const struct json_member *wt__json_member_named(const struct json_members *members, const char *name);

/* A member to add: unescaped name, and its value as JSON text. */
struct json_new_member {
    const char *name;
    struct str value;
};

/* Appends the whole text without the dropped members. drop: [count], true for each member to drop. The new members
 * replace the first dropped member, or follow the last member if no member is dropped. */
void wt__json_edit(struct buffer *out, const struct json_members *members, const bool *drop,
                   const struct json_new_member *added, size_t added_count);

#endif
