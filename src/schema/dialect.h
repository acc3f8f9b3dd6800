/* dialect.h: what "$schema" means: which keywords a resource has. */
#ifndef WT_SCHEMA_DIALECT_H
#define WT_SCHEMA_DIALECT_H

#include "base/error.h"
#include "schema/compiled.h"

/* Vocabularies of 2020-12 whose keywords a dialect has. What core says always holds. */
enum {
    VOCABULARY_APPLICATOR = 1,
    VOCABULARY_UNEVALUATED = 2,
    VOCABULARY_VALIDATION = 4,
    VOCABULARY_FORMAT_ASSERTION = 8,
    VOCABULARY_ALL = 7 /* of the standard dialects: a format is an annotation */
};

/* Fills draft7 and vocabularies of a resource. uri: of the dialect; usual: of schemas that name none; table: documents
 * that came along, among them metaschemas, or NULL; at: where it is said. Errors: WT_EFORMAT. */
int wt__dialect_read(struct resource *resource, struct str uri, const char *usual, const json_t *table,
                     const struct subschema *at, wt_error *err);

#endif
