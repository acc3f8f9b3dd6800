/* lenient.h: compiles invalid schemas as far as possible. Real servers write `"type": "int"`, patterns of other
 * languages, dangling references and unknown dialects. The invalid keywords of such a schema are dropped. The remaining
 * schema accepts every instance that the intended schema would accept. See docs/validator.md. */
#ifndef WT_SCHEMA_LENIENT_H
#define WT_SCHEMA_LENIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "schema/validator.h"

enum { SCHEMA_DROPS = 32 /* maximum dropped keywords of a schema */ };

struct schema_drops {
    size_t count;   /* number of dropped keywords */
    wt_error first; /* error of the first dropped keyword, with its place */
};

/* True if the schema has a keyword such as "not" or "oneOf". Dropping another keyword could then make the schema reject
 * more instances. A property with such a name also counts. */
bool wt__schema_may_refuse_more(const json_t *schema);

/* Compiles a schema, and changes it in place. First rewrites older forms to equivalent current forms:
 * - drafts 04 and 06 become draft-07; 2019-09 and the http address of 2020-12 become 2020-12
 * - "exclusiveMinimum": true takes the value of "minimum", and "exclusiveMaximum": true that of "maximum"
 * - a keyword with the value null is removed, except "const" and "default"; if wt__schema_may_refuse_more is true, no
 *   keyword is removed
 * - a named subschema with the value null becomes true
 * Then drops the keywords that still do not compile, unless wt__schema_may_refuse_more is true.
 *
 * drops: set to the number of dropped keywords and the first error
 * Errors: those of wt__compile_schema, if the schema cannot be compiled in this way. */
int wt__compile_lenient(struct compiled **out, json_t *schema, const char *dialect, struct schema_drops *drops,
                        wt_error *err);

/* OpenAPI 3.0 has "nullable": true. Many servers write this keyword next to "type", and JSON Schema ignores it. */

/* Rewrites each {"type": T, "nullable": true} in a schema, in place, to accept null: "type" becomes [T, "null"], and
 * null is added to "enum". Returns 0 or WT_ENOMEM. */
int wt__schema_convert_nullable(json_t *schema);

#endif
