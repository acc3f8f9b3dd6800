/* dialect.h: interprets "$schema": determines the keywords available in a resource. */
#ifndef WT_SCHEMA_DIALECT_H
#define WT_SCHEMA_DIALECT_H

#include "base/error.h"
#include "schema/compiled.h"

/* Vocabularies of 2020-12 enabled in a dialect. The core vocabulary is always enabled. */
enum {
    VOCABULARY_APPLICATOR = 1,
    VOCABULARY_UNEVALUATED = 2,
    VOCABULARY_VALIDATION = 4,
    VOCABULARY_FORMAT_ASSERTION = 8,
    VOCABULARY_ALL = 7 /* the standard dialects: "format" is only an annotation */
};

/* Sets draft7 and vocabularies of a resource.
 *
 * uri: URI of the dialect
 * usual: dialect of schemas that name no dialect
 * table: supplied documents, including metaschemas, or NULL
 * at: subschema that contains "$schema", for error messages
 * Errors: WT_EFORMAT, WT_ENOMEM. */
int wt__dialect_read(struct resource *resource, struct str uri, const char *usual, const json_t *table,
                     const struct subschema *at, wt_error *err);

#endif
