/* numbered.h: answers in the form of a list number, or null if the prompt allows it. Every decision about tools and
 * values has this form; any other answer is unusable. */
#ifndef WT_CALL_NUMBERED_H
#define WT_CALL_NUMBERED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"

/* Copies a prompt's schema and restricts the member to the numbers 1 to count, and to null if the schema allows it.
 * Free *out with json_decref. 0 or WT_ENOMEM. */
int wt__numbered_schema(json_t **out, const json_t *schema, const char *member, size_t count, wt_error *err);

enum numbered {
    NUMBERED_UNUSABLE, /* neither a number of the list nor an allowed null */
    NUMBERED_NONE,
    NUMBERED_ITEM,
};

/* Reads an answer; NULL is unusable. none: null is allowed. *item: index of the item, from 0, for NUMBERED_ITEM. */
enum numbered wt__numbered_read(const json_t *answer, const char *member, size_t count, bool none, size_t *item);

#endif
