/* Tests the words that name a provider, the precision of such a name, and the providers named in each sub-query. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "retrieve/document.h"
#include "retrieve/named_provider.h"
#include "retrieve/source.h"

static void provider_hash_ignores_spelling_variants(void **state)
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

static void generic_names_have_no_hash(void **state)
{
    static const char *const generic[] = {"",
                                          "x",
                                          "MCP server",
                                          "api",
                                          "--",
                                          "v",
                                          "a name that is so long that nobody would ever say it in any request at all"};
    (void)state;
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
        if (wt__provider_hash(wt__str(generic[i])) != 0)
            fail_msg("\"%s\" has a hash", generic[i]);
}

static void common_names_are_less_precise(void **state)
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

/* texts: the whole request, then its sub-queries. named: one letter per text for the providers that it names or
 * inherits: 's' for Spotify, 'g' for Google calendar, 'b' for both, '-' for no provider. */
static const struct {
    const char *texts[4], *named;
} requests[] = {
    {{"play it on spotify"}, "s"},
    {{"in my Google calendar, and in google-calendar"}, "g"},
    {{"from Spotify into the google calendar"}, "b"},
    {{"google the calendars, spotifyish"}, "-"},
    {{"on the calendar of google"}, "-"},
    {{"on Spotify follow her, then save it, then put it into Google calendar", "on Spotify follow her", "save it",
      "put it into Google calendar"},
     "bssg"}, /* "save it" names no provider and inherits Spotify */
    {{"save it, then on Spotify follow her", "save it", "on Spotify follow her"}, "s-s"},
    {{""}, "-"},
    {{"\377 ?"}, "-"},
};

static void subqueries_inherit_last_named_provider(void **state)
{
    struct snapshot_key keys[] = {
        {.provider_hash = wt__provider_hash(STR("Spotify")), .provider_precision = .9F},
        {.provider_hash = wt__provider_hash(STR("google calendar")), .provider_precision = .5F},
        {.provider_hash = 0}};
    uint32_t rows[] = {0, 1, 2};
    float scores[4][3];
    struct workspace *workspace = calloc(1, sizeof *workspace);
    const struct snapshot snapshot = {.keys = keys, .rows = 3};
    const struct view view = {.snapshot = &snapshot};
    struct source_query query = {.view = &view, .workspace = workspace, .rows = rows, .count = 3};
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char named[5] = "";
        memset(scores, 0, sizeof scores);
        for (workspace->text_count = 0; workspace->text_count < 4 && requests[i].texts[workspace->text_count];) {
            size_t t = workspace->text_count++;
            workspace->texts[t] = (struct text){.written = wt__str(requests[i].texts[t])};
            workspace->texts[t].rankings[SOURCE_PROVIDER].scores = scores[t];
        }
        assert_int_equal(wt__sources[SOURCE_PROVIDER]->search(&query, NULL), 0);
        assert_int_equal(wt__sources[SOURCE_PROVIDER]->score_rows(&query, NULL), 0);
        for (size_t t = 0; t < workspace->text_count; t++) {
            named[t] = "-sgb"[(scores[t][0] > 0) + 2 * (scores[t][1] > 0)];
            assert_true(scores[t][0] == 0 || scores[t][0] == .9F);
            assert_true(scores[t][2] == 0);
        }
        if (strcmp(named, requests[i].named) != 0)
            fail_msg("\"%s\": %s", requests[i].texts[0], named);
        wt__arena_reset(&workspace->arena);
    }
    wt__arena_dispose(&workspace->arena);
    free(workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(provider_hash_ignores_spelling_variants), cmocka_unit_test(generic_names_have_no_hash),
        cmocka_unit_test(common_names_are_less_precise), cmocka_unit_test(subqueries_inherit_last_named_provider)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
