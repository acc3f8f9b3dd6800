/* Fuzzes the parser of a model's answers: accepted answers match the schema. Also fuzzes schemas: an accepted schema
 * can validate any answer. The input has a schema, a NUL and an answer. Without a NUL it is an answer to a fixed
 * schema. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "llm/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char ours[] = "{\"type\":\"object\",\"properties\":{\"tool\":{\"type\":[\"integer\",\"null\"],\"minimum\":"
                           "1}},\"required\":[\"tool\"],\"additionalProperties\":false}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data, *end = size ? memchr(bytes, '\0', size) : NULL;
    struct str schema_text = end ? (struct str){bytes, (size_t)(end - bytes)} : STR(ours);
    struct str text = end ? (struct str){end + 1, size - schema_text.len - 1} : (struct str){bytes, size};
    json_t *schema, *answer;
    wt_error err = {0};
    if (wt__json_parse(&schema, schema_text.ptr, schema_text.len, &err) < 0)
        return 0;
    if (wt__answer_check_schema(schema, &err) == 0) {
        int rc = wt__answer_parse(&answer, text, schema, &err);
        require(rc == 0 ? json_is_object(answer) || json_is_array(answer)
                        : !answer && rc == err.code && err.message[0] != '\0');
        if (rc == 0 && !end) {
            const json_t *tool = json_object_get(answer, "tool");
            require(json_object_size(answer) == 1);
            require(json_is_null(tool) || (json_is_integer(tool) && json_integer_value(tool) >= 1));
        }
        json_decref(answer);
    }
    json_decref(schema);
    return 0;
}
