/* json_scan.h: walks the members of one JSON container without building a tree, so that each can be judged alone.
 *
 * A value is whatever stands between two separators at its level, found by balancing brackets and strings only. It
 * may be nonsense inside: a parser decides that later, and what it refuses costs just that value. What cannot be
 * walked past is told as broken: text that ends too early, a closing bracket of the wrong kind, a member without a
 * key. Everything before such a place has been handed out. One pass, no allocation, any nesting. */
#ifndef WT_BASE_JSON_SCAN_H
#define WT_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct json_item {
    struct str key;   /* of an object's member: what its quotes hold, escapes as written; empty for an element */
    struct str value; /* the value's bytes without blanks around it; may be empty or nonsense */
    size_t byte;      /* where value begins in the text */
    size_t line;      /* 1-based line of that place */
    bool cut;         /* the text ended inside value */
};

struct json_scan {
    struct str text;
    size_t at, line;    /* the next byte, and its 1-based line */
    char close;         /* the bracket that ends the container */
    bool more;          /* a comma was passed: a value must follow */
    const char *reason; /* after -1: why. Static */
};

/* Starts inside the container whose opening bracket is at text.ptr[at], on line `line`. Where there is no opening
 * bracket, the first wt__json_scan_next says so. text is borrowed. */
void wt__json_scan_open(struct json_scan *scan, struct str text, size_t at, size_t line);

/* Returns 1 with the next member, 0 at the closing bracket (at is then behind it), -1 where it is broken. */
int wt__json_scan_next(struct json_scan *scan, struct json_item *item);

/* True if a key, escapes as written, means this name, which is ASCII. */
bool wt__json_key_is(struct str key, struct str name);

/* The value that begins at the first byte of text[at...] that is no blank, up to the end of its brackets or text.
 * A root value has no separators: for one without brackets, everything up to the end counts. */
void wt__json_scan_root(struct str text, size_t at, size_t line, struct json_item *item);

#endif
