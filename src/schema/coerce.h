/* coerce.h: lossless repair of an instance in which a language model used the wrong type. Text containing a number,
 * true, false, an array or an object becomes that value. Null for an optional property is removed. Unlike a repair,
 * this changes the text: numbers keep their digits, and fitting values keep their bytes. */
#ifndef WT_SCHEMA_COERCE_H
#define WT_SCHEMA_COERCE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/str.h"

struct compiled;

enum {
    COERCION_STEPS = 1000000, /* per instance: evaluated subschemas, plus copied bytes / COERCION_BYTES_A_STEP */
    COERCION_BYTES_A_STEP = 64,
    COERCION_DEPTH = 256 /* nesting of subschemas, including via "$ref" */
};

/* Repairs an instance that does not fit its schema. Follows properties, additionalProperties, items, "$ref", allOf,
 * anyOf and oneOf. A value that fits its subschema is kept. In anyOf and oneOf, a value is repaired only if no branch
 * accepts it unchanged and all repairing branches agree on the result.
 *
 * instance: the text; *value: the parsed text, owned by the caller, whose strings may contain NUL
 * wraps: wrap a single value in an array if an array is expected
 * Returns 1 if the repaired instance fits: its text is appended to out, and it replaces *value. Returns 0 if it does not
 * fit, with out and *value unchanged, or WT_ENOMEM. */
int wt__coerce(struct buffer *out, json_t **value, const struct compiled *compiled, struct str instance, bool wraps);

#endif
