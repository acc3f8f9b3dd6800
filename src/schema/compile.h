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
void wt__compiled_free(struct compiled *compiled);

#endif
