/* Names of providers: which words name one, and how sure it is that they mean it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "retrieve/document.h"
#include "retrieve/named_provider.h"

static void names_are_the_same_however_they_are_written(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {{"google-calendar", "Google Calendar", true},
                 {"GitHub", "github mcp server", true},
                 {"SkyCast API", "sky cast", true},
                 {"git", "github", false},
                 {"slack", "slacks", false},
                 {"Caf\xC3\xA9", "Caf\xC3\xA9", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if ((wt__provider_hash(wt__str(cases[i].a)) == wt__provider_hash(wt__str(cases[i].b))) != cases[i].same)
            fail_msg("%s, %s", cases[i].a, cases[i].b);
}

static void some_names_name_nobody(void **state)
{
    static const char *const nobody[] = {"",
                                         "x",
                                         "MCP server",
                                         "api",
                                         "--",
                                         "v",
                                         "a name that is so long that nobody would ever say it in any request at all"};
    (void)state;
    for (size_t i = 0; i < sizeof nobody / sizeof *nobody; i++)
        if (wt__provider_hash(wt__str(nobody[i])) != 0)
            fail_msg("\"%s\"", nobody[i]);
}

static void a_name_that_others_say_too_is_less_precise(void **state)
{
    static const struct {
        const char *provider, *description;
    } tools[] = {{"spotify", "play a song"},      {"spotify", "pause"},
                 {"time", "what a clock shows"},  {"calendar", "time of all"},
                 {"calendar", "change the time"}, {"mail", "send at a time"}};
    struct analyser *analyser;
    struct lexical_builder *builder;
    struct document document = {0};
    struct token_list scratch = {0};
    struct name_counts counts = {0};
    struct lexical index;
    uint64_t hash;
    void *block;
    size_t len;
    (void)state;
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__lexical_builder_new(&builder, &wt__lexical_settings, NULL), 0);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        struct tool tool = {
            .name = STR("tool"), .provider = wt__str(tools[i].provider), .description = wt__str(tools[i].description)};
        assert_int_equal(wt__document_read(&document, analyser, &tool, NULL), 0);
        assert_int_equal(wt__lexical_builder_add(builder, document.fields, NULL), 0);
        assert_int_equal(wt__name_counts_add(&counts, tool.provider, &hash, analyser, &scratch, NULL), 0);
        assert_int_equal(hash, wt__provider_hash(tool.provider));
    }
    assert_int_equal(wt__lexical_builder_finish(builder, &block, &len, NULL), 0);
    assert_int_equal(wt__lexical_view(&index, block, len, NULL), 0);
    assert_float_equal(wt__name_precision(&counts, wt__provider_hash(STR("spotify")), &index), 1, 1e-6);
    assert_float_equal(wt__name_precision(&counts, wt__provider_hash(STR("time")), &index), 1.0 / 4, 1e-6);
    assert_float_equal(wt__name_precision(&counts, wt__provider_hash(STR("unknown")), &index), 0, 0);
    wt__name_counts_dispose(&counts);
    wt__token_list_dispose(&scratch);
    wt__document_dispose(&document);
    wt__lexical_builder_free(builder);
    wt__analyser_close(analyser);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_the_same_however_they_are_written),
                                       cmocka_unit_test(some_names_name_nobody),
                                       cmocka_unit_test(a_name_that_others_say_too_is_less_precise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
