/* A budget of tokens: which hits fit is worked out here from what wt_export makes of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "engine/set_up.h"

static const char request[] = "search a song, the weather forecast, a hotel in a city";
static const char large[] =
    "{\"provider\": \"radio\", \"name\": \"play_song\", \"description\": \"search a song, the weather "
    "forecast, a hotel in a city";

static size_t tokens_of(const wt_tool *tool, const char *format)
{
    char *text = NULL;
    sound(&place, wt_export(&tool, 1, format, &text, &place.err));
    size_t tokens = (strlen(text) + 3) / 4;
    wt_string_free(text);
    return tokens;
}

static wt_hits *ask(size_t max_tokens, const char *format)
{
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "dense";
    options.k = HANDMADE + 1;
    options.copies = 1;
    options.max_tokens = max_tokens;
    options.format = format;
    return find_with(&place, semantic, request, &options);
}

/* The hits of a budget are the first fit of all hits. */
static void hits_come_as_far_as_they_fit(void **state)
{
    /* a form that answers a search, and the definitions that it loads */
    static const struct {
        const char *format, *counted;
    } rows[] = {
        {NULL, "openai"},
        {"openai", "openai"},
        {"anthropic", "anthropic"},
        {"gemini", "gemini"},
        {"mcp", "mcp"},
        {"openai-responses", "openai-responses"},
        {"anthropic-reference", "anthropic"},
        {"anthropic-inline", "anthropic"},
        {"openai-search", "openai-responses"},
    };
    static const size_t budgets[] = {1, 20, 40, 60, 80, 100, 130, 170, 250, 400, 100000};
    (void)state;
    for (size_t f = 0; f < sizeof rows / sizeof *rows; f++) {
        const char *format = rows[f].counted;
        wt_hits *all = ask(0, rows[f].format);
        assert_int_equal(all->len, HANDMADE);
        assert_int_equal(all->tokens + all->over_budget + all->items[0]->tokens, 0);
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
            size_t used = 0, at = 0;
            wt_hits *some = ask(budgets[b], rows[f].format);
            for (size_t i = 0; i < all->len; i++) {
                size_t tokens = tokens_of(all->items[i]->tool, format);
                if (used + tokens > budgets[b])
                    continue;
                used += tokens;
                assert_true(at < some->len);
                assert_string_equal(some->items[at]->tool->id, all->items[i]->tool->id);
                assert_float_equal(some->items[at]->score, all->items[i]->score, 0);
                assert_int_equal(some->items[at++]->tokens, tokens);
            }
            assert_int_equal(some->len, at);
            assert_int_equal(some->tokens, used);
            assert_int_equal(some->over_budget, all->len - at);
            assert_true(!some->notice == (at == all->len));
            wt_hits_free(some);
        }
        wt_hits_free(all);
    }
}

static void a_large_definition_does_not_end_the_list(void **state)
{
    struct buffer tool = {0};
    (void)state;
    wt__buffer_text(&tool, large);
    for (int i = 0; i < 300; i++)
        wt__buffer_text(&tool, " and again");
    wt__buffer_text(&tool, "\"}\n");
    add(&place, semantic, tool.ptr);
    wt_hits *hits = ask(700, "mcp");
    assert_int_equal(hits->len, HANDMADE);
    assert_int_equal(hits->over_budget, 1);
    assert_non_null(strstr(hits->notice, "7 of 8 tools fit in 700 tokens, with "));
    assert_non_null(strstr(hits->notice, "; left out: radio/play_song ("));
    wt_hits_free(hits);
    hits = ask(1, NULL);
    assert_int_equal(hits->len, 0);
    assert_non_null(strstr(hits->notice, "none of 8 tools fits in 1 tokens: "));
    assert_non_null(strstr(hits->notice, " and 5 more"));
    wt_hits_free(hits);
    wt__buffer_dispose(&tool);
}

static wt_picked *choose(size_t max_tokens, const char *format)
{
    wt_pick_options options;
    wt_picked *picked = NULL;
    wt_pick_options_init(&options);
    options.abstain = -1;
    options.max_tokens = max_tokens;
    options.format = format;
    sound(&place, wt_pick(semantic, request, strlen(request), &options, &picked, &place.err));
    return picked;
}

static void a_set_that_was_cut_promises_nothing(void **state)
{
    (void)state;
    wt_picked *whole = choose(100000, NULL), *cut = choose(1, "mcp");
    assert_true(whole->len > 0 && whole->over_budget == 0 && whole->tokens > 0);
    assert_true(whole->complete > 0 && whole->tracc > 0);
    assert_int_equal(cut->len, 0);
    assert_int_equal(cut->over_budget, whole->len);
    assert_true(isnan(cut->complete) && isnan(cut->tracc));
    assert_non_null(strstr(cut->notice, "in 1 tokens"));
    wt_picked_free(whole);
    wt_picked_free(cut);
}

static void an_unknown_form_is_told_before_anything_is_searched(void **state)
{
    wt_find_options find;
    wt_pick_options pick;
    wt_hits *hits = NULL;
    wt_picked *picked = NULL;
    (void)state;
    wt_find_options_init(&find);
    wt_pick_options_init(&pick);
    find.format = pick.format = "yaml";
    find.max_tokens = 100;
    refused(&place, wt_find(semantic, "song", 4, &find, &hits, &place.err), WT_EINVAL, "unknown format");
    refused(&place, wt_pick(semantic, "song", 4, &pick, &picked, &place.err), WT_EINVAL, "unknown format");
    pick.recipe = "ptr";
    refused(&place, wt_pick(semantic, "song", 4, &pick, &picked, &place.err), WT_EINVAL, "unknown format");
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_both, close_both)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(hits_come_as_far_as_they_fit),
        test(a_large_definition_does_not_end_the_list),
        test(a_set_that_was_cut_promises_nothing),
        test(an_unknown_form_is_told_before_anything_is_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
