/* places.h: where in its document a subschema stands, for messages. */
#ifndef WT_SCHEMA_PLACES_H
#define WT_SCHEMA_PLACES_H

#include "base/buffer.h"
#include "base/error.h"
#include "schema/compiled.h"

/* "/keyword/name", in the arena; name escaped, NULL for none. NULL when memory is out. */
const char *wt__subschema_steps(struct arena *arena, const char *keyword, const char *name);

/* Appends where subschema stands: a JSON pointer, with the address of its document before it where that is another one
 * than the schema itself. */
void wt__subschema_place(struct buffer *out, const struct subschema *subschema);

/* An error there: `schema PLACE: ...`, with the place as its pointer. Returns code, or WT_ENOMEM. */
int wt__subschema_refuse(const struct subschema *at, int code, wt_error *err, const char *format, ...) WT_PRINTF(4, 5);

#endif
