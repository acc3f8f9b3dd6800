/* input.c: compiles the input schema of a tool, validates arguments, and handles the arguments that clients repeat in
 * headers; see input.h. The rules for x-mcp-header are those of streamable HTTP, 2026-07-28. The argument must be
 * reached through "properties" alone, its type must be a string, integer or boolean, and the header name must be
 * unique.
 *
 * Compiles as much of a malformed input schema as possible. Some servers list schemas rejected by every validator (a
 * dangling "$ref", a type "int", a pattern in another dialect) but answer calls anyway. Such a schema is normalised
 * (catalog/schema.h), and the keywords that still do not compile are dropped (schema/lenient.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "catalog/schema.h"
#include "engine/validator.h"
#include "mcp/connection.h"
#include "schema/lenient.h"
#include "serve/mcp/internal.h"

/* ---------------------------------------------------------------- compiling a schema */

#define NULLABLE "\"nullable\""

/* Appends the schema with "nullable" translated. A schema without "nullable" is appended unchanged. Invalid JSON is
 * appended unchanged too; the validator reports the error. Returns 0 or WT_ENOMEM. */
static int put_nullable_schema(struct buffer *out, struct str schema, wt_error *err)
{
    json_auto_t *tree = NULL;
    if (!memmem(schema.ptr, schema.len, NULLABLE, sizeof NULLABLE - 1) ||
        wt__json_parse(&tree, schema.ptr, schema.len, NULL) < 0) {
        wt__buffer_str(out, schema);
        return out->failed ? wt__fail_nomem(err) : 0;
    }
    WT_CHECK_ALLOC(wt__schema_convert_nullable(tree) == 0 && wt__json_write(out, tree) == 0, err);
    return 0;
}

/* Compiles the normal form of a schema, which has no unknown types. *out is NULL if the normal form could be stricter
 * than the schema, or does not compile. Returns 0 or WT_ENOMEM. */
static int open_normal_form(wt_validator **out, json_t *schema)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer normal = {0};
    struct schema_drops drops;
    *out = NULL;
    if (wt__schema_may_refuse_more(schema))
        return 0;
    int rc = wt__schema_write(&normal, schema);
    if (rc == 0)
        rc = wt__validator_open_lenient(out, wt__buffer_view(&normal), &drops, NULL);
    return rc == WT_ENOMEM ? rc : 0;
}

/* Compiles the valid part of a schema that the strict compiler has rejected. *is_whole: no keyword was dropped, because
 * the schema only uses older syntax. *out is NULL if no part compiles. Returns 0, WT_EFORMAT (not a JSON object),
 * WT_ETOOLONG (nested too deeply) or WT_ENOMEM. */
static int open_rest(wt_validator **out, struct str schema, bool *is_whole)
{
    wt_validator *normal = NULL;
    struct schema_drops drops;
    json_auto_t *tree = NULL;
    *is_whole = false;
    WT_TRY(wt__json_parse(&tree, schema.ptr, schema.len, NULL));
    if (!json_is_object(tree))
        return WT_EFORMAT;
    int rc = wt__validator_open_lenient(out, schema, &drops, NULL);
    *is_whole = rc == 0 && drops.count == 0;
    if (rc == WT_ENOMEM || *is_whole)
        return rc;
    rc = open_normal_form(&normal, tree);
    if (normal) {
        wt_validator_close(*out);
        *out = normal;
    }
    return rc;
}

/* Compiles a schema, or the part of it that compiles. Appends to `text` the schema with "nullable" translated. *why:
 * the first error, with code 0 if the whole schema compiles. *out is NULL if no part compiles. Errors: those of
 * open_rest. */
static int compile_input(wt_validator **out, struct buffer *text, struct str schema, wt_error *why, wt_error *err)
{
    bool is_whole = false;
    *out = NULL;
    *why = (wt_error){0};
    int rc = put_nullable_schema(text, schema, err);
    if (rc < 0 || wt_validator_open(out, text->ptr ? text->ptr : "", text->len, NULL, why) == 0)
        return rc;
    rc = why->code == WT_ENOMEM ? WT_ENOMEM : open_rest(out, wt__buffer_view(text), &is_whole);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0 && err)
        *err = *why;
    if (is_whole)
        *why = (wt_error){0};
    return rc;
}

#define ANNOTATION "x-mcp-header"

/* An argument that modern clients repeat in a header. */
struct mirror {
    const char *name;        /* the header is Mcp-Param-NAME */
    const char *const *path; /* [depth], property names from the root to the argument */
    size_t depth;
};

struct mcp_input {
    wt_validator *validator; /* NULL if no part of the schema compiles */
    const char *unchecked;   /* reason why only part of the schema is checked, else NULL */
    struct mirror mirrors[MCP_MIRRORS_MAX];
    size_t mirror_count;
    json_t *schema; /* owns the texts of the mirrors */
    struct arena arena;
};

/* ---------------------------------------------------------------- arguments repeated in headers */

/* Path to the current schema, a linked list on the stack. */
struct schema_path {
    const struct schema_path *up;
    const char *name;
    size_t depth;
};

static int add_mirror(struct mcp_input *input, const json_t *schema, const struct schema_path *path, wt_error *err)
{
    const char *name = json_string_value(json_object_get(schema, ANNOTATION));
    static const char *const types[] = {"string", "integer", "boolean"};
    struct str type = wt__json_str(schema, "type");
    if (!name || !wt__http_is_token(wt__str(name)))
        return wt__fail(err, WT_EFORMAT, "\"" ANNOTATION "\" is not a header name");
    if (!path || path->depth == 0)
        return wt__fail(err, WT_EFORMAT, "\"" ANNOTATION "\" \"%.80s\" is not reached through properties alone", name);
    if (!wt__str_among(type, types, 3))
        return wt__fail(err, WT_EFORMAT, "\"" ANNOTATION "\" \"%.80s\" is not on a string, integer or boolean", name);
    for (size_t i = 0; i < input->mirror_count; i++)
        if (wt__str_among(wt__str(name), &input->mirrors[i].name, 1))
            return wt__fail(err, WT_EFORMAT, "\"" ANNOTATION "\" \"%.80s\" is a duplicate", name);
    if (input->mirror_count == MCP_MIRRORS_MAX)
        return wt__fail(err, WT_ETOOLONG, "more than %d arguments have \"" ANNOTATION "\"", MCP_MIRRORS_MAX);
    const char **names = wt__arena_array(&input->arena, const char *, path->depth);
    WT_CHECK_ALLOC(names, err);
    for (const struct schema_path *at = path; at->depth > 0; at = at->up)
        names[at->depth - 1] = at->name;
    input->mirrors[input->mirror_count++] = (struct mirror){name, names, path->depth};
    return 0;
}

static int visit_schema(struct mcp_input *input, json_t *schema, const struct schema_path *path, wt_error *err);

/* Visits the schemas of an object whose member names are not keywords. */
static int visit_schema_map(struct mcp_input *input, json_t *schemas, const struct schema_path *path, wt_error *err)
{
    const char *name;
    json_t *schema;
    json_object_foreach(schemas, name, schema)
    {
        struct schema_path step = {path, name, path ? path->depth + 1 : 0};
        WT_TRY(visit_schema(input, schema, path ? &step : NULL, err));
    }
    return 0;
}

/* Visits a schema and collects the arguments with ANNOTATION. path: NULL if keywords other than "properties" lead to
 * the schema. The recursion is limited by the nesting limit of JSON. */
static int visit_schema(struct mcp_input *input, json_t *schema, const struct schema_path *path, wt_error *err)
{
    static const char *const data[] = {"enum", "const", "default", "examples"};
    static const char *const maps[] = {"patternProperties", "$defs", "definitions", "dependentSchemas"};
    const char *key;
    json_t *value;
    size_t at;
    if (json_is_array(schema)) {
        json_array_foreach(schema, at, value) WT_TRY(visit_schema(input, value, NULL, err));
        return 0;
    }
    if (json_object_get(schema, ANNOTATION))
        WT_TRY(add_mirror(input, schema, path, err));
    json_object_foreach(schema, key, value)
    {
        bool is_data = false, is_map = false;
        for (size_t i = 0; i < 4; i++) {
            is_data |= strcmp(key, data[i]) == 0;
            is_map |= strcmp(key, maps[i]) == 0;
        }
        if (is_data || (!json_is_object(value) && !json_is_array(value)))
            continue;
        if (strcmp(key, "properties") == 0 && json_is_object(value))
            WT_TRY(visit_schema_map(input, value, path, err));
        else if (is_map && json_is_object(value))
            WT_TRY(visit_schema_map(input, value, NULL, err));
        else
            WT_TRY(visit_schema(input, value, NULL, err));
    }
    return 0;
}

/* ---------------------------------------------------------------- opening and validating */

static void close_input(struct mcp_input **input)
{
    wt__mcp_input_close(*input);
}

int wt__mcp_input_open(struct mcp_input **out, struct str schema, wt_error *err)
{
    static const struct schema_path root = {NULL, "", 0};
    WT_CLEANUP(close_input) struct mcp_input *input = wt__alloc_zeros(1, sizeof *input);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt_error why;
    *out = NULL;
    WT_CHECK_ALLOC(input, err);
    WT_TRY(compile_input(&input->validator, &text, schema, &why, err));
    if (why.code < 0) {
        input->unchecked = wt__arena_copy(&input->arena, wt__str(why.message));
        WT_CHECK_ALLOC(input->unchecked, err);
    }
    WT_TRY(wt__json_parse(&input->schema, text.ptr, text.len, err));
    WT_TRY(visit_schema(input, input->schema, &root, err));
    *out = WT_TAKE(input);
    return 0;
}

void wt__mcp_input_close(struct mcp_input *input)
{
    if (!input)
        return;
    wt_validator_close(input->validator);
    json_decref(input->schema);
    wt__arena_dispose(&input->arena);
    free(input);
}

const char *wt__mcp_input_unchecked(const struct mcp_input *input)
{
    return input->unchecked;
}

enum mcp_checks wt__mcp_input_checks(const struct mcp_input *input)
{
    return !input->unchecked ? MCP_CHECKS_ALL : input->validator ? MCP_CHECKS_PART : MCP_CHECKS_NOTHING;
}

int wt__mcp_input_check(const struct mcp_input *input, const json_t *arguments, struct buffer *out)
{
    wt_validation *validation = NULL;
    wt_validate_options options;
    wt_error err;
    if (!input->validator)
        return 1;
    wt_validate_options_init(&options);
    options.max_violations = MCP_VIOLATIONS_TOLD;
    int rc = wt__validate_value(input->validator, arguments, &options, &validation, &err);
    if (rc < 0) {
        wt__buffer_text(out, err.message);
        return rc == WT_ENOMEM ? rc : 0;
    }
    bool valid = validation->valid != 0;
    if (!valid)
        wt__buffer_text(out, "the arguments do not fit the tool's input schema:");
    for (size_t i = 0; !valid && i < validation->violation_count; i++)
        wt__buffer_printf(out, "\n%s", validation->violations[i]->message);
    if (!valid && validation->more > 0)
        wt__buffer_printf(out, "\nand %zu more", validation->more);
    wt_validation_free(validation);
    return valid;
}

int wt__mcp_input_repair(const struct mcp_input *input, struct str arguments, json_t **tree, bool wraps,
                         struct buffer *out)
{
    return !input->validator ? 0 : wt__validator_coerce(input->validator, tree, arguments, wraps, out);
}

/* ---------------------------------------------------------------- comparing and writing headers */

static const json_t *find_argument(const json_t *arguments, const struct mirror *mirror)
{
    for (size_t i = 0; i < mirror->depth; i++)
        arguments = json_object_get(arguments, mirror->path[i]);
    return json_is_null(arguments) ? NULL : arguments;
}

bool wt__mcp_mirrors_match(const struct mcp_input *input, const struct mcp_headers *headers, const json_t *arguments,
                           struct buffer *words)
{
    for (size_t i = 0; i < input->mirror_count; i++) {
        const struct mirror *mirror = &input->mirrors[i];
        const json_t *value = find_argument(arguments, mirror);
        struct str header = {"", 0};
        bool there = headers->param(headers, wt__str(mirror->name), &header);
        if (!value && !there)
            continue;
        if (value && there && wt__mcp_header_equals(header, value))
            continue;
        wt__buffer_printf(words, "the header Mcp-Param-%s %s", mirror->name,
                          !there   ? "is missing, but its argument is present"
                          : !value ? "is present without its argument"
                                   : "differs from its argument");
        return false;
    }
    return true;
}

/* Returns the digits of an integer as the client sent them, or an empty string for other values. */
static struct str find_digits(struct str arguments, const struct mirror *mirror)
{
    for (size_t i = 0; i < mirror->depth; i++)
        wt__mcp_member(arguments, mirror->path[i], &arguments);
    for (size_t i = 0; i < arguments.len; i++)
        if (!wt__is_digit(arguments.ptr[i]) && (i > 0 || arguments.ptr[i] != '-'))
            return STR("");
    return arguments;
}

/* Formats a value as header text. Returns NULL if out of memory, or for types without a header form. */
static const char *format_header_value(struct arena *arena, const json_t *value, struct str digits)
{
    char number[32];
    if (digits.len > 0)
        return wt__arena_copy(arena, digits);
    if (json_is_string(value))
        return wt__mcp_encode_header(arena, (struct str){json_string_value(value), json_string_length(value)});
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    snprintf(number, sizeof number, "%.17g", json_number_value(value));
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return json_is_number(value) ? wt__arena_copy(arena, wt__str(number)) : NULL;
}

int wt__mcp_input_write_headers(const struct mcp_input *input, struct str arguments, const json_t *tree,
                                struct arena *arena, struct http_header *out, wt_error *err)
{
    int count = 0;
    for (size_t i = 0; i < input->mirror_count; i++) {
        const json_t *value = find_argument(tree, &input->mirrors[i]);
        WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
        if (!value || json_is_object(value) || json_is_array(value))
            continue;
        wt__buffer_printf(&name, "Mcp-Param-%s", input->mirrors[i].name);
        out[count] =
            (struct http_header){name.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&name)),
                                 format_header_value(arena, value, find_digits(arguments, &input->mirrors[i]))};
        WT_CHECK_ALLOC(out[count].name && out[count].value, err);
        count++;
    }
    return count;
}
