/* json_check.h: validates JSON from untrusted peers in one pass, without building a tree.
 *
 * The text must be one value of RFC 8259 in UTF-8. The check also rejects JSON that the grammar allows but common
 * parsers refuse: lone surrogates, deep nesting, and numbers of more than JSON_CHECK_NUMBER_MAX bytes (Python accepts
 * 4,300 digits). A valid text can be forwarded byte for byte, and every client can parse it. Duplicate keys are valid
 * here; code that reads single members rejects them (json_scan.h). */
#ifndef WT_BASE_JSON_CHECK_H
#define WT_BASE_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum {
    JSON_CHECK_DEPTH_MAX = 64,    /* maximum nesting; equals WT_MAX_JSON_DEPTH and the bits of checker.objects */
    JSON_CHECK_NUMBER_MAX = 1024, /* maximum bytes of one number */
};

struct json_fault {
    size_t byte;        /* offset in the text */
    const char *reason; /* static noun phrase */
};

/* True if text is strict JSON. Otherwise *fault has the position and the reason; fault may be NULL. */
bool wt__json_check(struct str text, struct json_fault *fault);

/* True if the whole text is one valid number. */
bool wt__json_is_number(struct str text);

#endif
