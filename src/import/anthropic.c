/* anthropic.c: tools of Anthropic's Messages API: {"name", "description", "input_schema"}. */
#include "import/function.h"

static bool detect_anthropic(const struct peek *peek)
{
    return !peek->lines && (peek->keys & PEEK_INPUT_SCHEMA);
}

static int read_anthropic_tool(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    static const struct function_shape shape = {.schema_keys = {"input_schema"}, .types = {"custom"}};
    return wt__function_read(reader, item, &shape, err);
}

static int read_anthropic(struct import_reader *reader, struct str bytes, wt_error *err)
{
    return wt__walk_document(reader, bytes, read_anthropic_tool, err);
}

const struct importer wt__import_anthropic = {"anthropic", detect_anthropic, read_anthropic};
