/* jsonl.c: JSON Lines, one tool per line, in the shape of any function format or plain: {"name", "description",
 * "title", "provider", "category", "parameters"}. A line may also be a list or a result of tools. A document whose
 * tools name their provider is read here as well, because no other format has that member. */
#include "import/function.h"

static bool detect_jsonl(const struct peek *peek)
{
    unsigned other = PEEK_OPENAPI | PEEK_SWAGGER | PEEK_API_LIST;
    return peek->lines || ((peek->keys & PEEK_PROVIDER) && (peek->keys & PEEK_NAME) && !(peek->keys & other));
}

static int read_jsonl_tool(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    static const struct function_shape shape = {
        .nested = "function",
        .schema_keys = {"inputSchema", "input_schema", "parametersJsonSchema", "parameters_json_schema", "parameters"},
        .named_provider = true,
        .loose = true};
    return wt__function_read(reader, item, &shape, err);
}

static int read_jsonl(struct import_reader *reader, struct str bytes, wt_error *err)
{
    struct peek peek;
    wt__peek(&peek, reader->out->files[reader->file], bytes);
    bool document = reader->options->format.len == 0 && !peek.lines;
    return (document ? wt__walk_document : wt__walk_lines)(reader, bytes, read_jsonl_tool, err);
}

const struct importer wt__import_jsonl = {"jsonl", detect_jsonl, read_jsonl};
