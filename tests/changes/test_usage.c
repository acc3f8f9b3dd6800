/* Tests recorded use through the API: recording, reports, export, and learning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "changes/recorded_use.h"
#include "engine/usages.h"

enum { MANY = 100000 };

static int append_export(void *context, const char *bytes, size_t len)
{
    wt__buffer_append(context, bytes, len);
    return 0;
}

/* Exports the usages that the filter selects, and returns the text without times. */
static const char *export_without_times(wt_engine *engine, const wt_usage_filter *filter)
{
    static char text[4000];
    struct buffer lines = {0};
    assert_call_ok(&place, wt_export_usage(engine, filter, append_export, &lines, &place.err));
    size_t len = 0;
    for (const char *at = lines.ptr; at && *at; at++) {
        if (strncmp(at, ",\"time\":\"", 9) == 0)
            at = strchr(at + 9, '"') + 1;
        text[len++] = *at;
    }
    text[len] = '\0';
    wt__buffer_dispose(&lines);
    return text;
}

static wt_usage_report *add_usage_lines(wt_engine *engine, const char *lines)
{
    wt_usage_report *report = NULL;
    assert_call_ok(&place, wt_add_usage(engine, lines, strlen(lines), NULL, &report, &place.err));
    return report;
}

/* ---------------------------------------------------------------- recording */

static void usage_is_recorded_under_any_tool_name(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    assert_int_equal(RECORD(engine, "rain?", "weather/getForecast"), 0);
    assert_int_equal(RECORD(engine, "storm?", "storm_alerts", "weather__storm_alerts", "calculator"), 0);
    assert_int_equal(RECORD(engine, "\xd0\x9f\xd0\xbe\xd0\xb3\xd0\xbe\xd0\xb4\xd0\xb0", "getForecast", "nobody"), 1);
    assert_string_equal(export_without_times(engine, NULL),
                        "{\"request\":\"rain?\",\"tools\":[\"weather/getForecast\"]}\n"
                        "{\"request\":\"storm?\",\"tools\":[\"weather/storm_alerts\",\"calculator\"]}\n"
                        "{\"request\":\"\xd0\x9f\xd0\xbe\xd0\xb3\xd0\xbe\xd0\xb4\xd0\xb0\",\"tools\":"
                        "[\"weather/getForecast\",\"nobody\"]}\n");
    wt_usages *usages;
    assert_call_ok(&place, wt_list_usage(engine, NULL, &usages, &place.err));
    assert_int_equal(usages->len, 3);
    assert_true(usages->items[2]->tools[0]->known && !usages->items[2]->tools[1]->known);
    assert_true(usages->items[0]->time > 1700000000);
    assert_string_equal(usages->items[0]->outcome, "");
    wt_usages_free(usages);
    wt_close(engine);
}

static void invalid_usage_is_reported(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    const char *names[WT_MAX_USAGE_TOOLS + 1];
    char longest[WT_MAX_USAGE_LABEL_BYTES + 2];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < WT_MAX_USAGE_TOOLS + 1; i++)
        names[i] = "calculator";
    char *big = malloc(WT_MAX_REQUEST_BYTES + 1);
    memset(big, 'x', WT_MAX_REQUEST_BYTES + 1);
    char client[WT_MAX_CLIENT_BYTES + 2] = "";
    memset(client, 'c', WT_MAX_CLIENT_BYTES + 1);
    const struct {
        const char *request;
        size_t len;
        const char *tool;
        size_t count;
        const char *outcome;
        int64_t time;
        int code;
        const char *sentence;
    } rows[] = {
        {"", 0, "calculator", 1, NULL, 0, WT_EFORMAT, "the request is empty"},
        {" \n", 2, "calculator", 1, NULL, 0, WT_EFORMAT, "the request is empty"},
        {"a\0b", 3, "calculator", 1, NULL, 0, WT_EFORMAT, "the request has a NUL at byte 1"},
        {"\xff\xfe", 2, "calculator", 1, NULL, 0, WT_EFORMAT, "the request is not valid UTF-8"},
        {big, WT_MAX_REQUEST_BYTES + 1, "calculator", 1, NULL, 0, WT_ETOOLONG, "at most 65536 are allowed"},
        {"add", 3, "calculator", 0, NULL, 0, WT_EINVAL, "a usage has at least one tool"},
        {"add", 3, "calculator", WT_MAX_USAGE_TOOLS + 1, NULL, 0, WT_ETOOLONG, "129 tools in one usage; at most 128"},
        {"add", 3, "nobody", 1, NULL, 0, WT_ENOTFOUND, "no tool is named \"nobody\"; nothing was recorded"},
        {"add", 3, "search", 1, NULL, 0, WT_EINVAL, "several tools are named \"search\""},
        {"add", 3, "", 1, NULL, 0, WT_EINVAL, "the name of tool 1 has 0 bytes; 1 to 1024 are taken"},
        {"add", 3, longest, 1, NULL, 0, WT_ETOOLONG, "the name of tool 1 has 1025 bytes"},
        {"add", 3, "calculator", 1, "fine", 0, WT_EINVAL,
         "the outcome \"fine\" is none of: ok failed success succeeded true failure error false"},
        {"add", 3, "calculator", 1, NULL, -1, WT_EINVAL, "the time -1 is not in the years 1970 to 9999"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_record_options options;
        wt_record_options_init(&options);
        options.outcome = rows[i].outcome;
        options.time = rows[i].time;
        names[0] = rows[i].tool;
        assert_call_refused(
            &place, wt_record_usage(engine, rows[i].request, rows[i].len, names, rows[i].count, &options, &place.err),
            rows[i].code, rows[i].sentence);
    }
    assert_string_equal(export_without_times(engine, NULL), "");
    names[0] = "calculator";
    wt_record_options options;
    wt_record_options_init(&options);
    options.client = client;
    assert_call_refused(&place, wt_record_usage(engine, "add", 3, names, 1, &options, &place.err), WT_ETOOLONG,
                        "the client has 257 bytes; at most 256 are allowed");
    options.client = "\xff";
    assert_call_refused(&place, wt_record_usage(engine, "add", 3, names, 1, &options, &place.err), WT_EFORMAT,
                        "the client is not valid UTF-8");
    client[WT_MAX_CLIENT_BYTES] = '\0';
    options.client = client;
    assert_call_ok(&place,
                   wt_record_usage(engine, big, WT_MAX_REQUEST_BYTES, names, WT_MAX_USAGE_TOOLS, &options, &place.err));
    free(big);
    wt_close(engine);
}

static const char keyed[] =
    "{\"provider\": \"store\", \"name\": \"get\", \"description\": \"Reads a value\", \"parameters\": {\"type\": "
    "\"object\", \"properties\": {\"key\": {\"type\": \"string\"}, \"api_key\": {\"type\": \"string\"}}}}\n";

static void arguments_are_recorded(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    add(&place, engine, keyed);
    static const char *const names[] = {"getForecast", "store/get",   "calculator",
                                        "nobody",      "getForecast", "storm_alerts"};
    static const char *const arguments[] = {NULL,
                                            "{\"key\": \"k\", \"api_key\": \"s\", \"X-Auth-Token\": \"s\"}",
                                            "",
                                            "{\"key\": \"k\", \"page\": 2}",
                                            "{\"city\" : \"Oslo\\u202e\"}",
                                            "{}"};
    wt_record_options options;
    wt_record_options_init(&options);
    options.arguments = arguments;
    assert_int_equal(wt_record_usage(engine, "all", 3, names, 6, &options, &place.err), 1);
    assert_int_equal(wt_record_usage(engine, "none", 4, names, 1, NULL, &place.err), 0);
    wt_usages *usages;
    assert_call_ok(&place, wt_list_usage(engine, NULL, &usages, &place.err));
    static const char *const kept[] = {"{\"city\":\"Oslo\xe2\x80\xae\"}", "{\"key\":\"k\"}", NULL, "{\"page\":2}",
                                       "{}"};
    assert_int_equal(usages->items[0]->tool_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const char *told = usages->items[0]->tools[i]->arguments;
        if (kept[i] ? !told || strcmp(told, kept[i]) != 0 : told != NULL)
            fail_msg("%zu: %s", i, told ? told : "no arguments");
    }
    assert_null(usages->items[1]->tools[0]->arguments);
    wt_usages_free(usages);
    assert_string_equal(export_without_times(engine, NULL),
                        "{\"request\":\"all\",\"tools\":[{\"tool\":\"weather/getForecast\",\"arguments\":"
                        "{\"city\":\"Oslo\\u202e\"}},{\"tool\":\"store/get\",\"arguments\":{\"key\":\"k\"}},"
                        "\"calculator\",{\"tool\":\"nobody\",\"arguments\":{\"page\":2}},"
                        "{\"tool\":\"weather/storm_alerts\",\"arguments\":{}}]}\n"
                        "{\"request\":\"none\",\"tools\":[\"weather/getForecast\"]}\n");

    /* error messages do not quote invalid arguments */
    char *big = calloc(1, WT_MAX_ARGUMENTS_BYTES + 2);
    memset(big, ' ', WT_MAX_ARGUMENTS_BYTES + 1);
    const struct {
        const char *arguments;
        int code;
        const char *sentence;
    } rows[] = {
        {"{\"secret\": word}", WT_EFORMAT, "tool 2 (\"calculator\"): the arguments are not valid JSON at byte"},
        {"[\"secret\"]", WT_EFORMAT,
         "the arguments are not an object; give a JSON object, such as {\"city\": \"Oslo\"}"},
        {"{\"secret\": \"\xff\"}", WT_EFORMAT, "not valid JSON at byte"},
        {big, WT_ETOOLONG, "the arguments have 65537 bytes; at most 65536 are allowed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const two[] = {NULL, rows[i].arguments};
        options.arguments = two;
        assert_call_refused(
            &place,
            wt_record_usage(engine, "x", 1, (const char *[]){"getForecast", "calculator"}, 2, &options, &place.err),
            rows[i].code, rows[i].sentence);
        assert_null(strstr(place.err.message, "secret"));
    }
    free(big);
    wt_usage_info info;
    wt_usage_info_init(&info);
    assert_call_ok(&place, wt_get_usage_info(engine, &info, &place.err));
    assert_int_equal(info.usages, 2);
    wt_close(engine);
}

/* ---------------------------------------------------------------- importing */

static const char lines[] =
    "{\"request\": \"rain?\", \"tools\": [\"weather/getForecast\"], \"outcome\": \"ok\", \"time\": 1000}\n"
    "\n"
    "{\"request\": \"fly\", \"tools\": [\"search_flights\", \"gone/tool\", \"search_flights\"], \"time\": "
    "\"1970-01-01T00:33:20Z\"}\n"
    "{\"request\": \"sum\", \"tools\": [\"calculator\"], \"outcome\": \"failed\", \"note\": 1, \"time\": 3000.9, "
    "\"client\": \"c\\\"7\"}\r\n"
    "{\"request\": \"rain?\", \"tools\": [\"weather/getForecast\"], \"outcome\": null, \"time\": null}";

static void json_lines_round_trip(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    wt_usage_report *report = add_usage_lines(engine, lines);
    assert_int_equal(report->added, 4);
    assert_int_equal(report->skipped, 0);
    assert_int_equal(report->unknown_tools, 1);
    assert_int_equal(report->issue_count, 1);
    assert_string_equal(report->issues[0]->file, "input");
    assert_int_equal(report->issues[0]->line, 3);
    assert_string_equal(report->issues[0]->pointer, "/tools/1");
    assert_string_equal(report->issues[0]->reason, "no tool is named \"gone/tool\"");
    assert_non_null(strstr(report->notice, "nothing was learned yet: this store was opened without a model"));
    wt_usage_report_free(report);

    struct buffer once = {0}, twice = {0};
    assert_int_equal(wt_export_usage(engine, NULL, append_export, &once, &place.err), 4);
    assert_non_null(strstr(once.ptr, "{\"request\":\"rain?\",\"tools\":[\"weather/getForecast\"],\"outcome\":\"ok\","
                                     "\"time\":\"1970-01-01T00:16:40Z\"}\n"));
    assert_non_null(strstr(once.ptr, "\"time\":\"1970-01-01T00:33:20Z\""));
    assert_non_null(
        strstr(once.ptr, "\"outcome\":\"failed\",\"time\":\"1970-01-01T00:50:00Z\",\"client\":\"c\\\"7\"}\n"));
    wt_close(engine);
    engine = open_handmade("");
    report = add_usage_lines(engine, once.ptr);
    assert_int_equal(report->added, 4);
    wt_usage_report_free(report);
    assert_int_equal(wt_export_usage(engine, NULL, append_export, &twice, &place.err), 4);
    assert_string_equal(once.ptr, twice.ptr);
    wt__buffer_dispose(&once);
    wt__buffer_dispose(&twice);
    wt_close(engine);
}

/* Logs of different agents use different words for the outcome of a call. */
static void every_outcome_word_is_known(void **state)
{
    (void)state;
    size_t words = 0;
    for (const char *at = USAGE_OUTCOME_WORDS; *at; words++) {
        size_t len = strcspn(at, " ");
        enum usage_outcome outcome = USAGE_UNKNOWN;
        assert_true(wt__usage_outcome_read((struct str){at, len}, &outcome));
        assert_int_not_equal(outcome, USAGE_UNKNOWN);
        at += len + (at[len] == ' ');
    }
    assert_int_equal(words, 8);
}

static void outcomes_of_logs_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *json, *outcome;
    } rows[] = {{"\"ok\"", "ok"},
                {"\"success\"", "ok"},
                {"\"succeeded\"", "ok"},
                {"\"true\"", "ok"},
                {"true", "ok"},
                {"\"failed\"", "failed"},
                {"\"failure\"", "failed"},
                {"\"error\"", "failed"},
                {"\"false\"", "failed"},
                {"false", "failed"},
                {"\"\"", ""},
                {"null", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[120];
        wt_usages *usages;
        wt_engine *engine = open_handmade("");
        snprintf(line, sizeof line, "{\"request\": \"x\", \"tools\": [\"calculator\"], \"outcome\": %s}", rows[i].json);
        wt_usage_report_free(add_usage_lines(engine, line));
        assert_call_ok(&place, wt_list_usage(engine, NULL, &usages, &place.err));
        if (usages->len != 1 || strcmp(usages->items[0]->outcome, rows[i].outcome) != 0)
            fail_msg("%s: %zu usages", rows[i].json, usages->len);
        wt_usages_free(usages);
        wt_close(engine);
    }
}

static void bad_lines_are_skipped(void **state)
{
    (void)state;
    static const struct {
        const char *line, *pointer, *reason;
    } rows[] = {
        {"{\"request\": \"x\", \"tools\": [\"calculator\"]", "", "not valid JSON"},
        {"[1]", "", "not an object: a usage is {\"request\""},
        {"{\"tools\": [\"calculator\"]}", "/request", "the usage has no \"request\""},
        {"{\"request\": 5, \"tools\": [\"calculator\"]}", "/request", "\"request\" is not a string"},
        {"{\"request\": \"\", \"tools\": [\"calculator\"]}", "/request", "the request is empty"},
        {"{\"request\": \"a\\u0000b\", \"tools\": [\"calculator\"]}", "", "not valid JSON"},
        {"{\"request\": \"\xff\", \"tools\": [\"calculator\"]}", "", "not valid JSON"},
        {"{\"request\": \"x\"}", "/tools", "the usage has no \"tools\""},
        {"{\"request\": \"x\", \"tools\": \"calculator\"}", "/tools", "\"tools\" is not an array"},
        {"{\"request\": \"x\", \"tools\": []}", "/tools", "\"tools\" is empty"},
        {"{\"request\": \"x\", \"tools\": [\"calculator\", 3]}", "/tools/1",
         "neither the name of a tool nor {\"tool\": NAME"},
        {"{\"request\": \"x\", \"tools\": [{\"name\": \"calculator\"}]}", "/tools/0/tool",
         "neither the name of a tool"},
        {"{\"request\": \"x\", \"tools\": [{\"tool\": 3, \"arguments\": {}}]}", "/tools/0/tool",
         "neither the name of a"},
        {"{\"request\": \"x\", \"tools\": [{\"tool\": \"nobody\", \"arguments\": {}}]}", "/tools/0",
         "no tool is named \"nobody\""},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"], \"outcome\": \"good\"}", "/outcome",
         "the outcome is not one of: ok failed success succeeded true failure error false"},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"], \"outcome\": 1}", "/outcome",
         "the outcome is not one of: ok"},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"], \"client\": 7}", "/client", "\"client\" is not a string"},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"], \"time\": -5}", "/time", "the time is neither"},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"], \"time\": 1e300}", "/time", "the time is neither"},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"], \"time\": \"noon\"}", "/time", "the time is neither"},
        {"{\"request\": \"x\", \"tools\": [\"nobody\"]}", "/tools/0", "no tool is named \"nobody\""},
        {"{\"request\": \"x\", \"tools\": [\"search\"]}", "/tools/0", "several tools are named \"search\""},
        {"{\"request\": \"x\", \"request\": \"y\", \"tools\": [\"search\"]}", "",
         "not valid JSON: duplicate object key"},
    };
    wt_engine *engine = open_handmade("");
    struct buffer source = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char both[400];
        snprintf(both, sizeof both, "%s\n{\"request\": \"good\", \"tools\": [\"calculator\"]}\n", rows[i].line);
        wt_usage_report *report = add_usage_lines(engine, both);
        if (report->added != 1 || report->skipped != 1 || report->issue_count != 1 || report->issues[0]->line != 1 ||
            strcmp(report->issues[0]->pointer, rows[i].pointer) != 0 ||
            !strstr(report->issues[0]->reason, rows[i].reason))
            fail_msg("%s: %zu added, %zu skipped: %s: %s", rows[i].line, report->added, report->skipped,
                     report->issue_count ? report->issues[0]->pointer : "",
                     report->issue_count ? report->issues[0]->reason : "");
        wt_usage_report_free(report);

        wt_add_usage_options strict;
        wt_add_usage_options_init(&strict);
        strict.strict = 1;
        strict.source_name = "log.jsonl";
        assert_call_refused(&place, wt_add_usage(engine, both, strlen(both), &strict, &report, &place.err), WT_EFORMAT,
                            rows[i].reason);
        assert_null(report);
        assert_non_null(strstr(place.err.message, "log.jsonl:1: "));
    }
    wt_usage_report *report;
    assert_call_refused(&place, wt_add_usage(engine, "", 0, NULL, &report, &place.err), WT_EFORMAT, "input is empty");
    wt__buffer_dispose(&source);
    wt_close(engine);
}

/* A name of the maximum length is looked up. A longer name is reported with its length. */
static void tool_names_have_a_maximum_length(void **state)
{
    static const struct {
        size_t bytes;
        const char *reason;
    } rows[] = {{WT_MAX_USAGE_LABEL_BYTES, "no tool is named"}, {WT_MAX_USAGE_LABEL_BYTES + 1, "the name has "}};
    (void)state;
    wt_engine *engine = open_handmade("");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer line = {0};
        wt__buffer_text(&line, "{\"request\": \"x\", \"tools\": [\"");
        for (size_t n = 0; n < rows[i].bytes; n++)
            wt__buffer_char(&line, 'n');
        wt__buffer_text(&line, "\"]}\n");
        wt_usage_report *report = add_usage_lines(engine, line.ptr);
        assert_int_equal(report->issue_count, 1);
        if (strncmp(report->issues[0]->reason, rows[i].reason, strlen(rows[i].reason)) != 0)
            fail_msg("%zu bytes: %s", rows[i].bytes, report->issues[0]->reason);
        wt_usage_report_free(report);
        wt__buffer_dispose(&line);
    }
    wt_close(engine);
}

static void bad_arguments_are_dropped(void **state)
{
    (void)state;
    struct buffer big = {0};
    wt__buffer_text(&big, "{\"secretive\": \"");
    while (big.len < WT_MAX_ARGUMENTS_BYTES)
        wt__buffer_char(&big, 'x');
    wt__buffer_text(&big, "\"}");
    const struct {
        const char *arguments, *reason; /* reason: NULL if the arguments are accepted */
    } rows[] = {
        {"\"{\\\"secret\\\": 1}\"", "the arguments are not an object; the usage is imported without them"},
        {"[\"secret\"]", "the arguments are not an object"},
        {"7", "the arguments are not an object"},
        {"null", NULL},
        {big.ptr, "the arguments have 65537 bytes; at most 65536 are allowed; the usage is taken without them"},
    };
    wt_engine *engine = open_handmade("");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer line = {0};
        wt_usage_report *report;
        wt__buffer_printf(&line, "{\"request\": \"x\", \"tools\": [\"getForecast\", {\"tool\": \"calculator\", "
                                 "\"arguments\": ");
        wt__buffer_text(&line, rows[i].arguments);
        wt__buffer_text(&line, "}]}");
        assert_call_ok(&place, wt_forget_usage(engine, NULL, 1, &place.err));
        report = add_usage_lines(engine, line.ptr);
        if (report->added != 1 || report->skipped != 0 || report->issue_count != (rows[i].reason != NULL))
            fail_msg("%zu: %zu added, %zu issues", i, report->added, report->issue_count);
        if (rows[i].reason) {
            assert_string_equal(report->issues[0]->pointer, "/tools/1/arguments");
            assert_non_null(strstr(report->issues[0]->reason, rows[i].reason));
            assert_null(strstr(report->issues[0]->reason, "secret"));
        }
        wt_usage_report_free(report);
        const char *left = "{\"request\":\"x\",\"tools\":[\"weather/getForecast\",\"calculator\"]}\n";
        assert_string_equal(export_without_times(engine, NULL), left);
        if (rows[i].reason) {
            wt_add_usage_options strict;
            wt_add_usage_options_init(&strict);
            strict.strict = 1;
            assert_call_refused(&place, wt_add_usage(engine, line.ptr, line.len, &strict, &report, &place.err),
                                WT_EFORMAT, rows[i].reason);
            assert_non_null(strstr(place.err.message, "input:1: /tools/1/arguments: "));
            assert_null(strstr(place.err.message, "secret"));
            assert_string_equal(export_without_times(engine, NULL), left);
        }
        wt__buffer_dispose(&line);
    }
    wt__buffer_dispose(&big);
    wt_close(engine);
}

static void arguments_round_trip(void **state)
{
    (void)state;
    static const char log[] =
        "{\"request\": \"rain?\", \"tools\": [{\"tool\": \"weather/getForecast\", \"arguments\": {\"city\": "
        "\"\xd0\x9e\", "
        "\"lat\": -97.8, \"api_key\": \"s\"}, \"id\": 1}, \"calculator\"], \"time\": 1000}\n"
        "{\"request\": \"get\", \"tools\": [{\"tool\": \"store/get\", \"arguments\": {\"key\": \"k\", \"api_key\": "
        "\"s\"}},"
        " {\"tool\": \"gone\", \"arguments\": {\"n\": 1}}, {\"tool\": \"calculator\"}], \"time\": 2000}\n";
    static const char kept[] =
        "{\"request\":\"rain?\",\"tools\":[{\"tool\":\"weather/getForecast\",\"arguments\":{\"city\":\"\xd0\x9e\","
        "\"lat\":-97.8}},\"calculator\"]}\n"
        "{\"request\":\"get\",\"tools\":[{\"tool\":\"store/get\",\"arguments\":{\"key\":\"k\"}},{\"tool\":\"gone\","
        "\"arguments\":{\"n\":1}},\"calculator\"]}\n";
    wt_engine *engine = open_handmade("");
    add(&place, engine, keyed);
    wt_usage_report *report = add_usage_lines(engine, log);
    assert_int_equal(report->added, 2);
    assert_int_equal(report->unknown_tools, 1);
    assert_int_equal(report->issue_count, 1); /* about the unknown name */
    wt_usage_report_free(report);
    assert_string_equal(export_without_times(engine, NULL), kept);
    wt_usage_report_free(add_usage_lines(engine, kept));
    struct buffer twice = {0};
    wt__buffer_printf(&twice, "%s%s", kept, kept);
    assert_string_equal(export_without_times(engine, NULL), twice.ptr);
    wt__buffer_dispose(&twice);
    wt_close(engine);
}

/* The JSON parser quotes the word at an error. The report does not contain this word. */
static void bad_line_is_not_quoted(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    wt_usage_report *report = add_usage_lines(engine, "{\"request\": \"x\", \"tools\": [{\"tool\": \"calculator\", "
                                                      "\"arguments\": {\"a\": \"secret\" \"secret\"}}]}");
    assert_int_equal(report->skipped, 1);
    assert_string_equal(report->issues[0]->pointer, "");
    assert_non_null(strstr(report->issues[0]->reason, "not valid JSON: '}' expected"));
    assert_null(strstr(report->issues[0]->reason, "secret"));
    wt_usage_report_free(report);
    wt_close(engine);
}

static const char corpus[] =
    "{\"_id\": \"7\", \"title\": \"seven\", \"text\": \"does seven\", \"metadata\": {\"provider\": \"n\"}}\n"
    "{\"_id\": \"8\", \"title\": \"eight\", \"text\": \"does eight\", \"metadata\": {\"provider\": \"n\"}}\n";

static void beir_folder_is_imported(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    wt_usage_report *report;
    char path[120];
    snprintf(path, sizeof path, "%s/beir", place.folder);
    put_text(place.folder, "beir/corpus.jsonl", corpus);
    put_text(place.folder, "beir/queries.jsonl",
             "{\"_id\": \"q1\", \"text\": \"one\"}\n{\"_id\": \"q2\", \"text\": \"two\"}\n"
             "{\"_id\": \"q3\", \"text\": \"\xe3\x80\x80\"}\n{\"_id\": \"other\", \"text\": \"of another split\"}\n"
             "{\"_id\": \"q4\", \"text\": \"four\"}\n");
    put_text(place.folder, "beir/qrels/train.tsv",
             "query-id\tcorpus-id\tscore\nq2\t8\t1\nq1\t8\t1\nq1\t7\t2\nq1\t9\t0\nq3\t7\t1\nq4\t99\t1\n"
             "q2\t99\t1\nmissing\t7\t1\n");
    put_text(place.folder, "beir/qrels/none.tsv", "query-id\tcorpus-id\tscore\nq2\t8\t0\n");
    put_text(place.folder, "beir/qrels/bad.tsv", "query-id\tcorpus-id\tscore\nq2\t8\t1\nbad line\n");
    wt_add_report *added;
    assert_call_ok(&place, wt_add_path(engine, path, NULL, &added, &place.err));
    wt_add_report_free(added);
    assert_call_ok(&place, wt_add_usage_path(engine, path, NULL, &report, &place.err));
    assert_int_equal(report->added, 2);
    assert_int_equal(report->skipped, 3);
    assert_int_equal(report->unknown_tools, 1);
    static const char *const issues[] = {"query \"q2\": no tool is named \"99\"", "query \"q3\": the request is empty",
                                         "query \"q4\": no tool is named \"99\"", "1 queries are not in queries.jsonl"};
    assert_int_equal(report->issue_count, sizeof issues / sizeof *issues);
    for (size_t i = 0; i < report->issue_count; i++)
        if (!strstr(report->issues[i]->file, "beir/qrels/train.tsv") ||
            strcmp(report->issues[i]->reason, issues[i]) != 0)
            fail_msg("%s: %s", report->issues[i]->file, report->issues[i]->reason);
    wt_usage_report_free(report);
    assert_string_equal(export_without_times(engine, NULL),
                        "{\"request\":\"one\",\"tools\":[\"n/eight\",\"n/seven\"]}\n"
                        "{\"request\":\"two\",\"tools\":[\"n/eight\",\"99\"]}\n");

    wt_add_usage_options options;
    wt_add_usage_options_init(&options);
    static const struct {
        const char *split;
        int code;
        const char *sentence;
    } refusals[] = {{"none", WT_EFORMAT, "none.tsv has no relevant tool for any query of"},
                    {"bad", WT_EFORMAT, "bad.tsv:3: a judgement must be a query id"},
                    {"absent", WT_ENOTFOUND, "absent.tsv"},
                    {"../train", WT_EINVAL, "the split \"../train\" is not a plain name"}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        options.split = refusals[i].split;
        assert_call_refused(&place, wt_add_usage_path(engine, path, &options, &report, &place.err), refusals[i].code,
                            refusals[i].sentence);
        assert_null(report);
    }
    assert_call_refused(&place, wt_add_usage_path(engine, "/nowhere/log.jsonl", NULL, &report, &place.err),
                        WT_ENOTFOUND, "/nowhere/log.jsonl");
    wt_close(engine);
}

/* ---------------------------------------------------------------- listing, forgetting */

static void filters_select_usages(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    wt_usage_report_free(add_usage_lines(engine, lines));
    static const struct {
        wt_usage_filter filter;
        int64_t count;
    } rows[] = {
        {{.tool = NULL}, 4},
        {{.tool = "getForecast"}, 2},
        {{.tool = "gone/tool"}, 1},
        {{.before = 2500}, 2},
        {{.tool = "getForecast", .before = 2500}, 1},
        {{.limit = 3}, 3},
        {{.client = "c\"7"}, 1},
        {{.client = "c"}, 0},
        {{.after_id = 3}, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer text = {0};
        wt_usage_filter filter = rows[i].filter;
        filter.size = sizeof filter;
        assert_int_equal(wt_export_usage(engine, &filter, append_export, &text, &place.err), rows[i].count);
        wt__buffer_dispose(&text);
    }
    wt_usages *usages;
    wt_usage_filter filter;
    wt_usage_filter_init(&filter);
    filter.tool = "nobody";
    assert_call_refused(&place, wt_list_usage(engine, &filter, &usages, &place.err), WT_ENOTFOUND,
                        "neither a tool nor a usage has the name \"nobody\"");
    filter.tool = "search";
    assert_call_refused(&place, wt_list_usage(engine, &filter, &usages, &place.err), WT_EINVAL,
                        "several tools are named");
    wt_usage_filter_init(&filter);
    assert_call_refused(&place, wt_forget_usage(engine, &filter, 0, &place.err), WT_EINVAL,
                        "say which usages to forget");
    filter.tool = "gone/tool";
    assert_int_equal(wt_forget_usage(engine, &filter, 0, &place.err), 1);
    filter = (wt_usage_filter){.size = sizeof filter, .before = 2500};
    assert_int_equal(wt_forget_usage(engine, &filter, 0, &place.err), 1);
    assert_int_equal(wt_forget_usage(engine, NULL, 1, &place.err), 2);
    assert_int_equal(wt_forget_usage(engine, NULL, 1, &place.err), 0);
    wt_close(engine);
}

static int refuse_export(void *context, const char *bytes, size_t len)
{
    (void)context, (void)bytes, (void)len;
    return 1;
}

static void export_ends_if_its_callback_refuses(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    assert_int_equal(wt_export_usage(engine, NULL, refuse_export, NULL, &place.err), 0);
    wt_usage_report_free(add_usage_lines(engine, lines));
    assert_int_equal(wt_export_usage(engine, NULL, refuse_export, NULL, &place.err), WT_ECANCELLED);
    wt_close(engine);
}

/* ---------------------------------------------------------------- learning */

static int64_t find_tool_id(wt_engine *engine, const char *name)
{
    int64_t id = 0;
    assert_call_ok(&place, wt__tool_resolve(engine->store, name, &id, &place.err));
    return id;
}

/* Writes the mean of the vectors of a tool's requests, scaled to length 1. Returns false if the tool has no usages with
 * vectors. */
static bool read_tool_vector(wt_engine *engine, const char *name, float *out)
{
    const struct encoder *encoder;
    uint32_t uses;
    double square = 0;
    assert_call_ok(&place, wt__engine_encoder(engine, &encoder, &place.err));
    struct vector_set set = wt__engine_usage_vectors(encoder, engine);
    int64_t id = find_tool_id(engine, name);
    assert_string_equal(set.kind, "usage_1");
    assert_call_ok(&place, wt__store_get_usage_sums(engine->store, &set, &id, 1, out, &uses, &place.err));
    for (int d = 0; d < SMALL_HIDDEN; d++)
        square += (double)out[d] * out[d];
    for (int d = 0; d < SMALL_HIDDEN && uses; d++)
        out[d] = (float)(out[d] / sqrt(square));
    return uses > 0;
}

static uint64_t count_pending(wt_engine *engine)
{
    wt_usage_info info;
    wt_usage_info_init(&info);
    assert_call_ok(&place, wt_get_usage_info(engine, &info, &place.err));
    return info.pending;
}

/* Writes the mean of the requests' vectors, scaled to length 1. */
static void compute_mean(wt_engine *engine, const char *const *requests, size_t count, float *out)
{
    float one[SMALL_HIDDEN], sum[SMALL_HIDDEN] = {0};
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(requests[i]);
        assert_call_ok(&place, wt_embed(engine, &requests[i], &len, 1, one, &place.err));
        for (int d = 0; d < SMALL_HIDDEN; d++)
            sum[d] += one[d];
    }
    for (int d = 0; d < SMALL_HIDDEN; d++)
        square += (double)sum[d] * sum[d];
    for (int d = 0; d < SMALL_HIDDEN; d++)
        out[d] = (float)(sum[d] / sqrt(square));
}

static void check_mean(wt_engine *engine, const char *name, const char *const *requests, size_t count)
{
    float want[SMALL_HIDDEN], have[SMALL_HIDDEN];
    compute_mean(engine, requests, count, want);
    assert_true(read_tool_vector(engine, name, have));
    for (int d = 0; d < SMALL_HIDDEN; d++)
        if (fabsf(want[d] - have[d]) > 1e-6f)
            fail_msg("%s: component %d is %g, not %g", name, d, have[d], want[d]);
}

static void tool_vector_is_mean_of_requests(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade(NULL);
    float vector[SMALL_HIDDEN];
    wt_record_options failed;
    const char *calculator[] = {"calculator"};
    assert_false(read_tool_vector(engine, "calculator", vector));
    RECORD(engine, "find the table", "calculator");
    RECORD(engine, "book two tables", "calculator", "bookHotel");
    RECORD(engine, "find the table", "calculator", "not there");
    wt_record_options_init(&failed);
    failed.outcome = "failed";
    assert_call_ok(&place, wt_record_usage(engine, "a b c d", 7, calculator, 1, &failed, &place.err));
    assert_int_equal(count_pending(engine), 0);
    check_mean(engine, "calculator", (const char *[]){"find the table", "book two tables", "find the table"}, 3);
    check_mean(engine, "bookHotel", (const char *[]){"book two tables"}, 1);
    assert_false(read_tool_vector(engine, "storm_alerts", vector));

    /* repetitions of one client count once */
    wt_record_options client;
    wt_record_options_init(&client);
    client.client = "c17";
    const char *storm[] = {"storm_alerts"};
    for (int i = 0; i < 3; i++)
        assert_call_ok(
            &place, wt_record_usage(engine, i ? "book a table" : "find it", i ? 12 : 7, storm, 1, &client, &place.err));
    check_mean(engine, "storm_alerts", (const char *[]){"find it", "book a table"}, 2);

    /* forgetting removes the usage from the sum */
    wt_usage_filter filter = {.size = sizeof filter, .tool = "bookHotel"};
    assert_int_equal(wt_forget_usage(engine, &filter, 0, &place.err), 1);
    assert_int_equal(count_pending(engine), 2);
    assert_false(read_tool_vector(engine, "calculator", vector));
    assert_int_equal(wt_learn_usage(engine, NULL, NULL, &place.err), 1);
    assert_int_equal(count_pending(engine), 0);
    check_mean(engine, "calculator", (const char *[]){"find the table"}, 1);
    assert_false(read_tool_vector(engine, "bookHotel", vector));
    assert_int_equal(wt_learn_usage(engine, NULL, NULL, &place.err), 0);
    wt_close(engine);
}

static void later_tool_learns_older_usages(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade(NULL);
    RECORD(engine, "find the table", "calculator", "later/tool");
    add(&place, engine, "{\"provider\": \"later\", \"name\": \"tool\", \"description\": \"comes late\"}\n");
    assert_call_ok(&place, wt_learn_usage(engine, NULL, NULL, &place.err));
    check_mean(engine, "later/tool", (const char *[]){"find the table"}, 1);
    assert_call_ok(&place, wt_remove(engine, "calculator", &place.err));
    add(&place, engine, handmade);
    assert_call_ok(&place, wt_learn_usage(engine, NULL, NULL, &place.err));
    check_mean(engine, "calculator", (const char *[]){"find the table"}, 1);
    wt_close(engine);
}

struct learning_stop {
    int after; /* number of encoding steps before the stop */
};

static int stop_encoding(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct learning_stop *stop = context;
    (void)done, (void)total;
    return strcmp(phase, "encoding") == 0 && stop->after-- <= 0;
}

static void stop_while_learning_keeps_usages(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade(NULL);
    wt_usage_report *report;
    wt_add_usage_options options;
    struct learning_stop stop = {0};
    wt_add_usage_options_init(&options);
    options.progress = stop_encoding;
    options.progress_context = &stop;
    assert_int_equal(wt_add_usage(engine, lines, strlen(lines), &options, &report, &place.err), WT_ECANCELLED);
    assert_non_null(report);
    assert_int_equal(report->added, 4);
    assert_int_equal(report->learned, 0);
    wt_usage_report_free(report);
    assert_int_equal(count_pending(engine), 3);
    assert_int_equal(wt_learn_usage(engine, NULL, NULL, &place.err), 2); /* equal requests are encoded once */
    assert_int_equal(count_pending(engine), 0);
    wt_close(engine);
}

static void learning_waits_without_vectors(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade(NULL);
    wt_record_options options;
    const char *names[] = {"calculator"};
    wt_record_options_init(&options);
    options.no_vectors = 1;
    assert_call_ok(&place, wt_record_usage(engine, "find the table", 14, names, 1, &options, &place.err));
    assert_int_equal(count_pending(engine), 1);
    assert_int_equal(wt_learn_usage(engine, NULL, NULL, &place.err), 1);
    wt_close(engine);
    engine = open_test_engine(&place, "");
    assert_call_refused(&place, wt_learn_usage(engine, NULL, NULL, &place.err), WT_EMODEL, "opened without a model");
    wt_close(engine);
}

static void *record_in_thread(void *context)
{
    const char *names[] = {"calculator"};
    intptr_t failures = 0;
    for (int i = 0; i < 8; i++)
        failures += wt_record_usage(context, "find the table", 14, names, 1, NULL, NULL) != 0;
    return (void *)failures;
}

static void parallel_recording_keeps_all(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade(NULL);
    pthread_t threads[4];
    const struct encoder *encoder;
    float sum[SMALL_HIDDEN];
    uint32_t uses;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_in_thread, engine), 0);
    for (int i = 0; i < 4; i++) {
        void *failures = NULL;
        pthread_join(threads[i], &failures);
        assert_null(failures);
    }
    assert_call_ok(&place, wt__engine_encoder(engine, &encoder, &place.err));
    struct vector_set set = wt__engine_usage_vectors(encoder, engine);
    int64_t id = find_tool_id(engine, "calculator");
    assert_int_equal(count_pending(engine), 0);
    assert_call_ok(&place, wt__store_get_usage_sums(engine->store, &set, &id, 1, sum, &uses, &place.err));
    assert_int_equal(uses, 32);
    wt_close(engine);
}

/* ---------------------------------------------------------------- keys */

static int record_key(wt_engine *engine, const char *client, const char *key)
{
    const char *tool = "calculator";
    wt_record_options options;
    wt_record_options_init(&options);
    options.client = client;
    options.key = key;
    place.err = (wt_error){0};
    return wt_record_usage(engine, "add", 3, &tool, 1, &options, &place.err);
}

static void usage_key_is_unique_and_names_usage(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    char long_key[WT_MAX_USAGE_KEY_BYTES + 2] = "";
    memset(long_key, 'k', WT_MAX_USAGE_KEY_BYTES + 1);
    assert_int_equal(record_key(engine, "c", "k"), 0);
    assert_int_equal(record_key(engine, "c", "k"), 0);
    assert_int_equal(record_key(engine, "d", "k"), 0);
    assert_call_refused(&place, record_key(engine, "c", long_key), WT_ETOOLONG,
                        "the key has 129 bytes; at most 128 are allowed");
    assert_call_refused(&place, record_key(engine, "c", "\xff"), WT_EFORMAT, "the key is not valid UTF-8");
    const struct {
        const char *key, *client, *outcome;
        int code;
        const char *sentence;
    } rows[] = {
        {"k", "c", "failed", 0, NULL},
        {"k", "c", "failed", 0, NULL},
        {"k", "d", "success", 0, NULL},
        {"k", NULL, "ok", WT_ENOTFOUND, "no usage of that client has the key \"k\""},
        {"l", "c", "ok", WT_ENOTFOUND, "has the key \"l\""},
        {"", "c", "ok", WT_EINVAL, "give the key"},
        {"k", "c", "perhaps", WT_EINVAL, "the outcome \"perhaps\" is none of: ok"},
        {long_key, "c", "ok", WT_ETOOLONG, "the key has 129 bytes"},
        {"k", "\xff", "ok", WT_EFORMAT, "the client is not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place.err = (wt_error){0};
        int rc = wt_set_usage_outcome(engine, rows[i].key, rows[i].client, rows[i].outcome, &place.err);
        if (rows[i].code)
            assert_call_refused(&place, rc, rows[i].code, rows[i].sentence);
        else
            assert_call_ok(&place, rc);
    }
    assert_string_equal(
        export_without_times(engine, NULL),
        "{\"request\":\"add\",\"tools\":[\"calculator\"],\"outcome\":\"failed\",\"client\":\"c\",\"key\":\"k\"}\n"
        "{\"request\":\"add\",\"tools\":[\"calculator\"],\"outcome\":\"ok\",\"client\":\"d\",\"key\":\"k\"}\n");
    wt_close(engine);
}

static void json_lines_with_a_known_key_are_not_added(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    wt_usage_report *report = add_usage_lines(engine, "{\"request\":\"add\",\"tools\":[\"calculator\"],\"key\":\"k\"}\n"
                                                      "{\"request\":\"sum\",\"tools\":[\"calculator\"],\"key\":\"k\"}\n"
                                                      "{\"key\":\"k\",\"outcome\":\"failed\"}\n"
                                                      "{\"key\":\"l\",\"outcome\":\"failed\"}\n"
                                                      "{\"key\":\"k\"}\n"
                                                      "{\"request\":\"sum\",\"tools\":[\"calculator\"],\"key\":5}\n");
    assert_int_equal(report->added, 1);
    assert_int_equal(report->repeated, 1);
    assert_int_equal(report->outcomes, 1);
    assert_int_equal(report->missing, 1);
    assert_int_equal(report->skipped, 2);
    assert_string_equal(report->issues[0]->reason, "the usage has no \"request\"");
    assert_string_equal(report->issues[1]->reason, "\"key\" is not a string");
    wt_usage_report_free(report);
    assert_string_equal(export_without_times(engine, NULL),
                        "{\"request\":\"add\",\"tools\":[\"calculator\"],\"outcome\":\"failed\",\"key\":\"k\"}\n");
    wt_close(engine);
}

static void log_added_twice_is_reported(void **state)
{
    (void)state;
    static const struct {
        const char *log, *notice; /* NULL for no notice */
    } rows[] = {
        {"{\"request\": \"x\", \"tools\": [\"calculator\"]}\n{\"request\": \"y\", \"tools\": [\"calculator\"]}", NULL},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"]}\n{\"request\": \"y\", \"tools\": [\"calculator\"]}",
         "2 of these repeat the request, client and tools of an earlier usage, and are recorded again; give each "
         "a \"key\" to prevent this; nothing was learned yet"},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"]}\n{\"request\": \"z\", \"tools\": [\"calculator\"]}", NULL},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"], \"client\": \"c\"}", NULL},
        {"{\"request\": \"x\", \"tools\": [\"calculator\"], \"key\": \"k\"}", NULL},
    };
    wt_engine *engine = open_handmade("");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_usage_report *report = add_usage_lines(engine, rows[i].log);
        if (rows[i].notice)
            assert_memory_equal(report->notice, rows[i].notice, strlen(rows[i].notice));
        else if (strstr(report->notice, "recorded"))
            fail_msg("%zu: %s", i, report->notice);
        wt_usage_report_free(report);
    }
    wt_close(engine);
}

static void read_only_store_refuses_usages(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    wt_usage_report_free(add_usage_lines(engine, lines));
    wt_close(engine);
    wt_open_options options;
    wt_open_options_init(&options);
    options.read_only = 1;
    options.model = place.model;
    assert_call_ok(&place, wt_open(&engine, place.store, &options, &place.err));
    assert_call_refused(&place, RECORD(engine, "x", "calculator"), WT_EREADONLY, "reading only");
    assert_call_refused(&place, wt_forget_usage(engine, NULL, 1, &place.err), WT_EREADONLY, "reading only");
    assert_call_refused(&place, wt_learn_usage(engine, NULL, NULL, &place.err), WT_EREADONLY, "nothing can be learned");
    assert_true(strlen(export_without_times(engine, NULL)) > 0);
    wt_close(engine);
}

static void hundred_thousand_usages_are_imported_and_exported(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade("");
    struct buffer source = {0};
    static const char *const names[] = {"calculator", "weather/getForecast", "travel/bookHotel", "storm_alerts"};
    for (int i = 0; i < MANY; i++)
        wt__buffer_printf(&source,
                          "{\"request\": \"please do the thing number %d\", \"tools\": [\"%s\", \"%s\"], \"time\": "
                          "%d}\n",
                          i, names[i % 4], names[(i + 1) % 4], i);
    wt_usage_report *report = add_usage_lines(engine, source.ptr);
    assert_int_equal(report->added, MANY);
    wt_usage_report_free(report);
    wt__buffer_clear(&source);
    assert_int_equal(wt_export_usage(engine, NULL, append_export, &source, &place.err), MANY);
    wt__buffer_dispose(&source);
    wt_close(engine);
}

static void times_are_read(void **state)
{
    (void)state;
    int64_t seconds;
    assert_int_equal(wt_read_time("1970-01-02", &seconds, &place.err), 0);
    assert_int_equal(seconds, 86400);
    assert_call_refused(&place, wt_read_time("noon", &seconds, &place.err), WT_EINVAL,
                        "\"noon\" is not a time; write it as");
    assert_call_refused(&place, wt_read_time(NULL, &seconds, &place.err), WT_EINVAL, "\"\" is not a time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usage_is_recorded_under_any_tool_name),
        cmocka_unit_test(invalid_usage_is_reported),
        cmocka_unit_test(arguments_are_recorded),
        cmocka_unit_test(tool_names_have_a_maximum_length),
        cmocka_unit_test(bad_arguments_are_dropped),
        cmocka_unit_test(arguments_round_trip),
        cmocka_unit_test(bad_line_is_not_quoted),
        cmocka_unit_test(json_lines_round_trip),
        cmocka_unit_test(every_outcome_word_is_known),
        cmocka_unit_test(outcomes_of_logs_are_read),
        cmocka_unit_test(bad_lines_are_skipped),
        cmocka_unit_test(beir_folder_is_imported),
        cmocka_unit_test(filters_select_usages),
        cmocka_unit_test(export_ends_if_its_callback_refuses),
        cmocka_unit_test(tool_vector_is_mean_of_requests),
        cmocka_unit_test(later_tool_learns_older_usages),
        cmocka_unit_test(stop_while_learning_keeps_usages),
        cmocka_unit_test(learning_waits_without_vectors),
        cmocka_unit_test(parallel_recording_keeps_all),
        cmocka_unit_test(usage_key_is_unique_and_names_usage),
        cmocka_unit_test(json_lines_with_a_known_key_are_not_added),
        cmocka_unit_test(log_added_twice_is_reported),
        cmocka_unit_test(read_only_store_refuses_usages),
        cmocka_unit_test(hundred_thousand_usages_are_imported_and_exported),
        cmocka_unit_test(times_are_read),
    };
    return cmocka_run_group_tests(tests, set_up_place, tear_down_place);
}
