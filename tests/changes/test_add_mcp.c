/* Tests MCP servers as sources of tools: imports, sync, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/set_up.h"

/* A server that lists these tools and calls itself "x-server". */
#define SERVER(tools)                                                                                                  \
    "{\"command\":\"sh\",\"args\":[\"-c\",\"read r; echo '{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":"   \
    "{\\\"serverInfo\\\":{\\\"name\\\":\\\"x-server\\\"}}}'; read n; read r; echo "                                    \
    "'{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":2,\\\"result\\\":{\\\"tools\\\":[" tools "]}}'; cat >/dev/null\"]}"
#define TOOL(name, words) "{\\\"name\\\":\\\"" name "\\\",\\\"description\\\":\\\"" words "\\\"}"
#define DEAD "{\"command\":\"sh\",\"args\":[\"-c\",\"echo no luck >&2; exit 1\"]}"

static const struct {
    const char *name, *servers;
    int sync;
    size_t failed, removed, embedded;
    const char *tools; /* tools in the store afterwards: "provider/name", each followed by a blank */
} steps[] = {
    {"two servers are imported although a third fails",
     "\"a\":" SERVER(TOOL("one", "book a table") "," TOOL("two", "find a song")) ",\"dead\":" DEAD ",\"b\":" SERVER(
         TOOL("one", "two tables")),
     0, 1, 0, 3, "a/one a/two b/one "},
    {"without sync a removed tool stays",
     "\"a\":" SERVER(TOOL("one", "book a table")) ",\"b\":" SERVER(TOOL("one", "two tables")), 0, 0, 0, 0,
     "a/one a/two b/one "},
    {"with sync a removed tool is removed",
     "\"a\":" SERVER(TOOL("one", "book a table")) ",\"b\":" SERVER(TOOL("one", "two tables")), 1, 0, 0, 0,
     "a/one b/one "},
    {"a failing server keeps its tools", "\"a\":" DEAD ",\"b\":" SERVER(TOOL("one", "two tables")), 1, 1, 0, 0,
     "a/one b/one "},
    {"a disabled server keeps its tools",
     "\"a\":{\"command\":\"x\",\"disabled\":true},\"b\":" SERVER(TOOL("one", "two tables")), 1, 0, 0, 0,
     "a/one b/one "},
    {"a removed server loses its tools", "\"b\":" SERVER(TOOL("one", "two tables") "," TOOL("two", "c d")), 1, 0, 1, 1,
     "b/one b/two "},
    {"a server without tools loses its stored tools", "\"b\":" SERVER(""), 1, 0, 0, 0, ""},
    {"a bad tool is skipped", "\"b\":" SERVER(TOOL("one", "two tables") ",7"), 1, 0, 0, 1, "b/one "},
    {"x/y is not part of server x",
     "\"x/y\":" SERVER(TOOL("one", "slow train")) ",\"x\":" SERVER(TOOL("two", "fast train")), 1, 0, 1, 2,
     "x/y/one x/two "},
    {"a renamed server loses its old tools",
     "\"z\":" SERVER(TOOL("one", "slow train")) ",\"x\":" SERVER(TOOL("two", "fast train")), 1, 0, 1, 1,
     "x/two z/one "},
};

static char *list_all_ids(wt_engine *engine)
{
    wt_tools *tools = NULL;
    struct buffer text = {0};
    assert_call_ok(&place, wt_list(engine, NULL, &tools, &place.err));
    for (size_t i = 0; i < tools->len; i++)
        wt__buffer_printf(&text, "%s ", tools->items[i]->id);
    wt_tools_free(tools);
    return wt__buffer_take(&text);
}

static char path[96];

static void write_config(const char *servers)
{
    struct buffer text = {0};
    snprintf(path, sizeof path, "%s/mcp.json", place.folder);
    wt__buffer_printf(&text, "{\"mcpServers\":{%s}}", servers);
    assert_call_ok(&place, wt__file_replace(path, text.ptr, text.len, &place.err));
    wt__buffer_dispose(&text);
}

static void added_and_removed_servers_are_synced(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, NULL);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        wt_add_mcp_options options;
        wt_mcp_report *report = NULL;
        wt_add_mcp_options_init(&options);
        options.sync = steps[i].sync;
        write_config(steps[i].servers);
        assert_call_ok(&place, wt_add_mcp(engine, path, &options, &report, &place.err));
        char *tools = list_all_ids(engine);
        if (report->failed != steps[i].failed || report->removed != steps[i].removed ||
            report->embedded != steps[i].embedded || strcmp(tools, steps[i].tools) != 0)
            fail_msg("%s: %zu failed, %zu removed, %zu embedded: %s", steps[i].name, report->failed, report->removed,
                     report->embedded, tools);
        free(tools);
        wt_mcp_report_free(report);
    }
    wt_close(engine);
}

static void each_server_is_reported(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_mcp_report *report = NULL;
    write_config("\"a\":" SERVER(TOOL(
        "one", "book") ",7") ",\"dead\":" DEAD
                             ",\"off\":{\"command\":\"x\",\"disabled\":true},\"why\":{\"command\":\"${input:x}\"}");
    assert_call_ok(&place, wt_add_mcp(engine, path, NULL, &report, &place.err));
    assert_int_equal(report->server_count, 4);
    assert_int_equal(report->failed, 2);
    assert_non_null(strstr(report->notice, "no vectors were made"));
    const wt_mcp_server *const *servers = report->servers;
    assert_string_equal(servers[0]->name, "a");
    assert_string_equal(servers[0]->provider, "a");
    assert_int_equal(servers[0]->code, 0);
    assert_string_equal(servers[0]->reason, "");
    assert_int_equal(servers[0]->tools, 2);
    assert_int_equal(servers[0]->added->added, 1);
    assert_int_equal(servers[0]->added->skipped, 1);
    assert_non_null(strstr(servers[0]->added->issues[0]->file, "mcp.json#a"));
    assert_int_equal(servers[1]->code, WT_ENETWORK);
    assert_string_equal(servers[1]->reason, "sh ended before it answered `initialize`; it said last: no luck");
    assert_null(servers[1]->added);
    assert_true(servers[2]->disabled && servers[2]->code == 0 && !servers[2]->added);
    assert_int_equal(servers[3]->code, WT_EINVAL);
    assert_string_equal(servers[3]->reason, "it needs an input that only its client can ask for: input:x");
    wt_mcp_report_free(report);
    wt_close(engine);
}

static const char *const command[] = {
    "sh", "-c",
    "read r; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{\"name\":\"x-server\"}}}'; read n; read r;"
    "echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"one\"}, {\"name\":3}]}}'; cat >/dev/null",
    NULL};

static void provider_of_a_command_is_its_name_or_the_option(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_mcp_options options;
    wt_mcp_report *report = NULL;
    wt_add_mcp_options_init(&options);
    options.command = command;
    assert_call_ok(&place, wt_add_mcp(engine, NULL, &options, &report, &place.err));
    assert_string_equal(report->servers[0]->provider, "x");
    wt_mcp_report_free(report);
    options.provider = "mine";
    assert_call_ok(&place, wt_add_mcp(engine, NULL, &options, &report, &place.err));
    assert_string_equal(report->servers[0]->name, "mine");
    wt_mcp_report_free(report);
    options.strict = 1;
    options.provider = "strict";
    assert_call_ok(&place, wt_add_mcp(engine, NULL, &options, &report, &place.err));
    assert_int_equal(report->servers[0]->code, WT_EFORMAT);
    assert_int_equal(report->failed, 1);
    wt_mcp_report_free(report);
    char *tools = list_all_ids(engine);
    assert_string_equal(tools, "x/one mine/one ");
    free(tools);
    wt_close(engine);
}

/* The configuration has more servers than are asked in parallel. */
static void many_servers_are_all_listed(void **state)
{
    (void)state;
    enum { MANY = 40 };
    wt_engine *engine = open_test_engine(&place, "");
    wt_mcp_report *report = NULL;
    struct buffer servers = {0};
    for (int i = 0; i < MANY; i++)
        wt__buffer_printf(&servers, "%s\"s%d\":%s", i ? "," : "", i, SERVER(TOOL("one", "book")));
    write_config(servers.ptr);
    wt__buffer_dispose(&servers);
    assert_call_ok(&place, wt_add_mcp(engine, path, NULL, &report, &place.err));
    assert_int_equal(report->server_count, MANY);
    assert_int_equal(report->failed, 0);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(report->servers[i]->added->added, 1);
    wt_mcp_report_free(report);
    wt_close(engine);
}

static int stop_listing(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    return strcmp(phase, context) == 0;
}

static void stop_while_listing_changes_nothing(void **state)
{
    (void)state;
    static char asking[] = "asking servers";
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_mcp_options options;
    wt_mcp_report *report = NULL;
    wt_add_mcp_options_init(&options);
    options.progress = stop_listing;
    options.progress_context = asking;
    write_config("\"mute\":{\"command\":\"sleep\",\"args\":[900]},\"a\":" SERVER(TOOL("one", "book")));
    assert_call_refused(&place, wt_add_mcp(engine, path, &options, &report, &place.err), WT_ECANCELLED, "stopped");
    assert_null(report);
    char *tools = list_all_ids(engine);
    assert_string_equal(tools, "");
    free(tools);
    wt_close(engine);
}

/* Stops before the second server's tools are stored. */
static int stop_at_second_server(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)total;
    return strcmp(phase, "storing") == 0 && done == 0 && ++*(int *)context == 2;
}

static void stop_between_servers_reports_stored_ones(void **state)
{
    (void)state;
    int storing = 0;
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_mcp_options options;
    wt_mcp_report *report = NULL;
    wt_add_mcp_options_init(&options);
    options.progress = stop_at_second_server;
    options.progress_context = &storing;
    write_config("\"a\":" SERVER(TOOL("one", "book")) ",\"b\":" SERVER(TOOL("one", "song")) ",\"c\":" SERVER(
        TOOL("one", "film")));
    assert_call_refused(&place, wt_add_mcp(engine, path, &options, &report, &place.err), WT_ECANCELLED, "stopped");
    assert_non_null(report);
    assert_int_equal(report->servers[0]->added->added, 1);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(report->servers[i]->code, WT_ECANCELLED);
        assert_null(report->servers[i]->added);
    }
    wt_mcp_report_free(report);
    char *tools = list_all_ids(engine);
    assert_string_equal(tools, "a/one ");
    free(tools);
    wt_close(engine);
}

/* A started server would create a file; check that it does not exist. */
static void read_only_engine_starts_no_server(void **state)
{
    (void)state;
    char mark[96];
    wt_engine *engine = open_test_engine(&place, "");
    wt_close(engine);
    wt_open_options opening;
    wt_mcp_report *report = NULL;
    struct buffer server = {0};
    wt_open_options_init(&opening);
    opening.read_only = 1;
    opening.model = "";
    assert_call_ok(&place, wt_open(&engine, place.store, &opening, &place.err));
    snprintf(mark, sizeof mark, "%s/started", place.folder);
    wt__buffer_printf(&server, "\"a\":{\"command\":\"touch\",\"args\":[\"%s\"]}", mark);
    write_config(server.ptr);
    wt__buffer_dispose(&server);
    assert_call_refused(&place, wt_add_mcp(engine, path, NULL, &report, &place.err), WT_EREADONLY,
                        "open for reading only");
    assert_int_equal(access(mark, F_OK), -1);
    wt_close(engine);
}

/* Tools of the same name from two servers would look like tools of one source, or collide. */
static void provider_option_requires_one_server(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_mcp_options options;
    wt_mcp_report *report = NULL;
    wt_add_mcp_options_init(&options);
    options.provider = "mine";
    write_config("\"a\":" SERVER(TOOL("one", "book")) ",\"b\":" SERVER(TOOL("one", "song")));
    assert_call_refused(&place, wt_add_mcp(engine, path, &options, &report, &place.err), WT_EINVAL,
                        "has 2 MCP servers");
    write_config("\"a\":" SERVER(TOOL("one", "book")));
    assert_call_ok(&place, wt_add_mcp(engine, path, &options, &report, &place.err));
    assert_string_equal(report->servers[0]->provider, "mine");
    wt_mcp_report_free(report);
    wt_close(engine);
}

/* Tools of servers have no file, so a sync of their configuration's folder keeps them. */
static void folder_sync_keeps_tools_of_servers(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_options options;
    wt_add_report *added = NULL;
    wt_mcp_report *report = NULL;
    wt_add_options_init(&options);
    options.sync = 1;
    write_config("\"a\":" SERVER(TOOL("one", "book")));
    assert_call_ok(&place, wt_add_mcp(engine, path, NULL, &report, &place.err));
    wt_mcp_report_free(report);
    put_text(place.folder, "mcp.json", "[{\"name\":\"two\",\"description\":\"song\"}]");
    assert_call_ok(&place, wt_add_path(engine, place.folder, &options, &added, &place.err));
    assert_int_equal(added->removed, 0);
    wt_add_report_free(added);
    char *tools = list_all_ids(engine);
    assert_string_equal(tools, "a/one mcp/two ");
    free(tools);
    wt_close(engine);
}

static void invalid_mcp_sources_are_rejected(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_add_mcp_options options;
    wt_mcp_report *report = NULL;
    wt_add_mcp_options_init(&options);
    assert_call_refused(&place, wt_add_mcp(engine, NULL, &options, &report, &place.err), WT_EINVAL,
                        "pass either a configuration");
    assert_call_refused(&place, wt_add_mcp(engine, NULL, NULL, &report, &place.err), WT_EINVAL,
                        "pass either a configuration");
    assert_call_refused(&place, wt_add_mcp(engine, "/none/mcp.json", NULL, &report, &place.err), WT_ENOTFOUND,
                        "/none/mcp.json");
    options.command = command;
    assert_call_refused(&place, wt_add_mcp(engine, "x.json", &options, &report, &place.err), WT_EINVAL,
                        "pass either a configuration");
    write_config("\"a\":");
    assert_call_refused(&place, wt_add_mcp(engine, path, NULL, &report, &place.err), WT_EFORMAT,
                        "mcp.json: not valid JSON");
    wt_mcp_report_free(NULL);
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(added_and_removed_servers_are_synced, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(each_server_is_reported, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(provider_of_a_command_is_its_name_or_the_option, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(many_servers_are_all_listed, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(stop_while_listing_changes_nothing, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(stop_between_servers_reports_stored_ones, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(read_only_engine_starts_no_server, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(provider_option_requires_one_server, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(folder_sync_keeps_tools_of_servers, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(invalid_mcp_sources_are_rejected, set_up_place, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
