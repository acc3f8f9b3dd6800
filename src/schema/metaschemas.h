/* metaschemas.h: the built-in metaschemas of both dialects, as targets of "$ref". They have the rules of the official
 * ones for the values of keywords, without titles and comments. */
#ifndef WT_SCHEMA_METASCHEMAS_H
#define WT_SCHEMA_METASCHEMAS_H

#include "base/str.h"

#define SCHEMA_2020_12 "https://json-schema.org/draft/2020-12/schema"
#define SCHEMA_DRAFT_07 "http://json-schema.org/draft-07/schema"

/* Returns the JSON text of the metaschema at uri (without fragment), or an empty text if unknown. The text is static.
 */
struct str wt__metaschema(struct str uri);

#endif
