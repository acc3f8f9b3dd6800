/* documents.h: finds and names the subschemas of a schema. Covers every "$id", "$anchor" and JSON pointer of the
 * schema, of the supplied documents and of the built-in metaschemas. Documents are never fetched. */
#ifndef WT_SCHEMA_DOCUMENTS_H
#define WT_SCHEMA_DOCUMENTS_H

#include "base/error.h"
#include "base/json.h"
#include "schema/compiled.h"

struct documents {
    struct arena *arena;
    json_t *keep;         /* borrowed from the compiled schema; parsed metaschemas are added */
    const json_t *table;  /* JSON object that maps addresses to documents; may be NULL */
    const char *dialect;  /* dialect of documents without "$schema" */
    struct map resources; /* address -> row of resource_rows */
    struct map anchors;   /* "address#anchor" -> row of rows */
    struct map places;    /* pointer to a JSON object -> row of rows */
    size_t resource_count, resource_capacity;
    struct resource **resource_rows;
    size_t len, capacity;
    struct subschema **rows;
    bool all_loaded; /* true once all documents of the table are loaded */
};

/* Finds the subschemas of `schema`; *out is its root. A document of the table is read once a reference needs it.
 * Ignores errors in these documents; each reference to an invalid one reports them.
 * Errors: WT_EFORMAT (unknown "$schema"; err has a pointer), WT_ETOOLONG (SCHEMA_NESTING, SCHEMA_SUBSCHEMAS,
 * SCHEMA_DOCUMENTS, SCHEMA_URI_BYTES), WT_ENOMEM. */
int wt__documents_open(struct documents *documents, struct subschema **out, const json_t *schema, wt_error *err);
void wt__documents_dispose(struct documents *documents);

/* Returns the subschema of a JSON object, or NULL if the object is not a known subschema. */
struct subschema *wt__documents_at(const struct documents *documents, const json_t *json);

/* Creates a subschema for `true` or `false`. It is not added to the lookup, since Jansson shares these values. steps:
 * in the arena. Returns NULL if out of memory. */
struct subschema *wt__documents_boolean(struct documents *documents, const json_t *json, const struct subschema *parent,
                                        const char *steps);

/* Resolves a reference in resource `from`. Errors: WT_ENOTFOUND and those of wt__documents_open. */
int wt__documents_resolve(struct documents *documents, struct subschema **out, const struct resource *from,
                          struct str reference, wt_error *err);

#endif
