/* MCP servers as they are, and as they should not be: what of their tools comes in, what is said of the others, and
 * that nothing of them is left. Each is a script; requests are numbered from 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/client.h"
#include "net/held_pipe.h"

static wt_error err;

/* What every script can say. It holds a pipe of ours open ($1), which ends when all that it started is gone. */
static const char prelude[] =
    "exec 3>\"$1\"\n"
    "result() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$1\" \"$2\"; }\n"
    "error() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%s,\"message\":\"%s\"}}\\n' \"$1\" \"$2\" "
    "\"$3\"; }\n"
    "hello='{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"scripted\"}}"
    "'\n"
    "initialize() { read -r request; result 1 \"$hello\"; read -r notification; read -r request; }\n"
    "stay() { cat >/dev/null; }\n";

#define ONE "{\"tools\":[{\"name\":\"a\"}]}"

static const struct {
    const char *name, *script;
    unsigned timeout_ms; /* 0: more than a test may run */
    int rc;
    const char *tools, *says; /* what is listed, or what the sentence holds */
    const char *called;       /* what the server calls itself */
} rows[] = {
    {"a good one", "initialize; result 2 '" ONE "'; stay", 0, 0, ONE, "", "scripted"},
    {"its words stay as they are",
     "initialize; result 2 '{\"tools\":[ {\"name\" : \"a\", \"x\":1.0} ,{\"name\":\"b\"} ]}'; stay", 0, 0,
     "{\"tools\":[{\"name\" : \"a\", \"x\":1.0} ,{\"name\":\"b\"}]}", "", "scripted"},
    {"no tools", "initialize; result 2 '{\"tools\":[]}'; stay", 0, 0, "{\"tools\":[]}", "", "scripted"},
    {"one that has no tools and says so", "hello='{\"capabilities\":{}}'; initialize; error 2 -32601 no; stay", 0, 0,
     "{\"tools\":[]}", "", ""},
    {"pages, the last but one with an empty cursor",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\\\"y\"}'; read -r r; echo \"$r\" >&2;"
     "result 3 '{\"tools\":[],\"nextCursor\":\"\"}'; read -r r; result 4 "
     "'{\"nextCursor\":null,\"tools\":[{\"name\":\"b\"}]}'; stay",
     0, 0, "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", "", "scripted"},
    {"an id as text", "initialize; result '\"2\"' '" ONE "'; stay", 0, 0, ONE, "", "scripted"},
    {"slow", "sleep .3; initialize; sleep .3; result 2 '" ONE "'; stay", 0, 0, ONE, "", "scripted"},
    {"one that talks at its start",
     "echo Listening...; echo; echo '{\"not\": \"it\"}'; echo '[1]'; initialize; echo '{'; result 2 '" ONE "'; stay", 0,
     0, ONE, "", "scripted"},
    {"one that asks first",
     "read -r r; echo '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}'; read -r pong;"
     "[ \"$pong\" = '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}' ] || exit 9;"
     "echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}'; read -r no; case \"$no\" in "
     "*'\"id\":7,\"error\":{\"code\":-32601'*) ;; *) exit 8;; esac;"
     "echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}'; result 1 \"$hello\"; read -r n; read -r r; "
     "result 2 '" ONE "'; stay",
     0, 0, ONE, "", "scripted"},
    {"answers to what nobody asked", "initialize; result 99 '{}'; result 1 '{}'; result 2 '" ONE "'; stay", 0, 0, ONE,
     "", "scripted"},
    {"one that stays when its stdin has ended", "initialize; result 2 '" ONE "'; sleep 900", 0, 0, ONE, "", "scripted"},
    {"one that does not let itself be asked to end",
     "trap '' TERM; initialize; result 2 '" ONE "'; sleep 900 & wait; sleep 900", 0, 0, ONE, "", "scripted"},
    {"one with children", "sleep 900 & (sleep 900 & sleep 900) & initialize; result 2 '" ONE "'; stay", 0, 0, ONE, "",
     "scripted"},
    {"a modern one",
     "read -r r; error 1 -32601 'no such method'; read -r r; case \"$r\" in *server/discover*2026-07-28*) ;; *) exit "
     "9;; esac;"
     "result 2 '{\"supportedVersions\":[\"2026-07-28\"],\"serverInfo\":{\"name\":\"new\"}}'; read -r r; case \"$r\" in "
     "*tools/list*clientCapabilities*) ;; *) exit 8;; esac;"
     "result 3 '{\"resultType\":\"complete\",\"tools\":[{\"name\":\"a\"}]}'; stay",
     0, 0, ONE, "", "new"},
    {"mute", "sleep 900", 200, WT_ETIMEOUT, NULL, "no answer came within 0.", NULL},
    {"mute after the beginning", "initialize; sleep 900", 600, WT_ETIMEOUT, NULL, "no answer", NULL},
    {"dead at its start", "echo 'no  database\033[2J' >&2; exit 3", 0, WT_ENETWORK, NULL,
     "sh ended before it answered `initialize`; it said last: no database [2J", NULL},
    {"dead later", "initialize; exit 1", 0, WT_ENETWORK, NULL, "sh ended before it answered `tools/list`", NULL},
    {"a refusal", "read -r r; error 1 -32000 'not \\n today'; read -r r; error 2 -32601 'what'; stay", 0, WT_ENETWORK,
     NULL, "`initialize` is refused: not   today (error -32000)", NULL},
    {"a refusal to who could not be understood",
     "read -r r; error null -32700 broken; read -r r; error null -32700 broken; stay", 0, WT_ENETWORK, NULL,
     "`initialize` is refused: broken (error -32700)", NULL},
    {"a list that is refused", "initialize; error 2 -32601 no; stay", 0, WT_ENETWORK, NULL,
     "`tools/list` is refused: no (error -32601)", NULL},
    {"an error without words", "initialize; echo '{\"id\":2,\"error\":7}'; stay", 0, WT_ENETWORK, NULL,
     "no reason is given", NULL},
    {"not a server", "yes", 0, WT_ETOOLONG, NULL,
     "sh wrote more than 1000 lines that are no messages: is it an MCP server?", NULL},
    {"one that never stops telling", "while :; do echo '{\"method\":\"notifications/message\"}'; done", 0, WT_ETOOLONG,
     NULL, "sent more than 10000 messages that nobody asked for", NULL},
    {"one that never stops asking", "while :; do echo '{\"id\":1,\"method\":\"ping\"}'; done", 0, WT_ETOOLONG, NULL,
     "sent more than 10000 messages", NULL},
    {"a line without an end", "while :; do printf %65536s x; done", 0, WT_ETOOLONG, NULL, "a line of more than 16 MB",
     NULL},
    {"pages without an end",
     "initialize; i=2; while :; do result $i \"{\\\"tools\\\":[],\\\"nextCursor\\\":\\\"$i\\\"}\"; i=$((i+1)); read -r "
     "r; done",
     0, WT_ETOOLONG, NULL, "on more than 1000 pages", NULL},
    {"pages in a circle",
     "initialize; i=2; while :; do result $i \"{\\\"tools\\\":[],\\\"nextCursor\\\":\\\"$((i%3))\\\"}\"; i=$((i+1)); "
     "read -r r; done",
     0, 0, "{\"tools\":[]}", "", "scripted"},
    {"an empty cursor that leads to the first page",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"\"}'; read -r r; result 3 "
     "'{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"\"}'; stay",
     0, 0, ONE, "", "scripted"},
    {"a cursor that repeats itself",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}'; read -r r; result 3 "
     "'{\"tools\":[{\"name\":\"b\"}],\"nextCursor\":\"x\"}'; stay",
     0, 0, "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", "", "scripted"},
    {"a cursor that is a number",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":2}'; read -r r; case \"$r\" in "
     "*'\"cursor\":2'*) ;; *) exit 8;; esac; result 3 '{\"tools\":[{\"name\":\"b\"}]}'; stay",
     0, 0, "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", "", "scripted"},
    {"a cursor that is a number, which its server refuses",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":2}'; read -r r; error 3 -32602 no; stay", 0, 0,
     ONE, "", "scripted"},
    {"a cursor that is refused",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}'; read -r r; error 3 -32602 no; stay",
     0, WT_ENETWORK, NULL, "`tools/list` is refused: no (error -32602)", NULL},
    {"tools without an end",
     "initialize; i=2; while :; do printf "
     "'{\"id\":%s,\"result\":{\"tools\":[\"%15000000s\"],\"nextCursor\":\"%s\"}}\\n' $i $i "
     "$i; i=$((i+1)); read -r r; done",
     0, WT_ETOOLONG, NULL, "its tools have more than 32 MB", NULL},
    {"a cursor that is none", "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":{}}'; stay", 0, 0,
     ONE, "", "scripted"},
    {"tools that are no list", "initialize; result 2 '{\"tools\":{}}'; stay", 0, WT_ENETWORK, NULL,
     "\"tools\" is no list", NULL},
    {"no tools at all", "initialize; result 2 '{}'; stay", 0, WT_ENETWORK, NULL,
     "the answer to `tools/list` has no \"tools\"", NULL},
    {"tools twice", "initialize; result 2 '{\"tools\":[],\"tools\":[]}'; stay", 0, WT_ENETWORK, NULL,
     "has no \"tools\"", NULL},
    {"a list that breaks off", "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}'; stay", 0, WT_ENETWORK, NULL,
     "sent a message that is not valid: ", NULL},
    {"a beginning that makes no sense", "read -r r; result 1 '[]'; stay", 0, WT_ENETWORK, NULL,
     "the answer to `initialize` is broken: its result is no object", NULL},
    {"secrets stay secret", "echo \"cannot log in with $API_KEY\" >&2; exit 1", 0, WT_ENETWORK, NULL,
     "it said last: cannot log in with ***", NULL},
    {"half a secret is secret",
     "read -r r; error 1 -32000 \"$(printf %0295d 0) $API_KEY\"; read -r r; error 2 -1 no; stay", 0, WT_ENETWORK, NULL,
     "00 ... (error -32000)", NULL},
    {"one that is not there", NULL, 0, WT_ENOTFOUND, NULL,
     "cannot run no-such-program-of-ours: No such file or directory", NULL},
};

static void test_servers(void **state)
{
    (void)state;
    static const char *const environment[] = {"API_KEY=4711-key", "OTHER=x", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer script = {0};
        struct mcp_listing listing;
        wt__buffer_printf(&script, "%s%s", prelude, rows[i].script ? rows[i].script : "");
        const char *argv[] = {"sh", "-c", script.ptr, "sh", pipe_path, NULL};
        const char *none[] = {"no-such-program-of-ours", NULL};
        struct mcp_server server = {.name = "s", .argv = rows[i].script ? argv : none, .environment = environment};
        int rc = wt__mcp_list_tools(&listing, &server, rows[i].timeout_ms ? rows[i].timeout_ms : 900000, NULL, &err);
        const char *tools = rc == 0 ? listing.tools.ptr : NULL;
        bool right = rc == 0 && rows[i].tools
                         ? strcmp(tools, rows[i].tools) == 0 && strcmp(listing.name, rows[i].called) == 0
                         : rows[i].rc < 0 && strstr(err.message, rows[i].says);
        if (rc != rows[i].rc || !right)
            fail_msg("%s: %d, %s, \"%s\"", rows[i].name, rc, tools ? tools : "nothing",
                     rc < 0 ? err.message : listing.name);
        nothing_is_left();
        wt__buffer_dispose(&listing.tools);
        wt__buffer_dispose(&script);
    }
}

static void test_too_many_tools(void **state)
{
    (void)state;
    struct buffer script = {0};
    struct mcp_listing listing;
    wt__buffer_printf(
        &script,
        "%sinitialize; printf '{\"id\":2,\"result\":{\"tools\":[0'; i=0; while [ $i -lt %d ]; do printf ',0'; "
        "i=$((i+1)); done; echo ']}}'; stay",
        prelude, MCP_TOOLS_MAX);
    const char *argv[] = {"sh", "-c", script.ptr, "sh", pipe_path, NULL};
    struct mcp_server server = {.name = "s", .argv = argv};
    assert_int_equal(wt__mcp_list_tools(&listing, &server, 900000, NULL, &err), WT_ETOOLONG);
    assert_string_equal(err.message, "it lists more than 20000 tools");
    nothing_is_left();
    wt__buffer_dispose(&script);
}

static int stop_at_once(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    return 1;
}

static void test_a_stop_ends_the_server(void **state)
{
    (void)state;
    struct mcp_listing listing;
    struct progress progress;
    const char *argv[] = {"sh", "-c", "exec 3>\"$1\"; sleep 900 & sleep 900", "sh", pipe_path, NULL};
    struct mcp_server server = {.name = "s", .argv = argv};
    wt__progress_init(&progress, stop_at_once, NULL);
    assert_int_equal(wt__mcp_list_tools(&listing, &server, 900000, &progress, &err), WT_ECANCELLED);
    wt__progress_dispose(&progress);
    nothing_is_left();
}

static void test_who_cannot_be_asked(void **state)
{
    (void)state;
    struct mcp_listing listing;
    struct mcp_server server = {.name = "s", .refusal = "it needs a variable that is not set: X"};
    assert_int_equal(wt__mcp_list_tools(&listing, &server, 900000, NULL, &err), WT_EINVAL);
    assert_string_equal(err.message, "it needs a variable that is not set: X");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_too_many_tools),
        cmocka_unit_test(test_a_stop_ends_the_server),
        cmocka_unit_test(test_who_cannot_be_asked),
    };
    return cmocka_run_group_tests(tests, make_pipe, remove_pipe);
}
