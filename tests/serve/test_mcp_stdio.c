/* Tests MCP over pipes: partial lines, oversized lines, concurrency, and shutdown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "recorder.h"
#include "serve/mcp/transport.h"
#include "waiting.h"

static wt_error err;
static struct mcp_service *service;

/* A server on its own thread, with both ends of its pipes. */
struct stdio_session {
    pthread_t thread;
    int in[2], out[2], stop[2], rc;
    unsigned workers;
    struct buffer said;
};

static void *run_stdio(void *context)
{
    struct stdio_session *session = context;
    session->rc = wt__mcp_stdio_run(service, session->in[0], session->out[1], session->stop[0], session->workers, NULL);
    close(session->out[1]);
    return NULL;
}

static struct stdio_session *begin_stdio(unsigned workers)
{
    struct stdio_session *session = calloc(1, sizeof *session);
    assert_non_null(session);
    session->workers = workers;
    meanwhile_reset();
    assert_int_equal(pipe2(session->in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(session->out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(session->stop, O_CLOEXEC), 0);
    assert_int_equal(pthread_create(&session->thread, NULL, run_stdio, session), 0);
    return session;
}

static void write_stdin_text(struct stdio_session *session, const char *text)
{
    for (size_t len = strlen(text); len > 0;) {
        ssize_t written = write(session->in[1], text, len);
        assert_true(written > 0);
        text += written;
        len -= (size_t)written;
    }
}

/* Reads output until `words` appears, or to the end if `words` is NULL. Returns false at the end of the output. */
static bool read_until_words(struct stdio_session *session, const char *words)
{
    char bytes[4096];
    while (!words || !session->said.ptr || !strstr(session->said.ptr, words)) {
        ssize_t count = read(session->out[0], bytes, sizeof bytes);
        if (count <= 0)
            return false;
        wt__buffer_append(&session->said, bytes, (size_t)count);
    }
    return true;
}

/* Closes standard input and waits for the server to end. Returns all output, which the caller frees. */
static char *end_stdio(struct stdio_session *session)
{
    close(session->in[1]);
    read_until_words(session, NULL);
    pthread_join(session->thread, NULL);
    assert_int_equal(session->rc, 0);
    close(session->in[0]);
    close(session->out[0]);
    close(session->stop[0]);
    close(session->stop[1]);
    char *said = wt__buffer_take(&session->said);
    free(session);
    return said;
}

static int open_waiting_service(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return waiting_open(&service, NULL, &err);
}

static int close_waiting_service(void **state)
{
    (void)state;
    waiting_close(service);
    return 0;
}

#define CANCEL(id) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}\n"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define OPEN INITIALIZE "\n" INITIALIZED
#define TOOL(name) ",\"name\":\"" name "\",\"arguments\":{}"

static const struct {
    const char *name, *lines, *says[3], *says_not;
} rows[] = {
    {"no input", "", {NULL}, "{"},
    {"empty lines", "\n\n  \n\r\n", {NULL}, "{"},
    {"a legacy session",
     OPEN REQUEST("1", "tools/call", "\"name\":\"echo\"") "\n",
     {"\"id\":0,", "\"id\":1,"},
     "resultType"},
    {"CRLF line ends", INITIALIZE "\r\n" REQUEST("1", "ping", "") "\r\n", {"\"id\":1,\"result\":{}}\n"}, NULL},
    {"modern requests without initialize",
     MODERN("1", "server/discover", "") "\n" MODERN("2", "tools/call", TOOL("echo")) "\n",
     {"supportedVersions", "\"id\":2,\"result\":{\"resultType\":\"complete\""},
     NULL},
    {"a modern probe, then a legacy session",
     MODERN("1", "server/discover", "") "\n" OPEN REQUEST("2", "tools/list", "") "\n",
     {"\"id\":1,", "\"id\":0,", "\"id\":2,\"result\":{\"tools\":["},
     NULL},
    {"both eras in one process",
     OPEN MODERN("1", "tools/list", "") "\n" REQUEST("2", "tools/list", "") "\n",
     {"\"id\":1,\"result\":{\"resultType\"", "\"id\":2,\"result\":{\"tools\":["},
     NULL},
    {"a legacy request without a session", REQUEST("1", "tools/list", "") "\n", {"\"code\":-32602"}, "result\""},
    {"invalid JSON, then a request", "what?\n" MODERN("1", "tools/list", "") "\n", {"-32700", "\"id\":1,"}, NULL},
    {"a batch", "[" REQUEST("1", "ping", "") "]\n", {"-32600"}, "\"id\":1"},
    {"arguments with an invalid string, in both eras",
     OPEN REQUEST("1", "tools/call", "\"name\":\"echo\",\"arguments\":{\"a\":\"\\ud800\"}") "\n" MODERN(
         "2", "tools/call", ",\"name\":\"echo\",\"arguments\":{\"a\":\"\\ud800\"}") "\n",
     {"\"id\":1,\"error\":{\"code\":-32602,", "\"id\":2,\"error\":{\"code\":-32602,"},
     NULL},
    {"an unterminated last line is ignored",
     REQUEST("1", "ping", "") "\n" REQUEST("2", "ping", ""),
     {"\"id\":1,"},
     "\"id\":2"},
    {"a result with line breaks is one line",
     MODERN("1", "tools/call", TOOL("raw")) "\n",
     {"\"content\":[],\"more\":1.50"},
     NULL},
};

static void lines_of_a_session_are_answered(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stdio_session *session = begin_stdio(1);
        write_stdin_text(session, rows[i].lines);
        char *said = end_stdio(session);
        bool right = !rows[i].says_not || !strstr(said, rows[i].says_not);
        for (size_t n = 0; n < 3 && rows[i].says[n]; n++)
            right &= strstr(said, rows[i].says[n]) != NULL;
        if (!right)
            fail_msg("%s: %s", rows[i].name, said);
        for (const char *line = said; *line; line += strcspn(line, "\n") + 1) { /* one message per line */
            json_t *message;
            assert_int_equal(wt__json_parse(&message, line, strcspn(line, "\n"), &err), 0);
            json_decref(message);
        }
        free(said);
    }
}

static void lines_may_arrive_in_pieces(void **state)
{
    static const char text[] = OPEN REQUEST("1", "ping", "") "\n" MODERN("2", "tools/call", TOOL("echo")) "\n";
    (void)state;
    for (size_t size = 1; size < 8; size++) {
        struct stdio_session *session = begin_stdio(1);
        for (size_t at = 0; at < sizeof text - 1; at += size) {
            char piece[9] = "";
            memcpy(piece, text + at, sizeof text - 1 - at < size ? sizeof text - 1 - at : size);
            write_stdin_text(session, piece);
        }
        char *said = end_stdio(session);
        assert_non_null(strstr(said, "\"id\":1,\"result\":{}}"));
        assert_non_null(strstr(said, "\"id\":2,\"result\""));
        free(said);
    }
}

static char *long_line(size_t len)
{
    struct buffer text = {0};
    wt__buffer_text(&text, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":{\"x\":\"");
    while (text.len < len - 4)
        wt__buffer_char(&text, 'x');
    wt__buffer_text(&text, "\"}}\n");
    return wt__buffer_take(&text);
}

static void an_oversized_line_is_refused_alone(void **state)
{
    static const struct {
        size_t len;
        bool taken;
    } lengths[] = {
        {1000, true}, {MCP_MESSAGE_BYTES_MAX + 1, true}, {MCP_MESSAGE_BYTES_MAX + 2, false}, {9 << 20, false}};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *line = long_line(lengths[i].len);
        struct stdio_session *session = begin_stdio(1);
        write_stdin_text(session, line);
        write_stdin_text(session, REQUEST("1", "ping", "") "\n");
        char *said = end_stdio(session);
        assert_true((strstr(said, "\"id\":9,\"result\":{}}") != NULL) == lengths[i].taken);
        assert_true((strstr(said, "-32600") != NULL) != lengths[i].taken);
        assert_non_null(strstr(said, "\"id\":1,\"result\":{}}"));
        free(said);
        free(line);
    }
}

static void two_requests_run_at_once(void **state)
{
    static const char *const tools[] = {"meet", "meet_quickly"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct stdio_session *session = begin_stdio(2);
        char line[1024];
        for (int id = 1; id <= 2; id++) {
            snprintf(line, sizeof line,
                     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{%s,"
                     "\"name\":\"%s\"}}\n",
                     id, MODERN_META, tools[i]);
            write_stdin_text(session, line);
        }
        char *said = end_stdio(session);
        assert_non_null(strstr(said, "\"id\":1,\"result\""));
        assert_non_null(strstr(said, "\"id\":2,\"result\""));
        free(said);
    }
}

static void a_client_sending_ahead_is_not_refused(void **state)
{
    enum { CALLS = 3 * MCP_RUNNING_MAX };
    struct buffer lines = {0};
    size_t errors = 0, results = 0;
    FILE *file = tmpfile();
    (void)state;
    for (int i = 0; i < CALLS; i++)
        wt__buffer_printf(&lines,
                          "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{%s,\"name\":\"%s\"}}\n",
                          i, MODERN_META, i == 0 ? "wait_quickly" : "echo");
    assert_non_null(file);
    assert_int_equal(fwrite(lines.ptr, 1, lines.len, file), lines.len);
    rewind(file);
    struct stdio_session *session = calloc(1, sizeof *session);
    assert_non_null(session);
    meanwhile_reset();
    session->workers = 1;
    assert_int_equal(pipe2(session->out, O_CLOEXEC), 0);
    session->in[0] = dup(fileno(file));
    session->in[1] = session->stop[0] = session->stop[1] = -1;
    assert_int_equal(pthread_create(&session->thread, NULL, run_stdio, session), 0);
    meanwhile_until(&meanwhile.waiting, 1);
    usleep(100000); /* enough time for the server to read all other lines */
    meanwhile_add(&meanwhile.let_go);
    char *said = end_stdio(session);
    for (const char *line = said; *line; line += strcspn(line, "\n") + 1) {
        errors += strncmp(strchr(line, ','), ",\"id\"", 5) != 0 || memmem(line, strcspn(line, "\n"), "\"error\"", 7);
        results++;
    }
    assert_int_equal(errors, 0);
    assert_int_equal(results, CALLS);
    free(said);
    fclose(file);
    wt__buffer_dispose(&lines);
}

static void cancel_ends_a_call_in_both_eras(void **state)
{
    static const char *const requests[] = {OPEN REQUEST("\"a\"", "tools/call", "\"name\":\"wait\"") "\n",
                                           MODERN("\"a\"", "tools/call", TOOL("wait")) "\n"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct stdio_session *session = begin_stdio(1);
        write_stdin_text(session, requests[i]);
        meanwhile_until(&meanwhile.waiting, 1);
        write_stdin_text(session, CANCEL("\"b\"") CANCEL("{}") CANCEL("\"a\""));
        meanwhile_until(&meanwhile.cancelled, 1);
        char *said = end_stdio(session);
        assert_null(strstr(said, "\"id\":\"a\""));
        free(said);
    }
}

static void quick_calls_overtake_waiting_ones(void **state)
{
    (void)state;
    struct stdio_session *session = begin_stdio(1);
    write_stdin_text(session, MODERN("1", "tools/call", TOOL("wait")) "\n");
    meanwhile_until(&meanwhile.waiting, 1);
    write_stdin_text(session, MODERN("2", "tools/call", TOOL("echo")) "\n");
    assert_true(read_until_words(session, "\"id\":2,"));
    meanwhile_add(&meanwhile.let_go);
    assert_true(read_until_words(session, "\"id\":1,"));
    free(end_stdio(session));
}

static void listening_ends_on_cancel_or_shutdown(void **state)
{
    (void)state;
    struct stdio_session *session = begin_stdio(1);
    write_stdin_text(session,
                     MODERN("1", "subscriptions/listen", ",\"notifications\":{\"toolsListChanged\":true}") "\n");
    write_stdin_text(session,
                     MODERN("2", "subscriptions/listen", ",\"notifications\":{\"toolsListChanged\":true}") "\n");
    assert_true(read_until_words(session, "subscriptionId\":2},\"notifications\""));
    write_stdin_text(session, CANCEL("1") REQUEST("3", "ping", "") "\n");
    assert_true(read_until_words(session, "\"id\":3,"));
    wt__mcp_service_changed(service, MCP_TOOLS_CHANGED);
    char *said = end_stdio(session);
    assert_null(strstr(said, "list_changed\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}"));
    assert_non_null(
        strstr(said, "list_changed\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":2}"));
    assert_non_null(strstr(said, "notifications/cancelled\",\"params\":{\"requestId\":2}"));
    assert_non_null(strstr(said, "\"id\":2,\"result\":{\"resultType\":\"complete\""));
    assert_null(strstr(said, "\"id\":1,\"result\""));
    free(said);
}

static void legacy_clients_get_changes(void **state)
{
    (void)state;
    struct stdio_session *session = begin_stdio(1);
    write_stdin_text(session, OPEN REQUEST("1", "resources/subscribe", "\"uri\":\"test://watched\"") "\n");
    assert_true(read_until_words(session, "\"id\":1,"));
    wt__mcp_service_changed(service, MCP_TOOLS_CHANGED);
    wt__mcp_service_resource_updated(service, STR("test://watched"));
    assert_true(read_until_words(session, "\"method\":\"notifications/tools/list_changed\"}\n"));
    assert_true(read_until_words(session, "\"params\":{\"uri\":\"test://watched\"}}\n"));
    free(end_stdio(session));
}

static void a_legacy_client_can_answer_a_question(void **state)
{
    (void)state;
    struct stdio_session *session = begin_stdio(1);
    write_stdin_text(session, OPEN REQUEST("1", "tools/call", "\"name\":\"ask\"") "\n");
    assert_true(read_until_words(session, "\"id\":\"whichtool-1\",\"method\":\"elicitation/create\""));
    write_stdin_text(session, "{\"jsonrpc\":\"2.0\",\"id\":\"whichtool-1\",\"result\":{\"action\":\"accept\"}}\n");
    assert_true(read_until_words(session, "\"id\":\"whichtool-2\",\"method\":\"sampling/createMessage\""));
    write_stdin_text(session, "{\"jsonrpc\":\"2.0\",\"id\":\"whichtool-2\",\"result\":{\"role\":\"assistant\"}}\n");
    assert_true(read_until_words(session, "and {\\\"role\\\":\\\"assistant\\\"}, kept"));
    free(end_stdio(session));
}

static void waiting_calls_are_cancelled_at_the_end(void **state)
{
    (void)state;
    struct stdio_session *session = begin_stdio(1);
    write_stdin_text(session, MODERN("1", "tools/call", TOOL("wait")) "\n");
    meanwhile_until(&meanwhile.waiting, 1);
    char *said = end_stdio(session);
    assert_int_equal(meanwhile.cancelled, 1);
    assert_null(strstr(said, "\"id\":1"));
    free(said);
}

static void the_stop_descriptor_ends_the_server(void **state)
{
    (void)state;
    struct stdio_session *session = begin_stdio(1);
    write_stdin_text(session, REQUEST("1", "ping", "") "\n");
    assert_true(read_until_words(session, "\"id\":1,"));
    assert_int_equal(write(session->stop[1], "x", 1), 1);
    read_until_words(session, NULL); /* standard input is still open */
    free(end_stdio(session));
}

static void a_broken_output_ends_the_server(void **state)
{
    (void)state;
    struct stdio_session *session = begin_stdio(1);
    write_stdin_text(session, MODERN("1", "tools/call", TOOL("wait")) "\n");
    meanwhile_until(&meanwhile.waiting, 1);
    close(session->out[0]);
    session->out[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    meanwhile_until(&meanwhile.cancelled, 1); /* standard input is still open */
    free(end_stdio(session));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_session_are_answered),
        cmocka_unit_test(lines_may_arrive_in_pieces),
        cmocka_unit_test(an_oversized_line_is_refused_alone),
        cmocka_unit_test(two_requests_run_at_once),
        cmocka_unit_test(a_client_sending_ahead_is_not_refused),
        cmocka_unit_test(cancel_ends_a_call_in_both_eras),
        cmocka_unit_test(quick_calls_overtake_waiting_ones),
        cmocka_unit_test(listening_ends_on_cancel_or_shutdown),
        cmocka_unit_test(legacy_clients_get_changes),
        cmocka_unit_test(a_legacy_client_can_answer_a_question),
        cmocka_unit_test(waiting_calls_are_cancelled_at_the_end),
        cmocka_unit_test(the_stop_descriptor_ends_the_server),
        cmocka_unit_test(a_broken_output_ends_the_server),
    };
    return cmocka_run_group_tests(tests, open_waiting_service, close_waiting_service);
}
