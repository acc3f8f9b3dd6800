/* Fuzzes argument extraction against schemas of all kinds: literals lie in the request, in order and without nesting,
 * and each argument comes from a part of the request. The first half of the request is also used as a past request, its
 * last quarter as the tool's description. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "call/arguments.h"
#include "require.h"

static const char SCHEMA[] =
    "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"min_price\":{\"type\":"
    "\"number\"},\"max_price\":{\"type\":\"number\"},\"date\":{\"type\":\"string\"},\"count\":{"
    "\"type\":\"integer\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"unit\":{\"type\":\"string\",\"enum\":[\"c\",\"f f\"]},\"any\":{}},"
    "\"required\":[\"id\",\"count\"]}";

static const char PAST[] = "{\"id\":\"8tq\",\"count\":3,\"tags\":[\"a b\"]}";

static void check_literals(const struct literals *literals)
{
    size_t from = 0;
    require(literals->len <= LITERALS_MOST);
    for (size_t i = 0; i < literals->len; i++) {
        const struct literal *literal = &literals->items[i];
        require(literal->start >= from && literal->start < literal->end && literal->end <= literals->request.len);
        require(literal->text.len > 0);
        from = literal->end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str request = {(const char *)data, size};
    struct arena arena = {0};
    struct literals literals;
    struct parameters parameters;
    struct call_arguments arguments;
    json_t *schema, *past;
    require(wt__json_parse(&schema, SCHEMA, strlen(SCHEMA), NULL) == 0);
    require(wt__json_parse(&past, PAST, strlen(PAST), NULL) == 0);
    const struct demonstration call = {{request.ptr, size / 2}, past};
    const struct str about = {request.ptr + size - size / 4, size / 4};
    require(wt__literals_read(&literals, request, &arena) == 0);
    check_literals(&literals);
    require(wt__parameters_read(&parameters, schema, &arena) == 0);
    require(wt__parameters_learn(&parameters, &call, 1, &arena) == 0);
    require(wt__call_arguments_fill(&arguments, &literals, about, &parameters, &arena) == 0);
    for (size_t i = 0; i < arguments.len; i++)
        require(arguments.items[i].end <= size &&
                (arguments.items[i].state != ARGUMENT_GIVEN || arguments.items[i].value != NULL));
    wt__call_arguments_dispose(&arguments);
    json_decref(schema);
    json_decref(past);
    wt__arena_dispose(&arena);
    return 0;
}
