/* test_identity.c: exported names, tools of several sources with the same name, and renamed providers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "base/file.h"
#include "engine/support.h"

static struct test_place place;
static wt_engine *engine;

static int make_identity_place(void **state)
{
    (void)state;
    make_test_place(&place);
    engine = open_test_engine(&place, "");
    return 0;
}

static int remove_identity_place(void **state)
{
    (void)state;
    wt_close(engine);
    remove_test_place(&place);
    return 0;
}

static wt_add_report *add_from(const char *source, const char *jsonl)
{
    wt_add_options options;
    wt_add_options_init(&options);
    options.format = "jsonl";
    options.source_name = source;
    options.no_vectors = 1;
    return add_with(&place, engine, jsonl, &options);
}

/* Returns the catalogue as words "ID=EXPORTED_NAME", separated by blanks. */
static const char *names(void)
{
    static char text[2048];
    wt_tools *tools;
    assert_call_ok(&place, wt_list(engine, NULL, &tools, &place.err));
    *text = '\0';
    for (size_t i = 0; i < tools->len; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s%s=%s", len ? " " : "", tools->items[i]->id,
                 tools->items[i]->export_name);
    }
    wt_tools_free(tools);
    return text;
}

static void expect_resolved_id(const char *name, const char *id)
{
    wt_tools *tools;
    assert_call_ok(&place, wt_get(engine, name, &tools, &place.err));
    if (strcmp(tools->items[0]->id, id) != 0)
        fail_msg("\"%s\" is %s, not %s", name, tools->items[0]->id, id);
    wt_tools_free(tools);
}

static void exported_name_stays_with_its_tool(void **state)
{
    (void)state;
    wt_add_report_free(add_from("a", "{\"provider\": \"p\", \"name\": \"get it\"}\n"));
    assert_string_equal(names(), "p/get it=p__get_it");
    /* If exported names would be equal, the first tool keeps the plain name, and the others get a suffix. */
    wt_add_report_free(add_from("b", "{\"provider\": \"p\", \"name\": \"get/it\"}\n{\"provider\": \"p\", \"name\": "
                                     "\"get_it\"}\n"));
    assert_string_equal(names(), "p/get it=p__get_it p/get/it=p__get_it_3ea7 p/get_it=p__get_it_55a6");
    assert_int_equal(wt_remove(engine, "p__get_it", &place.err), 1);
    assert_string_equal(names(), "p/get/it=p__get_it_3ea7 p/get_it=p__get_it_55a6");
    wt_add_report_free(add_from("b", "{\"provider\": \"p\", \"name\": \"get/it\", \"description\": \"changed\"}\n"));
    assert_string_equal(names(), "p/get/it=p__get_it_3ea7 p/get_it=p__get_it_55a6");
    expect_resolved_id("p__get_it_3ea7", "p/get/it");
}

/* An exported name resolves to its tool even if it is also the id of another tool. */
static void exported_name_comes_before_id(void **state)
{
    (void)state;
    wt_add_report_free(add_from("a", "{\"name\": \"p__x\"}\n{\"provider\": \"q\", \"name\": \"p__y\"}\n"));
    wt_add_report_free(
        add_from("b", "{\"provider\": \"p\", \"name\": \"x\"}\n{\"provider\": \"p\", \"name\": \"y\"}\n"));
    assert_string_equal(names(), "p__x=p_x q/p__y=q__p_y p/x=p__x_e4da p/y=p__y");
    expect_resolved_id("p__x", "p__x");
    expect_resolved_id("p_x", "p__x");
    expect_resolved_id("p__x_e4da", "p/x");
    expect_resolved_id("p__y", "p/y");
    expect_resolved_id("q__p_y", "q/p__y");
}

static void collision_is_reported_with_both_sources(void **state)
{
    (void)state;
    wt_add_report *report =
        add_from("a", "{\"provider\": \"p\", \"name\": \"x\"}\n{\"provider\": \"p\", \"name\": \"y\"}\n");
    assert_int_equal(report->collisions + report->collided_count, 0);
    assert_null(report->notice);
    wt_add_report_free(report);
    const char *other =
        "{\"provider\": \"p\", \"name\": \"x\", \"title\": \"other\"}\n{\"provider\": \"p\", \"name\": \"y\"}\n";
    report = add_from("b", other);
    assert_int_equal(report->added, 1);
    assert_int_equal(report->unchanged, 1);
    assert_int_equal(report->collisions, 1);
    assert_int_equal(report->collided_count, 1);
    assert_string_equal(report->collided[0]->id, "p/x~2");
    assert_string_equal(report->collided[0]->taken, "p/x");
    assert_string_equal(report->collided[0]->source, "b");
    assert_string_equal(report->collided[0]->other, "a");
    assert_non_null(strstr(report->notice,
                           "1 tool has the name of another source's tool but a different definition, and "
                           "was renamed: p/x of b is p/x~2, because a has that name"));
    wt_add_report_free(report);
    report = add_from("b", other);
    assert_int_equal(report->unchanged, 2);
    assert_int_equal(report->collisions, 0);
    wt_add_report_free(report);
    assert_string_equal(names(), "p/x=p__x p/y=p__y p/x~2=p__x_2");
}

/* Only the first WT_MAX_COLLISIONS collisions are listed, but all are counted. */
static void all_collisions_are_counted(void **state)
{
    (void)state;
    enum { MANY = 25 };
    for (int source = 0; source < 2; source++) {
        struct buffer text = {0};
        for (int i = 0; i < MANY; i++)
            wt__buffer_printf(&text, "{\"name\": \"tool%d\", \"title\": \"%d\"}\n", i, source);
        wt_add_report *report = add_from(source ? "b" : "a", text.ptr);
        assert_int_equal(report->collisions, source * MANY);
        assert_int_equal(report->collided_count, source * WT_MAX_COLLISIONS);
        wt_add_report_free(report);
        wt__buffer_dispose(&text);
    }
}

/* ---------------------------------------------------------------- files */

static void write_source_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", place.folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void delete_source_file(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", place.folder, name);
    assert_int_equal(remove(path), 0);
}

static void add_path(const char *name, int sync)
{
    char path[200];
    wt_add_report *report;
    wt_add_options options;
    wt_add_options_init(&options);
    options.no_vectors = 1;
    options.sync = sync;
    snprintf(path, sizeof path, "%s/%s", place.folder, name);
    assert_call_ok(&place, wt_add_path(engine, path, &options, &report, &place.err));
    wt_add_report_free(report);
}

#define TOOL(name, text) "{\"name\": \"" name "\", \"description\": \"" text "\", \"inputSchema\": {}}"

/* The source of a tool is its file, whether the file itself or its folder is imported. */
static void source_of_a_tool_is_its_file(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/mcp", place.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_source_file("mcp/git.json", "[" TOOL("log", "one") "," TOOL("diff", "one") "]");
    write_source_file("mcp/web.json", "[" TOOL("search", "one") "]");
    add_path("mcp", 0);
    assert_string_equal(names(), "git/log=git__log git/diff=git__diff web/search=web__search");
    add_path("mcp/git.json", 0);
    assert_string_equal(names(), "git/log=git__log git/diff=git__diff web/search=web__search");
    write_source_file("mcp/git.json", "[" TOOL("log", "two") "]");
    add_path("mcp/git.json", 1);
    assert_string_equal(names(), "git/log=git__log web/search=web__search");
    delete_source_file("mcp/web.json");
    add_path("mcp", 0);
    assert_string_equal(names(), "git/log=git__log web/search=web__search");
    add_path("mcp", 1);
    assert_string_equal(names(), "git/log=git__log");
}

/* ---------------------------------------------------------------- renaming */

static const char tables[] =
    "{\"provider\": \"tables\", \"name\": \"book\", \"description\": \"book a table\"}\n"
    "{\"provider\": \"tables\", \"name\": \"cancel\", \"description\": \"cancel a booking\"}\n";

static const char *usage(void)
{
    static char text[200];
    wt_usages *usages;
    assert_call_ok(&place, wt_list_usage(engine, NULL, &usages, &place.err));
    assert_int_equal(usages->len, 1);
    snprintf(text, sizeof text, "%s%s", usages->items[0]->tools[0]->id, usages->items[0]->tools[0]->known ? "" : "!");
    wt_usages_free(usages);
    return text;
}

static void renamed_provider_stays_renamed(void **state)
{
    (void)state;
    const char *used[] = {"tables__book"};
    wt_add_report_free(add_from("a", tables));
    assert_call_ok(&place, wt_record_usage(engine, "a table for two", 15, used, 1, NULL, &place.err));
    wt_hits_free(find_with(&place, engine, "book a table", NULL)); /* build an index with the old name */
    assert_int_equal(wt_rename_provider(engine, "tables", "good table", &place.err), 2);
    assert_string_equal(names(), "good table/book=good_table__book good table/cancel=good_table__cancel");
    assert_string_equal(usage(), "good table/book");
    wt_hits *hits = find_with(&place, engine, "good", NULL);
    assert_true(hits->len > 0 && strcmp(hits->items[0]->tool->provider, "good table") == 0);
    wt_hits_free(hits);
    /* The source still uses the old name. */
    wt_add_report *report = add_from("a", tables);
    assert_int_equal(report->unchanged, 2);
    wt_add_report_free(report);
    wt_add_report_free(add_from("a", "{\"provider\": \"tables\", \"name\": \"move\"}\n"));
    assert_string_equal(names(), "good table/book=good_table__book good table/cancel=good_table__cancel "
                                 "good table/move=good_table__move");
    /* Rename the provider again, and then back to its first name. */
    assert_int_equal(wt_rename_provider(engine, "good table", "gt", &place.err), 3);
    wt_add_report_free(add_from("a", tables));
    assert_string_equal(names(), "gt/book=gt__book gt/cancel=gt__cancel gt/move=gt__move");
    assert_int_equal(wt_rename_provider(engine, "gt", "tables", &place.err), 3);
    assert_string_equal(usage(), "tables/book");
    assert_call_ok(&place, wt_check(engine, &place.err));
}

static void invalid_rename_is_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        int code;
        const char *says;
    } rows[] = {
        {"nobody", "x", WT_ENOTFOUND, "no tool has the provider \"nobody\""},
        {"tables", "other", WT_EINVAL, "provider \"other\" already exists"},
        {"tables", "tables", WT_EINVAL, "provider \"tables\" already exists"},
        {"other", "old", WT_EINVAL, "\"old\" is a former name of provider \"new\""},
        {"old", "x", WT_ENOTFOUND, "no tool has the provider \"old\""},
        {"tables", "", WT_EINVAL, "a provider name must be 1 to 256 bytes"},
        {"tables", " x", WT_EINVAL, "surrounding blanks"},
        {"tables", "a\nb", WT_EINVAL, "without control characters"},
        {"tables", "a\xff", WT_EINVAL, "of UTF-8"},
        {"", "x", WT_EINVAL, "tools without a provider"},
    };
    wt_add_report_free(add_from("a", tables));
    wt_add_report_free(add_from("b",
                                "{\"provider\": \"other\", \"name\": \"a\"}\n{\"provider\": \"old\", \"name\": \"b\"}\n"
                                "{\"name\": \"c\"}\n"));
    assert_int_equal(wt_rename_provider(engine, "old", "new", &place.err), 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_call_refused(&place, wt_rename_provider(engine, rows[i].from, rows[i].to, &place.err), rows[i].code,
                            rows[i].says);
    assert_string_equal(names(),
                        "tables/book=tables__book tables/cancel=tables__cancel other/a=other__a new/b=new__b c=c");
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_identity_place, remove_identity_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(exported_name_stays_with_its_tool),
        test(exported_name_comes_before_id),
        test(collision_is_reported_with_both_sources),
        test(all_collisions_are_counted),
        test(source_of_a_tool_is_its_file),
        test(renamed_provider_stays_renamed),
        test(invalid_rename_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
