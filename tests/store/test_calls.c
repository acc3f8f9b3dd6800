/* Tests the arguments of past calls: storage, lookup and validation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/sha256.h"
#include "store/older.h"
#include "store/backend.h"
#include "store/internal.h"

static wt_error err;

/* Opens a store with the tools a, b, c of provider p and the ids 1, 2, 3. */
static struct store *open_tools(const char *path)
{
    struct store *store;
    struct tool tools[3];
    static const char *const names[] = {"a", "b", "c"};
    struct store_import_options options = {.source = STR("test")};
    struct store_changes changes;
    for (size_t i = 0; i < 3; i++) {
        tools[i] = (struct tool){.provider = STR("p"),
                                 .name = wt__str(names[i]),
                                 .definition = STR("{}"),
                                 .schema = STR("{}"),
                                 .format = STR("mcp")};
        wt__sha256("{}", 2, tools[i].sha256);
    }
    assert_int_equal(wt__store_open(&store, path, NULL, &err), 0);
    assert_int_equal(wt__store_import(store, tools, 3, &options, &changes, &err), 0);
    return store;
}

static struct store *open_private_tools(void)
{
    return open_tools(backend->new_store());
}

static int64_t find_id(struct store *store, const char *name)
{
    int64_t id = 0;
    return wt__store_find_name(store, &STR("p"), wt__str(name), &id, 1, &err) == 1 ? id : 0;
}

/* Records one call of a tool of provider p. An unknown name becomes a label without a tool. Returns the id of the
 * usage. */
static int64_t record_one_call(struct store *store, const char *request, const char *name, const char *arguments,
                               enum usage_outcome outcome)
{
    char label[40];
    snprintf(label, sizeof label, "p/%s", name);
    struct usage_tool tool = {find_id(store, name), wt__str(label), wt__str(arguments)};
    struct usage usage = {.request = wt__str(request), .outcome = outcome, .tools = &tool, .tool_count = 1};
    int64_t last = 0;
    assert_int_equal(wt__store_add_usages(store, &usage, 1, NULL, NULL, &last, &err), 0);
    return last;
}

/* Returns the newest calls of a tool as "request{...} request{...}". */
static const char *newest_calls(struct store *store, const char *name, size_t most)
{
    static char text[4000];
    struct arena arena = {0};
    struct recorded_call *calls;
    size_t count, len = 0;
    assert_int_equal(wt__store_recorded_calls(store, find_id(store, name), most, &arena, &calls, &count, &err), 0);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        len += (size_t)sprintf(text + len, "%s%s%s", i ? " " : "", calls[i].request.ptr, calls[i].arguments.ptr);
    wt__arena_dispose(&arena);
    return text;
}

static const char *newest_request(struct store *store, const char *name)
{
    static char text[400];
    struct arena arena = {0};
    struct str request;
    assert_int_equal(wt__store_recorded_request(store, find_id(store, name), &arena, &request, &err), 0);
    snprintf(text, sizeof text, "%s", request.ptr);
    wt__arena_dispose(&arena);
    return text;
}

/* A call without arguments counts, and a failed call does not. */
static void test_newest_request_of_a_tool_is_found(void **state)
{
    (void)state;
    struct store *store = open_private_tools();
    assert_string_equal(newest_request(store, "a"), "");
    record_one_call(store, "one", "a", "{\"n\":1}", USAGE_OK);
    assert_string_equal(newest_request(store, "a"), "one");
    record_one_call(store, "no arguments", "a", "", USAGE_UNKNOWN);
    record_one_call(store, "bad", "a", "{\"n\":4}", USAGE_FAILED);
    record_one_call(store, "other", "b", "", USAGE_OK);
    assert_string_equal(newest_request(store, "a"), "no arguments");
    assert_string_equal(newest_request(store, "b"), "other");
    assert_string_equal(newest_request(store, "c"), "");
    assert_string_equal(newest_request(store, "unknown"), "");
    wt__store_close(store);
}

static void test_arguments_are_read_on_request(void **state)
{
    (void)state;
    struct store *store = open_private_tools();
    struct usage_tool tools[] = {
        {1, STR("p/a"), STR("{\"x\":1}")}, {2, STR("p/b"), STR("")}, {3, STR("p/c"), STR("{}")}};
    struct usage usage = {.request = STR("one"), .tools = tools, .tool_count = 3};
    assert_int_equal(wt__store_add_usages(store, &usage, 1, NULL, NULL, NULL, &err), 0);
    for (int asked = 0; asked < 2; asked++) {
        struct arena arena = {0};
        struct usage *usages;
        size_t count;
        struct usage_query query = {.arguments = asked != 0};
        assert_int_equal(wt__store_usages(store, &query, &arena, &usages, &count, &err), 0);
        assert_int_equal(count, 1);
        for (size_t i = 0; i < 3; i++)
            assert_string_equal(usages[0].tools[i].arguments.ptr, asked ? tools[i].arguments.ptr : "");
        wt__arena_dispose(&arena);
    }
    wt__store_close(store);
}

static void test_newest_calls_of_a_tool_are_found(void **state)
{
    (void)state;
    struct store *store = open_private_tools();
    assert_string_equal(newest_calls(store, "a", 5), "");
    record_one_call(store, "one", "a", "{\"n\":1}", USAGE_OK);
    record_one_call(store, "two", "a", "{\"n\":2}", USAGE_UNKNOWN);
    record_one_call(store, "other", "b", "{\"n\":0}", USAGE_OK);
    record_one_call(store, "one", "a", "{\"n\":3}", USAGE_OK); /* newest call of the request */
    record_one_call(store, "bad", "a", "{\"n\":4}", USAGE_FAILED);
    record_one_call(store, "no arguments", "a", "", USAGE_OK);
    int64_t last = record_one_call(store, "none", "a", "{}", USAGE_OK);
    assert_string_equal(newest_calls(store, "a", 5), "none{} one{\"n\":3} two{\"n\":2}");
    assert_string_equal(newest_calls(store, "a", 2), "none{} one{\"n\":3}");
    assert_string_equal(newest_calls(store, "a", 0), "");
    assert_string_equal(newest_calls(store, "b", 5), "other{\"n\":0}");
    assert_string_equal(newest_calls(store, "c", 5), "");
    assert_string_equal(newest_calls(store, "unknown", 5), "");

    /* A tool may have several labels. */
    record_one_call(store, "two", "later", "{\"n\":6}", USAGE_OK);
    record_one_call(store, "three", "a", "{\"n\":7}", USAGE_OK);
    assert_int_equal(wt__sql_exec(store, "UPDATE label SET tool = 1 WHERE name = 'p/later'", &err), 0);
    assert_string_equal(newest_calls(store, "a", 3), "three{\"n\":7} two{\"n\":6} none{}");

    /* Calls of removed usages are removed. */
    int64_t left;
    assert_int_equal(wt__store_forget_usages(store, &(struct usage_query){.upto = last}, &err), 7);
    assert_string_equal(newest_calls(store, "a", 5), "three{\"n\":7} two{\"n\":6}");
    assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM usage_tool WHERE arguments IS NOT NULL", &left, &err),
                     0);
    assert_int_equal(left, 2);
    wt__store_close(store);
}

/* A lookup reads the newest 1,000 usages without a client, and returns at most RECORDED_CALLS_MAX calls. */
static void test_lookup_of_calls_is_bounded(void **state)
{
    (void)state;
    enum { USAGES_READ = 1000 };
    struct store *store = open_private_tools();
    char request[40];
    record_one_call(store, "old", "a", "{}", USAGE_OK);
    for (int i = 0; i < USAGES_READ - 1; i++)
        record_one_call(store, "no arguments", "a", "", USAGE_OK);
    assert_string_equal(newest_calls(store, "a", 5), "old{}");
    record_one_call(store, "no arguments", "a", "", USAGE_OK);
    assert_string_equal(newest_calls(store, "a", 5), "");
    for (int i = 0; i < RECORDED_CALLS_MAX + 1; i++) {
        snprintf(request, sizeof request, "request %d", i);
        record_one_call(store, request, "a", "{}", USAGE_OK);
    }
    struct arena arena = {0};
    struct recorded_call *calls;
    size_t count;
    assert_int_equal(wt__store_recorded_calls(store, 1, SIZE_MAX, &arena, &calls, &count, &err), 0);
    assert_int_equal(count, RECORDED_CALLS_MAX);
    wt__arena_dispose(&arena);
    wt__store_close(store);
}

/* A client with many new calls does not use up the limit of the other clients. */
static void test_calls_are_shared_among_clients(void **state)
{
    static const char *const clients[] = {"", "honest", "mallory"};
    static const int calls[] = {2, 2, 300};
    (void)state;
    struct store *store = open_private_tools();
    for (size_t c = 0; c < sizeof clients / sizeof *clients; c++)
        for (int i = 0; i < calls[c]; i++) {
            char request[40];
            struct usage_tool tool = {find_id(store, "a"), STR("p/a"), STR("{}")};
            struct usage usage = {.client = wt__str(clients[c]), .tools = &tool, .tool_count = 1};
            snprintf(request, sizeof request, "%.1s%d", *clients[c] ? clients[c] : "-", i);
            usage.request = wt__str(request);
            assert_int_equal(wt__store_add_usages(store, &usage, 1, NULL, NULL, NULL, &err), 0);
        }
    assert_string_equal(newest_calls(store, "a", 6), "m299{} m298{} h1{} h0{} -1{} -0{}");
    assert_string_equal(newest_request(store, "a"), "m299");
    wt__store_close(store);
}

static void test_damaged_arguments_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *sentence;
    } rows[] = {
        {"secret", "in a usage, the arguments are not valid JSON at byte"},
        {"[\"secret\"]", "in a usage, the arguments are not an object"},
        {"{\"a\":1}, {\"secret\":2}", "not valid JSON"},
        {"{\n}", "a control character at byte 1"},
        {"{\"a\":\"\xff\"}", "not valid JSON"},
        {"", "have 65544 bytes; at most 65536 are allowed"}, /* replaced by long arguments */
    };
    static char long_arguments[65544 + 1];
    memset(long_arguments, 'x', sizeof long_arguments - 1);
    memcpy(long_arguments, "{\"a\":\"", 6);
    memcpy(long_arguments + sizeof long_arguments - 3, "\"}", 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct store *store = open_private_tools();
        struct arena arena = {0};
        struct usage *usages;
        struct recorded_call *calls;
        size_t count;
        const char *arguments = rows[i].arguments[0] ? rows[i].arguments : long_arguments;
        record_one_call(store, "one", "a", "{\"fine\":true}", USAGE_OK);
        assert_int_equal(wt__store_check(store, &err), 0);
        assert_int_equal(
            wt__sql_run(store, "UPDATE usage_tool SET arguments = ?1", SQL_VALUES(sql_string(arguments)), &err), 0);
        for (int way = 0; way < 3; way++) {
            int rc = way == 0   ? wt__store_usages(store, &(struct usage_query){.arguments = true}, &arena, &usages,
                                                   &count, &err)
                     : way == 1 ? wt__store_recorded_calls(store, 1, 5, &arena, &calls, &count, &err)
                                : wt__store_check(store, &err);
            assert_int_equal(rc, WT_ESTORE);
            if (!strstr(err.message, rows[i].sentence) || strstr(err.message, "secret"))
                fail_msg("%s: %s", rows[i].arguments, err.message);
        }
        /* Reading usages without their arguments does not validate the arguments. */
        assert_int_equal(wt__store_usages(store, &(struct usage_query){0}, &arena, &usages, &count, &err), 0);
        assert_int_equal(count, 1);
        wt__arena_dispose(&arena);
        wt__store_close(store);
    }
}

/* Version 5 stored no arguments, so lookups do not return calls from before the migration. */
static void test_a_store_of_version_5_gets_arguments(void **state)
{
    (void)state;
    need_files();
    const char *path = backend->store("version-5.wt");
    const struct store_options read = {.read_only = true};
    int64_t version, usages;
    struct store *store = open_tools(path);
    record_one_call(store, "one", "a", "{\"n\":1}", USAGE_OK);
    assert_int_equal(wt__sql_exec(store,
                                  BACK_TO_VERSION_8
                                  "DROP TABLE review; DROP TABLE review_server;"
                                  "DROP INDEX usage_key; ALTER TABLE usage DROP COLUMN key; DROP TABLE contrast;"
                                  "ALTER TABLE usage_tool DROP COLUMN arguments; PRAGMA user_version=5",
                                  &err),
                     0);
    wt__store_close(store);
    assert_int_equal(wt__store_open(&store, path, &read, &err), WT_EREADONLY);
    assert_int_equal(wt__store_open(&store, path, NULL, &err), 0);
    assert_int_equal(wt__sql_number(store, "PRAGMA user_version", &version, &err), 0);
    assert_int_equal(version, 10);
    assert_int_equal(wt__sql_number(store, "SELECT count(*) FROM usage_tool WHERE label = 1", &usages, &err), 0);
    assert_int_equal(usages, 1);
    assert_string_equal(newest_calls(store, "a", 5), "");
    record_one_call(store, "one", "a", "{\"n\":2}", USAGE_OK);
    assert_string_equal(newest_calls(store, "a", 5), "one{\"n\":2}");
    assert_int_equal(wt__store_check(store, &err), 0);
    wt__store_close(store);
}

static void test_arguments_are_validated(void **state)
{
    (void)state;
    static const struct {
        const char *text, *written;
        int code;
        const char *sentence;
    } rows[] = {
        {"{}", "{}", 0, ""},
        {" {\"b\" : 1,\n\"a\": [true, null]} ", "{\"b\":1,\"a\":[true,null]}", 0, ""},
        {"{\"lat\": -97.8, \"n\": 9007199254740993}", "{\"lat\":-97.8,\"n\":9007199254740993}", 0, ""},
        {"{\"\xd0\xbf\": \"\\u200b\\\\\"}", "{\"\xd0\xbf\":\"\xe2\x80\x8b\\\\\"}", 0, ""},
        {"", "", WT_EFORMAT, "not valid JSON at byte 0; give a JSON object, such as {\"city\": \"Oslo\"}"},
        {"{\"a\": secret}", "", WT_EFORMAT, "not valid JSON at byte"},
        {"{\"secret\": 1, \"secret\": 2}", "", WT_EFORMAT, "not valid JSON at byte"},
        {"{\"a\": \"\\u0000\"}", "", WT_EFORMAT, "not valid JSON at byte"},
        {"{\"a\": \"\xff\"}", "", WT_EFORMAT, "not valid JSON at byte"},
        {"{} {}", "", WT_EFORMAT, "not valid JSON at byte"},
        {"[{\"secret\": 1}]", "", WT_EFORMAT, "the arguments are not an object"},
        {"\"secret\"", "", WT_EFORMAT, "the arguments are not an object"},
        {"null", "", WT_EFORMAT, "the arguments are not an object"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *object;
        struct buffer written = {0};
        err = (wt_error){0};
        int rc = wt__usage_read_arguments(&object, wt__str(rows[i].text), &err);
        if (rc != rows[i].code || !strstr(err.message, rows[i].sentence) || strstr(err.message, "secret"))
            fail_msg("%s: %d: %s", rows[i].text, rc, err.message);
        if (rc == 0) {
            assert_int_equal(wt__usage_write_arguments(&written, object, &err), 0);
            assert_string_equal(written.ptr, rows[i].written);
            assert_int_equal(wt__usage_check_arguments(wt__buffer_view(&written), &err), 0);
        }
        wt__buffer_dispose(&written);
        json_decref(object);
    }
    /* Arguments at the size limit, over the limit, over the limit only after they are written, and nested too deep. */
    struct buffer text = {0}, written = {0};
    json_t *object;
    wt__buffer_text(&text, "{\"a\":\"");
    while (text.len < WT_MAX_ARGUMENTS_BYTES - 2)
        wt__buffer_char(&text, 'x');
    wt__buffer_text(&text, "\"}");
    assert_int_equal(wt__usage_read_arguments(&object, wt__buffer_view(&text), &err), 0);
    assert_int_equal(wt__usage_write_arguments(&written, object, &err), 0);
    assert_int_equal(written.len, WT_MAX_ARGUMENTS_BYTES);
    json_decref(object);
    wt__buffer_char(&text, ' ');
    assert_int_equal(wt__usage_read_arguments(&object, wt__buffer_view(&text), &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "the arguments have 65537 bytes; at most 65536 are allowed"));
    assert_null(object);
    wt__buffer_clear(&text);
    wt__buffer_text(&text, "{\"a\":[1E9");
    for (int i = 0; i < 10000; i++)
        wt__buffer_text(&text, ",1E9");
    wt__buffer_text(&text, "]}");
    assert_int_equal(wt__usage_read_arguments(&object, wt__buffer_view(&text), &err), 0);
    assert_int_equal(wt__usage_write_arguments(&written, object, &err), WT_ETOOLONG);
    json_decref(object);
    wt__buffer_clear(&text);
    for (int i = 0; i < WT_MAX_JSON_DEPTH + 1; i++)
        wt__buffer_text(&text, "{\"a\":");
    assert_int_equal(wt__usage_read_arguments(&object, wt__buffer_view(&text), &err), WT_EFORMAT);
    assert_non_null(strstr(err.message, "the arguments are nested deeper than 64 levels"));
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments_are_read_on_request),
        cmocka_unit_test(test_newest_request_of_a_tool_is_found),
        cmocka_unit_test(test_newest_calls_of_a_tool_are_found),
        cmocka_unit_test(test_lookup_of_calls_is_bounded),
        cmocka_unit_test(test_calls_are_shared_among_clients),
        cmocka_unit_test(test_damaged_arguments_are_reported),
        cmocka_unit_test(test_a_store_of_version_5_gets_arguments),
        cmocka_unit_test(test_arguments_are_validated),
    };
    return RUN_ON_BACKEND(tests);
}
