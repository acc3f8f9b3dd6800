/* schema_text.h: the words of a JSON Schema that tell what a tool takes, for an index or an encoder. */
#ifndef WT_CATALOG_SCHEMA_TEXT_H
#define WT_CATALOG_SCHEMA_TEXT_H

#include "base/buffer.h"

enum {
    SCHEMA_TEXT_DEPTH = 8,        /* schemas within schemas that are looked at */
    SCHEMA_TEXT_PARAMETERS = 512, /* parameters of one tool */
    SCHEMA_TEXT_VALUES = 32,      /* values of one enumeration */
};

/* Appends the names of the parameters, nested ones behind the one that holds them, and their descriptions with the
 * values of enumerations; each followed by a newline. "$ref" into the schema itself is followed. Either buffer may be
 * NULL. A text that is no JSON object gives nothing. Returns 0 or WT_ENOMEM. */
int wt__schema_text(struct str schema, struct buffer *names, struct buffer *descriptions);

#endif
