/* messages.h: violations as sentences that whoever wrote the value can act on: what is expected, what was there, and
 * what may have been meant. All that is quoted comes from strangers: it is cut, and what nobody sees is escaped. */
#ifndef WT_SCHEMA_MESSAGES_H
#define WT_SCHEMA_MESSAGES_H

#include "base/buffer.h"
#include "schema/violations.h"

/* `/date: expected a date such as 2026-03-01, got "tomorrow"`. */
void wt__violation_message(struct buffer *out, const struct violation *violation);

/* The place as a JSON pointer; the property's name belongs to it where it is about one that is there. */
void wt__violation_pointer(struct buffer *out, const struct violation *violation);

/* Where the keyword stands: as wt__subschema_place. */
void wt__violation_keyword(struct buffer *out, const struct violation *violation);

#endif
