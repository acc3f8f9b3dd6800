/* lenient.h: schemas that do not compile as they are. Servers in the wild write `"type": "int"`, patterns of other
 * languages, references to nothing and dialects that are not known. Such a schema is compiled without the keywords that
 * do not compile, so that it refuses nothing that a repaired schema would take. docs/validator.md says when. */
#ifndef WT_SCHEMA_LENIENT_H
#define WT_SCHEMA_LENIENT_H

#include "schema/compile.h"

enum { SCHEMA_DROPS = 32 /* keywords that one schema may lose */ };

struct schema_drops {
    size_t count;   /* keywords */
    wt_error first; /* error of the first one, with its place */
};

/* True if the schema has a keyword, such as "not" or "oneOf", that may refuse more once a keyword below or beside it is
 * gone. A property of such a name counts, too. */
bool wt__schema_may_refuse_more(const json_t *schema);

/* Compiles a schema, in which older forms are first rewritten to ones of the same meaning: drafts 04 and 06 become
 * draft-07, 2019-09 and other spellings of an address become 2020-12, "exclusiveMinimum": true takes the value of
 * "minimum", and a null that stands for an absent keyword goes. Keywords that still do not compile are then dropped.
 * schema: changed in place. Errors: those of wt__compile_schema if the schema cannot be repaired like that, or
 * wt__schema_may_refuse_more. */
int wt__compile_lenient(struct compiled **out, json_t *schema, const char *dialect, struct schema_drops *drops,
                        wt_error *err);

#endif
