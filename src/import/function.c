/* function.c: imports the formats in which each tool is a JSON object with a name, a description and a schema. If a
 * tool has its schema under the key of another format, an issue is reported. Without the schema, the tool would lose
 * its arguments. */
#include "import/internal.h"

#include <stdio.h>

#include "base/json.h"
#include "catalog/schema.h"

enum { FUNCTION_SCHEMA_KEYS = 5 };

/* The members of a tool in one format. */
struct function_shape {
    const char *nested;                            /* member that may contain the tool; NULL if tools are not nested */
    const char *schema_keys[FUNCTION_SCHEMA_KEYS]; /* members for the schema; the first one present is used */
    const char *types[3];                          /* values of "type" that can be imported; empty for all values */
    bool named_provider;                           /* tools may have the members "provider" and "category" */
    bool loose;                                    /* accept any description of parameters as a schema */
};

/* The key of the schema in each format. */
static const struct {
    const char *key, *format;
} schema_keys[] = {
    {"inputSchema", "mcp"},
    {"input_schema", "anthropic"},
    {"parameters", "openai"},
    {"parametersJsonSchema", "gemini"},
    {"parameters_json_schema", "gemini"},
};

/* Finds the schema of the arguments. Returns 1 and sets *out, NULL if the tool has no schema. Returns 0 if an issue was
 * reported. */
static int find_function_schema(struct import_reader *reader, struct source_place place, const json_t *function,
                                const struct function_shape *shape, json_t **out, wt_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < FUNCTION_SCHEMA_KEYS && shape->schema_keys[i]; i++) {
        json_t *schema = json_object_get(function, shape->schema_keys[i]);
        if (!schema || json_is_null(schema) || json_is_true(schema))
            continue;
        if (json_is_object(schema) || (shape->loose && json_is_array(schema))) {
            *out = schema;
            return 1;
        }
        char below[64];
        snprintf(below, sizeof below, "/%s", shape->schema_keys[i]);
        return wt__reader_issue(reader, place, below, err,
                                "\"%s\" is not an object: write a JSON Schema of the arguments", shape->schema_keys[i]);
    }
    for (size_t i = 0; i < sizeof schema_keys / sizeof schema_keys[0]; i++) {
        bool known = false;
        for (size_t k = 0; k < FUNCTION_SCHEMA_KEYS && shape->schema_keys[k]; k++)
            known = known || strcmp(shape->schema_keys[k], schema_keys[i].key) == 0;
        if (!known && json_object_get(function, schema_keys[i].key))
            return wt__reader_issue(reader, place, "", err,
                                    "\"%s\" is the schema of format %s, not of format %s: import it as %s",
                                    schema_keys[i].key, schema_keys[i].format, reader->format, schema_keys[i].format);
    }
    return 1;
}

/* Checks that the tool is a function. Sources also list hosted tools, such as web search, which cannot be imported.
 * Returns 1, or 0 if an issue was reported. */
static int check_function_type(struct import_reader *reader, struct source_place place, const json_t *tool,
                               const struct function_shape *shape, wt_error *err)
{
    struct str type = wt__json_str(tool, "type");
    if (type.len == 0 || !shape->types[0])
        return 1;
    for (size_t i = 0; i < sizeof shape->types / sizeof shape->types[0] && shape->types[i]; i++)
        if (wt__str_equal(type, wt__str(shape->types[i])))
            return 1;
    return wt__reader_issue(reader, place, "/type", err,
                            "a tool of type \"%.*s\" is run by the provider and has no definition to import: remove it",
                            (int)(type.len < 64 ? type.len : 64), type.ptr);
}

static int read_function_texts(struct import_reader *reader, const json_t *function, const struct function_shape *shape,
                               struct draft *draft, wt_error *err)
{
    int rc = wt__reader_text(reader, draft->place, function, "name", &draft->name, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft->place, function, "description", &draft->description, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft->place, function, "title", &draft->title, err);
    if (draft->title.len == 0)
        draft->title = wt__json_str(wt__json_object(function, "annotations"), "title");
    if (rc > 0 && shape->named_provider)
        rc = wt__reader_text(reader, draft->place, function, "provider", &draft->provider, err);
    if (rc > 0 && shape->named_provider)
        rc = wt__reader_text(reader, draft->place, function, "category", &draft->category, err);
    return rc;
}

/* Reads one parsed tool. function: the object with the name; it may be nested in the tool. */
static int read_parsed_function(struct import_reader *reader, const json_t *tool, const json_t *function,
                                const struct function_shape *shape, struct draft *draft, wt_error *err)
{
    json_auto_t *made = NULL;
    json_t *schema = NULL;
    int rc = check_function_type(reader, draft->place, tool, shape, err);
    if (rc > 0)
        rc = read_function_texts(reader, function, shape, draft, err);
    if (rc > 0 && shape->named_provider && function != tool && draft->provider.len == 0)
        rc = wt__reader_text(reader, draft->place, tool, "provider", &draft->provider, err);
    if (draft->provider.len == 0)
        draft->provider = wt__json_str(function, "server");
    if (draft->provider.len == 0)
        draft->provider = wt__json_str(tool, "server");
    if (rc > 0)
        rc = find_function_schema(reader, draft->place, function, shape, &schema, err);
    if (rc <= 0)
        return rc;
    if (schema && shape->loose && wt__schema_from_parameters(&made, schema) < 0)
        return wt__fail_nomem(err);
    draft->schema = made ? made : schema;
    rc = wt__reader_add(reader, draft, err);
    return rc < 0 ? rc : 0;
}

static int read_function(struct import_reader *reader, const struct json_item *item, const struct function_shape *shape,
                         wt_error *err)
{
    json_auto_t *tool = NULL;
    struct draft draft = {.definition = item->value, .place = {item->byte, item->line}};
    int rc = wt__reader_parse(reader, item, &tool, err);
    if (rc <= 0)
        return rc;
    const json_t *nested = shape->nested ? wt__json_object(tool, shape->nested) : NULL;
    size_t mark = reader->pointer.len;
    if (nested)
        wt__pointer_key(reader, wt__str(shape->nested));
    rc = read_parsed_function(reader, tool, nested ? nested : tool, shape, &draft, err);
    wt__pointer_back(reader, mark);
    return rc;
}

static int read_function_item(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    return read_function(reader, item, reader->shape, err);
}

static int read_functions(struct import_reader *reader, struct str bytes, wt_error *err)
{
    return wt__walk_document(reader, bytes, read_function_item, err);
}

static bool detect_mcp(const struct peek *peek)
{
    unsigned other = PEEK_PARAMETERS | PEEK_FUNCTION | PEEK_TYPE | PEEK_OPENAPI | PEEK_SWAGGER | PEEK_API_LIST;
    return !peek->lines && ((peek->keys & PEEK_INPUT_SCHEMA_MCP) ||
                            ((peek->keys & (PEEK_NAME | PEEK_RESULT | PEEK_TOOLS)) && !(peek->keys & other)));
}

static bool detect_openai(const struct peek *peek)
{
    unsigned other = PEEK_OPENAPI | PEEK_SWAGGER | PEEK_API_LIST;
    return !peek->lines && !(peek->keys & other) &&
           ((peek->keys & PEEK_FUNCTION) || ((peek->keys & PEEK_NAME) && (peek->keys & (PEEK_PARAMETERS | PEEK_TYPE))));
}

static bool detect_anthropic(const struct peek *peek)
{
    return !peek->lines && (peek->keys & PEEK_INPUT_SCHEMA);
}

static bool detect_gemini(const struct peek *peek)
{
    return !peek->lines && (peek->keys & (PEEK_DECLARATIONS | PEEK_JSON_PARAMETERS));
}

static bool detect_jsonl(const struct peek *peek)
{
    unsigned other = PEEK_OPENAPI | PEEK_SWAGGER | PEEK_API_LIST;
    return peek->lines || ((peek->keys & PEEK_PROVIDER) && (peek->keys & PEEK_NAME) && !(peek->keys & other));
}

static int read_jsonl(struct import_reader *reader, struct str bytes, wt_error *err)
{
    struct peek peek;
    wt__peek(&peek, reader->out->files[reader->file], bytes);
    bool document = reader->options->format.len == 0 && !peek.lines;
    return (document ? wt__walk_document : wt__walk_lines)(reader, bytes, read_function_item, err);
}

static const struct function_shape mcp_shape = {.schema_keys = {"inputSchema"}},
                                   openai_shape = {.nested = "function",
                                                   .schema_keys = {"parameters"},
                                                   .types = {"function"}},
                                   anthropic_shape = {.schema_keys = {"input_schema"}, .types = {"custom"}},
                                   gemini_shape = {.schema_keys = {"parametersJsonSchema", "parameters_json_schema",
                                                                   "parameters"}},
                                   jsonl_shape = {.nested = "function",
                                                  .schema_keys = {"inputSchema", "input_schema", "parametersJsonSchema",
                                                                  "parameters_json_schema", "parameters"},
                                                  .named_provider = true,
                                                  .loose = true};

const struct importer wt__import_mcp = {"mcp", detect_mcp, read_functions, &mcp_shape},
                      wt__import_openai = {"openai", detect_openai, read_functions, &openai_shape},
                      wt__import_anthropic = {"anthropic", detect_anthropic, read_functions, &anthropic_shape},
                      wt__import_gemini = {"gemini", detect_gemini, read_functions, &gemini_shape},
                      wt__import_jsonl = {"jsonl", detect_jsonl, read_jsonl, &jsonl_shape};
