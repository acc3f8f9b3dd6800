/* nullable.c: visits all subschemas, but not the values of data keywords such as "enum". */
#include "schema/nullable.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

/* True if the array contains the value. */
static bool array_has(const json_t *array, const json_t *value)
{
    bool found = false;
    for (size_t i = 0; !found && i < json_array_size(array); i++)
        found = json_equal(json_array_get(array, i), value);
    return found;
}

static int add_null_type(json_t *schema, json_t *type)
{
    json_t *word = json_string("null");
    json_t *types = json_is_array(type) ? json_copy(type) : json_pack("[O]", type);
    int rc = word && types ? 0 : WT_ENOMEM;
    if (rc == 0 && !array_has(types, word))
        rc = json_array_append(types, word);
    if (rc == 0)
        rc = json_object_set(schema, "type", types);
    json_decref(types);
    json_decref(word);
    return rc < 0 ? WT_ENOMEM : 0;
}

static int take_null_type(json_t *schema)
{
    json_t *type = json_object_get(schema, "type"), *values = json_object_get(schema, "enum");
    if (!json_is_true(json_object_get(schema, "nullable")) || (!json_is_string(type) && !json_is_array(type)))
        return 0;
    int rc = add_null_type(schema, type);
    if (rc == 0 && json_is_array(values) && !array_has(values, json_null()) &&
        json_array_append(values, json_null()) < 0)
        rc = WT_ENOMEM;
    return rc;
}

static bool is_keyword_among(const char *key, const char *const *words, size_t count)
{
    bool found = false;
    for (size_t i = 0; !found && i < count; i++)
        found = strcmp(key, words[i]) == 0;
    return found;
}

/* Rewrites a schema and its subschemas. names is true if the keys are names of subschemas rather than keywords. The
 * recursion is bounded by the nesting limit of JSON. */
static int take_nullable_in(json_t *schema, bool names)
{
    static const char *const data[] = {"enum", "const", "default", "examples"};
    static const char *const maps[] = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"};
    const char *key;
    json_t *value;
    size_t at;
    int rc = json_is_object(schema) && !names ? take_null_type(schema) : 0;
    json_array_foreach(schema, at, value)
    {
        rc = rc < 0 ? rc : take_nullable_in(value, false);
    }
    json_object_foreach(schema, key, value)
    {
        if (rc == 0 && (names || !is_keyword_among(key, data, sizeof data / sizeof *data)))
            rc = take_nullable_in(value, !names && is_keyword_among(key, maps, sizeof maps / sizeof *maps));
    }
    return rc;
}

int wt__schema_take_nullable(json_t *schema)
{
    return take_nullable_in(schema, false);
}
