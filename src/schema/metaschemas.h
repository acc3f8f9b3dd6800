/* metaschemas.h: the schemas of schemas of both dialects, which a "$ref" may name though nothing is fetched. They say
 * what the official ones say of keywords' values, without titles and comments. */
#ifndef WT_SCHEMA_METASCHEMAS_H
#define WT_SCHEMA_METASCHEMAS_H

#include "base/str.h"

#define SCHEMA_2020_12 "https://json-schema.org/draft/2020-12/schema"
#define SCHEMA_DRAFT_07 "http://json-schema.org/draft-07/schema"

/* The JSON text of the metaschema at uri (without a fragment); empty where there is none. Static. */
struct str wt__metaschema(struct str uri);

#endif
