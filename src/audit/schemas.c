/* schemas.c: finds schemas that are invalid, too large for a prompt, or too vague for a model. Validity is checked on
 * the source's schema if the definition has one, because the stored schema was already repaired (catalog/schema.h). */
#include "audit/families.h"

#include <math.h>

#include "audit/texts.h"
#include "base/json.h"

/* ---------------------------------------------------------------- validity */

/* Returns the schema of the source; NULL if the definition has none, or its format is not JSON Schema. */
static const json_t *find_source_schema(const struct tool *tool, const json_t *definition)
{
    static const char *const keys[] = {"inputSchema", "input_schema", "parameters"};
    if (wt__str_equal(tool->format, STR("gemini")) || wt__str_equal(tool->format, STR("openapi")) ||
        wt__str_equal(tool->format, STR("rapidapi")) || wt__str_equal(tool->format, STR("beir")))
        return NULL; /* formats with their own dialect */
    const json_t *function = wt__json_object(definition, "function");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const json_t *found = json_object_get(function ? function : definition, keys[k]);
        if (found && (json_is_object(found) || json_is_boolean(found)))
            return found;
    }
    return NULL;
}

/* Compiles the schema with the validator. Returns 0 or an error, described in *why. */
static int compile_schema(const json_t *schema, wt_error *why)
{
    struct buffer text = {0};
    wt_validator *validator = NULL;
    int rc = wt__json_write(&text, schema);
    if (rc == 0)
        rc = wt_validator_open(&validator, text.ptr, text.len, NULL, why);
    wt_validator_close(validator);
    wt__buffer_dispose(&text);
    return rc;
}

static int check_validity(struct audit_run *a, const struct checked_tool *at, bool *broken, wt_error *err)
{
    const json_t *source = find_source_schema(&a->tools[at->tool].tool, at->definition);
    const struct {
        const json_t *schema;
        const char *name;
    } schemas[] = {{source ? source : at->schema, "schema"}, {wt__output_schema(at->definition), "output schema"}};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof schemas / sizeof *schemas; i++) {
        wt_error why = {0};
        rc = schemas[i].schema ? compile_schema(schemas[i].schema, &why) : 0;
        if (rc == WT_ENOMEM)
            return wt__fail_nomem(err);
        *broken = rc < 0;
        if (rc < 0) /* report a tool once */
            return wt__audit_add_tool_finding(a, RULE_BROKEN_SCHEMA, at->tool, err, "The %s is invalid: %s.",
                                              schemas[i].name, wt__audit_quote(a, wt__str(why.message)));
    }
    return rc;
}

/* ---------------------------------------------------------------- size */

static size_t json_depth(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i, deepest = 0, depth;
    if (json_is_array(value))
        json_array_foreach((json_t *)value, i, member) deepest =
            (depth = json_depth(member)) > deepest ? depth : deepest;
    json_object_foreach((json_t *)value, key, member) deepest =
        (depth = json_depth(member)) > deepest ? depth : deepest;
    return json_is_array(value) || json_is_object(value) ? deepest + 1 : 0;
}

static int report_large(struct audit_run *a, size_t tool, size_t figure, size_t limit, const char *of, wt_error *err)
{
    uint32_t place = (uint32_t)tool;
    const struct new_finding found = {.rule = RULE_LARGE_SCHEMA, .tools = &place, .count = 1, .figure = (double)figure};
    return wt__audit_add_finding(a, &found, err, "The schema has %zu %s; the recommended maximum is %zu.", figure, of,
                                 limit);
}

static int check_size(struct audit_run *a, const struct checked_tool *at, wt_error *err)
{
    size_t bytes = a->tools[at->tool].tool.schema.len, depth = json_depth(at->schema);
    size_t parameters = json_object_size(wt__json_object(at->schema, "properties"));
    if (bytes > AUDIT_SCHEMA_BYTES)
        return report_large(a, at->tool, bytes, AUDIT_SCHEMA_BYTES, "bytes", err);
    if (parameters > AUDIT_SCHEMA_PARAMETERS)
        return report_large(a, at->tool, parameters, AUDIT_SCHEMA_PARAMETERS, "parameters", err);
    return depth > AUDIT_SCHEMA_DEPTH ? report_large(a, at->tool, depth, AUDIT_SCHEMA_DEPTH, "levels of nesting", err)
                                      : 0;
}

/* ---------------------------------------------------------------- parameters */

static bool has_description(const json_t *property)
{
    return wt__json_str(property, "description").len > 0 || wt__json_str(property, "title").len > 0 ||
           json_object_get(property, "$ref") || json_object_get(property, "const");
}

static bool has_value_type(const json_t *property)
{
    static const char *const keys[] = {"type",  "enum",  "const",      "$ref", "anyOf",
                                       "oneOf", "allOf", "properties", "items"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (json_object_get(property, keys[k]))
            return true;
    return false;
}

enum { NAMED = 5 /* maximum parameters named in a message */ };

static void append_parameter(struct buffer *names, size_t already, const char *key)
{
    if (already < NAMED)
        wt__buffer_printf(names, "%s%s", already > 0 ? ", " : "", key);
    else if (already == NAMED)
        wt__buffer_text(names, ", ...");
}

static int report_parameters(struct audit_run *a, const struct checked_tool *at, enum audit_rule rule, size_t count,
                             size_t all, const char *lack, const struct buffer *names, wt_error *err)
{
    uint32_t place = (uint32_t)at->tool;
    const struct new_finding found = {.rule = rule, .tools = &place, .count = 1, .figure = (double)count};
    if (count == 0)
        return 0;
    return wt__audit_add_finding(a, &found, err, "%zu of %zu %s %s no %s: %s.", count, all,
                                 all == 1 ? "parameter" : "parameters", count == 1 ? "has" : "have", lack,
                                 wt__audit_quote(a, wt__buffer_view(names)));
}

/* Reports parameters without description or type. Types are not checked if the source's schema is broken, because the
 * repair may have dropped them. */
static int check_parameters(struct audit_run *a, const struct checked_tool *at, bool broken, wt_error *err)
{
    const json_t *properties = wt__json_object(at->schema, "properties");
    size_t all = json_object_size(properties), undescribed = 0, untyped = 0, nothing = 0;
    struct buffer no_words = {0}, no_type = {0};
    const char *key;
    json_t *property;
    json_object_foreach((json_t *)properties, key, property)
    {
        bool described = has_description(property), typed = has_value_type(property);
        nothing += !described && !typed;
        if (!described)
            append_parameter(&no_words, undescribed++, key);
        else if (!typed && !broken)
            append_parameter(&no_type, untyped++, key);
    }
    int rc = no_words.failed || no_type.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0)
        rc = report_parameters(a, at, RULE_UNDESCRIBED_PARAMETERS, undescribed, all,
                               nothing == undescribed ? "description and no type" : "description", &no_words, err);
    if (rc == 0)
        rc = report_parameters(a, at, RULE_UNTYPED_PARAMETERS, untyped, all, "type", &no_type, err);
    wt__buffer_dispose(&no_words);
    wt__buffer_dispose(&no_type);
    return rc;
}

/* Reports required names without a property, if the schema lists all its properties itself. */
static int check_required(struct audit_run *a, const struct checked_tool *at, wt_error *err)
{
    static const char *const elsewhere[] = {"$ref", "allOf", "anyOf", "oneOf", "patternProperties"};
    const json_t *properties = wt__json_object(at->schema, "properties"), *value;
    const json_t *required = wt__json_array(at->schema, "required");
    size_t i, unknown = 0;
    struct buffer names = {0};
    for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
        if (json_object_get(at->schema, elsewhere[k]))
            return 0;
    json_array_foreach((json_t *)required, i, value)
    {
        const char *key = json_string_value(value);
        if (key && !json_object_get(properties, key))
            append_parameter(&names, unknown++, key);
    }
    int rc = names.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0 && unknown > 0)
        rc = wt__audit_add_tool_finding(a, RULE_UNKNOWN_REQUIRED, at->tool, err,
                                        "Required, but not among the properties: %s.",
                                        wt__audit_quote(a, wt__buffer_view(&names)));
    wt__buffer_dispose(&names);
    return rc;
}

int wt__audit_schema(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    bool broken = false;
    int rc = check_validity(a, at, &broken, err);
    if (rc == 0)
        rc = check_size(a, at, err);
    if (rc == 0)
        rc = check_parameters(a, at, broken, err);
    return rc == 0 ? check_required(a, at, err) : rc;
}
