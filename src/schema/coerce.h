/* coerce.h: converts values of the wrong type in an instance. Language models often write such values. A string with
 * the JSON of a number, true, false, an array or an object becomes that value. Null for an optional property is
 * removed. Coercion edits the text of the instance, so numbers keep all digits, and values that fit keep their
 * bytes. */
#ifndef WT_SCHEMA_COERCE_H
#define WT_SCHEMA_COERCE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/str.h"

struct compiled;

enum {
    COERCION_STEPS = 1000000, /* per instance; a step is an evaluated subschema or COERCION_BYTES_A_STEP bytes */
    COERCION_BYTES_A_STEP = 64,
    COERCION_DEPTH = 256 /* maximum nesting of subschemas, also through "$ref" */
};

/* Coerces an instance that does not fit its schema. Follows properties, additionalProperties, prefixItems, items,
 * "$ref", allOf, anyOf and oneOf. A value that fits its subschema is kept. Under anyOf and oneOf, a value is changed
 * only if no alternative accepts the original value, and all alternatives that accept a changed value agree on the
 * result.
 *
 * instance: text of the instance
 * value: the parsed text, owned by the caller; strings may contain NUL
 * wraps: true to wrap a single value in an array if an array is expected
 *
 * Returns 1 if the coerced instance fits; then its text is appended to `out` and its value replaces *value. Returns 0
 * if the coerced instance does not fit; then `out` and *value are unchanged. Returns WT_ENOMEM if out of memory. */
int wt__coerce(struct buffer *out, json_t **value, const struct compiled *compiled, struct str instance, bool wraps);

#endif
