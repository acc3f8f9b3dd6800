/* documents.h: where the subschemas of a schema are, and what they are called: every "$id", "$anchor" and JSON pointer
 * of the schema, of the documents that came with it and of the built-in metaschemas. Nothing is fetched. */
#ifndef WT_SCHEMA_DOCUMENTS_H
#define WT_SCHEMA_DOCUMENTS_H

#include "base/error.h"
#include "base/json.h"
#include "schema/compiled.h"

struct documents {
    struct arena *arena;
    json_t *keep;         /* borrowed from the compiled schema: documents that are read here are added */
    const json_t *table;  /* object of address to document; may be NULL */
    const char *dialect;  /* of what has no "$schema" */
    struct map resources; /* address -> row of resource_rows */
    struct map anchors;   /* "address#anchor" -> row of rows */
    struct map places;    /* pointer to a JSON object -> row of rows */
    size_t resource_count, resource_capacity;
    struct resource **resource_rows;
    size_t len, capacity;
    struct subschema **rows;
    bool all_loaded; /* of the table */
};

/* Finds what schema holds, whose root is *out then; the table's documents follow when a reference asks for them. What
 * is wrong with one of these is told by who refers to it. Errors: WT_EFORMAT (with a pointer: a "$schema" that is not
 * known), WT_ETOOLONG (SCHEMA_NESTING, SCHEMA_SUBSCHEMAS, SCHEMA_DOCUMENTS, SCHEMA_URI_BYTES), WT_ENOMEM. */
int wt__documents_open(struct documents *documents, struct subschema **out, const json_t *schema, wt_error *err);
void wt__documents_dispose(struct documents *documents);

/* The subschema at a place that was found; NULL for another value. */
struct subschema *wt__documents_at(const struct documents *documents, const json_t *json);

/* A new one for `true` or `false`, which have no place of their own. steps: in the arena. NULL when memory is out. */
struct subschema *wt__documents_boolean(struct documents *documents, const json_t *json, const struct subschema *parent,
                                        const char *steps);

/* What reference names, from a subschema of resource `from`. Errors: WT_ENOTFOUND, and those of opening. */
int wt__documents_resolve(struct documents *documents, struct subschema **out, const struct resource *from,
                          struct str reference, wt_error *err);

#endif
