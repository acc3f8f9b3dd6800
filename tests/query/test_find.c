/* Tests wt_find: results, options, errors of invalid calls, and sums of explanations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include <math.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "engine/set_up.h"
#include "recipe/recipes.h"
#include "retrieve/retrieve.h"

static void right_tool_comes_first(void **state)
{
    (void)state;
    static const struct {
        const char *request, *id;
    } cases[] = {
        {"what is the weather in the city of Oslo", "weather/getForecast"},
        {"storm warning", "weather/storm_alerts"},
        {"get forecast", "weather/getForecast"},
        {"getforecast", "weather/getForecast"},
        {"reserve hotels", "travel/bookHotel"},
        {"multiply 3 by 4", "calculator"},
        {"song \xFF\xFE title", "music/search"}, /* invalid UTF-8 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_hits *hits = find_with(&place, lexical, cases[i].request, NULL);
        assert_true(hits->len > 0);
        assert_string_equal(hits->items[0]->tool->id, cases[i].id);
        for (size_t h = 1; h < hits->len; h++)
            assert_true(hits->items[h - 1]->score >= hits->items[h]->score);
        wt_hits_free(hits);
    }
}

static void hit_has_complete_tool(void **state)
{
    (void)state;
    wt_hits *hits = find_with(&place, lexical, "weather forecast", NULL);
    const wt_tool *tool = hits->items[0]->tool;
    assert_string_equal(tool->provider, "weather");
    assert_string_equal(tool->name, "getForecast");
    assert_string_equal(tool->title, "Weather forecast");
    assert_string_equal(tool->description, "The weather of the coming days in a city");
    assert_string_equal(tool->category, "Nature");
    assert_string_equal(tool->format, "jsonl");
    assert_int_equal(tool->definition_len, strcspn(handmade, "\n"));
    assert_memory_equal(tool->definition, handmade, tool->definition_len);
    assert_int_equal(strlen(tool->sha256), 64);
    assert_non_null(strstr(tool->schema, "town of interest"));
    wt_hits_free(hits);
}

static void request_without_known_words_has_no_hits(void **state)
{
    (void)state;
    static const char *const requests[] = {"zebra", "?!", "the of and", "\xFF"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        wt_hits *hits = find_with(&place, lexical, requests[i], NULL);
        assert_int_equal(hits->len, 0);
        wt_hits_free(hits);
    }
}

static void misspelt_words_are_corrected_by_find(void **state)
{
    (void)state;
    static const struct {
        const char *request, *read_as, *id; /* read_as NULL if unchanged; id NULL without hits */
    } cases[] = {
        {"find a sogn by its tilte", "find a song by its title", "music/search"},
        {"Serch flihgts", "Search flights", "travel/search_flights"},
        {"stomr", "storm", "weather/storm_alerts"},
        {"find a song by its title", NULL, "music/search"},
        {"\"stomr\"", NULL, NULL},
        {"Ask Stomr", NULL, NULL},
    };
    wt_find_options as_typed;
    wt_find_options_init(&as_typed);
    as_typed.as_typed = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_hits *hits = find_with(&place, lexical, cases[i].request, NULL);
        assert_int_equal(!hits->read_as, !cases[i].read_as);
        if (hits->read_as)
            assert_string_equal(hits->read_as, cases[i].read_as);
        assert_int_equal(hits->len > 0, cases[i].id != NULL);
        if (hits->len > 0)
            assert_string_equal(hits->items[0]->tool->id, cases[i].id);
        wt_hits_free(hits);
        hits = find_with(&place, lexical, cases[i].request, &as_typed);
        assert_null(hits->read_as);
        wt_hits_free(hits);
    }
    wt_hits *hits = find_with(&place, lexical, "stomr", &as_typed);
    assert_int_equal(hits->len, 0);
    wt_hits_free(hits);
}

/* A corrected request must have the same hits, by words and by meaning, as the correctly typed request. */
static void corrected_request_is_searched(void **state)
{
    (void)state;
    static const char *const typed = "find a sogn by its tilte, then reserve a hotle room in the ctiy",
                             *const right = "find a song by its title, then reserve a hotel room in the city";
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "hybrid";
    options.explain = 1;
    wt_hits *a = find_with(&place, semantic, typed, &options), *b = find_with(&place, semantic, right, &options);
    assert_string_equal(a->read_as, right);
    assert_int_equal(a->len, b->len);
    for (size_t i = 0; i < a->len; i++) {
        assert_string_equal(a->items[i]->tool->id, b->items[i]->tool->id);
        assert_true(a->items[i]->score == b->items[i]->score);
        assert_int_equal(a->items[i]->match_count, b->items[i]->match_count);
    }
    wt_hits_free(a);
    wt_hits_free(b);
}

static void unknown_words_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *request, *words; /* words: the unknown words that are reported, separated by blanks */
    } cases[] = {
        {"linear storm", "linear"}, /* a request of keywords: unknown words are always reported */
        {"zebra", "zebra"},         /* no hits */
        {"order a pizza with some cheese", "order pizza cheese"},
        {"find a song by its title for Kofi", ""}, /* a likely hit, so no unknown words are reported */
        {"storm warning", ""},
        {"the of and", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_hits *hits = find_with(&place, lexical, cases[i].request, NULL);
        char joined[128] = "";
        for (size_t w = 0; w < hits->unknown_count; w++) {
            strcat(joined, w ? " " : "");
            strcat(joined, hits->unknown_words[w]);
        }
        assert_string_equal(joined, cases[i].words);
        wt_hits_free(hits);
    }
}

/* Calls wt_find for bytes that may contain NUL. */
static int find_bytes(const char *bytes, size_t len, const wt_find_options *options)
{
    wt_hits *hits = (wt_hits *)&place;
    int rc = wt_find(lexical, bytes, len, options, &hits, &place.err);
    if (rc < 0)
        assert_null(hits);
    wt_hits_free(hits);
    return rc;
}

static void empty_and_oversized_requests_are_rejected(void **state)
{
    (void)state;
    char *longest = malloc(WT_MAX_REQUEST_BYTES + 1);
    memset(longest, 'a', WT_MAX_REQUEST_BYTES + 1);
    assert_call_refused(&place, find_bytes(longest, WT_MAX_REQUEST_BYTES + 1, NULL), WT_ETOOLONG,
                        "65537 bytes; at most 65536");
    assert_int_equal(find_bytes(longest, WT_MAX_REQUEST_BYTES, NULL), 0);
    free(longest);
    assert_call_refused(&place, find_bytes("", 0, NULL), WT_EINVAL, "the request is empty");
    assert_call_refused(&place, find_bytes(NULL, 0, NULL), WT_EINVAL, "the request is empty");
    assert_call_refused(&place, find_bytes(" \t\n", 3, NULL), WT_EINVAL, "the request is empty");
    assert_int_equal(find_bytes("song\0title", 10, NULL), 0);
    assert_int_equal(find_bytes("\0", 1, NULL), 0);
}

static void words_after_nul_are_searched(void **state)
{
    (void)state;
    wt_hits *hits;
    assert_call_ok(&place, wt_find(lexical, "\0song", 5, NULL, &hits, &place.err));
    assert_int_equal(hits->len, 1);
    wt_hits_free(hits);
}

/* Returns the seconds of processor time to answer hostile requests of this length. */
static double time_hostile_requests(size_t bytes)
{
    static const char *const patterns[] = {"a,b;c and d ",
                                           "storm, ",
                                           ", ",
                                           " ",
                                           "b\n",
                                           "hotel.\n",
                                           "and then ",
                                           "the, ",
                                           ". ",
                                           "x y z, ",
                                           "aB1_",
                                           "\xFF",
                                           "\xE4\xBD\xA0",
                                           "e\xCC\x81",
                                           "a b c d e f g h i j ",
                                           "a"};
    wt_find_options options;
    char *request = malloc(bytes);
    clock_t begun = clock();
    wt_find_options_init(&options);
    options.explain = 1;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        size_t len = strlen(patterns[p]);
        for (size_t i = 0; i < bytes; i++)
            request[i] = patterns[p][i % len];
        request[0] = request[bytes - 1] = 'q';
        wt_hits *hits;
        assert_call_ok(&place, wt_find(lexical, request, bytes, &options, &hits, &place.err));
        wt_hits_free(hits);
    }
    free(request);
    return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

/* Compares processor times, because sanitizers and emulators are slow, and a busy machine must not fail the test. Four
 * times the bytes take 4 times as long in linear time, and 16 times in quadratic time. */
static void hostile_requests_are_answered_in_linear_time(void **state)
{
    (void)state;
    double quarter = time_hostile_requests(WT_MAX_REQUEST_BYTES / 4);
    double whole = time_hostile_requests(WT_MAX_REQUEST_BYTES);
    if (whole > 10 * quarter + .1)
        fail_msg("requests of 16 KiB: %.2f s, of 64 KiB: %.2f s", quarter, whole);
}

static void k_limits_number_of_hits(void **state)
{
    (void)state;
    static const struct {
        size_t k, least, most;
    } cases[] = {{0, 5, 5}, {1, 1, 1}, {6, 6, 6}, {WT_MAX_K, 6, 6}};
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "bm25";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.k = cases[i].k;
        wt_hits *hits =
            find_with(&place, lexical, "find the city weather storm flights song document numbers", &options);
        assert_in_range(hits->len, cases[i].least, cases[i].most + 1);
        wt_hits_free(hits);
    }
    options.k = WT_MAX_K + 1;
    assert_call_refused(&place, find_bytes("song", 4, &options), WT_EINVAL, "1001 hits requested; at most 1000");
    options.k = SIZE_MAX;
    assert_call_refused(&place, find_bytes("song", 4, &options), WT_EINVAL, "at most 1000");
}

static void recipe_names_match_table(void **state)
{
    (void)state;
    wt_find_options options;
    wt_find_options_init(&options);
    struct buffer known = {0};
    size_t count = 0;
    wt__buffer_text(&known, "there is no recipe \"magic\"; use one of ");
    for (const wt_recipe *recipe; (recipe = wt_recipe_at(count)); count++) {
        options.recipe = recipe->name;
        assert_true(recipe->summary[0] != '\0');
        if (recipe->picks) {
            assert_call_refused(&place, find_bytes("song", 4, &options), WT_ERECIPE, "makes a set and ranks no tools");
            continue;
        }
        wt__buffer_printf(&known, "%s, ", recipe->name);
        if (recipe->needs_training) {
            assert_call_refused(&place, find_bytes("song", 4, &options), WT_ERECIPE,
                                "needs training; run `whichtool train ");
            continue;
        }
        if (strcmp(recipe->name, "joint") == 0) {
            assert_call_refused(&place, find_bytes("song", 4, &options), WT_EMODEL, "whichtool-joint-v1");
            continue;
        }
        wt_hits *hits = find_with(&place, semantic, "find a table", &options);
        assert_string_equal(hits->recipe, recipe->name);
        assert_null(hits->notice);
        assert_true(hits->len > 0);
        wt_hits_free(hits);
        if (recipe->needs_model)
            assert_call_refused(&place, find_bytes("song", 4, &options), WT_EMODEL, "without a model");
    }
    assert_int_equal(count, RECIPE_AUTO);
    assert_null(wt_recipe_at(SIZE_MAX));
    options.recipe = "magic";
    wt__buffer_text(&known, "auto");
    assert_false(known.failed);
    assert_call_refused(&place, find_bytes("song", 4, &options), WT_ERECIPE, known.ptr);
    wt__buffer_dispose(&known);
    options.recipe = "";
    assert_call_refused(&place, find_bytes("song", 4, &options), WT_ERECIPE, "no recipe \"\"");
}

static void auto_runs_best_available_recipe(void **state)
{
    (void)state;
    wt_find_options options;
    wt_find_options_init(&options);
    static const char *const names[] = {NULL, "auto"};
    for (size_t i = 0; i < 2; i++) {
        options.recipe = names[i];
        wt_hits *hits = find_with(&place, semantic, "find a table", &options);
        assert_string_equal(hits->recipe, "hybrid");
        assert_null(hits->notice);
        wt_hits_free(hits);
        hits = find_with(&place, lexical, "find a song", &options);
        assert_string_equal(hits->recipe, "hybrid");
        assert_non_null(strstr(hits->notice, "without a model"));
        wt_hits_free(hits);
    }
    wt_engine *absent = open_test_engine(&place, "/nowhere/some-model");
    wt_hits *hits = find_with(&place, absent, "find a song", NULL);
    assert_string_equal(hits->recipe, "hybrid");
    assert_non_null(strstr(hits->notice, "not installed"));
    assert_int_equal(hits->notice_codes, WT_NOTICE_NO_ENCODER);
    wt_hits_free(hits);
    wt_close(absent);
}

static void damaged_model_gives_notice(void **state)
{
    (void)state;
    char broken[128];
    wt_hits *hits;
    wt_find_options options;
    snprintf(broken, sizeof broken, "%s/broken", place.folder);
    put_text(broken, "vocab.txt", small_vocabulary);
    put_weights(broken, "", 1);
    put_text(broken, "config.json", "{");
    wt_engine *engine = open_test_engine(&place, broken);
    wt_find_options_init(&options);
    options.recipe = "hybrid";
    assert_call_refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_EMODEL, "config.json");
    assert_call_refused(&place, wt_dimension(engine, &place.err), WT_EMODEL, "config.json"); /* the same error again */
    assert_call_refused(&place, wt_embed_missing(engine, NULL, NULL, &place.err), WT_EMODEL, "config.json");
    hits = find_with(&place, engine, "song", NULL);
    assert_string_equal(hits->recipe, "hybrid");
    assert_non_null(strstr(hits->notice, "config.json"));
    wt_hits_free(hits);
    wt_close(engine);
}

static void provider_limits_search(void **state)
{
    (void)state;
    wt_find_options options;
    wt_find_options_init(&options);
    static const char *const recipes[] = {"bm25", "dense", "hybrid"};
    for (size_t r = 0; r < 3; r++) {
        options.recipe = recipes[r];
        options.provider = "files";
        wt_hits *hits = find_with(&place, semantic, "search a song", &options);
        assert_int_equal(hits->len, 1);
        assert_string_equal(hits->items[0]->tool->id, "files/search");
        wt_hits_free(hits);
    }
    options.recipe = NULL;
    options.provider = ""; /* tools without a provider */
    wt_hits *hits = find_with(&place, lexical, "numbers and a song", &options);
    assert_int_equal(hits->len, 1);
    assert_string_equal(hits->items[0]->tool->id, "calculator");
    wt_hits_free(hits);
    options.provider = "nobody";
    assert_call_refused(&place, find_bytes("song", 4, &options), WT_ENOTFOUND, "no tool has the provider \"nobody\"");
}

static void provider_cap_leaves_room_for_others(void **state)
{
    (void)state;
    wt_find_options options;
    wt_find_options_init(&options);
    options.max_per_provider = 1;
    options.k = 50;
    wt_hits *hits = find_with(&place, lexical, "city weather storm flights search", &options);
    assert_true(hits->len >= 3);
    for (size_t i = 0; i < hits->len; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(hits->items[i]->tool->provider, hits->items[j]->tool->provider);
    wt_hits_free(hits);
}

/* A provider with more tools than a search considers must not displace the tools of other providers. */
static void provider_cap_reaches_past_large_provider(void **state)
{
    (void)state;
    struct test_place own;
    struct buffer tools = {0};
    wt_find_options options;
    make_test_place(&own);
    for (size_t i = 0; i < 300; i++)
        wt__buffer_printf(&tools, "{\"provider\": \"big\", \"name\": \"song%zu\", \"description\": \"song\"}\n", i);
    wt__buffer_text(&tools, "{\"provider\": \"small\", \"name\": \"other\", \"description\": \"a long text on many "
                            "things, among which somewhere there is one song\"}\n");
    wt_engine *engine = open_test_engine(&own, "");
    add(&own, engine, tools.ptr);
    wt_find_options_init(&options);
    options.max_per_provider = 2;
    wt_hits *hits = find_with(&own, engine, "song", &options);
    assert_int_equal(hits->len, 3);
    assert_string_equal(hits->items[2]->tool->id, "small/other");
    wt_hits_free(hits);
    wt_close(engine);
    wt__buffer_dispose(&tools);
    remove_test_place(&own);
}

static void explanations_add_up(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "find a table for two in the city",
        "the weather forecast for my city, then reserve a nice hotel room and search cheap flights between airports",
    };
    static const char *const recipes[] = {"bm25", "dense", "hybrid"};
    wt_find_options options;
    wt_find_options_init(&options);
    options.explain = 1;
    for (size_t r = 0; r < 2; r++)
        for (size_t s = 0; s < 3; s++) {
            options.recipe = recipes[s];
            wt_hits *hits = find_with(&place, semantic, requests[r], &options);
            assert_true(hits->len > 0);
            for (size_t h = 0; h < hits->len; h++) {
                const wt_hit *hit = hits->items[h];
                double shares = 0, words = 0, bm25 = 0;
                assert_in_range(hit->stage_count, 1, 6);
                for (size_t i = 0; i < hit->stage_count; i++) {
                    shares += hit->stages[i]->share;
                    if (strcmp(hit->stages[i]->stage, "bm25") == 0)
                        bm25 = hit->stages[i]->score;
                }
                for (size_t i = 0; i < hit->match_count; i++) {
                    words += hit->matches[i]->score;
                    assert_true(hit->matches[i]->word[0] && hit->matches[i]->fields[0]);
                    assert_true(i == 0 || hit->matches[i - 1]->score >= hit->matches[i]->score);
                }
                assert_true(fabs(shares - hit->score) < 1e-5);
                assert_true(fabs(words - bm25) < 1e-4 * (1 + bm25));
            }
            wt_hits_free(hits);
        }
}

/* A static encoder gives a zero vector for a text without known tokens. */
static void zero_vector_matches_no_tool(void **state)
{
    static const struct {
        const char *request;
        bool found;
    } cases[] = {{"zzz", false}, {"weather zzz", true}};
    static const char *const files[] = {"config.json", "model.safetensors", "tokenizer.json"};
    const char *source = getenv("WT_TEST_SOURCE");
    struct test_place own;
    wt_find_options options;
    (void)state;
    make_test_place(&own);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512], *bytes;
        size_t len;
        snprintf(path, sizeof path, "%s/tests/golden/static/floats/%s", source ? source : ".", files[i]);
        assert_call_ok(&own, wt__file_read(&bytes, &len, path, 1 << 20, &own.err));
        put_file(own.model, files[i], bytes, len);
        free(bytes);
    }
    wt_engine *engine = open_test_engine(&own, NULL);
    add(&own, engine, handmade);
    wt_find_options_init(&options);
    options.recipe = "dense";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_hits *hits = find_with(&own, engine, cases[i].request, &options);
        assert_true((hits->len > 0) == cases[i].found);
        wt_hits_free(hits);
    }
    wt_close(engine);
    remove_test_place(&own);
}

static void explanation_has_words_and_fields(void **state)
{
    (void)state;
    wt_find_options options;
    wt_find_options_init(&options);
    options.explain = 1;
    options.recipe = "bm25";
    wt_hits *hits = find_with(&place, lexical, "cities and towns", &options);
    assert_string_equal(hits->items[0]->tool->id, "weather/getForecast");
    assert_int_equal(hits->items[0]->match_count, 2);
    assert_int_equal(hits->items[0]->stage_count, 2);
    assert_string_equal(hits->items[0]->stages[0]->stage, "bm25");
    assert_string_equal(hits->items[0]->stages[1]->stage, "name");
    assert_true(hits->items[0]->stages[1]->share == 0); /* no tool is named in the request */
    assert_int_equal(hits->items[0]->stages[0]->rank, 1);
    for (size_t i = 0; i < 2; i++) {
        const wt_match *match = hits->items[0]->matches[i];
        const char *fields = strcmp(match->word, "citi") == 0 ? "description parameters" : "parameter-texts";
        assert_string_equal(match->fields, fields);
    }
    wt_hits_free(hits);
    hits = find_with(&place, lexical, "cities and towns", NULL);
    assert_int_equal(hits->items[0]->match_count, 0);
    assert_int_equal(hits->items[0]->stage_count, 0);
    wt_hits_free(hits);
}

static void older_find_options_are_not_read_past_their_end(void **state)
{
    (void)state;
    /* Simulate a caller whose header has a struct that ends before `recipe`. The library must not read further. */
    wt_find_options options;
    memset(&options, 0xA5, sizeof options);
    options.size = offsetof(wt_find_options, recipe);
    options.k = 2;
    wt_hits *hits = find_with(&place, lexical, "find the city", &options);
    assert_int_equal(hits->len, 2);
    assert_string_equal(hits->recipe, "hybrid");
    wt_hits_free(hits);
    memset(&options, 0, sizeof options); /* all zero, without _init */
    options.k = 1;
    assert_call_refused(&place, find_bytes("song", 4, &options), WT_EINVAL, "with its _init function");
    struct {
        wt_find_options known;
        void *later;
    } newer = {.known = {.size = sizeof newer, .k = 3}, .later = &newer};
    hits = find_with(&place, lexical, "find the city", &newer.known);
    assert_int_equal(hits->len, 3);
    wt_hits_free(hits);
}

static int stop_in_phase(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase, (void)done, (void)total;
    return ++*(int *)context;
}

static int linger(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    return usleep(2000) != 0;
}

static void find_and_pick_can_be_cancelled(void **state)
{
    (void)state;
    static const struct {
        wt_progress_fn progress;
        unsigned limit_ms;
        int code;
        const char *says;
    } cases[] = {{stop_in_phase, 0, WT_ECANCELLED, "stopped on request"},
                 {stop_in_phase, 600000, WT_ECANCELLED, "stopped on request"},
                 {linger, 1, WT_ETIMEOUT, "the time limit of 1 ms ran out"},
                 {linger, 600000, 0, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_find_options find;
        wt_pick_options pick;
        wt_hits *hits;
        wt_picked *picked;
        int calls = 0;
        wt_find_options_init(&find);
        wt_pick_options_init(&pick);
        find.progress = pick.progress = cases[i].progress;
        find.progress_context = pick.progress_context = &calls;
        find.time_limit_ms = pick.time_limit_ms = cases[i].limit_ms;
        int found = wt_find(lexical, "song", 4, &find, &hits, &place.err);
        if (cases[i].code)
            assert_call_refused(&place, found, cases[i].code, cases[i].says);
        int set = wt_pick(lexical, "song", 4, &pick, &picked, &place.err);
        if (cases[i].code)
            assert_call_refused(&place, set, cases[i].code, cases[i].says);
        assert_true(found == cases[i].code && set == cases[i].code);
        assert_true((hits == NULL) == (found < 0) && (picked == NULL) == (set < 0));
        assert_int_equal(calls, cases[i].progress == stop_in_phase ? 2 : 0); /* one call by wt_find, one by wt_pick */
        wt_hits_free(hits);
        wt_picked_free(picked);
    }
}

static void canceller_stops_find(void **state)
{
    (void)state;
    wt_find_options find;
    wt_hits *hits;
    wt_canceller *canceller;
    wt_find_options_init(&find);
    assert_int_equal(wt_canceller_new(&canceller, NULL, NULL, &place.err), 0);
    find.progress = wt_canceller_progress;
    find.progress_context = canceller;
    find.abstain = WT_OFF;
    assert_int_equal(wt_find(lexical, "song", 4, &find, &hits, &place.err), 0);
    wt_hits_free(hits);
    wt_canceller_cancel(canceller);
    assert_call_refused(&place, wt_find(lexical, "song", 4, &find, &hits, &place.err), WT_ECANCELLED,
                        "stopped on request");
    wt_canceller_free(canceller);
}

static void empty_store_is_rejected(void **state)
{
    (void)state;
    wt_hits *hits;
    wt_engine *engine;
    wt_error err = {.code = 77};
    assert_int_equal(wt_open(&engine, ":memory:", NULL, &err), 0);
    assert_int_equal(wt_find(engine, "song", 4, NULL, &hits, NULL), WT_EEMPTY);
    assert_null(hits);
    assert_int_equal(err.code, 77); /* a successful call does not write to err */
    assert_int_equal(wt_find(engine, "song", 4, NULL, &hits, &err), WT_EEMPTY);
    assert_non_null(strstr(err.message, "whichtool add"));
    wt_close(engine);
}

static void success_leaves_error_unchanged(void **state)
{
    (void)state;
    wt_error untouched, err;
    wt_hits *hits;
    memset(&untouched, 0x5A, sizeof untouched);
    err = untouched;
    wt_engine *fresh = open_test_engine(&place, NULL);
    assert_int_equal(wt_find(fresh, "song", 4, NULL, &hits, &err), 0);
    wt_hits_free(hits);
    assert_int_equal(wt_find(lexical, "song", 4, NULL, &hits, &err), 0);
    wt_hits_free(hits);
    assert_memory_equal(&err, &untouched, sizeof err);
    wt_close(fresh);
}

static void results_outlive_the_engine(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_hits *hits = find_with(&place, engine, "song", NULL);
    wt_close(engine);
    assert_string_equal(hits->items[0]->tool->id, "music/search");
    assert_true(hits->total_ms >= hits->search_ms && hits->search_ms >= 0 && hits->encode_ms >= 0);
    wt_hits_free(hits);
}

static void text_vectors_have_unit_length(void **state)
{
    (void)state;
    static const char *const texts[] = {"book a table", "", "\xFF\0x", "find two tables for a"};
    static const size_t lens[] = {12, 0, 3, 21};
    float vectors[4][SMALL_HIDDEN];
    assert_int_equal(wt_dimension(semantic, &place.err), SMALL_HIDDEN);
    assert_call_ok(&place, wt_embed(semantic, texts, lens, 4, vectors[0], &place.err));
    for (size_t i = 0; i < 4; i++) {
        double square = 0;
        for (size_t d = 0; d < SMALL_HIDDEN; d++)
            square += (double)vectors[i][d] * vectors[i][d];
        assert_true(fabs(square - 1) < 1e-4);
    }
    assert_int_equal(wt_embed(semantic, NULL, NULL, 0, NULL, &place.err), 0);
    assert_call_refused(&place, wt_dimension(lexical, &place.err), WT_EMODEL, "without a model");
    assert_call_refused(&place, wt_embed(lexical, texts, lens, 4, vectors[0], &place.err), WT_EMODEL,
                        "without a model");
}

static void embed_with_model(const char *model, bool documents, const char *text, float *out)
{
    size_t len = strlen(text);
    wt_open_options options;
    wt_engine *engine;
    wt_open_options_init(&options);
    options.model = model;
    assert_call_ok(&place, wt_open(&engine, ":memory:", &options, &place.err));
    assert_call_ok(&place, documents ? wt_embed_documents(engine, &text, &len, 1, out, &place.err)
                                     : wt_embed(engine, &text, &len, 1, out, &place.err));
    wt_close(engine);
}

static void texts_are_embedded_with_prompt_of_their_role(void **state)
{
    static const char *const with_prompts[] = {"a b d e", "c d e"};
    char folder[64], model[80];
    float want[2][SMALL_HIDDEN], have[SMALL_HIDDEN];
    (void)state;
    make_model(folder, model);
    for (int document = 0; document < 2; document++)
        embed_with_model(model, false, with_prompts[document], want[document]);
    put_text(model, "config_sentence_transformers.json", "{\"prompts\": {\"query\": \"a b \", \"document\": \"c \"}}");
    for (int document = 0; document < 2; document++) {
        embed_with_model(model, document != 0, "d e", have);
        assert_memory_equal(have, want[document], sizeof have);
    }
    remove_model_folder(folder);
}

static void default_model_finds_by_meaning(void **state)
{
    (void)state;
    static const struct {
        const char *request, *id;
    } cases[] = {
        {"I need a place to sleep tonight", "travel/bookHotel"},
        {"take a plane to Rome", "travel/search_flights"},
        {"will I need an umbrella tomorrow", "weather/getForecast"},
        {"what is 12 times 7", "calculator"},
    };
    wt_models *models;
    bool installed = wt_model_info(NULL, WT_BASE_MODEL, &models, NULL) == 0 && models->items[0]->installed;
    wt_models_free(models);
    if (!installed) {
        print_message("skipped: the model " WT_BASE_MODEL " is not installed\n");
        skip();
    }
    wt_engine *engine;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "dense";
    assert_call_ok(&place, wt_open(&engine, ":memory:", NULL, &place.err));
    add(&place, engine, handmade);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_hits *hits = find_with(&place, engine, cases[i].request, &options);
        assert_string_equal(hits->items[0]->tool->id, cases[i].id);
        wt_hits_free(hits);
    }
    wt_close(engine);
}

static void null_is_freed_and_codes_have_names(void **state)
{
    (void)state;
    wt_hits_free(NULL);
    wt_tools_free(NULL);
    wt_add_report_free(NULL);
    wt_models_free(NULL);
    wt_string_free(NULL);
    wt_close(NULL);
    assert_string_equal(wt_version(), WT_VERSION);
    for (int code = WT_ETIMEOUT; code <= WT_OK; code++)
        assert_int_equal(strncmp(wt_code_name(code), code == WT_OK ? "WT_OK" : "WT_E", 4), 0);
    assert_string_equal(wt_code_name(-18), "WT_E?");
    assert_string_equal(wt_code_name(1), "WT_E?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_tool_comes_first),
        cmocka_unit_test(hit_has_complete_tool),
        cmocka_unit_test(request_without_known_words_has_no_hits),
        cmocka_unit_test(misspelt_words_are_corrected_by_find),
        cmocka_unit_test(corrected_request_is_searched),
        cmocka_unit_test(unknown_words_are_reported),
        cmocka_unit_test(empty_and_oversized_requests_are_rejected),
        cmocka_unit_test(words_after_nul_are_searched),
        cmocka_unit_test(hostile_requests_are_answered_in_linear_time),
        cmocka_unit_test(k_limits_number_of_hits),
        cmocka_unit_test(recipe_names_match_table),
        cmocka_unit_test(auto_runs_best_available_recipe),
        cmocka_unit_test(damaged_model_gives_notice),
        cmocka_unit_test(provider_limits_search),
        cmocka_unit_test(provider_cap_leaves_room_for_others),
        cmocka_unit_test(provider_cap_reaches_past_large_provider),
        cmocka_unit_test(explanations_add_up),
        cmocka_unit_test(zero_vector_matches_no_tool),
        cmocka_unit_test(explanation_has_words_and_fields),
        cmocka_unit_test(older_find_options_are_not_read_past_their_end),
        cmocka_unit_test(find_and_pick_can_be_cancelled),
        cmocka_unit_test(canceller_stops_find),
        cmocka_unit_test(empty_store_is_rejected),
        cmocka_unit_test(success_leaves_error_unchanged),
        cmocka_unit_test(results_outlive_the_engine),
        cmocka_unit_test(texts_are_embedded_with_prompt_of_their_role),
        cmocka_unit_test(text_vectors_have_unit_length),
        cmocka_unit_test(default_model_finds_by_meaning),
        cmocka_unit_test(null_is_freed_and_codes_have_names),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
