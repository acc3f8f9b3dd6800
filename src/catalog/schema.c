/* schema.c: normalises the schemas of all sources (schema.h). Follows only keywords whose values are schemas. So values
 * (enum, const, default) stay, and a property called "type" is not mistaken for a keyword. The parser has limited the
 * depth of the JSON. In this file, a failure of jansson means out of memory; schema_walk.failed collects these
 * failures. */
#include "catalog/schema.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

struct schema_walk {
    bool failed;   /* out of memory */
    bool complete; /* every array must have items */
};

static void note_failure(struct schema_walk *walk, int rc)
{
    walk->failed |= rc < 0;
}

/* ---------------------------------------------------------------- types */

static const struct {
    const char *word, *type; /* type is NULL for any type */
} words[] = {
    {"string", "string"},   {"str", "string"},      {"text", "string"},     {"char", "string"},
    {"varchar", "string"},  {"date", "string"},     {"datetime", "string"}, {"time", "string"},
    {"url", "string"},      {"uri", "string"},      {"email", "string"},    {"enum", "string"},
    {"uuid", "string"},     {"file", "string"},     {"binary", "string"},   {"bytes", "string"},
    {"geopoint", "string"}, {"integer", "integer"}, {"int", "integer"},     {"long", "integer"},
    {"number", "number"},   {"float", "number"},    {"double", "number"},   {"decimal", "number"},
    {"numeric", "number"},  {"num", "number"},      {"boolean", "boolean"}, {"bool", "boolean"},
    {"array", "array"},     {"list", "array"},      {"tuple", "array"},     {"set", "array"},
    {"sequence", "array"},  {"object", "object"},   {"dict", "object"},     {"dictionary", "object"},
    {"map", "object"},      {"mapping", "object"},  {"json", "object"},     {"hashmap", "object"},
    {"null", "null"},       {"none", "null"},
};

/* Returns the JSON Schema type for the type of a source, or NULL if it is unknown. Only the first word counts: "str,
 * optional", "List[int]", "STRING", "Dict[str, int]". In "Optional[X]", the word X counts. */
static const char *type_of(const char *text)
{
    char word[16];
    for (int attempt = 0; attempt < 2; attempt++) {
        size_t len = 0;
        while (*text == ' ')
            text++;
        while (isalpha((unsigned char)text[len]) && len + 1 < sizeof word) {
            word[len] = (char)tolower((unsigned char)text[len]);
            len++;
        }
        word[len] = '\0';
        text += len;
        if (strcmp(word, "optional") != 0 || *text != '[')
            break;
        text++;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i].word) == 0)
            return words[i].type;
    return NULL;
}

/* True if the value is one of JSON Schema's types. */
static bool type_known(const json_t *type)
{
    const char *text = json_string_value(type);
    const char *mapped = text ? type_of(text) : NULL;
    return mapped && strcmp(mapped, text) == 0;
}

/* Converts the types of a list to those of JSON Schema, without duplicates and unknown types. A list with only types of
 * JSON Schema stays as it is. */
static void normalise_type_list(struct schema_walk *walk, json_t *schema, json_t *list)
{
    size_t known = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        known += type_known(json_array_get(list, i));
    if (known > 0 && known == json_array_size(list))
        return;
    json_t *kept = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        const char *type = text ? type_of(text) : NULL;
        bool there = false;
        for (size_t j = 0; type && j < json_array_size(kept); j++)
            there = there || strcmp(json_string_value(json_array_get(kept, j)), type) == 0;
        if (type && !there)
            note_failure(walk, json_array_append_new(kept, json_string(type)));
    }
    if (json_array_size(kept) > 0) {
        note_failure(walk, json_object_set_new(schema, "type", kept));
        return;
    }
    json_decref(kept);
    json_object_del(schema, "type");
}

static void normalise_type(struct schema_walk *walk, json_t *schema)
{
    json_t *type = json_object_get(schema, "type");
    if (json_is_array(type)) {
        normalise_type_list(walk, schema, type);
    } else if (type && !type_known(type)) {
        const char *text = json_string_value(type);
        const char *mapped = text ? type_of(text) : NULL;
        if (mapped)
            note_failure(walk, json_object_set_new(schema, "type", json_string(mapped)));
        else
            json_object_del(schema, "type");
    }
    json_t *nullable = json_object_get(schema, "nullable");
    type = json_object_get(schema, "type");
    if (json_is_true(nullable) && json_is_string(type) && strcmp(json_string_value(type), "null") != 0) {
        json_t *both = json_pack("[O, s]", type, "null");
        note_failure(walk, both ? json_object_set_new(schema, "type", both) : -1);
    }
    if (json_is_boolean(nullable))
        json_object_del(schema, "nullable");
}

/* ---------------------------------------------------------------- keywords */

/* Converts an exclusive bound of OpenAPI 3.0, which is a number in "minimum" and true in "exclusiveMinimum". In JSON
 * Schema, the number is in "exclusiveMinimum". */
static void normalise_exclusive(struct schema_walk *walk, json_t *schema, const char *exclusive, const char *bound)
{
    json_t *flag = json_object_get(schema, exclusive);
    if (!flag || json_is_number(flag))
        return;
    json_t *value = json_object_get(schema, bound);
    if (json_is_true(flag) && json_is_number(value)) {
        note_failure(walk, json_object_set(schema, exclusive, value));
        json_object_del(schema, bound);
    } else {
        json_object_del(schema, exclusive);
    }
}

/* Converts a count in a string to an integer. Gemini's protocol buffers write counts as strings. Removes any other
 * value that is not a number. */
static void normalise_count(struct schema_walk *walk, json_t *schema, const char *key)
{
    json_t *value = json_object_get(schema, key);
    if (!value || json_is_integer(value))
        return;
    const char *text = json_string_value(value);
    char *end = NULL;
    long long number = text ? strtoll(text, &end, 10) : -1;
    if (number >= 0 && end != text && *end == '\0')
        note_failure(walk, json_object_set_new(schema, key, json_integer(number)));
    else if (!json_is_number(value))
        json_object_del(schema, key);
}

/* Makes "required" a list of unique names. normalise_map has already added each property with its own "required":
 * true. */
static void normalise_required(struct schema_walk *walk, json_t *schema)
{
    json_t *required = json_object_get(schema, "required");
    if (!required)
        return;
    json_t *seen = json_object();
    json_t *kept = json_array();
    for (size_t i = 0; i < json_array_size(required); i++) {
        json_t *name = json_array_get(required, i);
        if (!json_is_string(name) || json_object_get(seen, json_string_value(name)))
            continue;
        note_failure(walk, json_object_set_new(seen, json_string_value(name), json_true()));
        note_failure(walk, json_array_append(kept, name));
    }
    if (!json_is_array(required))
        json_object_del(schema, "required");
    else if (json_array_size(kept) != json_array_size(required))
        note_failure(walk, json_object_set(schema, "required", kept));
    json_decref(kept);
    json_decref(seen);
}

static void normalise_schema(struct schema_walk *walk, json_t *schema);

/* Returns a schema for a string in the place of a schema. The string is a word for a type, or a description. */
static json_t *schema_of_text(const char *text)
{
    const char *type = strchr(text, ' ') ? NULL : type_of(text);
    return type ? json_pack("{s:s}", "type", type) : json_pack("{s:s}", "description", text);
}

/* Returns a new reference to the schema for the value of a keyword, or NULL if out of memory. */
static json_t *as_schema(struct schema_walk *walk, json_t *value)
{
    if (json_is_object(value)) {
        normalise_schema(walk, value);
        return json_incref(value);
    }
    if (json_is_boolean(value))
        return json_incref(value);
    return json_is_string(value) ? schema_of_text(json_string_value(value)) : json_object();
}

/* Normalises the schemas of a keyword whose value is a map from names to schemas. */
static void normalise_map(struct schema_walk *walk, json_t *schema, const char *key)
{
    json_t *map = json_object_get(schema, key);
    const char *name;
    json_t *value;
    if (!map)
        return;
    if (!json_is_object(map)) {
        json_object_del(schema, key);
        return;
    }
    bool properties = strcmp(key, "properties") == 0;
    json_object_foreach(map, name, value)
    {
        if (properties && json_is_true(json_object_get(value, "required"))) {
            json_t *required = json_object_get(schema, "required");
            if (!json_is_array(required)) {
                note_failure(walk, json_object_set_new(schema, "required", json_array()));
                required = json_object_get(schema, "required");
            }
            note_failure(walk, json_array_append_new(required, json_string(name)));
        }
        json_t *replaced = as_schema(walk, value);
        if (replaced == value)
            json_decref(replaced);
        else
            note_failure(walk, json_object_set_new(map, name, replaced));
    }
}

/* Normalises the schemas of a keyword whose value is a list of schemas. */
static void normalise_list(struct schema_walk *walk, json_t *schema, const char *key)
{
    json_t *list = json_object_get(schema, key);
    if (!list)
        return;
    if (json_array_size(list) == 0) {
        json_object_del(schema, key);
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        note_failure(walk, json_array_set_new(list, i, as_schema(walk, json_array_get(list, i))));
}

/* Normalises the schema of a keyword whose value is one schema, or a list for "items". */
static void normalise_one(struct schema_walk *walk, json_t *schema, const char *key)
{
    json_t *value = json_object_get(schema, key);
    if (!value)
        return;
    if (json_is_array(value) && strcmp(key, "items") == 0)
        normalise_list(walk, schema, key);
    else
        note_failure(walk, json_object_set_new(schema, key, as_schema(walk, value)));
}

/* Writes tuples as in 2020-12, and adds items to arrays. */
static void complete_array(struct schema_walk *walk, json_t *schema)
{
    json_t *items = json_object_get(schema, "items");
    json_t *type = json_object_get(schema, "type");
    if (json_is_array(items)) {
        note_failure(walk, json_object_set(schema, "prefixItems", items));
        json_object_del(schema, "items");
        items = NULL;
    }
    if (!items && json_is_string(type) && strcmp(json_string_value(type), "array") == 0)
        note_failure(walk, json_object_set_new(schema, "items", json_object()));
}

/* Keywords by the kind of their value. */
static const char *const maps[] = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"};
static const char *const lists[] = {"anyOf", "oneOf", "allOf", "prefixItems"};
static const char *const ones[] = {"items",
                                   "additionalProperties",
                                   "not",
                                   "contains",
                                   "propertyNames",
                                   "additionalItems",
                                   "if",
                                   "then",
                                   "else",
                                   "unevaluatedItems",
                                   "unevaluatedProperties"};
static const char *const texts[] = {"description", "title", "format", "pattern", "$ref"};
static const char *const counts[] = {"minItems",  "maxItems",      "minLength",
                                     "maxLength", "minProperties", "maxProperties"};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static void normalise_schema(struct schema_walk *walk, json_t *schema)
{
    normalise_type(walk, schema);
    if (json_is_boolean(json_object_get(schema, "required")))
        json_object_del(schema, "required");
    for (size_t i = 0; i < COUNT(maps); i++)
        normalise_map(walk, schema, maps[i]);
    for (size_t i = 0; i < COUNT(lists); i++)
        normalise_list(walk, schema, lists[i]);
    for (size_t i = 0; i < COUNT(ones); i++)
        normalise_one(walk, schema, ones[i]);
    for (size_t i = 0; i < COUNT(texts); i++)
        if (json_object_get(schema, texts[i]) && !json_is_string(json_object_get(schema, texts[i])))
            json_object_del(schema, texts[i]);
    for (size_t i = 0; i < COUNT(counts); i++)
        normalise_count(walk, schema, counts[i]);
    normalise_exclusive(walk, schema, "exclusiveMinimum", "minimum");
    normalise_exclusive(walk, schema, "exclusiveMaximum", "maximum");
    normalise_required(walk, schema);
    json_t *values = json_object_get(schema, "enum");
    if (values && json_array_size(values) == 0)
        json_object_del(schema, "enum");
    if (walk->complete)
        complete_array(walk, schema);
}

/* ---------------------------------------------------------------- the whole schema */

int wt__schema_complete(json_t *schema)
{
    struct schema_walk walk = {.complete = true};
    normalise_schema(&walk, schema);
    return walk.failed ? WT_ENOMEM : 0;
}

static bool mentions_object(const json_t *type)
{
    for (size_t i = 0; i < json_array_size(type); i++)
        if (strcmp(json_string_value(json_array_get(type, i)), "object") == 0)
            return true;
    return json_is_string(type) && strcmp(json_string_value(type), "object") == 0;
}

/* Returns a root that begins with type and properties, where readers expect them. A schema of another type than object
 * becomes the required property "value" of the root. */
static json_t *object_root(json_t *schema)
{
    json_t *type = json_object_get(schema, "type");
    if (type && !mentions_object(type))
        return json_pack("{s:s, s:{s:O}, s:[s]}", "type", "object", "properties", "value", schema, "required", "value");
    json_t *properties = json_object_get(schema, "properties");
    json_auto_t *root =
        json_pack("{s:s, s:o}", "type", "object", "properties", properties ? json_incref(properties) : json_object());
    const char *key;
    json_t *value;
    json_object_foreach(schema, key, value)
    {
        if (strcmp(key, "type") != 0 && json_object_set(root, key, value) < 0)
            return NULL;
    }
    return WT_TAKE(root);
}

int wt__schema_write(struct buffer *out, json_t *schema)
{
    if (!schema) {
        wt__buffer_text(out, SCHEMA_NONE);
        return out->failed ? WT_ENOMEM : 0;
    }
    struct schema_walk walk = {0};
    normalise_schema(&walk, schema);
    json_auto_t *root = walk.failed ? NULL : object_root(schema);
    return root ? wt__json_write(out, root) : WT_ENOMEM;
}

/* ---------------------------------------------------------------- loose descriptions */

json_t *wt__schema_new(void)
{
    return json_pack("{s:s, s:{}}", "type", "object", "properties");
}

int wt__schema_add(json_t *schema, const char *name, json_t *property, bool required)
{
    json_t *properties = json_object_get(schema, "properties");
    if (!property || json_object_set_new(properties, name, property) < 0)
        return WT_ENOMEM;
    if (!required)
        return 0;
    if (!json_object_get(schema, "required") && json_object_set_new(schema, "required", json_array()) < 0)
        return WT_ENOMEM;
    return json_array_append_new(json_object_get(schema, "required"), json_string(name)) < 0 ? WT_ENOMEM : 0;
}

/* Returns the schema of one parameter in a list: its own "schema", and all other members that do not belong to the
 * list. Drops an empty default or description, which sources write if there is no default or description. */
static json_t *property_of(const json_t *parameter)
{
    static const char *const of_the_list[] = {"name", "in", "schema", "required", "optional"};
    json_t *own = json_object_get(parameter, "schema");
    json_auto_t *property = json_is_object(own) ? json_deep_copy(own) : json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)parameter, key, value)
    {
        bool skip = json_object_get(property, key) != NULL;
        for (size_t i = 0; i < COUNT(of_the_list); i++)
            skip = skip || strcmp(key, of_the_list[i]) == 0;
        if (!skip && json_object_set_new(property, key, json_deep_copy(value)) < 0)
            return NULL;
    }
    static const char *const may_be_empty[] = {"default", "description"};
    for (size_t i = 0; i < COUNT(may_be_empty); i++) {
        value = json_object_get(property, may_be_empty[i]);
        if (json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0))
            json_object_del(property, may_be_empty[i]);
    }
    return WT_TAKE(property);
}

int wt__schema_add_parameters(json_t *schema, const json_t *parameters, bool required)
{
    for (size_t i = 0; i < json_array_size(parameters); i++) {
        const json_t *parameter = json_array_get(parameters, i);
        const char *name =
            json_string_value(json_is_object(parameter) ? json_object_get(parameter, "name") : parameter);
        if (!name || !*name)
            continue;
        json_t *says = json_object_get(parameter, "required");
        json_t *property = json_is_object(parameter) ? property_of(parameter) : json_object();
        WT_TRY(wt__schema_add(schema, name, property, json_is_boolean(says) ? json_is_true(says) : required));
    }
    return 0;
}

/* True for {"required": [...], "optional": [...]} without keywords of a schema. */
static bool is_split(const json_t *parameters)
{
    json_t *required = json_object_get(parameters, "required");
    json_t *optional = json_object_get(parameters, "optional");
    return (json_is_array(required) || json_is_array(optional)) && !json_object_get(parameters, "properties") &&
           !json_object_get(parameters, "type");
}

/* True for a schema, false for an object of name: description. A schema has a "type" that is a string or a list, or
 * "properties" that are all schemas, or another keyword such as "$ref". A parameter that happens to be called "type" is
 * described by an object. */
static bool is_schema(const json_t *parameters)
{
    static const char *const marks[] = {"$ref", "anyOf", "oneOf", "allOf", "$schema"};
    json_t *type = json_object_get(parameters, "type");
    if (json_is_string(type) || json_is_array(type))
        return true;
    for (size_t i = 0; i < COUNT(marks); i++)
        if (json_object_get(parameters, marks[i]))
            return true;
    json_t *properties = json_object_get(parameters, "properties");
    const char *key;
    json_t *value;
    json_object_foreach(properties, key, value) if (!json_is_object(value) && !json_is_boolean(value)) return false;
    return json_is_object(properties);
}

int wt__schema_from_parameters(json_t **out, const json_t *parameters)
{
    *out = NULL;
    if (!json_is_object(parameters) && !json_is_array(parameters))
        return 0;
    if (json_is_object(parameters) && json_object_size(parameters) > 0 && !is_split(parameters) &&
        is_schema(parameters)) {
        *out = json_deep_copy(parameters);
        return *out ? 0 : WT_ENOMEM;
    }
    json_auto_t *schema = wt__schema_new();
    const char *name;
    json_t *value;
    if (!schema)
        return WT_ENOMEM;
    if (json_is_array(parameters)) {
        WT_TRY(wt__schema_add_parameters(schema, parameters, false));
    } else if (is_split(parameters)) {
        WT_TRY(wt__schema_add_parameters(schema, json_object_get(parameters, "required"), true));
        WT_TRY(wt__schema_add_parameters(schema, json_object_get(parameters, "optional"), false));
    } else {
        json_object_foreach((json_t *)parameters, name, value)
        {
            json_t *property = json_is_object(value)   ? property_of(value)
                               : json_is_string(value) ? schema_of_text(json_string_value(value))
                                                       : json_object();
            WT_TRY(wt__schema_add(schema, name, property, json_is_true(json_object_get(value, "required"))));
        }
    }
    *out = WT_TAKE(schema);
    return 0;
}

/* ---------------------------------------------------------------- words of a schema, for an index or an encoder */

/* The walk is limited in depth and in parameters, so that it ends for recursive and very large schemas. */

struct text_walk {
    const json_t *root;
    struct buffer *names, *descriptions;
    unsigned parameters; /* number of parameters visited */
    unsigned schemas;    /* number of schemas visited, including alternatives without parameters */
};

static void put_schema_line(struct buffer *buffer, struct str text)
{
    text = wt__str_trim(text);
    if (!buffer || text.len == 0)
        return;
    wt__buffer_str(buffer, text);
    wt__buffer_char(buffer, '\n');
}

/* Follows a reference such as "#/$defs/X". Does not decode escapes. Returns NULL if the target is missing. */
static const json_t *resolve_in_schema(const struct text_walk *walk, struct str reference)
{
    const json_t *at = walk->root;
    if (reference.len < 2 || memcmp(reference.ptr, "#/", 2) != 0)
        return NULL;
    const char *end = reference.ptr + reference.len;
    for (const char *step = reference.ptr + 2; at && step <= end;) {
        const char *slash = memchr(step, '/', (size_t)(end - step));
        size_t len = (size_t)((slash ? slash : end) - step);
        at = json_object_getn(at, step, len);
        step += len + 1;
    }
    return at;
}

static void put_values(struct text_walk *walk, const json_t *schema)
{
    const json_t *values = json_object_get(schema, "enum");
    for (size_t i = 0; i < json_array_size(values) && i < SCHEMA_TEXT_VALUES; i++) {
        const json_t *value = json_array_get(values, i);
        if (json_is_string(value))
            put_schema_line(walk->descriptions, (struct str){json_string_value(value), json_string_length(value)});
    }
}

static void visit_schema_texts(struct text_walk *walk, const json_t *schema, int depth)
{
    static const char *const alternatives[] = {"anyOf", "oneOf", "allOf", "prefixItems"};
    if (!json_is_object(schema) || depth > SCHEMA_TEXT_DEPTH || ++walk->schemas > 4 * SCHEMA_TEXT_PARAMETERS)
        return;
    visit_schema_texts(walk, resolve_in_schema(walk, wt__json_str(schema, "$ref")), depth + 1);
    put_values(walk, schema);
    const char *name;
    json_t *property;
    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        if (++walk->parameters > SCHEMA_TEXT_PARAMETERS)
            return;
        put_schema_line(walk->names, wt__str(name));
        put_schema_line(walk->descriptions, wt__json_str(property, "description"));
        visit_schema_texts(walk, property, depth + 1);
    }
    visit_schema_texts(walk, json_object_get(schema, "items"), depth + 1);
    visit_schema_texts(walk, json_object_get(schema, "additionalProperties"), depth + 1);
    for (size_t l = 0; l < sizeof alternatives / sizeof alternatives[0]; l++) {
        const json_t *list = json_object_get(schema, alternatives[l]);
        for (size_t i = 0; i < json_array_size(list); i++)
            visit_schema_texts(walk, json_array_get(list, i), depth + 1);
    }
}

int wt__schema_text(struct str schema, struct buffer *names, struct buffer *descriptions)
{
    json_auto_t *root = NULL;
    int rc = wt__json_parse(&root, schema.ptr, schema.len, NULL);
    if (rc < 0)
        return rc == WT_ENOMEM ? rc : 0;
    struct text_walk walk = {.root = root, .names = names, .descriptions = descriptions};
    visit_schema_texts(&walk, root, 0);
    return (names && names->failed) || (descriptions && descriptions->failed) ? WT_ENOMEM : 0;
}
