/* gemini.c: function declarations of the Gemini API. "parameters" is a subset of OpenAPI with upper-case types,
 * "parametersJsonSchema" is JSON Schema. Both are imported as JSON Schema. */
#include "import/function.h"

static bool detect_gemini(const struct peek *peek)
{
    return !peek->lines && (peek->keys & (PEEK_DECLARATIONS | PEEK_JSON_PARAMETERS));
}

static int read_gemini_tool(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    static const struct function_shape shape = {
        .schema_keys = {"parametersJsonSchema", "parameters_json_schema", "parameters"}};
    return wt__function_read(reader, item, &shape, err);
}

static int read_gemini(struct import_reader *reader, struct str bytes, wt_error *err)
{
    return wt__walk_document(reader, bytes, read_gemini_tool, err);
}

const struct importer wt__import_gemini = {"gemini", detect_gemini, read_gemini};
