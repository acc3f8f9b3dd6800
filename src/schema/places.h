/* places.h: the place of a subschema in its document, for messages. */
#ifndef WT_SCHEMA_PLACES_H
#define WT_SCHEMA_PLACES_H

#include "base/buffer.h"
#include "base/error.h"
#include "schema/compiled.h"

/* Returns "/keyword/name" in the arena, or "/keyword" if name is NULL. Escapes the name. Returns NULL if out of memory.
 */
const char *wt__subschema_steps(struct arena *arena, const char *keyword, const char *name);

/* Appends the place of a subschema: a JSON pointer, preceded by the address of its document unless that is the schema
 * itself. */
void wt__subschema_place(struct buffer *out, const struct subschema *subschema);

/* Reports an error at a subschema as `schema PLACE: ...`, with the place as the pointer. Returns code, or WT_ENOMEM. */
int wt__subschema_refuse(const struct subschema *at, int code, wt_error *err, const char *format, ...) WT_PRINTF(4, 5);

#endif
