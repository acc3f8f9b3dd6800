/* compile_values.h: keywords whose values are no schemas: numbers, names, patterns, types and lists of values. */
#ifndef WT_SCHEMA_COMPILE_VALUES_H
#define WT_SCHEMA_COMPILE_VALUES_H

#include "base/error.h"
#include "schema/compiled.h"
#include "schema/keywords.h"

enum { FEW_NAMES = 16 }; /* so many are looked for one by one */

struct value_compiler {
    struct compiled *out;
    bool assert_formats;
    size_t pattern_memory;
    wt_error *err;
};

/* wt__subschema_refuse of a keyword: `"keyword" what: "detail"`; detail may be NULL. */
int wt__compile_refuse(wt_error *err, int code, const struct subschema *at, const char *keyword, const char *what,
                       const char *detail);

/* The keyword's place in its group, which is made where it is not there yet. NULL when memory is out. */
void *wt__compile_field(struct compiled *out, struct subschema *s, const struct keyword *keyword);

/* Properties are looked for in a map from now on, if `most`, as many as there will be, is more than a few. */
int wt__compile_map(struct value_compiler *c, struct object_rules *object, size_t most);

/* A keyword of a shape that is none of schemas. Errors: WT_EFORMAT, WT_ETOOLONG, WT_ENOMEM. */
int wt__compile_value(struct value_compiler *c, struct subschema *s, const struct keyword *keyword,
                      const json_t *value);

/* One pattern, which the compiled schema owns. */
int wt__compile_pattern(struct value_compiler *c, const struct pattern **out, const struct subschema *s,
                        const char *keyword, struct str text);

/* A list of names. */
int wt__compile_names(struct value_compiler *c, struct names *out, const struct subschema *s, const char *keyword,
                      const json_t *value);

/* "required" joins the properties. */
int wt__compile_required(struct value_compiler *c, struct subschema *s, const json_t *value);

#endif
