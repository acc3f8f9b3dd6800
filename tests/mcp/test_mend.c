/* Tests repairs of malformed items in lists: the resulting item and the note. Both neighbours of the item must stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "mcp/mend.h"
#include "mcp/shape.h"

static wt_error err;

#define OBJECT "\"inputSchema\":{\"type\":\"object\"}"

struct mend_case {
    const char *name, *item;
    const char *shown; /* NULL if left out, "" if unchanged */
    const char *note;  /* part of the note, or NULL */
};

static const struct mend_case tools[] = {
    {"well-formed", "{\"name\":\"x\", " OBJECT ",\"annotations\":{\"readOnlyHint\":true},\"future\":[1e400]}", "",
     NULL},
    {"well-formed, with a large number", "{\"name\":\"x\"," OBJECT ",\"_meta\":{\"a\":12345678901234567890}}", "",
     NULL},
    {"no inputSchema", "{\"name\":\"x\"}", "{\"name\":\"x\"," OBJECT "}", "inputSchema is missing, and allows any"},
    {"inputSchema is null", "{\"name\":\"x\",\"inputSchema\":null}", "{\"name\":\"x\"," OBJECT "}",
     "inputSchema is not"},
    {"inputSchema is true", "{\"name\":\"x\",\"inputSchema\":true}", "{\"name\":\"x\"," OBJECT "}",
     "inputSchema is not"},
    {"inputSchema is false", "{\"name\":\"x\",\"inputSchema\":false}", NULL,
     "inputSchema is not an object; it is left out"},
    {"inputSchema is a string", "{\"name\":\"x\",\"inputSchema\":\"{}\"}", NULL, "inputSchema is not an object"},
    {"inputSchema is {}", "{\"name\":\"x\",\"inputSchema\":{}}", "{\"name\":\"x\"," OBJECT "}",
     "inputSchema/type is missing, and read as \"object\""},
    {"type is missing", "{\"name\":\"x\",\"inputSchema\":{\"properties\":{}}}",
     "{\"name\":\"x\",\"inputSchema\":{\"properties\":{},\"type\":\"object\"}}", "inputSchema/type is missing"},
    {"type is null", "{\"name\":\"x\",\"inputSchema\":{\"type\":null}}", "{\"name\":\"x\"," OBJECT "}",
     "type is missing"},
    {"type is missing next to anyOf", "{\"name\":\"x\",\"inputSchema\":{\"anyOf\":[{\"required\":[\"a\"]}]}}",
     "{\"name\":\"x\",\"inputSchema\":{\"anyOf\":[{\"required\":[\"a\"]}],\"type\":\"object\"}}", "type is missing"},
    {"type is a list with object", "{\"name\":\"x\",\"inputSchema\":{\"type\":[\"object\",\"null\"]}}",
     "{\"name\":\"x\"," OBJECT "}", "type is read as \"object\""},
    {"type is a list without object", "{\"name\":\"x\",\"inputSchema\":{\"type\":[\"string\"]}}", NULL,
     "type is not a string"},
    {"type is in capitals", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"OBJECT\"}}", "{\"name\":\"x\"," OBJECT "}",
     "type is read as \"object\""},
    {"type is not object", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"string\"}}", NULL, "it is left out"},
    {"properties is null", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":null}}",
     "{\"name\":\"x\"," OBJECT "}", "inputSchema/properties is not an object, and is ignored"},
    {"properties is an empty list", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":[]}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":{}}}", "is a list, and is read as an object"},
    {"properties is a list",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":[{\"name\":\"a\",\"type\":\"string\"}]}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}",
     "is a list"},
    {"properties is a list of strings", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":[\"a\"]}}",
     "{\"name\":\"x\"," OBJECT "}", "properties is not an object, and is ignored"},
    {"properties are not objects",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true,\"b\":false,\"c\":\"String\","
     "\"d\":"
     "null,\"e\":[]}}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{\"not\":{}},\"c\":{\"type\":"
     "\"string\"},\"d\":{},\"e\":{}}}}",
     "property \"a\" is not an object"},
    {"required is a string", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":\"a\"}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\"]}}", "required is read as a list"},
    {"required is null", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":null}}",
     "{\"name\":\"x\"," OBJECT "}", "required is not a list of names"},
    {"required contains a number", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\",1]}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\"]}}", "required is read as a list"},
    {"outputSchema is true", "{\"name\":\"x\"," OBJECT ",\"outputSchema\":true}", "{\"name\":\"x\"," OBJECT "}",
     "outputSchema is not an object, and is ignored"},
    {"outputSchema is null", "{\"name\":\"x\"," OBJECT ",\"outputSchema\":null}", "{\"name\":\"x\"," OBJECT "}", NULL},
    {"outputSchema is {}", "{\"name\":\"x\"," OBJECT ",\"outputSchema\":{}}", "", NULL},
    {"annotations is a list", "{\"name\":\"x\"," OBJECT ",\"annotations\":[]}", "{\"name\":\"x\"," OBJECT "}",
     "annotations is not an object"},
    {"hint is not a boolean",
     "{\"name\":\"x\"," OBJECT ",\"annotations\":{\"readOnlyHint\":\"maybe\",\"openWorldHint\":false}}",
     "{\"name\":\"x\"," OBJECT ",\"annotations\":{\"openWorldHint\":false}}",
     "annotations/readOnlyHint is not a boolean, and is ignored"},
    {"hint is null", "{\"name\":\"x\"," OBJECT ",\"annotations\":{\"readOnlyHint\":null}}",
     "{\"name\":\"x\"," OBJECT ",\"annotations\":{}}", NULL},
    {"outputSchema is repaired like inputSchema",
     "{\"name\":\"x\"," OBJECT
     ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true},\"required\":\"a\"}}",
     "{\"name\":\"x\"," OBJECT
     ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\"]}}",
     "outputSchema/required is read as a list"},
    {"execution is known", "{\"name\":\"x\"," OBJECT ",\"execution\":{\"taskSupport\":\"optional\"}}", "", NULL},
    {"execution is unknown", "{\"name\":\"x\"," OBJECT ",\"execution\":{\"taskSupport\":\"maybe\"}}",
     "{\"name\":\"x\"," OBJECT "}", "execution is not an object with a known taskSupport"},
    {"icons are valid", "{\"name\":\"x\"," OBJECT ",\"icons\":[{\"src\":\"https://x\",\"theme\":\"dark\"}]}", "", NULL},
    {"icon has an unknown theme", "{\"name\":\"x\"," OBJECT ",\"icons\":[{\"src\":\"https://x\",\"theme\":\"blue\"}]}",
     "{\"name\":\"x\"," OBJECT "}", "icons is not"},
    {"icons is an object", "{\"name\":\"x\"," OBJECT ",\"icons\":{}}", "{\"name\":\"x\"," OBJECT "}", "icons is not"},
    {"icon has no src", "{\"name\":\"x\"," OBJECT ",\"icons\":[{}]}", "{\"name\":\"x\"," OBJECT "}", "icons is not"},
    {"title is a number", "{\"name\":\"x\"," OBJECT ",\"title\":1}", "{\"name\":\"x\"," OBJECT "}",
     "title is not a string"},
    {"description is null", "{\"name\":\"x\",\"description\":null," OBJECT "}", "{\"name\":\"x\"," OBJECT "}", NULL},
    {"description is a list", "{\"name\":\"x\",\"description\":[]," OBJECT "}", "{\"name\":\"x\"," OBJECT "}",
     "description"},
    {"_meta is a list", "{\"name\":\"x\"," OBJECT ",\"_meta\":[]}", "{\"name\":\"x\"," OBJECT "}",
     "_meta is not an object"},
    {"$schema is a number", "{\"name\":\"x\",\"inputSchema\":{\"$schema\":7,\"type\":\"object\"}}",
     "{\"name\":\"x\"," OBJECT "}", "inputSchema/$schema is not a string"},
    {"$schema of outputSchema is a number", "{\"name\":\"x\"," OBJECT ",\"outputSchema\":{\"$schema\":7}}",
     "{\"name\":\"x\"," OBJECT ",\"outputSchema\":{}}", "outputSchema/$schema is not a string"},
    {"data contains null", "{\"name\":\"x\"," OBJECT ",\"_meta\":{\"a\":null}}", "", NULL},
    {"name is empty", "{\"name\":\"\"," OBJECT "}", NULL, "name is empty; it is left out"},
    {"name is missing", "{" OBJECT "}", NULL, "name is not a string"},
    {"name is a number", "{\"name\":7," OBJECT "}", NULL, "name is not a string"},
    {"name is that of a neighbour", "{\"name\":\"a\"," OBJECT "}", NULL, "tool \"a\": it is listed twice"},
    {"item is a string", "\"x\"", NULL, "it is not an object"},
    {"item is null", "null", NULL, "it is not an object"},
    {"name occurs twice", "{\"name\":\"x\",\"name\":\"y\"," OBJECT "}", NULL, "has a member twice"},
    {NULL, NULL, NULL, NULL}};

static const struct mend_case resources[] = {
    {"well-formed", "{\"uri\":\"x:1\",\"name\":\"n\",\"size\":3}", "", NULL},
    {"size is a string", "{\"uri\":\"x:1\",\"name\":\"n\",\"size\":\"big\"}", "{\"uri\":\"x:1\",\"name\":\"n\"}",
     "size is not"},
    {"mimeType is null", "{\"uri\":\"x:1\",\"name\":\"n\",\"mimeType\":null}", "{\"uri\":\"x:1\",\"name\":\"n\"}",
     NULL},
    {"annotations are invalid",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"audience\":\"user\",\"priority\":\"1\"}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/audience is not a list of"},
    {"annotations are valid",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"audience\":[\"user\"],\"priority\":1,\"lastModified\":\"2025-"
     "01-12T15:00:58.123Z\"}}",
     "", NULL},
    {"time has an offset",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"lastModified\":\"2025-01-12T15:00+02:00\"}}", "", NULL},
    {"time is a word", "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"lastModified\":\"yesterday\"}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/lastModified is not a date"},
    {"time is a date only", "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"lastModified\":\"2025-01-12\"}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/lastModified is not a date"},
    {"time has no offset",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"lastModified\":\"2025-01-12T15:00:58\"}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/lastModified is not a date"},
    {"audience is unknown",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"audience\":[\"admin\"],\"priority\":0}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"priority\":0}}", "annotations/audience is not"},
    {"priority is above 1", "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"priority\":5}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/priority is not a number from 0 to 1"},
    {"uri has no scheme", "{\"uri\":\"notes/1\",\"name\":\"n\"}", NULL, "uri is not a URI, since it has no scheme"},
    {"uri begins with a digit", "{\"uri\":\"1x:y\",\"name\":\"n\"}", NULL, "it has no scheme"},
    {"uri is missing", "{\"name\":\"n\"}", NULL, "uri is not a string"},
    {"uri is a number", "{\"uri\":1,\"name\":\"n\"}", NULL, "uri is not a string"},
    {"name is missing", "{\"uri\":\"x:1\"}", NULL, "name is not a string"},
    {NULL, NULL, NULL, NULL}};

static const struct mend_case templates[] = {
    {"well-formed", "{\"uriTemplate\":\"x:{a}\",\"name\":\"n\"}", "", NULL},
    {"title is a list", "{\"uriTemplate\":\"x:{a}\",\"name\":\"n\",\"title\":[]}",
     "{\"uriTemplate\":\"x:{a}\",\"name\":\"n\"}", "title is not a string"},
    {"uriTemplate is missing", "{\"uri\":\"x:1\",\"name\":\"n\"}", NULL, "uriTemplate is not a string"},
    {NULL, NULL, NULL, NULL}};

static const struct mend_case prompts[] = {
    {"well-formed", "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\",\"required\":true}]}", "", NULL},
    {"arguments is null", "{\"name\":\"x\",\"arguments\":null}", "{\"name\":\"x\"}", NULL},
    {"arguments is an object", "{\"name\":\"x\",\"arguments\":{}}", NULL, "arguments is not an array"},
    {"argument has no name", "{\"name\":\"x\",\"arguments\":[{}]}", NULL, "name is not a string"},
    {"required is a string", "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\",\"required\":\"true\"}]}",
     "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\",\"required\":true}]}", "arguments/required is read as a boolean"},
    {"required is not a boolean",
     "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\",\"required\":\"maybe\",\"title\":null}]}",
     "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\"}]}", "arguments/required is not a boolean"},
    {NULL, NULL, NULL, NULL}};

static const struct {
    const char *member, *before, *after;
    const struct mend_case *rows;
} kinds[] = {
    {"tools", "{\"name\":\"a\"," OBJECT "}", "{\"name\":\"b\"," OBJECT "}", tools},
    {"resources", "{\"uri\":\"x:a\",\"name\":\"a\"}", "{\"uri\":\"x:b\",\"name\":\"b\"}", resources},
    {"resourceTemplates", "{\"uriTemplate\":\"x:a\",\"name\":\"a\"}", "{\"uriTemplate\":\"x:b\",\"name\":\"b\"}",
     templates},
    {"prompts", "{\"name\":\"a\"}", "{\"name\":\"b\"}", prompts},
};

static void check_row(size_t kind, const struct mend_case *row)
{
    struct buffer list = {0}, out = {0}, wanted = {0};
    struct mcp_mends mends = {0};
    size_t kept;
    const char *shown = row->shown && !*row->shown ? row->item : row->shown;
    wt__buffer_printf(&list, "%s,%s , %s", kinds[kind].before, row->item, kinds[kind].after);
    wt__buffer_printf(&wanted, "%s,%s%s%s", kinds[kind].before, shown ? shown : "", shown ? "," : "",
                      kinds[kind].after);
    assert_int_equal(wt__mcp_mend_items(wt__buffer_view(&list), kinds[kind].member, &out, &kept, &mends, &err), 0);
    if (strcmp(out.ptr, wanted.ptr) != 0)
        fail_msg("%s, %s: %s, not %s", kinds[kind].member, row->name, out.ptr, wanted.ptr);
    bool right = row->note ? mends.notes.len > 0 && strstr(mends.notes.ptr, row->note) : mends.notes.len == 0;
    if (!right)
        fail_msg("%s, %s: notes %s", kinds[kind].member, row->name, mends.notes.ptr ? mends.notes.ptr : "none");
    assert_int_equal(kept, 2 + (shown != NULL));
    assert_int_equal(mends.left_out, shown == NULL);
    wt__mcp_mends_dispose(&mends);
    wt__buffer_dispose(&list);
    wt__buffer_dispose(&out);
    wt__buffer_dispose(&wanted);
}

static void malformed_items_are_repaired_or_left_out(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (const struct mend_case *row = kinds[k].rows; row->name; row++)
            check_row(k, row);
}

static void an_empty_list_stays_empty(void **state)
{
    struct buffer out = {0};
    struct mcp_mends mends = {0};
    size_t kept;
    (void)state;
    assert_int_equal(wt__mcp_mend_items(STR(""), "tools", &out, &kept, &mends, &err), 0);
    assert_int_equal(kept, 0);
    assert_int_equal(out.len, 0);
    wt__buffer_dispose(&out);
    wt__mcp_mends_dispose(&mends);
}

static void notes_of_a_list_are_limited(void **state)
{
    struct buffer list = {0}, out = {0};
    struct mcp_mends mends = {0};
    size_t kept, lines = 0;
    (void)state;
    for (int i = 0; i < 3 * MCP_MEND_NOTES; i++)
        wt__buffer_printf(&list, "%s{\"name\":%d}", i ? "," : "", i);
    assert_int_equal(wt__mcp_mend_items(wt__buffer_view(&list), "tools", &out, &kept, &mends, &err), 0);
    assert_int_equal(mends.left_out, 3 * MCP_MEND_NOTES);
    for (size_t i = 0; i < mends.notes.len; i++)
        lines += mends.notes.ptr[i] == '\n';
    assert_int_equal(lines, MCP_MEND_NOTES);
    wt__buffer_dispose(&list);
    wt__buffer_dispose(&out);
    wt__mcp_mends_dispose(&mends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_items_are_repaired_or_left_out),
        cmocka_unit_test(an_empty_list_stays_empty),
        cmocka_unit_test(notes_of_a_list_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
