/* compile_values.h: compiles keywords whose values are not schemas: numbers, names, patterns, types and lists of
 * values. */
#ifndef WT_SCHEMA_COMPILE_VALUES_H
#define WT_SCHEMA_COMPILE_VALUES_H

#include "base/error.h"
#include "schema/compiled.h"
#include "schema/keywords.h"

enum { FEW_NAMES = 16 }; /* longest list searched linearly; longer lists get a map */

struct value_compiler {
    struct compiled *out;
    bool assert_formats;
    size_t pattern_memory;
    wt_error *err;
};

/* Reports an invalid keyword as `"keyword" what: "detail"`; detail may be NULL. Returns code, or WT_ENOMEM. */
int wt__compile_refuse(wt_error *err, int code, const struct subschema *at, const char *keyword, const char *what,
                       const char *detail);

/* Returns the field of the keyword in its group. Allocates the group if necessary. Returns NULL if out of memory. */
void *wt__compile_field(struct compiled *out, struct subschema *s, const struct keyword *keyword);

/* Creates the map of properties if `most`, their final number, exceeds FEW_NAMES. */
int wt__compile_map(struct value_compiler *c, struct object_rules *object, size_t most);

/* Compiles a keyword whose value is not a schema. Errors: WT_EFORMAT, WT_ETOOLONG, WT_ENOMEM. */
int wt__compile_value(struct value_compiler *c, struct subschema *s, const struct keyword *keyword,
                      const json_t *value);

/* Compiles a pattern. The compiled schema owns it. */
int wt__compile_pattern(struct value_compiler *c, const struct schema_pattern **out, const struct subschema *s,
                        const char *keyword, struct str text);

/* Compiles a list of names. */
int wt__compile_names(struct value_compiler *c, struct name_list *out, const struct subschema *s, const char *keyword,
                      const json_t *value);

/* Compiles "required": marks existing properties as required and adds the missing names. */
int wt__compile_required(struct value_compiler *c, struct subschema *s, const json_t *value);

#endif
