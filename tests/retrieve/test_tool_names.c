/* Tests the names under which a request finds a tool, and the hashes of HTTP methods and paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "retrieve/tool_names.h"
#include "text/analyser.h"

#define TWENTY_WORDS "a b c d e f g h i j k l m n o p q r s of"

static const struct {
    struct tool tool;
    struct {
        struct str text;
        enum name_kind kind;
    } names[5];
    struct str others[4]; /* not names of the tool */
} cases[] = {
    {{.provider = STR("GitHub"), .name = STR("create_issue"), .export_name = STR("gh__create_issue")},
     {{STR("create issue"), NAME_OWN}, {STR("github create issue"), NAME_ID}, {STR("gh.createIssue"), NAME_ID}},
     {STR("github"), STR("issue"), STR("create"), STR("create_issues")}},
    {{.name = STR("search~2")}, {{STR("search"), NAME_OWN}, {STR("search2"), NAME_OWN}}, {STR("search~3")}},
    {{.name = STR("search~")}, {{STR("search"), NAME_OWN}}, {STR("2")}},
    {{.name = STR("search2")}, {{STR("search 2"), NAME_OWN}}, {STR("search")}},
    {{.name = STR("42"), .provider = STR("answers")}, {{STR(""), NAME_OWN}}, {STR("42"), STR("answers 42")}},
    {{.name = STR("x")}, {{STR(""), NAME_OWN}}, {STR("x")}},
    {{.name = STR("\xE6\xA4\x9C\xE7\xB4\xA2")}, {{STR("\xE6\xA4\x9C\xE7\xB4\xA2"), NAME_OWN}}, {STR("?")}},
    {{.name = STR("say"), .title = STR("Post a message"), .description = STR("Says it.")},
     {{STR("say"), NAME_OWN}, {STR("post-a-message"), NAME_TITLE}},
     {STR("says it")}}, /* the description is not a name, because the tool has a title */
    {{.name = STR("say"), .title = STR("Search")}, {{STR("say"), NAME_OWN}}, {STR("search")}},
    {{.name = STR("say"), .description = STR(" Says it. ")}, {{STR("says it"), NAME_TITLE}}, {STR("says")}},
    {{.name = STR("say"), .description = STR("Says version 1.2 of it")},
     {{STR("says version 1.2 of it"), NAME_TITLE}},
     {STR("says version 1")}},
    {{.name = STR("say"), .description = STR("Says it. And more.")},
     {{STR("say"), NAME_OWN}},
     {STR("says it and more")}},
    {{.name = STR("say"), .description = STR("Says it\nand more")},
     {{STR("say"), NAME_OWN}},
     {STR("says it and more")}},
    {{.name = STR("say"), .description = STR(TWENTY_WORDS)}, {{STR(TWENTY_WORDS), NAME_TITLE}}, {STR("a b c")}},
    {{.name = STR("say"), .description = STR(TWENTY_WORDS " it")}, {{STR("say"), NAME_OWN}}, {STR(TWENTY_WORDS " it")}},
    {{.name = STR("say"), .source_id = STR("tool-17")}, {{STR("tool 17"), NAME_ID}}, {STR("17")}},
    {{.name = STR("issues/get"), .source_id = STR("GET /repos/{owner}/issues")},
     {{STR("issues get"), NAME_OWN}},
     {STR("get repos owner issues")}},
};

static uint64_t hash_of_tool_names(struct str text)
{
    return wt__name_hash_end(wt__name_hash_text(NAME_HASH_EMPTY, text));
}

static bool has_kind(const struct name_index *names, struct name_run run, enum name_kind kind)
{
    bool any = false;
    for (size_t i = run.first; i < run.first + run.count; i++)
        any |= wt__name_kind(names->entries[i]) == kind;
    return any;
}

static struct name_index names_of(struct names_builder *builder, const struct tool *tool)
{
    assert_int_equal(wt__tool_names_add(builder, tool, 5, NULL), 0);
    struct name_index names = wt__names_builder_finish(builder);
    assert_int_equal(wt__names_check(&names, 6, NULL), 0);
    return names;
}

static void finds_tool_by_its_names_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct names_builder builder = {0};
        struct name_index names = names_of(&builder, &cases[i].tool);
        for (size_t n = 0; n < 5 && cases[i].names[n].text.len > 0; n++) {
            struct name_run run = wt__names_find(&names, hash_of_tool_names(cases[i].names[n].text));
            if (run.count == 0 || !has_kind(&names, run, cases[i].names[n].kind))
                fail_msg("row %zu: name \"%s\" is missing", i, cases[i].names[n].text.ptr);
        }
        for (size_t n = 0; n < 4 && cases[i].others[n].len > 0; n++)
            if (wt__names_find(&names, hash_of_tool_names(cases[i].others[n])).count > 0)
                fail_msg("row %zu: \"%s\" must not be a name", i, cases[i].others[n].ptr);
        wt__names_builder_dispose(&builder);
    }
}

static void finds_exact_spelling(void **state)
{
    const struct tool tool = {.name = STR("getIssue"), .source_id = STR("tool-17")};
    struct names_builder builder = {0};
    struct name_index names = names_of(&builder, &tool);
    (void)state;
    assert_int_equal(wt__names_find(&names, wt__name_hash_written(STR("getIssue"))).count, 1);
    assert_int_equal(wt__names_find(&names, wt__name_hash_written(STR("tool-17"))).count, 1);
    assert_int_equal(wt__names_find(&names, wt__name_hash_written(STR("get_issue"))).count, 0);
    wt__names_builder_dispose(&builder);
}

static void ignores_parameter_names_in_paths(void **state)
{
    static const struct {
        struct str a, b;
        bool same;
    } rows[] = {
        {STR("GET /repos/{owner}/issues"), STR("get /repos/{who}/issues"), true},
        {STR("GET /repos/{owner}/issues"), STR("GET /repos/:owner/issues/"), true},
        {STR("GET /repos/{owner}/issues"), STR("GET /repos/<owner>/issues?page={page}"), true},
        {STR("GET /repos/{owner}/issues"), STR("GET /repos/prefix-{owner}/issues"), true},
        {STR("GET /repos/{owner}/issues"), STR("GET /repos/owner/issues"), false},
        {STR("GET /repos/{owner}/issues"), STR("POST /repos/{owner}/issues"), false},
        {STR("GET /a/b"), STR("GET /ab"), false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t a, b;
        assert_true(wt__path_name_hash(rows[i].a, &a) && wt__path_name_hash(rows[i].b, &b));
        if ((a == b) != rows[i].same)
            fail_msg("%s, %s", rows[i].a.ptr, rows[i].b.ptr);
    }
}

static void rejects_texts_without_method_and_path(void **state)
{
    static const struct str texts[] = {STR(""),        STR("GET"),        STR("GET "),       STR("GET /"),
                                       STR("/a/b"),    STR("FETCH /a/b"), STR("GET a/b"),    STR("GET  /a/b"),
                                       STR("GET /?a"), STR("get_issue"),  STR("\0GET /a/b"), STR(" ")};
    char deep[4 + 2 * (PATH_SEGMENTS_MAX + 1) + 1] = "GET ";
    uint64_t hash;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (wt__path_name_hash(texts[i], &hash))
            fail_msg("row %zu: \"%s\"", i, texts[i].ptr);
    for (size_t i = 0; i <= PATH_SEGMENTS_MAX; i++)
        deep[4 + 2 * i] = '/', deep[5 + 2 * i] = 'a';
    assert_false(wt__path_name_hash(STR(deep), &hash));
    assert_true(wt__path_name_hash((struct str){deep, 4 + 2 * PATH_SEGMENTS_MAX}, &hash));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_tool_by_its_names_only),
        cmocka_unit_test(finds_exact_spelling),
        cmocka_unit_test(ignores_parameter_names_in_paths),
        cmocka_unit_test(rejects_texts_without_method_and_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
