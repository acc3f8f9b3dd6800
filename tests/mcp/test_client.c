/* Tests listing tools of good and faulty programs: the tools, the error messages, and the end of all processes. Each
 * server is a shell script. The ids of requests begin at 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/listing.h"
#include "net/held_pipe.h"

static wt_error err;

/* Functions for the scripts. A script and its children hold a pipe ($1) open. The test sees its end when all of them
 * have ended. */
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
    unsigned timeout_ms; /* 0 for 900000 */
    int rc;
    const char *tools, *says; /* tools: the result, or NULL on failure; says: part of the error message */
    const char *called;       /* the server's name */
} rows[] = {
    {"one tool", "initialize; result 2 '" ONE "'; stay", 0, 0, ONE, "", "scripted"},
    {"tools are kept byte for byte",
     "initialize; result 2 '{\"tools\":[ {\"name\" : \"a\", \"x\":1.0} ,{\"name\":\"b\"} ]}'; stay", 0, 0,
     "{\"tools\":[{\"name\" : \"a\", \"x\":1.0} ,{\"name\":\"b\"}]}", "", "scripted"},
    {"no tools", "initialize; result 2 '{\"tools\":[]}'; stay", 0, 0, "{\"tools\":[]}", "", "scripted"},
    {"no tools capability", "hello='{\"capabilities\":{}}'; initialize; error 2 -32601 no; stay", 0, 0,
     "{\"tools\":[]}", "", ""},
    {"pages with an empty cursor before the last page",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\\\"y\"}'; read -r r; echo \"$r\" >&2;"
     "result 3 '{\"tools\":[],\"nextCursor\":\"\"}'; read -r r; result 4 "
     "'{\"nextCursor\":null,\"tools\":[{\"name\":\"b\"}]}'; stay",
     0, 0, "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", "", "scripted"},
    {"id as a string", "initialize; result '\"2\"' '" ONE "'; stay", 0, 0, ONE, "", "scripted"},
    {"slow server", "sleep .3; initialize; sleep .3; result 2 '" ONE "'; stay", 0, 0, ONE, "", "scripted"},
    {"output before the first message",
     "echo Listening...; echo; echo '{\"not\": \"it\"}'; echo '[1]'; initialize; echo '{'; result 2 '" ONE "'; stay", 0,
     0, ONE, "", "scripted"},
    {"requests before the first answer",
     "read -r r; echo '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}'; read -r pong;"
     "[ \"$pong\" = '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}' ] || exit 9;"
     "echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}'; read -r no; case \"$no\" in "
     "*'\"id\":7,\"error\":{\"code\":-32601'*) ;; *) exit 8;; esac;"
     "echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}'; result 1 \"$hello\"; read -r n; read -r r; "
     "result 2 '" ONE "'; stay",
     0, 0, ONE, "", "scripted"},
    {"unmatched answers", "initialize; result 99 '{}'; result 1 '{}'; result 2 '" ONE "'; stay", 0, 0, ONE, "",
     "scripted"},
    {"ignores the end of stdin", "initialize; result 2 '" ONE "'; sleep 900", 0, 0, ONE, "", "scripted"},
    {"ignores SIGTERM", "trap '' TERM; initialize; result 2 '" ONE "'; sleep 900 & wait; sleep 900", 0, 0, ONE, "",
     "scripted"},
    {"child processes", "sleep 900 & (sleep 900 & sleep 900) & initialize; result 2 '" ONE "'; stay", 0, 0, ONE, "",
     "scripted"},
    {"modern server",
     "read -r r; error 1 -32601 'no such method'; read -r r; case \"$r\" in *server/discover*2026-07-28*) ;; *) exit "
     "9;; esac;"
     "result 2 '{\"supportedVersions\":[\"2026-07-28\"],\"serverInfo\":{\"name\":\"new\"}}'; read -r r; case \"$r\" in "
     "*tools/list*clientCapabilities*) ;; *) exit 8;; esac;"
     "result 3 '{\"resultType\":\"complete\",\"tools\":[{\"name\":\"a\"}]}'; stay",
     0, 0, ONE, "", "new"},
    {"no answer", "sleep 900", 200, WT_ETIMEOUT, NULL, "no answer came within 0.", NULL},
    {"no answer to tools/list", "initialize; sleep 900", 600, WT_ETIMEOUT, NULL, "no answer", NULL},
    {"exit at start", "echo 'no  database\033[2J' >&2; exit 3", 0, WT_ENETWORK, NULL,
     "sh ended before it answered `initialize`; it said last: no database [2J", NULL},
    {"exit after initialize", "initialize; exit 1", 0, WT_ENETWORK, NULL, "sh ended before it answered `tools/list`",
     NULL},
    {"both openings refused", "read -r r; error 1 -32000 'not \\n today'; read -r r; error 2 -32601 'what'; stay", 0,
     WT_ENETWORK, NULL, "`initialize` is refused: not   today (error -32000)", NULL},
    {"refusals without an id", "read -r r; error null -32700 broken; read -r r; error null -32700 broken; stay", 0,
     WT_ENETWORK, NULL, "`initialize` is refused: broken (error -32700)", NULL},
    {"tools/list refused", "initialize; error 2 -32601 no; stay", 0, WT_ENETWORK, NULL,
     "`tools/list` is refused: no (error -32601)", NULL},
    {"error without a message", "initialize; echo '{\"id\":2,\"error\":7}'; stay", 0, WT_ENETWORK, NULL,
     "no reason given", NULL},
    {"not a server", "yes", 0, WT_ETOOLONG, NULL,
     "sh wrote more than 1000 lines that are not messages; check that it is an MCP server", NULL},
    {"endless notifications", "while :; do echo '{\"method\":\"notifications/message\"}'; done", 0, WT_ETOOLONG, NULL,
     "sent more than 10000 unsolicited messages", NULL},
    {"endless pings", "while :; do echo '{\"id\":1,\"method\":\"ping\"}'; done", 0, WT_ETOOLONG, NULL,
     "sent more than 10000 unsolicited messages", NULL},
    {"endless line", "while :; do printf %65536s x; done", 0, WT_ETOOLONG, NULL, "a line of more than 16 MB", NULL},
    {"endless pages",
     "initialize; i=2; while :; do result $i \"{\\\"tools\\\":[],\\\"nextCursor\\\":\\\"$i\\\"}\"; i=$((i+1)); read -r "
     "r; done",
     0, WT_ETOOLONG, NULL, "on more than 1000 pages", NULL},
    {"pages in a circle",
     "initialize; i=2; while :; do result $i \"{\\\"tools\\\":[],\\\"nextCursor\\\":\\\"$((i%3))\\\"}\"; i=$((i+1)); "
     "read -r r; done",
     0, 0, "{\"tools\":[]}", "", "scripted"},
    {"empty cursor leads to the first page",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"\"}'; read -r r; result 3 "
     "'{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"\"}'; stay",
     0, 0, ONE, "", "scripted"},
    {"repeated cursor",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}'; read -r r; result 3 "
     "'{\"tools\":[{\"name\":\"b\"}],\"nextCursor\":\"x\"}'; stay",
     0, 0, "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", "", "scripted"},
    {"number as a cursor",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":2}'; read -r r; case \"$r\" in "
     "*'\"cursor\":2'*) ;; *) exit 8;; esac; result 3 '{\"tools\":[{\"name\":\"b\"}]}'; stay",
     0, 0, "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", "", "scripted"},
    {"number as a cursor, refused",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":2}'; read -r r; error 3 -32602 no; stay", 0, 0,
     ONE, "", "scripted"},
    {"cursor refused",
     "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}'; read -r r; error 3 -32602 no; stay",
     0, WT_ENETWORK, NULL, "`tools/list` is refused: no (error -32602)", NULL},
    {"endless tools",
     "initialize; i=2; while :; do printf "
     "'{\"id\":%s,\"result\":{\"tools\":[\"%15000000s\"],\"nextCursor\":\"%s\"}}\\n' $i $i "
     "$i; i=$((i+1)); read -r r; done",
     0, WT_ETOOLONG, NULL, "its tools have more than 32 MB", NULL},
    {"object as a cursor", "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":{}}'; stay", 0, 0, ONE,
     "", "scripted"},
    {"tools not a list", "initialize; result 2 '{\"tools\":{}}'; stay", 0, WT_ENETWORK, NULL, "\"tools\" is not a list",
     NULL},
    {"no tools member", "initialize; result 2 '{}'; stay", 0, WT_ENETWORK, NULL,
     "the answer to `tools/list` has no \"tools\"", NULL},
    {"tools member twice", "initialize; result 2 '{\"tools\":[],\"tools\":[]}'; stay", 0, WT_ENETWORK, NULL,
     "has no \"tools\"", NULL},
    {"truncated list", "initialize; result 2 '{\"tools\":[{\"name\":\"a\"}'; stay", 0, WT_ENETWORK, NULL,
     "sent an invalid message: ", NULL},
    {"initialize result not an object", "read -r r; result 1 '[]'; stay", 0, WT_ENETWORK, NULL,
     "the answer to `initialize` is invalid: its result is not an object", NULL},
    {"secret in stderr", "echo \"cannot log in with $API_KEY\" >&2; exit 1", 0, WT_ENETWORK, NULL,
     "it said last: cannot log in with ***", NULL},
    {"secret cut in half", "read -r r; error 1 -32000 \"$(printf %0295d 0) $API_KEY\"; read -r r; error 2 -1 no; stay",
     0, WT_ENETWORK, NULL, "00 ... (error -32000)", NULL},
    {"missing program", NULL, 0, WT_ENOTFOUND, NULL, "cannot run no-such-program-of-ours: No such file or directory",
     NULL},
};

static void each_program_is_listed_or_its_fault_is_reported(void **state)
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

static void too_long_list_is_rejected(void **state)
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

static void cancelling_ends_the_program(void **state)
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

static void refused_server_fails_with_its_refusal(void **state)
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
        cmocka_unit_test(each_program_is_listed_or_its_fault_is_reported),
        cmocka_unit_test(too_long_list_is_rejected),
        cmocka_unit_test(cancelling_ends_the_program),
        cmocka_unit_test(refused_server_fails_with_its_refusal),
    };
    return cmocka_run_group_tests(tests, make_pipe, remove_pipe);
}
