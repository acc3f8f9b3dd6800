/* json_edit.h: changes members of one object within a JSON text that somebody else wrote, and leaves every other byte
 * as it is: comments, blanks, order, line ends, numbers as they were typed.
 *
 * The text is parsed whole first, so what is edited is known to be JSON, of unique keys; comments and commas too many
 * are taken, as json.h does. Then the object's members are found by their bytes, and the new text is the old one with
 * those bytes left out or replaced. A comma goes with the member before it. A line that is left without anything goes;
 * a comment on it keeps it. What was edited is JSON again: whoever writes it can parse it, and should. */
#ifndef WT_BASE_JSON_EDIT_H
#define WT_BASE_JSON_EDIT_H

#include "base/arena.h"
#include "base/buffer.h"

enum { JSON_EDIT_BYTES_MAX = 16 << 20, JSON_EDIT_PATH_MAX = 4 };

struct json_member {
    const char *name;    /* as JSON means it */
    size_t begin;        /* of the quote of its key */
    size_t value, end;   /* of its value */
    size_t comma;        /* behind it; SIZE_MAX: none */
    struct str text;     /* the value as it is written, comments in it too */
    struct str readable; /* the same without comments */
};

struct json_members {
    struct str text;
    struct json_member *members; /* [count] */
    size_t count;
    size_t open, close; /* of the object's brackets */
    const char *line_end;
    const char *indent, *deeper; /* before a member's key; how much more a level has. NULL: all stands on one line */
};

/* The members of the object that path leads to from the root, key by key; path ends in NULL. Returns 1, or 0 where
 * there is no such object. text is borrowed; the rest is the arena's. Errors: WT_EFORMAT, WT_ETOOLONG, WT_ENOMEM. */
int wt__json_members(struct json_members *out, struct arena *arena, struct str text, const char *const *path,
                     wt_error *err);
/* NULL where there is none. */
const struct json_member *wt__json_member_named(const struct json_members *members, const char *name);

/* "name": value, as it shall be written. */
struct json_new_member {
    const char *name;
    struct str value;
};

/* Appends the whole text without the members that drop marks, [count], and with the new ones where the first of those
 * was, or behind the last member where none is. */
void wt__json_edit(struct buffer *out, const struct json_members *members, const bool *drop,
                   const struct json_new_member *added, size_t added_count);

#endif
