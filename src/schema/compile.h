/* compile.h: from JSON to the graph that validation walks. */
#ifndef WT_SCHEMA_COMPILE_H
#define WT_SCHEMA_COMPILE_H

#include "base/error.h"
#include "schema/compiled.h"

/* schema: kept by reference. dialect: of schemas without "$schema", an address. table: an object of address to
 * document, or NULL. Errors: WT_EFORMAT (the schema makes no sense; with a pointer), WT_ENOTFOUND (a reference leads
 * nowhere), WT_ETOOLONG, WT_ENOMEM. */
int wt__compile_schema(struct compiled **out, json_t *schema, const char *dialect, json_t *table, bool assert_formats,
                       wt_error *err);

/* A keyword that was refused, and the object in the schema that has it. */
struct refused_keyword {
    json_t *schema;      /* borrowed from the schema */
    const char *keyword; /* static; NULL if the error is not about a keyword */
};

/* The same, and sets *refused on an error. refused: may be NULL. */
int wt__compile_located(struct compiled **out, json_t *schema, const char *dialect, json_t *table, bool assert_formats,
                        struct refused_keyword *refused, wt_error *err);
void wt__compiled_free(struct compiled *compiled);

#endif
