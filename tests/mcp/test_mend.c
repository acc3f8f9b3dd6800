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
    {"a large number in a well-formed tool", "{\"name\":\"x\"," OBJECT ",\"_meta\":{\"a\":12345678901234567890}}", "",
     NULL},
    {"no inputSchema", "{\"name\":\"x\"}", "{\"name\":\"x\"," OBJECT "}", "inputSchema is missing, and allows any"},
    {"inputSchema null", "{\"name\":\"x\",\"inputSchema\":null}", "{\"name\":\"x\"," OBJECT "}", "inputSchema is not"},
    {"inputSchema true", "{\"name\":\"x\",\"inputSchema\":true}", "{\"name\":\"x\"," OBJECT "}", "inputSchema is not"},
    {"inputSchema false", "{\"name\":\"x\",\"inputSchema\":false}", NULL,
     "inputSchema is not an object; it is left out"},
    {"inputSchema a text", "{\"name\":\"x\",\"inputSchema\":\"{}\"}", NULL, "inputSchema is not an object"},
    {"inputSchema {}", "{\"name\":\"x\",\"inputSchema\":{}}", "{\"name\":\"x\"," OBJECT "}",
     "inputSchema/type is missing, and read as \"object\""},
    {"no type", "{\"name\":\"x\",\"inputSchema\":{\"properties\":{}}}",
     "{\"name\":\"x\",\"inputSchema\":{\"properties\":{},\"type\":\"object\"}}", "inputSchema/type is missing"},
    {"type null", "{\"name\":\"x\",\"inputSchema\":{\"type\":null}}", "{\"name\":\"x\"," OBJECT "}", "type is missing"},
    {"top-level anyOf", "{\"name\":\"x\",\"inputSchema\":{\"anyOf\":[{\"required\":[\"a\"]}]}}",
     "{\"name\":\"x\",\"inputSchema\":{\"anyOf\":[{\"required\":[\"a\"]}],\"type\":\"object\"}}", "type is missing"},
    {"a list of types", "{\"name\":\"x\",\"inputSchema\":{\"type\":[\"object\",\"null\"]}}",
     "{\"name\":\"x\"," OBJECT "}", "type is read as \"object\""},
    {"a list without object", "{\"name\":\"x\",\"inputSchema\":{\"type\":[\"string\"]}}", NULL, "type is not a string"},
    {"type in capitals", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"OBJECT\"}}", "{\"name\":\"x\"," OBJECT "}",
     "type is read as \"object\""},
    {"another type", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"string\"}}", NULL, "it is left out"},
    {"properties null", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":null}}",
     "{\"name\":\"x\"," OBJECT "}", "inputSchema/properties is not an object, and is ignored"},
    {"properties an empty list", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":[]}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":{}}}", "is a list, and is read as an object"},
    {"properties a list",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":[{\"name\":\"a\",\"type\":\"string\"}]}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}",
     "is a list"},
    {"properties a list of texts", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":[\"a\"]}}",
     "{\"name\":\"x\"," OBJECT "}", "properties is not an object, and is ignored"},
    {"properties that are not objects",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true,\"b\":false,\"c\":\"String\","
     "\"d\":"
     "null,\"e\":[]}}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{\"not\":{}},\"c\":{\"type\":"
     "\"string\"},\"d\":{},\"e\":{}}}}",
     "property \"a\" is not an object"},
    {"required a text", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":\"a\"}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\"]}}", "required is read as a list"},
    {"required null", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":null}}",
     "{\"name\":\"x\"," OBJECT "}", "required is not a list of names"},
    {"required with a number", "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\",1]}}",
     "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\"]}}", "required is read as a list"},
    {"outputSchema true", "{\"name\":\"x\"," OBJECT ",\"outputSchema\":true}", "{\"name\":\"x\"," OBJECT "}",
     "outputSchema is not an object, and is ignored"},
    {"outputSchema null", "{\"name\":\"x\"," OBJECT ",\"outputSchema\":null}", "{\"name\":\"x\"," OBJECT "}", NULL},
    {"outputSchema {}", "{\"name\":\"x\"," OBJECT ",\"outputSchema\":{}}", "", NULL},
    {"annotations a list", "{\"name\":\"x\"," OBJECT ",\"annotations\":[]}", "{\"name\":\"x\"," OBJECT "}",
     "annotations is not an object"},
    {"a hint that is not a boolean",
     "{\"name\":\"x\"," OBJECT ",\"annotations\":{\"readOnlyHint\":\"maybe\",\"openWorldHint\":false}}",
     "{\"name\":\"x\"," OBJECT ",\"annotations\":{\"openWorldHint\":false}}",
     "annotations/readOnlyHint is not a boolean, and is ignored"},
    {"a hint that is null", "{\"name\":\"x\"," OBJECT ",\"annotations\":{\"readOnlyHint\":null}}",
     "{\"name\":\"x\"," OBJECT ",\"annotations\":{}}", NULL},
    {"properties of outputSchema",
     "{\"name\":\"x\"," OBJECT
     ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true},\"required\":\"a\"}}",
     "{\"name\":\"x\"," OBJECT
     ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\"]}}",
     "outputSchema/required is read as a list"},
    {"execution", "{\"name\":\"x\"," OBJECT ",\"execution\":{\"taskSupport\":\"optional\"}}", "", NULL},
    {"an unknown execution", "{\"name\":\"x\"," OBJECT ",\"execution\":{\"taskSupport\":\"maybe\"}}",
     "{\"name\":\"x\"," OBJECT "}", "execution is not an object with a known taskSupport"},
    {"icons", "{\"name\":\"x\"," OBJECT ",\"icons\":[{\"src\":\"https://x\",\"theme\":\"dark\"}]}", "", NULL},
    {"an icon of an unknown theme",
     "{\"name\":\"x\"," OBJECT ",\"icons\":[{\"src\":\"https://x\",\"theme\":\"blue\"}]}",
     "{\"name\":\"x\"," OBJECT "}", "icons is not"},
    {"icons an object", "{\"name\":\"x\"," OBJECT ",\"icons\":{}}", "{\"name\":\"x\"," OBJECT "}", "icons is not"},
    {"an icon without src", "{\"name\":\"x\"," OBJECT ",\"icons\":[{}]}", "{\"name\":\"x\"," OBJECT "}",
     "icons is not"},
    {"title a number", "{\"name\":\"x\"," OBJECT ",\"title\":1}", "{\"name\":\"x\"," OBJECT "}",
     "title is not a string"},
    {"description null", "{\"name\":\"x\",\"description\":null," OBJECT "}", "{\"name\":\"x\"," OBJECT "}", NULL},
    {"description a list", "{\"name\":\"x\",\"description\":[]," OBJECT "}", "{\"name\":\"x\"," OBJECT "}",
     "description"},
    {"_meta a list", "{\"name\":\"x\"," OBJECT ",\"_meta\":[]}", "{\"name\":\"x\"," OBJECT "}",
     "_meta is not an object"},
    {"$schema a number", "{\"name\":\"x\",\"inputSchema\":{\"$schema\":7,\"type\":\"object\"}}",
     "{\"name\":\"x\"," OBJECT "}", "inputSchema/$schema is not a string"},
    {"$schema of the output a number", "{\"name\":\"x\"," OBJECT ",\"outputSchema\":{\"$schema\":7}}",
     "{\"name\":\"x\"," OBJECT ",\"outputSchema\":{}}", "outputSchema/$schema is not a string"},
    {"null within data", "{\"name\":\"x\"," OBJECT ",\"_meta\":{\"a\":null}}", "", NULL},
    {"name empty", "{\"name\":\"\"," OBJECT "}", NULL, "name is empty; it is left out"},
    {"name missing", "{" OBJECT "}", NULL, "name is not a string"},
    {"name a number", "{\"name\":7," OBJECT "}", NULL, "name is not a string"},
    {"name of a neighbour", "{\"name\":\"a\"," OBJECT "}", NULL, "tool \"a\": it is listed twice"},
    {"an item that is a string", "\"x\"", NULL, "it is not an object"},
    {"null", "null", NULL, "it is not an object"},
    {"a member twice", "{\"name\":\"x\",\"name\":\"y\"," OBJECT "}", NULL, "has a member twice"},
    {NULL, NULL, NULL, NULL}};

static const struct mend_case resources[] = {
    {"well-formed", "{\"uri\":\"x:1\",\"name\":\"n\",\"size\":3}", "", NULL},
    {"size a text", "{\"uri\":\"x:1\",\"name\":\"n\",\"size\":\"big\"}", "{\"uri\":\"x:1\",\"name\":\"n\"}",
     "size is not"},
    {"mimeType null", "{\"uri\":\"x:1\",\"name\":\"n\",\"mimeType\":null}", "{\"uri\":\"x:1\",\"name\":\"n\"}", NULL},
    {"annotations", "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"audience\":\"user\",\"priority\":\"1\"}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/audience is not a list of"},
    {"valid annotations",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"audience\":[\"user\"],\"priority\":1,\"lastModified\":\"2025-"
     "01-12T15:00:58.123Z\"}}",
     "", NULL},
    {"a time with an offset",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"lastModified\":\"2025-01-12T15:00+02:00\"}}", "", NULL},
    {"a time in words", "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"lastModified\":\"yesterday\"}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/lastModified is not a date"},
    {"a date alone", "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"lastModified\":\"2025-01-12\"}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/lastModified is not a date"},
    {"a time without an offset",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"lastModified\":\"2025-01-12T15:00:58\"}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/lastModified is not a date"},
    {"an unknown audience",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"audience\":[\"admin\"],\"priority\":0}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"priority\":0}}", "annotations/audience is not"},
    {"a priority beyond 1", "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{\"priority\":5}}",
     "{\"uri\":\"x:1\",\"name\":\"n\",\"annotations\":{}}", "annotations/priority is not a number from 0 to 1"},
    {"uri without a scheme", "{\"uri\":\"notes/1\",\"name\":\"n\"}", NULL, "uri is not a URI, since it has no scheme"},
    {"uri with a digit in front", "{\"uri\":\"1x:y\",\"name\":\"n\"}", NULL, "it has no scheme"},
    {"no uri", "{\"name\":\"n\"}", NULL, "uri is not a string"},
    {"uri a number", "{\"uri\":1,\"name\":\"n\"}", NULL, "uri is not a string"},
    {"no name", "{\"uri\":\"x:1\"}", NULL, "name is not a string"},
    {NULL, NULL, NULL, NULL}};

static const struct mend_case templates[] = {
    {"well-formed", "{\"uriTemplate\":\"x:{a}\",\"name\":\"n\"}", "", NULL},
    {"title a list", "{\"uriTemplate\":\"x:{a}\",\"name\":\"n\",\"title\":[]}",
     "{\"uriTemplate\":\"x:{a}\",\"name\":\"n\"}", "title is not a string"},
    {"no template", "{\"uri\":\"x:1\",\"name\":\"n\"}", NULL, "uriTemplate is not a string"},
    {NULL, NULL, NULL, NULL}};

static const struct mend_case prompts[] = {
    {"well-formed", "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\",\"required\":true}]}", "", NULL},
    {"arguments null", "{\"name\":\"x\",\"arguments\":null}", "{\"name\":\"x\"}", NULL},
    {"arguments an object", "{\"name\":\"x\",\"arguments\":{}}", NULL, "arguments is not an array"},
    {"an argument without a name", "{\"name\":\"x\",\"arguments\":[{}]}", NULL, "name is not a string"},
    {"required a text", "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\",\"required\":\"true\"}]}",
     "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\",\"required\":true}]}", "arguments/required is read as a boolean"},
    {"required maybe", "{\"name\":\"x\",\"arguments\":[{\"name\":\"p\",\"required\":\"maybe\",\"title\":null}]}",
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
