/* input.c: see input.h. The rules of x-mcp-header are those of streamable HTTP, 2026-07-28: only on arguments that a
 * chain of "properties" leads to, of a type that has one spelling, each with a name of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/validator.h"
#include "mcp/message.h"
#include "serve/mcp/inside.h"

#define ANNOTATION "x-mcp-header"

struct mirror {
    const char *name;        /* behind Mcp-Param- */
    const char *const *path; /* [depth] names of properties */
    size_t depth;
};

struct mcp_input {
    wt_validator *validator; /* NULL if nothing of the schema compiles */
    const char *unchecked;   /* why not all of the schema is checked; NULL if it is */
    struct mirror mirrors[MCP_MIRRORS_MAX];
    size_t mirror_count;
    json_t *schema; /* the mirrors' texts */
    struct arena arena;
};

/* ---------------------------------------------------------------- mirrors */

/* The way to the schema that is looked at; on the stack. */
struct way {
    const struct way *up;
    const char *name;
    size_t depth;
};

static bool is_token(const char *text)
{
    static const char more[] = "!#$%&'*+-.^_`|~";
    for (const char *c = text; *c; c++)
        if (!(*c >= '0' && *c <= '9') && !((*c | 32) >= 'a' && (*c | 32) <= 'z') && !strchr(more, *c))
            return false;
    return *text != '\0';
}

static bool same_name(const char *a, const char *b)
{
    return wt__str_among(wt__str(a), &b, 1);
}

static int add_mirror(struct mcp_input *input, const json_t *schema, const struct way *way, wt_error *err)
{
    const char *name = json_string_value(json_object_get(schema, ANNOTATION));
    static const char *const types[] = {"string", "integer", "boolean"};
    struct str type = wt__json_str(schema, "type");
    if (!name || !is_token(name))
        return wt__fail(err, WT_EFORMAT, "\"" ANNOTATION "\" is not the name of a header");
    if (!way || way->depth == 0)
        return wt__fail(err, WT_EFORMAT, "\"" ANNOTATION "\" \"%.80s\" is where only properties may not lead", name);
    if (!wt__str_among(type, types, 3))
        return wt__fail(err, WT_EFORMAT, "\"" ANNOTATION "\" \"%.80s\" is on what is no string, integer or boolean",
                        name);
    for (size_t i = 0; i < input->mirror_count; i++)
        if (same_name(input->mirrors[i].name, name))
            return wt__fail(err, WT_EFORMAT, "\"" ANNOTATION "\" \"%.80s\" is there twice", name);
    if (input->mirror_count == MCP_MIRRORS_MAX)
        return wt__fail(err, WT_ETOOLONG, "more than %d arguments have \"" ANNOTATION "\"", MCP_MIRRORS_MAX);
    const char **path = wt__arena_array(&input->arena, const char *, way->depth);
    if (!path)
        return wt__fail_nomem(err);
    for (const struct way *at = way; at->depth > 0; at = at->up)
        path[at->depth - 1] = at->name;
    input->mirrors[input->mirror_count++] = (struct mirror){name, path, way->depth};
    return 0;
}

static int look(struct mcp_input *input, json_t *schema, const struct way *way, wt_error *err);

/* A map from names to schemas: the names are nobody's keywords. */
static int look_by_name(struct mcp_input *input, json_t *schemas, const struct way *way, wt_error *err)
{
    const char *name;
    json_t *schema;
    int rc = 0;
    json_object_foreach(schemas, name, schema)
    {
        struct way step = {way, name, way ? way->depth + 1 : 0};
        if (rc == 0)
            rc = look(input, schema, way ? &step : NULL, err);
    }
    return rc;
}

/* way: NULL where more than properties led here. Nested as deep as JSON may be. */
static int look(struct mcp_input *input, json_t *schema, const struct way *way, wt_error *err)
{
    static const char *const data[] = {"enum", "const", "default", "examples"};
    static const char *const maps[] = {"patternProperties", "$defs", "definitions", "dependentSchemas"};
    const char *key;
    json_t *value;
    size_t at;
    int rc = 0;
    if (json_is_array(schema)) {
        json_array_foreach(schema, at, value) rc = rc < 0 ? rc : look(input, value, NULL, err);
        return rc;
    }
    if (json_object_get(schema, ANNOTATION))
        rc = add_mirror(input, schema, way, err);
    json_object_foreach(schema, key, value)
    {
        bool is_data = false, is_map = false;
        for (size_t i = 0; i < 4; i++) {
            is_data |= strcmp(key, data[i]) == 0;
            is_map |= strcmp(key, maps[i]) == 0;
        }
        if (rc < 0 || is_data || (!json_is_object(value) && !json_is_array(value)))
            continue;
        if (strcmp(key, "properties") == 0 && json_is_object(value))
            rc = look_by_name(input, value, way, err);
        else
            rc =
                is_map && json_is_object(value) ? look_by_name(input, value, NULL, err) : look(input, value, NULL, err);
    }
    return rc;
}

/* ---------------------------------------------------------------- schemas */

int wt__mcp_input_open(struct mcp_input **out, struct str schema, wt_error *err)
{
    struct mcp_input *input = calloc(1, sizeof *input);
    static const struct way root = {NULL, "", 0};
    struct buffer text = {0};
    *out = NULL;
    if (!input)
        return wt__fail_nomem(err);
    wt_error why;
    int rc = wt__mcp_compile_input(&input->validator, &text, schema, &why, err);
    input->unchecked = rc == 0 && why.code < 0 ? wt__arena_copy(&input->arena, wt__str(why.message)) : NULL;
    if (rc == 0 && why.code < 0 && !input->unchecked)
        rc = wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__json_parse(&input->schema, text.ptr, text.len, err);
    wt__buffer_dispose(&text);
    if (rc == 0)
        rc = look(input, input->schema, &root, err);
    if (rc < 0) {
        wt__mcp_input_close(input);
        return rc;
    }
    *out = input;
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

int wt__mcp_input_check(const struct mcp_input *input, struct str arguments, struct buffer *out)
{
    wt_validation *validation = NULL;
    wt_validate_options options;
    json_t *tree = NULL;
    wt_error err;
    wt_validate_options_init(&options);
    options.max_violations = MCP_VIOLATIONS_TOLD;
    int rc = wt__json_parse_with_nul(&tree, arguments.ptr, arguments.len, &err);
    if (rc == 0 && !input->validator) {
        json_decref(tree);
        return 1;
    }
    if (rc == 0)
        rc = wt__validate_value(input->validator, tree, &options, &validation, &err);
    json_decref(tree);
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

int wt__mcp_input_repair(const struct mcp_input *input, struct str arguments, bool wraps, struct buffer *out)
{
    return !input->validator ? 0 : wt__validator_coerce(input->validator, arguments, wraps, out);
}

/* ---------------------------------------------------------------- headers beside arguments */

static const json_t *value_at(const json_t *arguments, const struct mirror *mirror)
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
        const json_t *value = value_at(arguments, mirror);
        struct str header = {"", 0};
        bool there = headers->param(headers, wt__str(mirror->name), &header);
        if (!value && !there)
            continue;
        if (value && there && wt__mcp_header_says(header, value))
            continue;
        wt__buffer_printf(words, "the header Mcp-Param-%s %s", mirror->name,
                          !there   ? "is missing beside its argument"
                          : !value ? "is there without its argument"
                                   : "does not say what its argument says");
        return false;
    }
    return true;
}

/* The digits of a whole number as the client wrote it; empty if it is written otherwise. */
static struct str digits_at(struct str arguments, const struct mirror *mirror)
{
    for (size_t i = 0; i < mirror->depth; i++)
        wt__mcp_member(arguments, mirror->path[i], &arguments);
    for (size_t i = 0; i < arguments.len; i++)
        if (!wt__is_digit(arguments.ptr[i]) && (i > 0 || arguments.ptr[i] != '-'))
            return STR("");
    return arguments;
}

/* NULL when memory is out, or the value is of a kind that no header repeats. */
static const char *repeated(struct arena *arena, const json_t *value, struct str digits)
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

int wt__mcp_input_repeat(const struct mcp_input *input, struct str arguments, struct arena *arena,
                         struct http_header *out, wt_error *err)
{
    json_t *tree;
    int count = 0, rc = wt__json_parse_with_nul(&tree, arguments.ptr, arguments.len, err);
    for (size_t i = 0; rc == 0 && i < input->mirror_count; i++) {
        const json_t *value = value_at(tree, &input->mirrors[i]);
        struct buffer name = {0};
        if (!value || json_is_object(value) || json_is_array(value))
            continue;
        wt__buffer_printf(&name, "Mcp-Param-%s", input->mirrors[i].name);
        out[count] = (struct http_header){name.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&name)),
                                          repeated(arena, value, digits_at(arguments, &input->mirrors[i]))};
        wt__buffer_dispose(&name);
        rc = out[count].name && out[count].value ? 0 : wt__fail_nomem(err);
        count++;
    }
    json_decref(tree);
    return rc < 0 ? rc : count;
}
