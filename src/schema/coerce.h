/* coerce.h: lossless repair of an instance that a language model wrote in the wrong type: text that is a number, true,
 * false, an array or an object becomes that value, and null for an optional property goes. Unlike repair.h it changes
 * the text: numbers keep their digits, and values that fit keep their bytes. */
#ifndef WT_SCHEMA_COERCE_H
#define WT_SCHEMA_COERCE_H

#include "base/buffer.h"
#include "schema/evaluate.h"

enum {
    COERCION_STEPS = 1000000, /* of one instance: subschemas evaluated, and bytes copied, COERCION_BYTES_A_STEP each */
    COERCION_BYTES_A_STEP = 64,
    COERCION_DEPTH = 256 /* subschemas within subschemas, by way of "$ref" */
};

/* Repairs an instance that does not fit, wherever properties, additionalProperties, items, "$ref", allOf, anyOf and
 * oneOf lead. A value that fits its subschema stays. In anyOf and oneOf a value is repaired if no branch takes it as it
 * is, and all branches that take a repaired one agree on it.
 *
 * wraps: where an array is expected, another value becomes the only item of one
 * out: the repaired instance is appended
 * Returns 1 if the repaired instance fits, 0 if it does not (out is unchanged), or WT_ENOMEM. */
int wt__coerce(struct buffer *out, const struct compiled *compiled, struct str instance, bool wraps);

#endif
