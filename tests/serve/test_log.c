/* Tests the lines of the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"
#include "serve/log.h"

static const struct http_request hostile = {
    .method = {"POST", 4}, .path = {"/v1/\"\\x\x7f\xe2\x80\xae", 11}, .body = {"text\n\"of\" a request", 19}};
static const struct http_record record = {
    .request = &hostile, .peer = "127.0.0.1:5000", .status = 404, .bytes = 12, .queue_ms = 0.5, .run_ms = 1.25};

#define TRACE_ID "0af7651916cd43dd8448eb211c80319c"
#define WHOLE                                                                                                          \
    {                                                                                                                  \
        &record, "find", "laptop", "acme", "id-1", TRACE_ID, "tools/call", {"a\nb", 3}, 1000123                        \
    }

static const struct {
    const char *name;
    enum log_form form;
    struct log_request request;
    const char *line;
} rows[] = {
    {"all members, as JSON", LOG_FORM_JSON, WHOLE,
     "{\"time\":\"1970-01-01T00:16:40.123Z\",\"level\":\"warning\",\"request_id\":\"id-1\","
     "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\",\"peer\":\"127.0.0.1:5000\",\"key\":\"laptop\","
     "\"tenant\":\"acme\",\"route\":\"find\",\"method\":\"POST\","
     "\"path\":\"/v1/\\\"\\\\x\\u007f\\u202e\",\"mcp_method\":\"tools/call\","
     "\"status\":404,\"bytes\":12,\"queue_ms\":0.5,\"run_ms\":1.25,\"ms\":1.75,\"asked\":\"a\\nb\"}\n"},
    {"all members, as text", LOG_FORM_TEXT, WHOLE,
     "1970-01-01T00:16:40.123Z 127.0.0.1:5000 laptop@acme POST \"/v1/\\\"\\\\x\\u007f\\u202e\" 404 12 bytes 0.5+1.2 ms "
     "id-1 trace 0af7651916cd43dd8448eb211c80319c \"a\\nb\"\n"},
    {"no key, no trace of its own, no text",
     LOG_FORM_TEXT,
     {&record, "find", "", "", "id-1", "", NULL, {0}, 0},
     "1970-01-01T00:00:00.000Z 127.0.0.1:5000 - POST \"/v1/\\\"\\\\x\\u007f\\u202e\" 404 12 bytes 0.5+1.2 ms id-1\n"},
    {"input that was not a request, as text",
     LOG_FORM_TEXT,
     {&(struct http_record){.peer = "unix", .status = 400}, "other", "", "", "", "", NULL, {0}, 0},
     "1970-01-01T00:00:00.000Z unix - - - 400 0 bytes 0.0+0.0 ms -\n"},
    {"input that was not a request, as JSON",
     LOG_FORM_JSON,
     {&(struct http_record){.peer = "unix", .status = 400}, "other", "", "", "", "", NULL, {0}, 0},
     "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"warning\",\"request_id\":null,\"trace_id\":null,"
     "\"peer\":\"unix\",\"key\":null,\"route\":\"other\",\"status\":400,\"bytes\":0,\"queue_ms\":0,\"run_ms\":0,"
     "\"ms\":0}\n"},
};

static void lines_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer line = {0};
        wt__log_write_request(&line, rows[i].form, &rows[i].request);
        if (strcmp(line.ptr, rows[i].line) != 0)
            fail_msg("%s:\n%swanted\n%s", rows[i].name, line.ptr, rows[i].line);
        wt__buffer_dispose(&line);
    }
}

static void statuses_have_levels(void **state)
{
    (void)state;
    static const struct {
        int status;
        enum log_level level;
    } levels[] = {{200, LOG_LEVEL_INFO},    {204, LOG_LEVEL_INFO},  {399, LOG_LEVEL_INFO},  {400, LOG_LEVEL_WARNING},
                  {499, LOG_LEVEL_WARNING}, {0, LOG_LEVEL_WARNING}, {500, LOG_LEVEL_ERROR}, {503, LOG_LEVEL_ERROR}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        assert_int_equal(wt__log_level_of(levels[i].status), levels[i].level);
}

static void keep_line(void *context, struct str line)
{
    wt__buffer_str(context, line);
}

/* A message is one line, whatever text of a client it contains. */
static void messages_are_one_line(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain \"text\"", "two\nlines", "escape \x1b[31m", "\xe2\x80\xae", "\xff"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int form = LOG_FORM_OFF; form <= LOG_FORM_JSON; form++) {
            struct buffer line = {0};
            const struct log log = {(enum log_form)form, LOG_LEVEL_ERROR, keep_line, &line};
            wt__log_message(&log, LOG_LEVEL_INFO, "%s", texts[i]);
            assert_ptr_equal(strchr(line.ptr, '\n'), line.ptr + line.len - 1);
            for (size_t c = 0; c + 1 < line.len; c++)
                assert_true((unsigned char)line.ptr[c] >= ' ' && line.ptr[c] != 0x7f);
            assert_null(strstr(line.ptr, "\xe2\x80\xae"));
            json_t *tree = NULL;
            if (form == LOG_FORM_JSON) {
                assert_int_equal(wt__json_parse(&tree, line.ptr, line.len, NULL), 0);
                assert_true(wt__str_equal(wt__json_str(tree, "level"), STR("info")));
                assert_true(wt__json_str(tree, "message").len > 0);
            } else {
                assert_memory_equal(line.ptr, "whichtool: ", 11);
            }
            json_decref(tree);
            wt__buffer_dispose(&line);
        }
    wt__log_message(&(const struct log){.form = LOG_FORM_TEXT}, LOG_LEVEL_ERROR, "nobody listens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_exact),
        cmocka_unit_test(statuses_have_levels),
        cmocka_unit_test(messages_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
