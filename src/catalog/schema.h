/* schema.h: every source's description of arguments becomes one JSON Schema of an object.
 *
 * Sources speak dialects: OpenAPI 3.0 and Gemini ("STRING", nullable), Python ("dict", "str, optional"), lists of
 * {name, type, description}. Afterwards: types are the seven of JSON Schema or absent, keywords have the kind of
 * value that JSON Schema gives them, and the root is of type object with properties. A schema that is valid comes
 * out as it was, but for a root that is no object: that becomes the one argument "value". */
#ifndef WT_CATALOG_SCHEMA_H
#define WT_CATALOG_SCHEMA_H

#include <jansson.h>

#include "base/buffer.h"

#define SCHEMA_NONE "{\"type\":\"object\",\"properties\":{}}"

/* Appends the normal form of schema as compact JSON. schema: an object, which is changed, or NULL for none.
 * Returns 0 or WT_ENOMEM. */
int wt__schema_write(struct buffer *out, json_t *schema);

/* Changes schema (an object) to what APIs accept that ask for more than validity: every array says what it holds, and
 * tuples are written as 2020-12 has them. Returns 0 or WT_ENOMEM. */
int wt__schema_complete(json_t *schema);

/* A JSON Schema from a loose description of parameters: a schema; a list of {name, type, description, ...};
 * {"required": [...], "optional": [...]} of such or of names; an object of name: {type, description}.
 * *out ends with json_decref; NULL where the shape says nothing. Returns 0 or WT_ENOMEM. */
int wt__schema_from_parameters(json_t **out, const json_t *parameters);

/* Adds parameters (a list of {name, ...} or of names) to schema. required: what a parameter is that does not say. */
int wt__schema_add_parameters(json_t *schema, const json_t *parameters, bool required);

/* A new schema of an object without properties; NULL when memory is out. */
json_t *wt__schema_new(void);

/* Adds one property, and to "required" when it is. Steals property, which may be NULL (memory was out). */
int wt__schema_add(json_t *schema, const char *name, json_t *property, bool required);

/* ---------------------------------------------------------------- for an index or an encoder (schema_text.c) */

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
