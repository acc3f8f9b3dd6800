/* answer.c: parses and validates the answers of a language model. See internal.h. */
#include "llm/internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/memory.h"
#include "llm/prompt.h"
#include "text/unicode.h"

/* Returns the contents of the code fence that encloses the whole text; if there is no fence, the text itself. */
static struct str strip_fence(struct str text)
{
    const struct str fence = STR("```");
    if (!wt__str_starts(text, fence) || text.len < 2 * fence.len || memcmp(text.ptr + text.len - 3, "```", 3) != 0)
        return text;
    const char *line_end = memchr(text.ptr, '\n', text.len);
    if (!line_end)
        return text;
    struct str label = wt__str_trim((struct str){text.ptr + fence.len, (size_t)(line_end - text.ptr) - fence.len});
    if (label.len > 0 && !wt__str_equal(label, STR("json")) && !wt__str_equal(label, STR("JSON")))
        return text;
    size_t inside = text.len - (size_t)(line_end - text.ptr) - 1;
    return inside < fence.len ? text : wt__str_trim((struct str){line_end + 1, inside - fence.len});
}

static int find_json(struct str text, struct str *out, wt_error *err)
{
    struct str inside = strip_fence(wt__str_trim(text));
    struct json_item item;
    if (inside.len == 0)
        return wt__fail(err, WT_EFORMAT, "the answer is empty");
    if (inside.ptr[0] != '{' && inside.ptr[0] != '[')
        return wt__fail(err, WT_EFORMAT, "the answer has to begin with { or [, with no words around the JSON");
    wt__json_scan_root(inside, 0, 1, &item);
    if (item.cut)
        return wt__fail(err, WT_EFORMAT, "the JSON ends before its brackets are closed");
    if (item.value.len < inside.len)
        return wt__fail(err, WT_EFORMAT, "there are words after the JSON");
    *out = inside;
    return 0;
}

static const char *const type_names[] = {"object", "array", "string", "integer", "number", "boolean", "null"};

static bool has_json_type(const json_t *value, const char *name)
{
    static const json_type types[] = {JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_INTEGER,
                                      JSON_REAL,   JSON_TRUE,  JSON_NULL};
    json_type type = json_typeof(value) == JSON_FALSE ? JSON_TRUE : json_typeof(value);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, type_names[i]) == 0)
            return type == types[i] || (types[i] == JSON_REAL && type == JSON_INTEGER);
    return false;
}

static bool is_type_name(const json_t *value)
{
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (json_is_string(value) && strcmp(json_string_value(value), type_names[i]) == 0)
            return true;
    return false;
}

bool wt__answer_is_type(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_type_name(json_array_get(value, i)))
            return false;
    return json_array_size(value) > 0 || is_type_name(value);
}

static bool has_only_strings(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

/* True if the keyword is supported and its value has the right type. */
static bool is_keyword(const char *key, const json_t *value)
{
    static const char *const counts[] = {"minItems", "maxItems", "minLength", "maxLength"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(key, counts[i]) == 0)
            return json_is_integer(value) && json_integer_value(value) >= 0;
    if (strcmp(key, "type") == 0)
        return wt__answer_is_type(value);
    if (strcmp(key, "enum") == 0)
        return json_array_size(value) > 0;
    if (strcmp(key, "required") == 0)
        return has_only_strings(value);
    if (strcmp(key, "minimum") == 0 || strcmp(key, "maximum") == 0)
        return json_is_number(value);
    if (strcmp(key, "additionalProperties") == 0)
        return json_is_boolean(value);
    if (strcmp(key, "properties") == 0 || strcmp(key, "items") == 0)
        return json_is_object(value);
    return strcmp(key, "title") == 0 || strcmp(key, "description") == 0;
}

/* Checks a schema recursively. path: JSON pointer of the schema, truncated if the schema is deep. */
static int check_schema(const json_t *schema, const char *path, wt_error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(schema))
        return wt__fail_at(err, WT_EFORMAT, 0, 0, path, "a schema has to be an object");
    json_object_foreach((json_t *)schema, key, value)
    {
        if (!is_keyword(key, value))
            return wt__fail_at(err, WT_EFORMAT, 0, 0, path, "the schema's \"%.64s\" is not supported", key);
    }
    char inner[256];
    json_t *properties = wt__json_object(schema, "properties");
    json_object_foreach(properties, key, value)
    {
        snprintf(inner, sizeof inner, "%s/properties/%s", path, key);
        WT_TRY(check_schema(value, inner, err));
    }
    snprintf(inner, sizeof inner, "%s/items", path);
    const json_t *items = json_object_get(schema, "items");
    return items ? check_schema(items, inner, err) : 0;
}

int wt__answer_check_schema(const json_t *schema, wt_error *err)
{
    return check_schema(schema, "", err);
}

static int match_schema(const json_t *value, const json_t *schema, const char *path, wt_error *err);

static const char *describe_path(const char *path)
{
    return path[0] ? path : "the answer";
}

static int match_type(const json_t *value, const json_t *type, const char *path, wt_error *err)
{
    char wanted[128] = "";
    if (json_is_string(type)) {
        if (has_json_type(value, json_string_value(type)))
            return 0;
        snprintf(wanted, sizeof wanted, "%s", json_string_value(type));
    }
    for (size_t i = 0; i < json_array_size(type); i++) {
        const char *name = json_string_value(json_array_get(type, i));
        if (has_json_type(value, name))
            return 0;
        size_t len = strlen(wanted);
        snprintf(wanted + len, sizeof wanted - len, "%s%s", i ? " or " : "", name);
    }
    return wt__fail(err, WT_EFORMAT, "%s has to be of type %s", describe_path(path), wanted);
}

static int match_enum(const json_t *value, const json_t *choices, const char *path, wt_error *err)
{
    for (size_t i = 0; i < json_array_size(choices); i++)
        if (json_equal(value, json_array_get(choices, i)))
            return 0;
    return wt__fail(err, WT_EFORMAT, "%s is none of the values that are allowed", describe_path(path));
}

static int match_bounds(double size, const json_t *schema, const char *least, const char *most, const char *what,
                        const char *path, wt_error *err)
{
    const json_t *low = json_object_get(schema, least), *high = json_object_get(schema, most);
    if (low && size < json_number_value(low))
        return wt__fail(err, WT_EFORMAT, "%s has to be at least %.17g%s", describe_path(path), json_number_value(low),
                        what);
    if (high && size > json_number_value(high))
        return wt__fail(err, WT_EFORMAT, "%s has to be at most %.17g%s", describe_path(path), json_number_value(high),
                        what);
    return 0;
}

static int match_object(const json_t *value, const json_t *schema, const char *path, wt_error *err)
{
    json_t *properties = wt__json_object(schema, "properties"), *required = wt__json_array(schema, "required");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *key = json_string_value(json_array_get(required, i));
        if (!json_object_get(value, key))
            return wt__fail(err, WT_EFORMAT, "%s lacks the member \"%s\"", describe_path(path), key);
    }
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)value, key, member)
    {
        char inner[256];
        const json_t *rule = json_object_get(properties, key);
        if (!rule && !wt__json_bool(schema, "additionalProperties", true))
            return wt__fail(err, WT_EFORMAT, "%s has a member that is not asked for", describe_path(path));
        snprintf(inner, sizeof inner, "%s%s%s", path, path[0] ? "." : "", rule ? key : "");
        if (rule)
            WT_TRY(match_schema(member, rule, inner, err));
    }
    return 0;
}

static int match_array(const json_t *value, const json_t *schema, const char *path, wt_error *err)
{
    const json_t *items = json_object_get(schema, "items");
    WT_TRY(match_bounds((double)json_array_size(value), schema, "minItems", "maxItems", " items long", path, err));
    for (size_t i = 0; items && i < json_array_size(value); i++) {
        char inner[256];
        snprintf(inner, sizeof inner, "%s[%zu]", path, i);
        WT_TRY(match_schema(json_array_get(value, i), items, inner, err));
    }
    return 0;
}

static int match_schema(const json_t *value, const json_t *schema, const char *path, wt_error *err)
{
    const json_t *type = json_object_get(schema, "type"), *choices = json_object_get(schema, "enum");
    if (type)
        WT_TRY(match_type(value, type, path, err));
    if (choices)
        WT_TRY(match_enum(value, choices, path, err));
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return match_object(value, schema, path, err);
    case JSON_ARRAY:
        return match_array(value, schema, path, err);
    case JSON_STRING:
        return match_bounds((double)wt__utf8_count((struct str){json_string_value(value), json_string_length(value)}),
                            schema, "minLength", "maxLength", " characters long", path, err);
    case JSON_INTEGER:
    case JSON_REAL:
        return match_bounds(json_number_value(value), schema, "minimum", "maximum", "", path, err);
    default:
        return 0;
    }
}

int wt__answer_parse(json_t **out, struct str text, const json_t *schema, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *answer = NULL;
    struct str json = {0};
    *out = NULL;
    WT_TRY(find_json(text, &json, err));
    int rc = wt__json_parse(&answer, json.ptr, json.len, err);
    if (rc == WT_ENOMEM)
        return rc;
    if (rc < 0) /* the parser's message would quote the answer */
        return wt__fail(err, WT_EFORMAT, "the answer is not valid JSON");
    WT_TRY(match_schema(answer, schema, "", err));
    *out = WT_TAKE(answer);
    return 0;
}

int wt__answer_read(json_t **out, struct str text, const struct chat_question *question, wt_error *err)
{
    int rc = wt__answer_parse(out, text, question->schema, err);
    if (rc != WT_EFORMAT || !question->read_layout)
        return rc;
    json_auto_t *other = question->read_layout(question->layout_context, text);
    if (!other || match_schema(other, question->schema, "", NULL) < 0)
        return rc;
    *out = WT_TAKE(other);
    return 0;
}
