/* json_check.h: checks that bytes from an untrusted peer are strict JSON, in one pass and without a tree.
 *
 * The text must be one value of RFC 8259 in UTF-8. The check also rejects JSON that common parsers refuse although the
 * grammar allows it: lone surrogates, deep nesting, and numbers with thousands of digits (Python stops at 4,300). So a
 * text that passes can be forwarded byte for byte, and every client can read it. Duplicate keys pass: readers of single
 * members refuse them (json_scan.h). */
#ifndef WT_BASE_JSON_CHECK_H
#define WT_BASE_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum {
    JSON_CHECK_DEPTH_MAX = 64,    /* nesting of objects and arrays; WT_MAX_JSON_DEPTH, and the bits of a word */
    JSON_CHECK_NUMBER_MAX = 1024, /* bytes of one number */
};

struct json_fault {
    size_t byte;        /* offset in the text */
    const char *reason; /* a noun phrase, static */
};

/* True if text is strict JSON. Otherwise *fault says where and why; fault may be NULL. */
bool wt__json_check(struct str text, struct json_fault *fault);

/* The same for one number, which must be the whole text. */
bool wt__json_is_number(struct str text);

#endif
