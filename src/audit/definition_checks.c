/* definition_checks.c: checks schemas and names, and compares definitions with their pins. */
#include "audit/internal.h"

#include <math.h>

#include "base/json.h"
#include "base/memory.h"
#include "catalog/names.h"
#include "catalog/pins.h"

/* ---------------------------------------------------------------- schemas */

/* Finds schemas that are invalid, too large for a prompt, or too vague for a model. Validity is checked on the source's
 * schema if the definition has one, because the stored schema was already repaired (catalog/schema.h). */

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
    WT_CLEANUP(wt__buffer_dispose) struct buffer no_type = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer no_words = {0};
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
    WT_CHECK_ALLOC(!no_words.failed && !no_type.failed, err);
    WT_TRY(report_parameters(a, at, RULE_UNDESCRIBED_PARAMETERS, undescribed, all,
                             nothing == undescribed ? "description and no type" : "description", &no_words, err));
    return report_parameters(a, at, RULE_UNTYPED_PARAMETERS, untyped, all, "type", &no_type, err);
}

/* Reports names in `required` that are not in `properties`. Skips schemas with a keyword that may declare properties
 * elsewhere. */
static int check_required(struct audit_run *a, const struct checked_tool *at, wt_error *err)
{
    static const char *const elsewhere[] = {"$ref", "allOf", "anyOf", "oneOf", "patternProperties"};
    const json_t *properties = wt__json_object(at->schema, "properties"), *value;
    const json_t *required = wt__json_array(at->schema, "required");
    size_t i, unknown = 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
    for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
        if (json_object_get(at->schema, elsewhere[k]))
            return 0;
    json_array_foreach((json_t *)required, i, value)
    {
        const char *key = json_string_value(value);
        if (key && !json_object_get(properties, key))
            append_parameter(&names, unknown++, key);
    }
    WT_CHECK_ALLOC(!names.failed, err);
    if (unknown > 0)
        WT_TRY(wt__audit_add_tool_finding(a, RULE_UNKNOWN_REQUIRED, at->tool, err,
                                          "Required, but not among the properties: %s.",
                                          wt__audit_quote(a, wt__buffer_view(&names))));
    return 0;
}

int wt__audit_schema(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    bool broken = false;
    WT_TRY(check_validity(a, at, &broken, err));
    WT_TRY(check_size(a, at, err));
    WT_TRY(check_parameters(a, at, broken, err));
    return check_required(a, at, err);
}

/* ---------------------------------------------------------------- names */

/* Finds names that an API refuses, according to the API's documentation and error messages. Every API accepts the names
 * that whichtool exports (catalog/names.h), so this rule is for callers that send definitions unchanged. */

struct api_name_limits {
    const char *name;
    size_t most;       /* maximum bytes */
    const char *marks; /* allowed in addition to letters and digits */
    bool begins;       /* true if the first character must be a letter or '_' */
};

static const struct api_name_limits apis[] = {
    {"OpenAI", 64, "_-", false},
    {"Anthropic", 128, "_-", false},
    {"Gemini", 64, "_-.:", true},
    {"MCP", 128, "_-.", false},
};
enum { APIS = sizeof apis / sizeof *apis };

static bool api_accepts(const struct api_name_limits *api, struct str name)
{
    if (name.len == 0 || name.len > api->most || (api->begins && !wt__is_letter(name.ptr[0]) && name.ptr[0] != '_'))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!wt__is_letter(c) && !wt__is_digit(c) && (c == 0 || !strchr(api->marks, c)))
            return false;
    }
    return true;
}

/* True if an import added a number to the tool's name because the provider already had a tool of that name: "add~2" for
 * a second "add". Sets *stem to the name without the number. */
static bool is_numbered_copy(const struct audit_run *a, size_t tool, struct str *stem)
{
    const struct str name = a->tools[tool].tool.name;
    *stem = wt__name_without_number(name);
    for (size_t i = 0; stem->len < name.len && i < a->count; i++)
        if (a->tools[i].provider == a->tools[tool].provider && wt__str_equal(a->tools[i].tool.name, *stem))
            return true;
    return false;
}

int wt__audit_name(struct audit_run *a, struct checked_tool *at, wt_error *err)
{
    const struct tool *tool = &a->tools[at->tool].tool;
    struct buffer refusing = {0}, advice = {0};
    size_t count = 0;
    for (size_t i = 0; i < APIS; i++)
        if (!api_accepts(&apis[i], tool->name))
            wt__buffer_printf(&refusing, "%s%s", count++ > 0 ? ", " : "", apis[i].name);
    char name[EXPORT_NAME_MAX + 1];
    wt__export_name((struct str){0}, tool->name, 0, name);
    struct str stem;
    bool numbered = count > 0 && is_numbered_copy(a, at->tool, &stem);
    if (numbered)
        wt__buffer_text(&advice, "Rename one of the two. If they come from two files, give one file another provider: "
                                 "`whichtool add -p NAME FILE`.");
    else
        wt__buffer_printf(
            &advice,
            "Name it \"%s\", or send the definitions that `whichtool show` exports: every API accepts their names.",
            name);
    uint32_t place = (uint32_t)at->tool;
    const struct new_finding found = {
        .rule = RULE_REFUSED_NAME, .tools = &place, .count = 1, .figure = (double)count, .advice = advice.ptr};
    int rc = refusing.failed || advice.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0 && numbered)
        rc = wt__audit_add_finding(
            a, &found, err,
            "Another tool of this provider is also named \"%s\", so this one is called \"%s\", which %s %s.",
            wt__audit_quote(a, stem), wt__audit_quote(a, tool->name), refusing.ptr, count == 1 ? "rejects" : "reject");
    else if (rc == 0 && count > 0)
        rc = wt__audit_add_finding(a, &found, err, "The name \"%s\" is rejected by %s.", wt__audit_quote(a, tool->name),
                                   refusing.ptr);
    wt__buffer_dispose(&refusing);
    wt__buffer_dispose(&advice);
    return rc;
}

/* ---------------------------------------------------------------- pins */

/* Appends the names of changed members: "description, inputSchema (new)". */
static void append_changed_members(const json_t *was, const json_t *now, struct buffer *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)now, key, value)
    {
        const json_t *before = json_object_get(was, key);
        if (!before || !json_equal(before, value))
            wt__buffer_printf(out, "%s%s%s", out->len > 0 ? ", " : "", key, before ? "" : " (new)");
    }
    json_object_foreach((json_t *)was, key, value) if (!json_object_get(now, key))
        wt__buffer_printf(out, "%s%s (removed)", out->len > 0 ? ", " : "", key);
}

static int compare_with_pin(struct audit_run *a, struct pin *pin, size_t tool, wt_error *err)
{
    char sha256[DEFINITION_DIGITS + 1];
    struct buffer changes = {0};
    json_t *members;
    if (!pin)
        return wt__audit_add_tool_finding(a, RULE_PIN_NEW, tool, err, "The tool is not in the pins.");
    pin->met = true;
    if (wt__is_partial_hash(&a->tools[tool].tool, pin->members))
        return wt__audit_add_tool_finding(
            a, RULE_PIN_CHANGED, tool, err,
            "The pin is from an earlier version of whichtool, which did not hash the definitions that the tool "
            "refers to, nor the route of its calls.");
    int rc = wt__tool_hash(&a->tools[tool].tool, sha256, &members, err);
    if (rc < 0)
        return rc;
    if (strcmp(sha256, pin->sha256) != 0) {
        append_changed_members(pin->members, members, &changes);
        rc = changes.failed ? wt__fail_nomem(err)
                            : wt__audit_add_tool_finding(
                                  a, RULE_PIN_CHANGED, tool, err, "The definition changed since it was pinned%s%s.",
                                  changes.len > 0 ? ": " : "", wt__audit_quote(a, wt__buffer_view(&changes)));
    }
    wt__buffer_dispose(&changes);
    json_decref(members);
    return rc;
}

int wt__audit_pinned(struct audit_run *a, wt_error *err)
{
    struct pins pins = {0};
    int rc = wt__pins_read(&pins, a->options.pins, a->options.pins_len, err);
    if (rc < 0 && rc != WT_ENOMEM && a->options.pins_file)
        wt__fail_context(err, rc, "%s", a->options.pins_file);
    for (size_t i = 0; rc == 0 && i < a->count; i++)
        if (!a->scoped || a->tools[i].provider == a->scope)
            rc = compare_with_pin(a, wt__pins_find(&pins, wt__str(a->tools[i].id)), i, err);
    for (size_t i = 0; rc == 0 && i < pins.count; i++) {
        const struct pin *pin = &pins.items[i];
        const struct new_finding found = {.rule = RULE_PIN_GONE,
                                          .removed = pin->id,
                                          .removed_provider = pin->provider,
                                          .line = pin->line,
                                          .figure = NAN};
        if (!pin->met && pin->id.len > 0)
            rc = wt__audit_add_finding(a, &found, err, "The tool was pinned and is no longer in the catalogue.");
    }
    wt__pins_dispose(&pins);
    return rc;
}
