/* Fuzzes the argument form with schemas of tools. Checks that the answer schema made from a tool's schema is valid and
 * limited in size, and contains no blank and so no prose. Also checks that the parameters can be printed. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "llm/internal.h"
#include "call/language_model.h"
#include "require.h"

static void read_values(const struct parameters *parameters)
{
    for (size_t i = 0; i < parameters->len; i++) {
        const struct parameter *parameter = &parameters->items[i];
        struct buffer line = {0};
        wt__argument_line(&line, parameter);
        require(!line.failed && line.len > 0);
        wt__buffer_dispose(&line);
        for (size_t j = 0; j < json_array_size(parameter->values); j++) {
            const json_t *value = json_array_get(parameter->values, j);
            wt__argument_is_absent(value, parameter);
            require(wt__argument_equal(value, value));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct parameters parameters;
    json_t *schema, *answer;
    if (wt__json_parse(&schema, (const char *)data, size, NULL) < 0)
        return 0;
    require(wt__parameters_read(&parameters, schema, &arena) == 0);
    for (int thought = 0; thought < 2; thought++) {
        require(wt__argument_schema(&answer, &parameters, thought, NULL) == 0);
        require(wt__answer_check_schema(answer, NULL) == 0);
        char *text = json_dumps(answer, JSON_COMPACT);
        require(text && strlen(text) < 2 * ARGUMENT_SCHEMA_BYTES && !strchr(text, ' '));
        free(text);
        json_decref(answer);
    }
    read_values(&parameters);
    json_decref(schema);
    wt__arena_dispose(&arena);
    return 0;
}
