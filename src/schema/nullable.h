/* nullable.h: OpenAPI 3.0's "nullable": true, which many servers write beside a "type". JSON Schema ignores it. */
#ifndef WT_SCHEMA_NULLABLE_H
#define WT_SCHEMA_NULLABLE_H

#include <jansson.h>

/* Rewrites each {"type": T, "nullable": true} of a schema, in place, so that it takes null: "type" becomes [T, "null"],
 * and null joins an "enum". Returns 0 or WT_ENOMEM. */
int wt__schema_take_nullable(json_t *schema);

#endif
