/* mcp.c: a tools/list result of an MCP server: alone, in its JSON-RPC envelope, or several pages. */
#include "import/function.h"

static bool detect_mcp(const struct peek *peek)
{
    unsigned other = PEEK_PARAMETERS | PEEK_FUNCTION | PEEK_TYPE | PEEK_OPENAPI | PEEK_SWAGGER | PEEK_API_LIST;
    return !peek->lines && ((peek->keys & PEEK_INPUT_SCHEMA_MCP) ||
                            ((peek->keys & (PEEK_NAME | PEEK_RESULT | PEEK_TOOLS)) && !(peek->keys & other)));
}

static int read_mcp_tool(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    static const struct function_shape shape = {.schema_keys = {"inputSchema"}};
    return wt__function_read(reader, item, &shape, err);
}

static int read_mcp(struct import_reader *reader, struct str bytes, wt_error *err)
{
    return wt__walk_document(reader, bytes, read_mcp_tool, err);
}

const struct importer wt__import_mcp = {"mcp", detect_mcp, read_mcp};
