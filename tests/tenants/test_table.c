/* test_table.c: files of tenants: valid and invalid lines, messages, limits, and shared selections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "tenants/table.h"
#include "tenants/tenants.h"

static struct tenant_table *parse(const char *text)
{
    struct tenant_table *table = NULL;
    wt_error err;
    if (wt__tenant_table_parse(&table, wt__str(text), "file", &err) < 0)
        fail_msg("%s", err.message);
    return table;
}

static void invalid_file_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{\"tenant\": \"a\"}\n[]\n", "file:2: a line must be a JSON object"},
        {"\n\n{", "file:3: "},
        {"{\"tenant\": \"a\"}\n{\"tenant\": \"a\"}", "file:2: a tenant of this name comes twice"},
        {"{}", "file:1: the member \"tenant\" is missing"},
        {"{\"tenant\": \"\"}", "\"tenant\" must be a name"},
        {"{\"tenant\": \"a b\"}", "\"tenant\" must be a name"},
        {"{\"tenant\": 3}", "\"tenant\" must be a name"},
        {"{\"tenant\": \"a/../b\"}", "\"tenant\" must be a name"},
        {"{\"tenant\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}", "must be a name"},
        {"{\"tenant\": \"a\", \"tool\": []}", "unknown member; members are tenant, providers, tools, exclude and own"},
        {"{\"tenant\": \"a\", \"tools\": \"x\"}", "\"tools\" must be a list of non-empty strings"},
        {"{\"tenant\": \"a\", \"providers\": [\"\"]}", "\"providers\" must be a list of non-empty strings"},
        {"{\"tenant\": \"a\", \"own\": 1}", "\"own\" must be true or false"},
        {"{\"tenant\": \"a\", \"exclude\": [null]}", "\"exclude\" must be a list of non-empty strings"},
        {"{\"tenant\": \"a\", \"tenant\": \"b\"}", "file:1: "},
        {"{\"tenant\": \"a\\u0000b\"}", "file:1: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tenant_table *table = NULL;
        wt_error err = {0};
        int rc = wt__tenant_table_parse(&table, wt__str(rows[i].text), "file", &err);
        if (rc != WT_EFORMAT || table || !strstr(err.message, rows[i].message))
            fail_msg("row %zu: %s: %s", i, wt_code_name(rc), err.message);
    }
}

static void limits_are_enforced(void **state)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct tenant_table *table = NULL;
    wt_error err;
    (void)state;
    wt__buffer_text(&text, "{\"tenant\": \"a\", \"tools\": [\"x\"");
    for (int i = 0; i < WT_MAX_TENANT_ITEMS; i++)
        wt__buffer_printf(&text, ",\"p/t%d\"", i);
    wt__buffer_text(&text, "]}");
    assert_int_equal(wt__tenant_table_parse(&table, wt__buffer_view(&text), "file", &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "file:1: a tenant has more than 100000 items"));
    wt__buffer_clear(&text);
    for (int i = 0; i <= WT_MAX_TENANT_LINE_BYTES; i++)
        wt__buffer_char(&text, ' ');
    assert_int_equal(wt__tenant_table_parse(&table, wt__buffer_view(&text), "file", &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "file:1: the line is longer than 8388608 bytes"));
}

static void equal_selections_are_shared(void **state)
{
    (void)state;
    struct tenant_table *table =
        parse("{\"tenant\": \"a\", \"tools\": [\"x\", \"y*\"], \"providers\": [\"p\"]}\n"
              "{\"providers\": [\"p\", \"p\"], \"tools\": [\"y*\", \"x\"], \"tenant\": \"b\"}\n"
              "{\"tenant\": \"c\", \"tools\": [\"x\"], \"providers\": [\"p\"]}\n");
    assert_int_equal(table->tenant_count, 3);
    assert_int_equal(table->selection_count, 2);
    assert_int_equal(wt__tenant_selection(table, STR("a")), wt__tenant_selection(table, STR("b")));
    assert_int_equal(wt__tenant_selection(table, STR("d")), table->selection_count);
    wt__tenant_table_release(table);
}

static void same_selection_is_found_in_another_table(void **state)
{
    (void)state;
    struct tenant_table *one = parse("{\"tenant\": \"a\", \"tools\": [\"x\", \"y*\"], \"exclude\": [\"z\"]}");
    struct tenant_table *two = parse("{\"tenant\": \"n\", \"tools\": [\"z\"]}\n"
                                     "{\"tenant\": \"m\", \"exclude\": [\"z\"], \"tools\": [\"y*\", \"x\"]}");
    assert_int_equal(wt__tenant_same_selection(two, one, one->selections[0]), 1);
    assert_int_equal(wt__tenant_same_selection(one, two, two->selections[0]), one->selection_count);
    wt__tenant_table_release(one);
    wt__tenant_table_release(two);
}

static void selection_decides_by_provider_id_and_pattern(void **state)
{
    static const struct {
        const char *provider, *name;
        bool seen;
    } rows[] = {{"github", "get_issue", true},    {"github", "delete_repo", false}, {"slack", "post_message", true},
                {"slack", "read_history", false}, {"jira", "create_issue", true},   {"jira", "create_issue2", false},
                {"", "calculator", true},         {"", "delete_all", false},        {"other", "calculator", false},
                {"mail", "send/now", true},       {"GitHub", "get_issue", false},   {"jira", "blocked", false}};
    (void)state;
    struct tenant_table *table = parse(
        "{\"tenant\": \"a\", \"providers\": [\"github\"], \"exclude\": [\"delete_*\", \"jira/blocked\"], "
        "\"tools\": [\"slack/post_*\", \"jira/create_issue\", \"calculator\", \"mail/send/now\", \"jira/blocked\"]}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wt__tenant_selects(table, table->selections[0], wt__str(rows[i].provider), wt__str(rows[i].name)) !=
            rows[i].seen)
            fail_msg("%s/%s", rows[i].provider, rows[i].name);
    assert_false(wt__tenant_selects_provider(table, table->selections[0], STR("github"))); /* it excludes tools */
    wt__tenant_table_release(table);
    table = parse("{\"tenant\": \"a\", \"providers\": [\"github\"], \"tools\": [\"slack/*\"]}");
    assert_true(wt__tenant_selects_provider(table, table->selections[0], STR("github")));
    assert_false(wt__tenant_selects_provider(table, table->selections[0], STR("slack")));
    wt__tenant_table_release(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_file_is_refused_with_its_line),
        cmocka_unit_test(limits_are_enforced),
        cmocka_unit_test(equal_selections_are_shared),
        cmocka_unit_test(same_selection_is_found_in_another_table),
        cmocka_unit_test(selection_decides_by_provider_id_and_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
