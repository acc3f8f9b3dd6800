/* lenient.c: rewrites older forms and "nullable", and drops invalid keywords. After each dropped keyword the schema is
 * compiled again, until it compiles or SCHEMA_DROPS keywords are dropped. */
#include "schema/lenient.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/str.h"

static const struct {
    const char *uri;   /* without "#" at the end */
    const char *means; /* the supported dialect used instead */
} older_dialects[] = {
    {"http://json-schema.org/draft-04/schema", SCHEMA_DRAFT_07},
    {"https://json-schema.org/draft-04/schema", SCHEMA_DRAFT_07},
    {"http://json-schema.org/draft-06/schema", SCHEMA_DRAFT_07},
    {"https://json-schema.org/draft-06/schema", SCHEMA_DRAFT_07},
    {"http://json-schema.org/draft/2019-09/schema", SCHEMA_2020_12},
    {"https://json-schema.org/draft/2019-09/schema", SCHEMA_2020_12},
    {"http://json-schema.org/draft/2020-12/schema", SCHEMA_2020_12},
};

static int adopt_schema_address(json_t *schema)
{
    struct str uri = wt__json_str(schema, "$schema");
    if (uri.len > 0 && uri.ptr[uri.len - 1] == '#')
        uri.len--;
    for (size_t i = 0; i < sizeof older_dialects / sizeof *older_dialects; i++)
        if (wt__str_equal(uri, wt__str(older_dialects[i].uri)))
            return json_object_set_new(schema, "$schema", json_string(older_dialects[i].means));
    return 0;
}

/* Converts an exclusive bound of draft 04, a Boolean next to "minimum" or "maximum", to the number of later drafts. */
static int adopt_exclusive_bound(json_t *schema, const char *exclusive, const char *bound)
{
    const json_t *flag = json_object_get(schema, exclusive);
    json_t *value = json_object_get(schema, bound);
    if (!json_is_boolean(flag))
        return 0;
    if (json_is_false(flag) || !value)
        return json_object_del(schema, exclusive);
    return json_object_set(schema, exclusive, value) < 0 ? -1 : json_object_del(schema, bound);
}

/* Pairs of a keyword and the keyword for the remaining members or items. */
static const char *const rests[][2] = {{"properties", "additionalProperties"},
                                       {"patternProperties", "additionalProperties"},
                                       {"prefixItems", "items"},
                                       {"items", "additionalItems"}};

/* Removes a keyword. Also removes the keyword for the remaining members or items, because it would now apply to more
 * members or items. */
static void drop_keyword(json_t *schema, const char *keyword)
{
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        if (strcmp(keyword, rests[i][0]) == 0)
            json_object_del(schema, rests[i][1]);
    json_object_del(schema, keyword);
}

#define AMONG(key, words) wt__str_among(wt__str(key), words, sizeof(words) / sizeof *(words))

/* Removes keywords with the value null, except "const" and "default". */
static void drop_nulls(json_t *schema)
{
    static const char *const values[] = {"const", "default"};
    const char *key;
    json_t *value;
    void *next;
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        if (json_is_null(json_object_get(schema, rests[i][0])))
            drop_keyword(schema, rests[i][0]);
    json_object_foreach_safe(schema, next, key, value)
    {
        if (json_is_null(value) && !AMONG(key, values))
            json_object_del(schema, key);
    }
}

static int adopt_object(json_t *schema, bool keeps_nulls)
{
    if (!keeps_nulls)
        drop_nulls(schema);
    if (adopt_schema_address(schema) < 0 || adopt_exclusive_bound(schema, "exclusiveMinimum", "minimum") < 0 ||
        adopt_exclusive_bound(schema, "exclusiveMaximum", "maximum") < 0)
        return WT_ENOMEM;
    return 0;
}

/* Keywords whose values are data, and keywords whose values map names to subschemas. */
static const char *const data_keywords[] = {"enum", "const", "default", "examples"};
static const char *const map_keywords[] = {"properties", "patternProperties", "$defs", "definitions",
                                           "dependentSchemas"};

/* Converts older forms in a schema. names is true if the keys are names of subschemas rather than keywords. The
 * recursion is bounded by the nesting limit of JSON. */
static int adopt_older_forms(json_t *schema, bool names, bool keeps_nulls)
{
    const char *key;
    json_t *value;
    size_t at;
    if (json_is_object(schema) && !names)
        WT_TRY(adopt_object(schema, keeps_nulls));
    json_array_foreach(schema, at, value)
    {
        WT_TRY(adopt_older_forms(value, false, keeps_nulls));
    }
    json_object_foreach(schema, key, value)
    {
        if (!names && AMONG(key, data_keywords))
            continue;
        if (!names || !json_is_null(value))
            WT_TRY(adopt_older_forms(value, !names && AMONG(key, map_keywords), keeps_nulls));
        else if (json_object_set_new(schema, key, json_true()) < 0)
            return WT_ENOMEM;
    }
    return 0;
}

bool wt__schema_may_refuse_more(const json_t *schema)
{
    static const char *const words[] = {"not", "if", "oneOf", "contains", "unevaluatedProperties", "unevaluatedItems"};
    const char *key;
    json_t *value;
    size_t at;
    json_array_foreach((json_t *)schema, at, value)
    {
        if (wt__schema_may_refuse_more(value))
            return true;
    }
    json_object_foreach((json_t *)schema, key, value)
    {
        if (AMONG(key, words) || wt__schema_may_refuse_more(value))
            return true;
    }
    return false;
}

int wt__compile_lenient(struct compiled **out, json_t *schema, const char *dialect, struct schema_drops *drops,
                        wt_error *err)
{
    *out = NULL;
    *drops = (struct schema_drops){0};
    bool may_drop = !wt__schema_may_refuse_more(schema);
    if (adopt_older_forms(schema, false, !may_drop) < 0)
        return wt__fail_nomem(err);
    for (;;) {
        struct refused_keyword refused = {0};
        wt_error why = {0};
        int rc = wt__compile_schema(out, schema, dialect, NULL, false, &refused, &why);
        bool is_fault = (rc == WT_EFORMAT || rc == WT_ENOTFOUND) && refused.keyword;
        if (!is_fault || !may_drop || drops->count == SCHEMA_DROPS) {
            if (rc < 0 && err)
                *err = why;
            return rc;
        }
        if (drops->count++ == 0)
            drops->first = why;
        drop_keyword(refused.schema, refused.keyword);
    }
}

static bool array_has(const json_t *array, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (json_equal(json_array_get(array, i), value))
            return true;
    return false;
}

static int add_null_type(json_t *schema, json_t *type)
{
    json_auto_t *word = json_string("null");
    json_auto_t *types = json_is_array(type) ? json_copy(type) : json_pack("[O]", type);
    if (!word || !types || (!array_has(types, word) && json_array_append(types, word) < 0))
        return WT_ENOMEM;
    return json_object_set(schema, "type", types) < 0 ? WT_ENOMEM : 0;
}

static int convert_null_type(json_t *schema)
{
    json_t *type = json_object_get(schema, "type"), *values = json_object_get(schema, "enum");
    if (!json_is_true(json_object_get(schema, "nullable")) || (!json_is_string(type) && !json_is_array(type)))
        return 0;
    WT_TRY(add_null_type(schema, type));
    if (json_is_array(values) && !array_has(values, json_null()) && json_array_append(values, json_null()) < 0)
        return WT_ENOMEM;
    return 0;
}

/* Rewrites a schema and its subschemas. names is true if the keys are names of subschemas rather than keywords. The
 * recursion is bounded by the nesting limit of JSON. */
static int convert_nullable_in(json_t *schema, bool names)
{
    const char *key;
    json_t *value;
    size_t at;
    if (json_is_object(schema) && !names)
        WT_TRY(convert_null_type(schema));
    json_array_foreach(schema, at, value)
    {
        WT_TRY(convert_nullable_in(value, false));
    }
    json_object_foreach(schema, key, value)
    {
        if (names || !AMONG(key, data_keywords))
            WT_TRY(convert_nullable_in(value, !names && AMONG(key, map_keywords)));
    }
    return 0;
}

int wt__schema_convert_nullable(json_t *schema)
{
    return convert_nullable_in(schema, false);
}
