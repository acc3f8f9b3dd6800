/* function.h: a tool as one JSON object with a name, a description and a schema: what most formats are. */
#ifndef WT_IMPORT_FUNCTION_H
#define WT_IMPORT_FUNCTION_H

#include "import/reader.h"

enum { FUNCTION_SCHEMA_KEYS = 5 };

/* Where a format keeps what. */
struct function_shape {
    const char *nested;                            /* the member that holds the tool, when there is one */
    const char *schema_keys[FUNCTION_SCHEMA_KEYS]; /* of the arguments; the first that is there counts */
    const char *types[3];                          /* values of "type" that a function may have; none: any */
    bool named_provider;                           /* "provider" and "category" are read */
    bool loose;                                    /* a schema may be any description of parameters */
};

int wt__function_read(struct reader *reader, const struct json_item *item, const struct function_shape *shape,
                      wt_error *err);

#endif
