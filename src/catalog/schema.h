/* schema.h: converts the argument descriptions of all sources to one JSON Schema of an object.
 *
 * Dialects of the sources are OpenAPI 3.0 and Gemini ("STRING", nullable), Python ("dict", "str, optional"), and lists
 * of {name, type, description}. In the result, types are the seven of JSON Schema or absent, keywords have values of
 * the right kind, and the root is of type object with properties. A valid schema stays as it is, but a root of another
 * type becomes the schema of an argument called "value". */
#ifndef WT_CATALOG_SCHEMA_H
#define WT_CATALOG_SCHEMA_H

#include <jansson.h>

#include "base/buffer.h"

#define SCHEMA_NONE "{\"type\":\"object\",\"properties\":{}}"

/* Appends the normal form of schema as compact JSON. schema is an object, which is changed, or NULL for no arguments.
 * Returns 0 or WT_ENOMEM. */
int wt__schema_write(struct buffer *out, json_t *schema);

/* Changes a valid schema (an object) for APIs with further requirements: every array has items, and tuples are written
 * as in JSON Schema 2020-12. Returns 0 or WT_ENOMEM. */
int wt__schema_complete(json_t *schema);

/* Converts a loose description of parameters to a JSON Schema. The description has one of these shapes:
 * - a schema
 * - a list of {name, type, description, ...}
 * - {"required": [...], "optional": [...]} with lists of such objects or of names
 * - an object that maps each name to {type, description}, or to a string
 * *out becomes NULL for other shapes. Release it with json_decref. Returns 0 or WT_ENOMEM. */
int wt__schema_from_parameters(json_t **out, const json_t *parameters);

/* Adds parameters (a list of {name, ...} or of names) to schema. `required` applies to parameters without the member
 * "required". */
int wt__schema_add_parameters(json_t *schema, const json_t *parameters, bool required);

/* Returns a new schema of an object without properties, or NULL if out of memory. */
json_t *wt__schema_new(void);

/* Adds one property, also to "required" if required is true. Steals property, which may be NULL after a failed
 * allocation. */
int wt__schema_add(json_t *schema, const char *name, json_t *property, bool required);

enum {
    SCHEMA_TEXT_DEPTH = 8,        /* maximum depth of nested schemas */
    SCHEMA_TEXT_PARAMETERS = 512, /* maximum parameters of one tool */
    SCHEMA_TEXT_VALUES = 32,      /* maximum values of one enumeration */
};

/* Appends the names of the parameters to `names`, and their descriptions with the values of enumerations to
 * `descriptions`. A newline follows each. Nested parameters follow their parent. References ("$ref") within the schema
 * are resolved. Either buffer may be NULL. Appends nothing if schema is not a JSON object. Returns 0 or WT_ENOMEM. */
int wt__schema_text(struct str schema, struct buffer *names, struct buffer *descriptions);

#endif
