/* numbered.h: an answer that is the number of an item of a list, or, where the prompt says so, none: the one form of
 * every decision about tools and values. What is no such number is no answer, whatever it looks like. */
#ifndef WT_CALL_NUMBERED_H
#define WT_CALL_NUMBERED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"

/* A prompt's schema with the numbers 1 to count as the only values of this member, and null where it may be that: a
 * server that keeps to the schema can then give no other. *out ends with json_decref. 0 or WT_ENOMEM. */
int wt__numbered_schema(json_t **out, const json_t *schema, const char *member, size_t count, wt_error *err);

enum numbered {
    NUMBERED_UNUSABLE, /* neither a number of the list nor an allowed none */
    NUMBERED_NONE,
    NUMBERED_ITEM,
};

/* *item: the item's place, from 0, of NUMBERED_ITEM. answer: NULL is unusable. none: null is an answer. */
enum numbered wt__numbered_read(const json_t *answer, const char *member, size_t count, bool none, size_t *item);

#endif
