/* Any request before a schema of every kind: literals lie in the request, in its order, none within another; and each
 * argument is of a part of it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "call/arguments.h"

static const char SCHEMA[] =
    "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"min_price\":{\"type\":"
    "\"number\"},\"max_price\":{\"type\":\"number\"},\"date\":{\"type\":\"string\"},\"count\":{"
    "\"type\":\"integer\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"unit\":{\"type\":\"string\",\"enum\":[\"c\",\"f f\"]},\"any\":{}},"
    "\"required\":[\"id\",\"count\"]}";

static void require(int holds)
{
    if (!holds)
        abort();
}

static void read_literals(struct str request, struct arena *arena)
{
    struct literal literals[LITERALS_MOST];
    int count = wt__literals_read(request, literals, arena);
    size_t from = 0;
    require(count >= 0 && count <= LITERALS_MOST);
    for (int i = 0; i < count; i++) {
        require(literals[i].start >= from && literals[i].start < literals[i].end && literals[i].end <= request.len);
        require(literals[i].text.len > 0);
        from = literals[i].end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str request = {(const char *)data, size};
    struct arena arena = {0};
    struct parameters parameters;
    struct call_arguments arguments;
    json_t *schema;
    require(wt__json_parse(&schema, SCHEMA, strlen(SCHEMA), NULL) == 0);
    read_literals(request, &arena);
    require(wt__parameters_read(&parameters, schema, &arena) == 0);
    require(wt__call_arguments_fill(&arguments, request, request, &parameters, &arena) == 0);
    for (size_t i = 0; i < arguments.len; i++)
        require(arguments.items[i].end <= size &&
                (arguments.items[i].state != ARGUMENT_GIVEN || arguments.items[i].value != NULL));
    wt__call_arguments_dispose(&arguments);
    json_decref(schema);
    wt__arena_dispose(&arena);
    return 0;
}
