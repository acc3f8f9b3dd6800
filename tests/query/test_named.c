/* Tests that named tools come first, in the order of the request, and that weak hits are marked, and removed on
 * request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>

#include "engine/set_up.h"

static const char catalogue[] =
    "{\"provider\": \"github\", \"name\": \"create_issue\", \"description\": \"Open a ticket in a repository\"}\n"
    "{\"provider\": \"gitlab\", \"name\": \"create_issue\", \"description\": \"Open a ticket in a project of a group, "
    "with labels, people and a date\"}\n"
    "{\"provider\": \"tracker\", \"name\": \"createIssue\", \"description\": \"Tell us what is broken\"}\n"
    "{\"provider\": \"github\", \"name\": \"listLabels\", \"description\": \"All labels of a repository\"}\n"
    "{\"provider\": \"github\", \"name\": \"search_code\", \"description\": \"Find lines in files\"}\n"
    "{\"provider\": \"slack\", \"name\": \"search\", \"description\": \"Find messages by words\"}\n"
    "{\"provider\": \"music\", \"name\": \"play\", \"description\": \"Starts the next song\"}\n"
    "{\"provider\": \"heating\", \"name\": \"qz_set7\", \"parameters\": {\"type\": \"object\", \"properties\": "
    "{\"thermostat\": {\"type\": \"number\"}, \"bedroom\": {\"type\": \"string\"}}}}\n"
    "{\"provider\": \"city\", \"name\": \"tides\", \"description\": \"When the sea is high in a harbour town\"}\n"
    "{\"provider\": \"city\", \"name\": \"buses\", \"description\": \"When a bus leaves the harbour\"}\n";

static int open_named_catalogue(void **state)
{
    set_up_place(state);
    semantic = open_test_engine(&place, NULL);
    add(&place, semantic, catalogue);
    lexical = open_test_engine(&place, "");
    return 0;
}

static wt_hits *find_with_names(const char *recipe, const char *request, size_t k, int none_if_unsure)
{
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.k = k;
    options.explain = 1;
    options.none_if_unsure = none_if_unsure;
    options.copies = 1; /* a model with random weights takes all texts for near-copies */
    return find_with(&place, strcmp(recipe, "bm25") == 0 ? lexical : semantic, request, &options);
}

static const char *const recipes[] = {"bm25", "dense", "hybrid"};
enum { RECIPES = sizeof recipes / sizeof *recipes };

/* Requests that name tools. first: ids of the first hits, separated by blanks, with every recipe. */
static const struct {
    const char *request, *first;
} cases[] = {
    {"search_code, listLabels", "github/search_code github/listLabels"},
    {"listLabels, search_code", "github/listLabels github/search_code"},
    {"play; list labels; search code and tides", "music/play github/listLabels github/search_code city/tides"},
    {"please use buses, tides and play", "city/buses city/tides music/play"},
    {"find a song by play in the harbour, then label it with listLabels", "github/listLabels"},
    {"when the sea is high call listLabels and then search_code", "github/listLabels github/search_code"},
    {"qz_set7", "heating/qz_set7"},
    {"Qz Set7", "heating/qz_set7"},

    /* Several tools have the same name. */
    {"createIssue", "tracker/createIssue"}, /* the tool with the exact spelling comes first */
    {"gitlab create_issue", "gitlab/create_issue"},
    {"create_issue gitlab", "gitlab/create_issue"},
    {"mcp__gitlab__create_issue", "gitlab/create_issue"},
    {"by create_issue open a ticket on gitlab", "gitlab/create_issue"},
    {"by create_issue open a ticket on github", "github/create_issue"},
    {"github create_issue, gitlab create_issue, listLabels",
     "github/create_issue gitlab/create_issue github/listLabels"},
};

static void named_tools_lead_in_request_order(void **state)
{
    (void)state;
    for (size_t r = 0; r < RECIPES; r++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            wt_hits *hits = find_with_names(recipes[r], cases[i].request, 10, 0);
            struct buffer first = {0};
            for (size_t h = 0; h < hits->len && first.len < strlen(cases[i].first); h++)
                wt__buffer_printf(&first, "%s%s", h ? " " : "", hits->items[h]->tool->id);
            if (!first.ptr || strcmp(first.ptr, cases[i].first) != 0)
                fail_msg("%s, \"%s\": %s", recipes[r], cases[i].request, first.ptr ? first.ptr : "nothing");
            for (size_t h = 1; h < hits->len; h++)
                assert_true(hits->items[h - 1]->score >= hits->items[h]->score);
            wt__buffer_dispose(&first);
            wt_hits_free(hits);
        }
}

/* A request that consists of names may mean any tool with such a name. After one tool per name, the other tools with
 * the same name come next. */
static void tools_of_same_name_come_next(void **state)
{
    (void)state;
    for (size_t r = 0; r < RECIPES; r++) {
        wt_hits *hits = find_with_names(recipes[r], "create_issue, listLabels", 10, 0);
        assert_true(hits->len >= 4);
        assert_string_equal(hits->items[0]->tool->name, "create_issue");
        assert_string_equal(hits->items[1]->tool->id, "github/listLabels");
        for (size_t h = 2; h < 4; h++)
            assert_true(strcmp(hits->items[h]->tool->name, "create_issue") == 0 ||
                        strcmp(hits->items[h]->tool->name, "createIssue") == 0);
        wt_hits_free(hits);
    }
}

static const wt_stage_score *stage_of(const wt_hit *hit, const char *name)
{
    for (size_t s = 0; s < hit->stage_count; s++)
        if (strcmp(hit->stages[s]->stage, name) == 0)
            return hit->stages[s];
    return NULL;
}

static void explanation_has_name(void **state)
{
    (void)state;
    for (size_t r = 0; r < RECIPES; r++) {
        wt_hits *hits = find_with_names(recipes[r], "when the sea is high call listLabels", 10, 0);
        const wt_stage_score *stage = stage_of(hits->items[0], "name \"listLabels\"");
        assert_non_null(stage);
        assert_true(stage->share > 0);
        for (size_t h = 1; h < hits->len; h++) {
            assert_null(stage_of(hits->items[h], "name \"listLabels\""));
            stage = stage_of(hits->items[h], "name");
            assert_true(!stage || stage->share == 0);
        }
        wt_hits_free(hits);
    }
}

/* A name cannot bypass the filter. */
static void filter_applies_to_named_tools(void **state)
{
    wt_find_options options;
    (void)state;
    wt_find_options_init(&options);
    options.provider = "gitlab";
    wt_hits *hits = find_with(&place, lexical, "create_issue, listLabels", &options);
    assert_int_equal(hits->len, 1);
    assert_string_equal(hits->items[0]->tool->id, "gitlab/create_issue");
    wt_hits_free(hits);
    hits = find_with(&place, lexical, "github create_issue", &options);
    assert_int_equal(hits->len, 1);
    assert_string_equal(hits->items[0]->tool->id, "gitlab/create_issue");
    wt_hits_free(hits);
}

/* If a request consists of names, the picked set has exactly the named tools. */
static void set_of_names_is_exact(void **state)
{
    wt_pick_options options;
    wt_picked *picked;
    static const char request[] = "search_code, listLabels and play";
    (void)state;
    wt_pick_options_init(&options);
    for (size_t e = 0; e < 2; e++) {
        assert_call_ok(&place,
                       wt_pick(e ? semantic : lexical, request, strlen(request), &options, &picked, &place.err));
        assert_int_equal(picked->len, 3);
        assert_string_equal(picked->items[0]->tool->id, "github/search_code");
        assert_string_equal(picked->items[1]->tool->id, "github/listLabels");
        assert_string_equal(picked->items[2]->tool->id, "music/play");
        wt_picked_free(picked);
    }
}

static void undescribed_tool_is_found_by_parameters(void **state)
{
    (void)state;
    wt_hits *hits = find_with_names("bm25", "set the thermostat in the bedroom", 1, 0);
    assert_int_equal(hits->len, 1);
    assert_string_equal(hits->items[0]->tool->id, "heating/qz_set7");
    wt_hits_free(hits);
}

/* With bm25, a hit is weak if only a common word matches. A named tool is never weak. */
static void weak_hits_are_marked_and_removed(void **state)
{
    static const struct {
        const char *request;
        size_t hits, weak, unknown; /* number of hits that are not weak, of weak hits, and of unknown words */
    } rows[] = {
        {"find xylophone quartets", 0, 2, 2}, /* two weak hits */
        {"find messages by words", 1, 1, 0},
        {"xylophone quartets", 0, 0, 2},
        {"xylophone quartets play", 0, 1, 2}, /* a word within a sentence does not name a tool */
        {"tides", 1, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_hits *all = find_with_names("bm25", rows[i].request, 10, 0),
                *sure = find_with_names("bm25", rows[i].request, 10, 1);
        size_t weak = 0;
        for (size_t h = 0; h < all->len; h++)
            weak += (size_t)all->items[h]->weak;
        if (sure->len != rows[i].hits || sure->weak != rows[i].weak || sure->unknown_count != rows[i].unknown)
            fail_msg("\"%s\": %zu hits, %zu weak, %zu unknown words", rows[i].request, sure->len, sure->weak,
                     sure->unknown_count);
        assert_int_equal(weak, sure->weak);
        assert_int_equal(all->weak, 0);
        assert_int_equal(all->len, sure->len + sure->weak);
        for (size_t h = 0; h < sure->len; h++)
            assert_int_equal(sure->items[h]->weak, 0);
        wt_hits_free(all);
        wt_hits_free(sure);
    }
}

static void hostile_names_are_matched_in_linear_time(void **state)
{
    static const char *const patterns[] = {"create_issue, ",
                                           "gitlab create issue, ",
                                           "mcp__a__b__c__create_issue ",
                                           "a__b::c//d ",
                                           "GET /a/{b}/c ",
                                           "GET /a/b/c/d/e/f/g/h/i ",
                                           "listLabels/create_is",
                                           "tides and ",
                                           "{a}/"};
    char *request = malloc(WT_MAX_REQUEST_BYTES);
    (void)state;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        wt_hits *hits;
        clock_t began;
        double ms;
        size_t len = strlen(patterns[p]);
        for (size_t i = 0; i < WT_MAX_REQUEST_BYTES; i++)
            request[i] = patterns[p][i % len];
        began = clock();
        assert_call_ok(&place, wt_find(lexical, request, WT_MAX_REQUEST_BYTES, NULL, &hits, &place.err));
        ms = 1e3 * (double)(clock() - began) / CLOCKS_PER_SEC;
        /* Measured: at most 20 ms. The bound separates linear from quadratic time, also under sanitizers. It is the
         * processor's time, which a busy machine does not change. */
        if (ms > 1000)
            fail_msg("64 KiB of \"%s\": %.0f ms", patterns[p], ms);
        wt_hits_free(hits);
    }
    free(request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_tools_lead_in_request_order),
        cmocka_unit_test(tools_of_same_name_come_next),
        cmocka_unit_test(explanation_has_name),
        cmocka_unit_test(filter_applies_to_named_tools),
        cmocka_unit_test(set_of_names_is_exact),
        cmocka_unit_test(undescribed_tool_is_found_by_parameters),
        cmocka_unit_test(weak_hits_are_marked_and_removed),
        cmocka_unit_test(hostile_names_are_matched_in_linear_time),
    };
    return cmocka_run_group_tests(tests, open_named_catalogue, close_both);
}
