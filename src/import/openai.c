/* openai.c: functions of OpenAI's APIs: {"type": "function", "function": {...}} of chat completions, the flat objects
 * of Responses, and the older "functions" list; alone, in a list, or in a request body. */
#include "import/function.h"

static bool detect_openai(const struct peek *peek)
{
    unsigned other = PEEK_OPENAPI | PEEK_SWAGGER | PEEK_API_LIST;
    return !peek->lines && !(peek->keys & other) &&
           ((peek->keys & PEEK_FUNCTION) || ((peek->keys & PEEK_NAME) && (peek->keys & (PEEK_PARAMETERS | PEEK_TYPE))));
}

static int read_openai_tool(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    static const struct function_shape shape = {
        .nested = "function", .schema_keys = {"parameters"}, .types = {"function"}};
    return wt__function_read(reader, item, &shape, err);
}

static int read_openai(struct import_reader *reader, struct str bytes, wt_error *err)
{
    return wt__walk_document(reader, bytes, read_openai_tool, err);
}

const struct importer wt__import_openai = {"openai", detect_openai, read_openai};
