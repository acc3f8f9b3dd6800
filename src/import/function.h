/* function.h: a tool as one JSON object with a name, a description and a schema, as in most formats. */
#ifndef WT_IMPORT_FUNCTION_H
#define WT_IMPORT_FUNCTION_H

#include "import/reader.h"

enum { FUNCTION_SCHEMA_KEYS = 5 };

/* The members of a tool in one format. */
struct function_shape {
    const char *nested;                            /* member that contains the tool, if present; NULL if the tool is
                                                    * never nested */
    const char *schema_keys[FUNCTION_SCHEMA_KEYS]; /* members for the schema of the arguments; the first one present is
                                                    * used */
    const char *types[3];                          /* values of "type" that can be imported; empty for any */
    bool named_provider;                           /* read "provider" and "category" */
    bool loose;                                    /* accept any description of parameters as a schema */
};

int wt__function_read(struct import_reader *reader, const struct json_item *item, const struct function_shape *shape,
                      wt_error *err);

#endif
