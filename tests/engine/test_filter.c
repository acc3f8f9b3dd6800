/* test_filter.c: checks which tools a filter allows, and the notices about unmatched names. Tools are filtered before
 * the hits are cut to k. Also tests filters after changes of the catalogue and from several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "engine/set_up.h"

enum { MOST = 4, EVICTING = 12000, THREADS = 4, ROUNDS = 60 };

struct lists {
    const char *providers[MOST], *excluded_providers[MOST], *only[MOST], *excluded[MOST];
};

static size_t length(const char *const *list)
{
    size_t len = 0;
    while (len < MOST && list[len])
        len++;
    return len;
}

static wt_filter filter_of(const struct lists *lists)
{
    wt_filter filter;
    wt_filter_init(&filter);
    filter.providers = lists->providers;
    filter.provider_count = length(lists->providers);
    filter.excluded_providers = lists->excluded_providers;
    filter.excluded_provider_count = length(lists->excluded_providers);
    filter.only = lists->only;
    filter.only_count = length(lists->only);
    filter.excluded = lists->excluded;
    filter.excluded_count = length(lists->excluded);
    return filter;
}

static const struct {
    const char *name;
    struct lists lists;
    const char *ids;    /* sorted, separated by blanks */
    const char *notice; /* part of the notice; NULL if there is no notice */
} filters[] = {
    {"one provider", {.providers = {"files"}}, "files/search", NULL},
    {"two providers", {.providers = {"files", "music"}}, "files/search music/search", NULL},
    {"the same provider twice", {.providers = {"files", "files"}}, "files/search", NULL},
    {"tools without a provider", {.providers = {""}}, "calculator", NULL},
    {"one known and one unknown provider",
     {.providers = {"files", "musik"}},
     "files/search",
     "no tool has the provider \"musik\"; did you mean \"music\"?"},
    {"an excluded provider",
     {.excluded_providers = {"weather", "travel"}},
     "calculator files/search music/search",
     NULL},
    {"an unknown excluded provider",
     {.excluded_providers = {"wether"}},
     "calculator files/search music/search travel/bookHotel travel/search_flights weather/getForecast "
     "weather/storm_alerts",
     "no tool has the provider \"wether\"; did you mean \"weather\"?"},
    {"a provider both listed and excluded",
     {.providers = {"files", "music"}, .excluded_providers = {"music"}},
     "files/search",
     NULL},
    {"a name", {.only = {"search"}}, "files/search music/search", NULL},
    {"a pattern of names", {.only = {"search*"}}, "files/search music/search travel/search_flights", NULL},
    {"a pattern of ids", {.only = {"*/search"}}, "files/search music/search", NULL},
    {"all tools of a provider", {.only = {"weather/*"}}, "weather/getForecast weather/storm_alerts", NULL},
    {"two patterns", {.only = {"calc*", "files/*"}}, "calculator files/search", NULL},
    {"patterns are case-sensitive", {.only = {"calc*", "Files/*"}}, "calculator", "no tool matches \"Files/*\""},
    {"an excluded pattern",
     {.excluded = {"search*", "get*"}},
     "calculator travel/bookHotel weather/storm_alerts",
     NULL},
    {"an excluded id", {.providers = {"weather"}, .excluded = {"weather/storm_alerts"}}, "weather/getForecast", NULL},
    {"the id of a tool without a provider has no slash", {.providers = {""}, .excluded = {"*/*"}}, "calculator", NULL},
    {"an unmatched pattern",
     {.providers = {"files"}, .excluded = {"delete_*"}},
     "files/search",
     "no tool matches \"delete_*\""},
    {"a provider as a pattern",
     {.providers = {"files"}, .excluded = {"music"}},
     "files/search",
     "no tool matches \"music\"; the tools of that provider are \"music/*\""},
    {"all tools excluded", {.excluded = {"*"}}, "", "excludes every tool"},
    {"contradictory lists", {.providers = {"files"}, .only = {"storm*"}}, "", "excludes every tool"},
};

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const wt_hit *const *)a)->tool->id, (*(const wt_hit *const *)b)->tool->id);
}

static void assert_found_ids(const char *name, const wt_hits *hits, const char *ids)
{
    struct buffer have = {0};
    const wt_hit *sorted[HANDMADE];
    for (size_t i = 0; i < hits->len; i++)
        sorted[i] = hits->items[i];
    qsort(sorted, hits->len, sizeof *sorted, by_id);
    for (size_t i = 0; i < hits->len; i++)
        wt__buffer_printf(&have, "%s%s", i ? " " : "", sorted[i]->tool->id);
    if (strcmp(have.ptr ? have.ptr : "", ids) != 0)
        fail_msg("%s: found \"%s\", not \"%s\"", name, have.ptr ? have.ptr : "", ids);
    wt__buffer_dispose(&have);
}

static void filter_limits_found_tools(void **state)
{
    wt_find_options options;
    (void)state;
    wt_find_options_init(&options);
    options.recipe = "dense"; /* scores every tool */
    options.k = HANDMADE;
    options.copies = 1;
    for (size_t round = 0; round < 2; round++) /* the second round uses cached masks */
        for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
            wt_filter filter = filter_of(&filters[i].lists);
            options.filter = &filter;
            wt_hits *hits = find_with(&place, semantic, "search a song", &options);
            assert_found_ids(filters[i].name, hits, filters[i].ids);
            if (!hits->notice != !filters[i].notice || (hits->notice && !strstr(hits->notice, filters[i].notice)))
                fail_msg("%s: the notice is \"%s\"", filters[i].name, hits->notice ? hits->notice : "");
            wt_hits_free(hits);
        }
}

static void filter_limits_picked_tools(void **state)
{
    wt_pick_options options;
    (void)state;
    wt_pick_options_init(&options);
    options.abstain = -1;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        wt_filter filter = filter_of(&filters[i].lists);
        wt_picked *picked = NULL;
        options.filter = &filter;
        assert_call_ok(&place, wt_pick(semantic, "search a song", 13, &options, &picked, &place.err));
        for (size_t t = 0; t < picked->len; t++)
            if (!strstr(filters[i].ids, picked->items[t]->tool->id))
                fail_msg("%s: %s was picked", filters[i].name, picked->items[t]->tool->id);
        if (filters[i].notice && !(picked->notice && strstr(picked->notice, filters[i].notice)))
            fail_msg("%s: the notice is \"%s\"", filters[i].name, picked->notice ? picked->notice : "");
        wt_picked_free(picked);
    }
}

struct condition_calls {
    char ids[1024];
    size_t count;
};

static int is_of_files_or_music(void *context, const char *id)
{
    struct condition_calls *asked = context;
    snprintf(asked->ids + strlen(asked->ids), sizeof asked->ids - strlen(asked->ids), "%s ", id);
    asked->count++;
    return strncmp(id, "files/", 6) == 0 || strncmp(id, "music/", 6) == 0;
}

/* A tool must pass the lists and the condition. The mask is cached by the lists and the name of the condition, so the
 * condition is not called again for the same lists and name. */
static void condition_is_combined_with_lists(void **state)
{
    static const struct {
        const char *name; /* name of the condition */
        struct lists lists;
        const char *ids;
        size_t asked; /* calls of the condition */
    } rows[] = {
        {"one", {.providers = {NULL}}, "files/search music/search", HANDMADE},
        {"one", {.providers = {NULL}}, "files/search music/search", 0},
        {"two", {.providers = {NULL}}, "files/search music/search", HANDMADE},
        {"one", {.excluded = {"music/*"}}, "files/search", HANDMADE - 1},
        {"one", {.excluded = {"music/*"}}, "files/search", 0},
    };
    struct condition_calls asked = {.count = 0};
    wt_find_options options;
    (void)state;
    wt_find_options_init(&options);
    options.recipe = "dense";
    options.copies = 1;
    options.k = HANDMADE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_filter filter = filter_of(&rows[i].lists);
        filter.condition = is_of_files_or_music;
        filter.condition_context = &asked;
        filter.condition_name = rows[i].name;
        options.filter = &filter;
        asked = (struct condition_calls){.count = 0};
        wt_hits *hits = find_with(&place, semantic, "search a song", &options);
        assert_found_ids(rows[i].name, hits, rows[i].ids);
        assert_int_equal(asked.count, rows[i].asked);
        assert_true(asked.count == 0 || strstr(asked.ids, "calculator "));
        wt_hits_free(hits);
    }
    wt_filter filter = filter_of(&rows[0].lists);
    wt_hits *hits = NULL;
    filter.condition = is_of_files_or_music;
    options.filter = &filter;
    assert_call_refused(&place, wt_find(semantic, "song", 4, &options, &hits, &place.err), WT_EINVAL,
                        "condition without a name");
}

static void provider_option_is_added_to_filter(void **state)
{
    static const struct lists lists = {.providers = {"files"}};
    wt_filter filter = filter_of(&lists);
    wt_find_options options;
    (void)state;
    wt_find_options_init(&options);
    options.recipe = "dense";
    options.copies = 1;
    options.provider = "music";
    options.filter = &filter;
    wt_hits *hits = find_with(&place, semantic, "search a song", &options);
    assert_found_ids("provider and filter", hits, "files/search music/search");
    wt_hits_free(hits);
}

static void invalid_filter_is_rejected(void **state)
{
    static char pattern[WT_MAX_PATTERN_BYTES + 2];
    static const char *many[WT_MAX_FILTER_ITEMS + 1];
    const char *longest[] = {pattern}, *null[] = {"files", NULL};
    const char *unknown[] = {"fils", "nobody"}, *unmatched[] = {"*/delete_*"};
    memset(pattern, '*', sizeof pattern - 1);
    for (size_t i = 0; i < WT_MAX_FILTER_ITEMS + 1; i++)
        many[i] = "files";
    const struct {
        wt_filter filter;
        int code;
        const char *says;
    } cases[] = {
        {{.only = longest, .only_count = 1}, WT_EINVAL, "is longer than 1024 bytes"},
        {{.excluded = longest, .excluded_count = 1}, WT_EINVAL, "is longer than 1024 bytes"},
        {{.providers = many, .provider_count = WT_MAX_FILTER_ITEMS + 1}, WT_EINVAL, "at most 100 are allowed"},
        {{.excluded = NULL, .excluded_count = 1}, WT_EINVAL, "item 0 of a list of the filter is NULL"},
        {{.excluded_providers = null, .excluded_provider_count = 2},
         WT_EINVAL,
         "item 1 of a list of the filter is NULL"},
        {{.providers = unknown, .provider_count = 2},
         WT_ENOTFOUND,
         "no tool has the provider \"fils\"; did you mean \"files\"?"},
        {{.only = unmatched, .only_count = 1}, WT_ENOTFOUND, "no tool matches \"*/delete_*\""},
    };
    wt_find_options options;
    (void)state;
    wt_find_options_init(&options);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            wt_filter filter = cases[i].filter;
            wt_hits *hits = NULL;
            filter.size = sizeof filter;
            options.filter = &filter;
            assert_call_refused(&place, wt_find(semantic, "song", 4, &options, &hits, &place.err), cases[i].code,
                                cases[i].says);
            assert_null(hits);
        }
    wt_filter forgotten = {0};
    wt_hits *hits = NULL;
    options.filter = &forgotten;
    assert_call_refused(&place, wt_find(semantic, "song", 4, &options, &hits, &place.err), WT_EINVAL, "_init");
}

static bool is_left_out(const char *id)
{
    return id[strlen(id) - 1] == 'b' || strncmp(id, "p1/", 3) == 0;
}

/* A filtered search returns k hits. They are the hits of an unfiltered search without the excluded tools, in the same
 * order. */
static void hits_are_filtered_before_cut_to_k(void **state)
{
    static const char *const recipes[] = {"bm25", "dense"};
    static const struct lists lists = {.excluded_providers = {"p1"}, .excluded = {"p*/tool_?*b"}};
    wt_filter filter = filter_of(&lists);
    struct buffer tools = {0};
    (void)state;
    synthetic_tools(&tools, 1, 400, 4);
    wt_engine *engine = open_test_engine(&place, NULL);
    add(&place, engine, tools.ptr);
    for (size_t r = 0; r < 2; r++) {
        wt_find_options options;
        wt_find_options_init(&options);
        options.recipe = recipes[r];
        options.copies = 1;
        options.k = 100;
        wt_hits *all = find_with(&place, engine, "book a table in the city", &options);
        options.k = 20;
        options.filter = &filter;
        wt_hits *some = find_with(&place, engine, "book a table in the city", &options);
        assert_int_equal(some->len, 20);
        size_t at = 0;
        for (size_t i = 0; i < all->len && at < some->len; i++) {
            if (is_left_out(all->items[i]->tool->id))
                continue;
            assert_string_equal(some->items[at]->tool->id, all->items[i]->tool->id);
            assert_float_equal(some->items[at++]->score, all->items[i]->score, 0);
        }
        assert_true(at > 10);
        wt_hits_free(all);
        wt_hits_free(some);
    }
    wt_close(engine);
    wt__buffer_dispose(&tools);
}

static void filter_follows_catalogue(void **state)
{
    static const struct lists lists = {.only = {"*search*"}, .excluded_providers = {"video"}};
    wt_filter filter = filter_of(&lists);
    wt_find_options options;
    (void)state;
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_find_options_init(&options);
    options.recipe = "dense";
    options.copies = 1;
    options.filter = &filter;
    wt_hits *hits = find_with(&place, engine, "search a song", &options);
    assert_found_ids("before", hits, "files/search music/search travel/search_flights");
    assert_non_null(strstr(hits->notice, "no tool has the provider \"video\""));
    wt_hits_free(hits);
    add(&place, engine,
        "{\"provider\": \"video\", \"name\": \"search\", \"description\": \"Find a film\"}\n"
        "{\"provider\": \"maps\", \"name\": \"search_place\", \"description\": \"Find a place\"}\n");
    assert_int_equal(wt_remove(engine, "music/search", &place.err), 1);
    hits = find_with(&place, engine, "search a song", &options);
    assert_found_ids("after", hits, "files/search maps/search_place travel/search_flights");
    assert_null(hits->notice);
    wt_hits_free(hits);
    wt_close(engine);
}

/* Uses more filters than the cache holds masks, and then the first filters again. */
static void unused_masks_are_evicted(void **state)
{
    wt_find_options options;
    (void)state;
    wt_find_options_init(&options);
    options.recipe = "bm25";
    for (size_t i = 0; i < EVICTING + 10; i++) {
        char pattern[32];
        struct lists lists = {.excluded = {pattern}, .providers = {"music", "files"}};
        snprintf(pattern, sizeof pattern, "music/search%.*zu", i % EVICTING ? 3 : 0, i % EVICTING);
        wt_filter filter = filter_of(&lists);
        options.filter = &filter;
        wt_hits *hits = find_with(&place, lexical, "search", &options);
        assert_int_equal(hits->len, i % EVICTING ? 2 : 1);
        wt_hits_free(hits);
    }
}

static char nothing_found[] = "nothing was found";

static void *ask_often(void *context)
{
    wt_engine *engine = context;
    for (size_t i = 0; i < ROUNDS; i++) {
        const char *only[] = {i % 3 == 0 ? "search*" : i % 3 == 1 ? "*/search*" : "*"};
        wt_filter filter = {.size = sizeof filter, .only = only, .only_count = 1};
        wt_find_options options;
        wt_hits *hits = NULL;
        wt_error err;
        wt_find_options_init(&options);
        options.filter = &filter;
        if (wt_find(engine, "search", 6, &options, &hits, &err) < 0 || hits->len == 0)
            return nothing_found;
        wt_hits_free(hits);
    }
    return NULL;
}

static void threads_share_filter_masks(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, engine), 0);
    for (int i = 0; i < 10; i++) {
        char tool[128];
        snprintf(tool, sizeof tool, "{\"provider\": \"new\", \"name\": \"search_%d\", \"description\": \"search\"}\n",
                 i);
        add(&place, engine, tool);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *what;
        pthread_join(threads[i], &what);
        if (what)
            fail_msg("%s", (const char *)what);
    }
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(filter_limits_found_tools, open_both, close_both),
        cmocka_unit_test_setup_teardown(filter_limits_picked_tools, open_both, close_both),
        cmocka_unit_test_setup_teardown(condition_is_combined_with_lists, open_both, close_both),
        cmocka_unit_test_setup_teardown(provider_option_is_added_to_filter, open_both, close_both),
        cmocka_unit_test_setup_teardown(invalid_filter_is_rejected, open_both, close_both),
        cmocka_unit_test_setup_teardown(hits_are_filtered_before_cut_to_k, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(filter_follows_catalogue, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(unused_masks_are_evicted, open_both, close_both),
        cmocka_unit_test_setup_teardown(threads_share_filter_masks, set_up_handmade, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
