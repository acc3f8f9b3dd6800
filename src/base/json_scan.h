/* json_scan.h: iterates over the members of one JSON container without building a tree.
 *
 * A value is the text between two separators, found by balancing only brackets and strings. The value itself may be
 * invalid. Callers detect this when they parse the value, and lose only this value. The scan fails at text that ends
 * too early, a wrong closing bracket or a missing key. The members before the failing one have been returned. One pass,
 * no allocation, unlimited nesting. */
#ifndef WT_BASE_JSON_SCAN_H
#define WT_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct json_item {
    struct str key;   /* key of an object's member, without quotes, escapes as written; empty for an array element */
    struct str value; /* value without surrounding blanks; may be empty or invalid */
    size_t byte;      /* offset of value in the text */
    size_t line;      /* 1-based line of value */
    bool cut;         /* the text ended inside value */
};

struct json_scan {
    struct str text;
    size_t at, line;    /* offset of the next byte, and its 1-based line */
    char close;         /* closing bracket of the container; 0 if the opening bracket is missing */
    bool more;          /* a comma was read, so a value must follow */
    const char *reason; /* static reason for a result of -1 */
};

/* Starts a scan at the opening bracket text.ptr[at], on line `line`. A missing bracket is reported by the first
 * wt__json_scan_next. text is borrowed. */
void wt__json_scan_open(struct json_scan *scan, struct str text, size_t at, size_t line);

/* Returns 1 with the next member, 0 after the closing bracket (scan->at is just behind it), or -1 on invalid text. */
int wt__json_scan_next(struct json_scan *scan, struct json_item *item);

/* True if key, with escapes as written, equals the ASCII name. */
bool wt__json_key_is(struct str key, struct str name);

/* Finds the root value that starts at or after text[at], up to its closing bracket. A value without brackets extends to
 * the end of text, because a root has no separators. */
void wt__json_scan_root(struct str text, size_t at, size_t line, struct json_item *item);

#endif
