/* Tests services whose features are callbacks: 10000 tools in pages, missing feature groups, and invalid features. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder.h"
#include "serve/mcp_table.h"

enum { MANY = 10000 };

static wt_error err;

/* ---------------------------------------------------------------- features of a gateway */

static struct {
    unsigned runs, drops, finds;
} seen; /* call counts of the callbacks below */

/* Adds the tools that follow the cursor `after`, in the order of their numbers, until the page is full. */
static void list_many(void *context, struct mcp_call *call, struct str after)
{
    char name[16], definition[128];
    unsigned i = 0;
    (void)context;
    if (after.len > 0 && (after.len != 10 || sscanf(after.ptr, "tool-%5u", &i) != 1)) {
        wt__mcp_refuse_cursor(call);
        return;
    }
    for (i += after.len > 0; i < MANY; i++) {
        snprintf(name, sizeof name, "tool-%05u", i);
        snprintf(definition, sizeof definition, "{\"name\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}", name);
        if (!wt__mcp_add_item(call, wt__str(name), wt__str(definition)))
            return;
    }
}

static int find_one(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *error)
{
    (void)context;
    (void)call;
    seen.finds++;
    if (wt__str_equal(name, STR("tool-09999"))) {
        *out = (struct mcp_tool){.handle = &seen, .number = 9999};
        return 0;
    }
    if (wt__str_equal(name, STR("broken")))
        return wt__fail(error, WT_EIO, "the store is gone");
    if (wt__str_equal(name, STR("forbidden")))
        return wt__fail(error, WT_EINVAL, "the policy does not let you");
    return wt__fail(error, WT_ENOTFOUND, "no such tool");
}

static void run_one(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    (void)context;
    assert_ptr_equal(tool->handle, &seen);
    assert_int_equal(tool->number, 9999);
    assert_int_equal(seen.drops, seen.runs);
    seen.runs++;
    wt__mcp_add_text(call, STR("ran"));
}

static void drop_one(void *context, const struct mcp_tool *tool)
{
    (void)context;
    assert_ptr_equal(tool->handle, &seen);
    seen.drops++;
}

static void write_test_instructions(void *context, const char *principal, struct buffer *out)
{
    (void)context;
    wt__buffer_printf(out, "for %s", principal);
}

static const struct mcp_features many = {
    .name = "many",
    .version = "1",
    .write_instructions = write_test_instructions,
    .private_lists = true,
    .ttl_ms = 5,
    .tools = {.list = list_many, .find = find_one, .run = run_one, .drop = drop_one},
};

static struct mcp_service *service;
static struct mcp_peer *peer;

static int open_many_service(void **state)
{
    (void)state;
    if (wt__mcp_service_open(&service, &many, NULL, &err) < 0)
        return -1;
    peer = wt__mcp_peer_open(service, "carol", false);
    return 0;
}

static int close_many_service(void **state)
{
    (void)state;
    wt__mcp_peer_release(peer);
    wt__mcp_service_close(service);
    return 0;
}

static void pages_list_each_tool_once(void **state)
{
    char cursor[128] = "", text[1024], expected[32];
    unsigned next = 0, pages = 0;
    (void)state;
    do {
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{%s%s}}",
                 MODERN_META, cursor);
        char *said = recorder_ask(service, peer, text, NULL, NULL);
        assert_non_null(strstr(said, "\"ttlMs\":5,\"cacheScope\":\"private\"")); /* same on all pages */
        for (const char *at = said; (at = strstr(at, "{\"name\":\"tool-")); at++) {
            snprintf(expected, sizeof expected, "{\"name\":\"tool-%05u\"", next++);
            assert_memory_equal(at, expected, strlen(expected));
        }
        const char *more = strstr(said, "\"nextCursor\":\"");
        if (more)
            snprintf(cursor, sizeof cursor, ",\"cursor\":%.*s\"", (int)strcspn(more + 14, "\"") + 1, more + 13);
        else
            cursor[0] = '\0';
        pages++;
        free(said);
    } while (cursor[0]);
    assert_int_equal(next, MANY);
    assert_int_equal(pages, MANY / MCP_PAGE_ITEMS);
}

static const struct {
    const char *name, *text;
    int status, code; /* HTTP status; JSON-RPC error code, or 0 for a result */
    const char *says;
} rows[] = {
    {"the last tool", MODERN("1", "tools/call", ",\"name\":\"tool-09999\""), 200, 0, "ran"},
    {"an unknown tool", MODERN("1", "tools/call", ",\"name\":\"tool-10000\""), 200, -32602, "there is no tool"},
    {"a forbidden tool", MODERN("1", "tools/call", ",\"name\":\"forbidden\""), 200, -32602, "does not let you"},
    {"a failing lookup", MODERN("1", "tools/call", ",\"name\":\"broken\""), 200, -32603, "reading or writing failed"},
    {"a group that is not offered", MODERN("1", "resources/list", ""), 404, -32601, "unknown method"},
    {"another group that is not offered", MODERN("1", "prompts/get", ",\"name\":\"x\""), 404, -32601, "unknown method"},
    {"completions that are not offered", MODERN("1", "completion/complete", ""), 404, -32601, "unknown method"},
    {"notices that are not offered", MODERN("1", "subscriptions/listen", ",\"notifications\":{}"), 404, -32601,
     "unknown method"},
    {"discover", MODERN("1", "server/discover", ""), 200, 0,
     "\"capabilities\":{\"logging\":{},\"tools\":{}},\"instructions\":\"for carol\""},
};

static void offered_methods_are_answered_and_others_refused(void **state)
{
    (void)state;
    seen.runs = seen.drops = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status;
        char code[32];
        snprintf(code, sizeof code, "\"error\":{\"code\":%d,", rows[i].code);
        char *said = recorder_ask(service, peer, rows[i].text, NULL, &status);
        if (status != rows[i].status || !strstr(said, rows[i].code ? code : "\"result\":") ||
            !strstr(said, rows[i].says))
            fail_msg("%s: %d %s", rows[i].name, status, said);
        free(said);
    }
    assert_int_equal(seen.runs, 1);
    assert_int_equal(seen.drops, 1);
}

static void a_cancelled_call_does_not_run_its_tool(void **state)
{
    struct mcp_incoming in;
    struct recorder *own = recorder_open();
    (void)state;
    seen.finds = 0;
    wt__mcp_read_message(&in, STR(MODERN("1", "tools/call", ",\"name\":\"tool-09999\"")));
    wt__mcp_channel_gone(&own->channel);
    struct mcp_call *call = wt__mcp_call_begin(service, peer, &own->channel, &in, true, NULL);
    assert_non_null(call);
    assert_true(wt__mcp_is_cancelled(call));
    wt__mcp_call_run(call);
    assert_int_equal(seen.finds, 0);
    assert_null(own->said.ptr);
    wt__mcp_channel_release(&own->channel);
}

/* ---------------------------------------------------------------- invalid features */

static void incomplete_features_are_refused(void **state)
{
    struct mcp_features features = many;
    struct mcp_service *out;
    (void)state;
    features.name = NULL;
    assert_int_equal(wt__mcp_service_open(&out, &features, NULL, &err), WT_EINVAL);
    features = many;
    features.tools.run = NULL;
    assert_int_equal(wt__mcp_service_open(&out, &features, NULL, &err), WT_EINVAL);
    features = many;
    features.prompts.list = list_many;
    assert_int_equal(wt__mcp_service_open(&out, &features, NULL, &err), WT_EINVAL);
    assert_null(out);
}

static void no_run(void *context, struct mcp_call *call)
{
    (void)context;
    (void)call;
}

static void invalid_tables_are_refused(void **state)
{
    static const struct {
        struct mcp_tool_row row;
        int rc;
        const char *says;
    } tables[] = {
        {{"a", "{\"name\":\"a\",\"inputSchema\":{}}", no_run, false, false}, 0, NULL},
        {{"a", "{\"name\":\"a\"}", no_run, false, false}, WT_EFORMAT, "tool \"a\" has no inputSchema"},
        {{"a", "{\"name\":\"a\",\"inputSchema\":7}", no_run, false, false}, WT_EFORMAT, "tool \"a\": "},
        {{"a", "{\"name\":\"a\",\"inputSchema\":7}", no_run, false, true}, 0, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct mcp_table table = {.tools = &tables[i].row, .tool_count = 1};
        struct mcp_features features = {.name = "t", .version = "1"};
        assert_int_equal(mcp_table_open(&table, &features, &err), tables[i].rc);
        assert_true(tables[i].rc == 0 || strstr(err.message, tables[i].says));
        assert_true((features.tools.list != NULL) == (tables[i].rc == 0));
        assert_null(features.prompts.list);
        mcp_table_close(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_list_each_tool_once),
        cmocka_unit_test(offered_methods_are_answered_and_others_refused),
        cmocka_unit_test(a_cancelled_call_does_not_run_its_tool),
        cmocka_unit_test(incomplete_features_are_refused),
        cmocka_unit_test(invalid_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, open_many_service, close_many_service);
}
