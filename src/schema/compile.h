/* compile.h: compiles a JSON schema to the graph used for validation. */
#ifndef WT_SCHEMA_COMPILE_H
#define WT_SCHEMA_COMPILE_H

#include "base/error.h"
#include "schema/compiled.h"

/* Compiles a schema.
 *
 * schema: kept by reference
 * dialect: URI of the dialect for schemas without "$schema"
 * table: JSON object that maps URIs to documents, or NULL
 * Errors: WT_EFORMAT (invalid schema; err has a pointer), WT_ENOTFOUND (unresolved reference), WT_ETOOLONG, WT_ENOMEM.
 */
int wt__compile_schema(struct compiled **out, json_t *schema, const char *dialect, json_t *table, bool assert_formats,
                       wt_error *err);

/* Rejected keyword and the schema object that contains it. */
struct refused_keyword {
    json_t *schema;      /* borrowed from the schema */
    const char *keyword; /* static; NULL if the error does not concern a keyword */
};

/* Same as wt__compile_schema, and sets *refused on an error. refused: may be NULL. */
int wt__compile_located(struct compiled **out, json_t *schema, const char *dialect, json_t *table, bool assert_formats,
                        struct refused_keyword *refused, wt_error *err);
void wt__compiled_free(struct compiled *compiled);

#endif
