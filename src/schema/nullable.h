/* nullable.h: supports "nullable": true of OpenAPI 3.0. Many servers write it next to "type", and JSON Schema ignores
 * it. */
#ifndef WT_SCHEMA_NULLABLE_H
#define WT_SCHEMA_NULLABLE_H

#include <jansson.h>

/* Rewrites each {"type": T, "nullable": true} in a schema, in place, to accept null: "type" becomes [T, "null"], and
 * null is added to "enum". Returns 0 or WT_ENOMEM. */
int wt__schema_take_nullable(json_t *schema);

#endif
