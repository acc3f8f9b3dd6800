/* test_budget.c: a budget of tokens. The expected hits are computed from wt_export of each hit. */
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
    assert_call_ok(&place, wt_export(&tool, 1, format, &text, &place.err));
    size_t tokens = (strlen(text) + 3) / 4;
    wt_string_free(text);
    return tokens;
}

static wt_hits *find_within_budget(size_t max_tokens, const char *format)
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

/* Expects every hit that still fits after the earlier hits, in the order of the hits. */
static void hits_are_returned_within_budget(void **state)
{
    /* format: option of the search. counted: wt_export format of the definitions whose tokens are counted. */
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
        wt_hits *all = find_within_budget(0, rows[f].format);
        assert_int_equal(all->len, HANDMADE);
        assert_int_equal(all->tokens + all->over_budget + all->items[0]->tokens, 0);
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
            size_t used = 0, at = 0;
            wt_hits *some = find_within_budget(budgets[b], rows[f].format);
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

static void large_definition_does_not_end_list(void **state)
{
    struct buffer tool = {0};
    (void)state;
    wt__buffer_text(&tool, large);
    for (int i = 0; i < 300; i++)
        wt__buffer_text(&tool, " and again");
    wt__buffer_text(&tool, "\"}\n");
    add(&place, semantic, tool.ptr);
    wt_hits *hits = find_within_budget(700, "mcp");
    assert_int_equal(hits->len, HANDMADE);
    assert_int_equal(hits->over_budget, 1);
    assert_non_null(strstr(hits->notice, "7 of 8 tools fit in 700 tokens, with "));
    assert_non_null(strstr(hits->notice, "; left out: radio/play_song ("));
    wt_hits_free(hits);
    hits = find_within_budget(1, NULL);
    assert_int_equal(hits->len, 0);
    assert_non_null(strstr(hits->notice, "no tool of 8 fits in 1 tokens: "));
    assert_non_null(strstr(hits->notice, " and 5 more"));
    wt_hits_free(hits);
    wt__buffer_dispose(&tool);
}

static wt_picked *pick_within_budget(size_t max_tokens, const char *format)
{
    wt_pick_options options;
    wt_picked *picked = NULL;
    wt_pick_options_init(&options);
    options.abstain = -1;
    options.max_tokens = max_tokens;
    options.format = format;
    assert_call_ok(&place, wt_pick(semantic, request, strlen(request), &options, &picked, &place.err));
    return picked;
}

static void cut_set_makes_no_promise(void **state)
{
    (void)state;
    wt_picked *whole = pick_within_budget(100000, NULL), *cut = pick_within_budget(1, "mcp");
    assert_true(whole->len > 0 && whole->over_budget == 0 && whole->tokens > 0);
    assert_true(whole->complete > 0 && whole->tracc > 0);
    assert_int_equal(cut->len, 0);
    assert_int_equal(cut->over_budget, whole->len);
    assert_true(isnan(cut->complete) && isnan(cut->tracc));
    assert_non_null(strstr(cut->notice, "in 1 tokens"));
    wt_picked_free(whole);
    wt_picked_free(cut);
}

static void unknown_format_is_rejected_before_search(void **state)
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
    assert_call_refused(&place, wt_find(semantic, "song", 4, &find, &hits, &place.err), WT_EINVAL, "unknown format");
    assert_call_refused(&place, wt_pick(semantic, "song", 4, &pick, &picked, &place.err), WT_EINVAL, "unknown format");
    pick.recipe = "ptr";
    assert_call_refused(&place, wt_pick(semantic, "song", 4, &pick, &picked, &place.err), WT_EINVAL, "unknown format");
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_both, close_both)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(hits_are_returned_within_budget),
        test(large_definition_does_not_end_list),
        test(cut_set_makes_no_promise),
        test(unknown_format_is_rejected_before_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
