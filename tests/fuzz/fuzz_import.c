/* Fuzzes the import: the first line names the format ("" for detection), the rest is the source. Imported tools satisfy
 * the contracts of import.h, can be exported in every form, and have a schema that wt__schema_text accepts. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/json.h"
#include "catalog/export.h"
#include "import/import.h"
#include "catalog/names.h"
#include "catalog/schema.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tool(const struct tool *tool, struct str source)
{
    json_t *schema, *definition;
    struct buffer names = {0}, texts = {0};
    require(tool->name.len > 0 && tool->name.len <= WT_MAX_NAME_BYTES && tool->provider.len <= WT_MAX_NAME_BYTES);
    /* The definition is not a part of the source for OpenAPI in YAML, or with inherited members. */
    if (tool->definition.ptr < source.ptr || tool->definition.ptr + tool->definition.len > source.ptr + source.len) {
        require(wt__json_parse(&definition, tool->definition.ptr, tool->definition.len, NULL) == 0);
        json_decref(definition);
    }
    require(wt__json_parse(&schema, tool->schema.ptr, tool->schema.len, NULL) == 0);
    require(json_is_object(wt__json_object(schema, "properties")));
    json_decref(schema);
    require(wt__schema_text(tool->schema, &names, &texts) == 0);
    wt__buffer_dispose(&names);
    wt__buffer_dispose(&texts);
}

static void check_export(const struct import *import)
{
    static const char *const forms[] = {"openai", "openai-responses",    "anthropic",        "gemini",
                                        "mcp",    "anthropic-reference", "anthropic-inline", "openai-search"};
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        struct buffer out = {0};
        json_t *list;
        size_t count = import->tool_count < 4 ? import->tool_count : 4;
        require(wt__export(import->tools, count, wt__str(forms[f]), &out, NULL) == 0);
        require(wt__json_parse(&list, out.ptr, out.len, NULL) == 0);
        json_decref(list);
        wt__buffer_dispose(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *newline = size > 0 ? memchr(text, '\n', size) : NULL;
    struct import_options options = {0};
    struct str source = {text, size};
    struct import import;
    if (newline) {
        options.format = (struct str){text, (size_t)(newline - text)};
        source = (struct str){newline + 1, size - options.format.len - 1};
    }
    if (wt__import_bytes(&import, source, &options, NULL) < 0)
        return 0;
    for (size_t i = 0; i < import.tool_count; i++)
        check_tool(&import.tools[i], source);
    check_export(&import);
    wt__import_dispose(&import);
    return 0;
}
