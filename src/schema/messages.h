/* messages.h: describes violations in sentences for the author of the instance: the expected value, the actual value,
 * and a likely correction. Quoted text is untrusted: it is truncated, and invisible characters are escaped. */
#ifndef WT_SCHEMA_MESSAGES_H
#define WT_SCHEMA_MESSAGES_H

#include "base/buffer.h"
#include "schema/violations.h"

/* Appends a message such as `/date: expected a date such as 2026-03-01, got "tomorrow"`. */
void wt__violation_message(struct buffer *out, const struct violation *violation);

/* Appends the place as a JSON pointer. It includes the name of the property if the violation is about an existing
 * property. */
void wt__violation_pointer(struct buffer *out, const struct violation *violation);

/* Appends the place of the keyword, like wt__subschema_place. */
void wt__violation_keyword(struct buffer *out, const struct violation *violation);

#endif
