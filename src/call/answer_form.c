/* answer_form.c: builds the JSON schemas of a language model's answers, and reads list numbers and values from answers.
 * Also writes the lines that describe parameters in a prompt. See language_model.h. */
#include "call/language_model.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"

int wt__call_sampling_check(const struct call_sampling *sampling, const char *what, wt_error *err)
{
    if (sampling->samples > CALL_MOST_SAMPLES)
        return wt__fail(err, WT_EINVAL, "%s: samples must be at most %d, not %u", what, CALL_MOST_SAMPLES,
                        sampling->samples);
    if (!(sampling->temperature >= 0 && sampling->temperature <= CHAT_TEMPERATURE_MAX))
        return wt__fail(err, WT_EINVAL, "%s: temperature must be from 0 to %d, not %g", what, CHAT_TEMPERATURE_MAX,
                        sampling->temperature);
    if (!(sampling->top_p >= 0 && sampling->top_p <= 1))
        return wt__fail(err, WT_EINVAL, "%s: top-p must be from 0 to 1, not %g", what, sampling->top_p);
    return 0;
}

static bool may_be_null(const json_t *rule)
{
    const json_t *types = wt__json_array(rule, "type");
    for (size_t i = 0; i < json_array_size(types); i++)
        if (wt__str_equal(wt__str(json_string_value(json_array_get(types, i))), STR("null")))
            return true;
    return false;
}

int wt__numbered_schema(json_t **out, const json_t *schema, const char *member, size_t count, wt_error *err)
{
    *out = json_deep_copy(schema);
    json_t *rule = wt__json_object(wt__json_object(*out, "properties"), member), *numbers = json_array();
    int rc = rule && numbers ? 0 : -1;
    for (size_t i = 1; rc == 0 && i <= count; i++)
        rc = json_array_append_new(numbers, json_integer((json_int_t)i));
    if (rc == 0 && may_be_null(rule))
        rc = json_array_append_new(numbers, json_null());
    if (rc == 0)
        rc = json_object_set(rule, "enum", numbers);
    json_decref(numbers);
    if (rc == 0)
        return 0;
    json_decref(*out);
    *out = NULL;
    return wt__fail_nomem(err);
}

enum numbered wt__numbered_read(const json_t *answer, const char *member, size_t count, bool none, size_t *item)
{
    const json_t *number = json_object_get(answer, member);
    json_int_t place = json_is_integer(number) ? json_integer_value(number) : 0;
    if (none && json_is_null(number))
        return NUMBERED_NONE;
    if (place < 1 || place > (json_int_t)count)
        return NUMBERED_UNUSABLE;
    *item = (size_t)place - 1;
    return NUMBERED_ITEM;
}

/* --- answer schema ------------------------------------------------------------------------------------------------ */

/* True if the text is an identifier or a path and not a sentence. Such a text is safe in an answer schema, which is
 * sent without the delimiters that enclose values in a prompt. */
static bool is_plain_identifier(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$@:/";
    size_t len = strlen(text);
    return len > 0 && len <= ARGUMENT_NAME_BYTES && strspn(text, plain) == len;
}

/* True for a non-empty list in which every text is an identifier and no value is a list or an object. */
static bool all_plain(const json_t *values)
{
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        if (json_is_object(value) || json_is_array(value) ||
            (json_is_string(value) && !is_plain_identifier(json_string_value(value))))
            return false;
    }
    return json_array_size(values) > 0;
}

static bool names_are_plain(const json_t *properties)
{
    const char *name;
    json_t *property;
    json_object_foreach((json_t *)properties, name, property)
    {
        if (!is_plain_identifier(name) || !json_is_object(property))
            return false;
    }
    return true;
}

/* True for an integer from `least` to `most`. */
static bool is_limit(const json_t *value, json_int_t least, json_int_t most)
{
    return json_is_integer(value) && json_integer_value(value) >= least && json_integer_value(value) <= most;
}

/* Copies the limits of a schema, if all language model servers support them. Drops a pair whose minimum exceeds its
 * maximum. With such a schema, some servers fail to answer the question, or even all later questions. */
static int copy_limits(json_t *out, const json_t *schema)
{
    static const struct {
        const char *low, *high;
        json_int_t least, most;
    } pairs[] = {{"minItems", "maxItems", 0, ARGUMENT_MOST_COUNT},
                 {"minLength", "maxLength", 0, ARGUMENT_MOST_COUNT},
                 {"minimum", "maximum", -ARGUMENT_MOST_NUMBER, ARGUMENT_MOST_NUMBER}};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof pairs / sizeof *pairs; i++) {
        json_t *low = json_object_get(schema, pairs[i].low), *high = json_object_get(schema, pairs[i].high);
        bool has_low = is_limit(low, pairs[i].least, pairs[i].most);
        bool has_high = is_limit(high, pairs[i].least, pairs[i].most);
        if (has_low && has_high && json_integer_value(low) > json_integer_value(high))
            continue;
        if (has_low)
            rc = json_object_set(out, pairs[i].low, low);
        if (rc == 0 && has_high)
            rc = json_object_set(out, pairs[i].high, high);
    }
    return rc;
}

static json_t *write_loose_schema(const json_t *schema);

/* Copies the properties of an object inside an argument. If any property has a name that is not an identifier, or a
 * schema that is not an object, copies no properties, because the model could not fill an omitted property. */
static int copy_schema_members(json_t *out, const json_t *schema)
{
    const json_t *properties = wt__json_object(schema, "properties");
    const char *name;
    json_t *property;
    if (!properties || !names_are_plain(properties))
        return 0;
    json_auto_t *inner = json_object();
    if (!inner)
        return -1;
    json_object_foreach((json_t *)properties, name, property)
    {
        if (json_object_set_new(inner, name, write_loose_schema(property)) < 0)
            return -1;
    }
    return json_object_set(out, "properties", inner);
}

/* Returns the part of a schema that is allowed in an answer schema (language_model.h); NULL if out of memory. */
static json_t *write_loose_schema(const json_t *schema)
{
    json_auto_t *out = json_object();
    json_t *type = json_object_get(schema, "type"), *values = wt__json_array(schema, "enum");
    const json_t *items = wt__json_object(schema, "items");
    if (!out || copy_limits(out, schema) < 0)
        return NULL;
    if ((type && wt__answer_is_type(type) && json_object_set(out, "type", type) < 0) ||
        (all_plain(values) && json_object_set(out, "enum", values) < 0) || copy_schema_members(out, schema) < 0 ||
        (items && json_object_set_new(out, "items", write_loose_schema(items)) < 0))
        return NULL;
    return WT_TAKE(out);
}

static bool has_value(const json_t *values, struct str text)
{
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        if (json_is_string(value) &&
            wt__str_equal((struct str){json_string_value(value), json_string_length(value)}, text))
            return true;
    }
    return false;
}

/* Adds the value `null` to the member `key`, if the schema has this member. A single value becomes a list. Takes
 * ownership of `null`, which is the string "null" for "type", and the JSON value null for "enum". */
static int allow_null(json_t *schema, const char *key, json_t *null)
{
    json_t *values = json_object_get(schema, key);
    if (!values || !null) {
        json_decref(null);
        return values ? -1 : 0;
    }
    json_t *more = json_is_array(values) ? json_copy(values) : json_pack("[O]", values);
    if (!more || (!json_is_null(null) && has_value(more, STR("null")))) {
        json_decref(null);
        return more ? json_object_set_new(schema, key, more) : -1;
    }
    int rc = json_array_append_new(more, null);
    return json_object_set_new(schema, key, more) < 0 ? -1 : rc;
}

/* Same as write_loose_schema, but the value may also be null. */
static json_t *write_nullable_schema(const json_t *schema)
{
    json_t *out = write_loose_schema(schema);
    if (out && (allow_null(out, "type", json_string("null")) < 0 || allow_null(out, "enum", json_null()) < 0)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static bool parameter_names_are_plain(const struct parameters *parameters)
{
    for (size_t i = 0; i < parameters->len; i++)
        if (!is_plain_identifier(parameters->items[i].name))
            return false;
    return true;
}

/* Returns the schema of an object with all parameters. If a name is not an identifier or the schema is too large,
 * returns the schema of any object. NULL if out of memory. */
static json_t *build_arguments_schema(const struct parameters *parameters)
{
    json_t *properties = json_object(), *required = json_array();
    int rc = properties && required ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < parameters->len && parameter_names_are_plain(parameters); i++) {
        rc = json_object_set_new(properties, parameters->items[i].name,
                                 write_nullable_schema(parameters->items[i].schema));
        if (rc == 0)
            rc = json_array_append_new(required, json_string(parameters->items[i].name));
    }
    bool stated = rc == 0 && parameter_names_are_plain(parameters) &&
                  json_dumpb(properties, NULL, 0, JSON_COMPACT) <= ARGUMENT_SCHEMA_BYTES;
    json_t *out = rc < 0   ? NULL
                  : stated ? json_pack("{s:s, s:O, s:O, s:b}", "type", "object", "properties", properties, "required",
                                       required, "additionalProperties", 0)
                           : json_pack("{s:s}", "type", "object");
    json_decref(properties);
    json_decref(required);
    return out;
}

int wt__argument_schema(json_t **out, const struct parameters *parameters, bool thought, wt_error *err)
{
    json_t *object = build_arguments_schema(parameters);
    *out = !object   ? NULL
           : thought ? json_pack("{s:s, s:{s:{s:s, s:i}, s:O}, s:[s, s], s:b}", "type", "object", "properties",
                                 "thought", "type", "string", "maxLength", (int)ARGUMENT_MOST_THOUGHT, "arguments",
                                 object, "required", "thought", "arguments", "additionalProperties", 0)
                     : json_pack("{s:s, s:{s:O}, s:[s], s:b}", "type", "object", "properties", "arguments", object,
                                 "required", "arguments", "additionalProperties", 0);
    json_decref(object);
    return *out ? 0 : wt__fail_nomem(err);
}

/* --- text for the model ------------------------------------------------------------------------------------------- */

void wt__argument_value(struct buffer *out, const json_t *value)
{
    if (json_is_string(value))
        wt__buffer_append(out, json_string_value(value), json_string_length(value));
    else
        wt__json_write(out, value);
}

static void write_type(struct buffer *out, const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    const struct str items = wt__json_str(wt__json_object(schema, "items"), "type");
    if (json_is_string(type) && items.len > 0) {
        wt__buffer_text(out, "array of ");
        wt__buffer_str(out, items);
    } else if (type) {
        wt__argument_value(out, type);
    } else {
        wt__buffer_text(out, "any");
    }
}

static void write_values(struct buffer *out, const json_t *values)
{
    for (size_t i = 0; i < json_array_size(values); i++) {
        if (i == ARGUMENT_SHOWN_VALUES) {
            wt__buffer_text(out, ", ...");
            break;
        }
        wt__buffer_text(out, i ? ", " : "; one of ");
        wt__argument_value(out, json_array_get(values, i));
    }
}

void wt__argument_line(struct buffer *out, const struct parameter *parameter)
{
    static const char *const limits[] = {"minimum", "maximum", "format", "pattern"};
    struct str description = wt__json_str(parameter->schema, "description");
    wt__buffer_text(out, parameter->name);
    wt__buffer_text(out, " (");
    write_type(out, parameter->schema);
    wt__buffer_text(out, parameter->required ? "; required" : "; optional");
    write_values(out, parameter->values);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const json_t *limit = json_object_get(parameter->schema, limits[i]);
        if (!limit)
            continue;
        wt__buffer_printf(out, "; %s ", limits[i]);
        wt__argument_value(out, limit);
    }
    wt__buffer_char(out, ')');
    wt__buffer_text(out, description.len > 0 ? ": " : "");
    wt__buffer_str(out, description);
}

bool wt__argument_is_absent(const json_t *value, const struct parameter *parameter)
{
    static const char *const words[] = {"none",          "null",          "n/a",           "any",          "unknown",
                                        "not mentioned", "not specified", "not given",     "not provided", "not stated",
                                        "not set",       "unspecified",   "not applicable"};
    if (!value || json_is_null(value))
        return true;
    if (!json_is_string(value))
        return false;
    struct str text = wt__str_trim((struct str){json_string_value(value), json_string_length(value)});
    return text.len == 0 ||
           (wt__str_among(text, words, sizeof words / sizeof *words) && !has_value(parameter->values, text));
}

bool wt__argument_equal(const json_t *a, const json_t *b)
{
    if (!a || !b)
        return a == b;
    if (json_is_integer(a) && json_is_integer(b))
        return json_integer_value(a) == json_integer_value(b);
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    if (!json_is_string(a) || !json_is_string(b))
        return json_equal(a, b);
    struct str one = wt__str_trim((struct str){json_string_value(a), json_string_length(a)}),
               other = wt__str_trim((struct str){json_string_value(b), json_string_length(b)});
    return one.len == other.len && strncasecmp(one.ptr, other.ptr, one.len) == 0;
}
