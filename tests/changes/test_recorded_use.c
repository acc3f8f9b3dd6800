/* Tests recorded use before training: the same request finds its tools at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "changes/recorded_use.h"
#include "engine/usages.h"

/* Returns the ids of the first k hits, with '*' after hits that recorded use has lifted. recipe: may be NULL. */
static const char *list_lifted(wt_engine *engine, const char *request, size_t k, const char *recipe)
{
    static char text[400];
    wt_find_options options;
    wt_find_options_init(&options);
    options.k = k;
    options.explain = 1;
    options.recipe = recipe;
    wt_hits *hits = find_with(&place, engine, request, &options);
    text[0] = '\0';
    for (size_t i = 0; i < hits->len; i++) {
        bool used = false;
        for (size_t s = 0; s < hits->items[i]->stage_count; s++)
            used |= strcmp(hits->items[i]->stages[s]->stage, "usage") == 0;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s", i ? " " : "", hits->items[i]->tool->id,
                 used ? "*" : "");
    }
    wt_hits_free(hits);
    return text;
}

static void record_usage_as(wt_engine *engine, const char *request, const char *tool, const char *client,
                            const char *outcome)
{
    wt_record_options options;
    wt_record_options_init(&options);
    options.client = client;
    options.outcome = outcome;
    assert_call_ok(&place, wt_record_usage(engine, request, strlen(request), &tool, 1, &options, &place.err));
}

static const char wish[] = "please water every lonely orchid";

static void same_request_finds_its_tools(void **state)
{
    static const struct {
        const char *request, *first, *recipe;
    } cases[] = {
        {"please water every lonely orchid", "calculator*", NULL},
        {"Please WATER every  lonely orchid!", "calculator*", NULL},
        {"please water every lonely orchid", "calculator*", "auto"},
        {"could you please water every lonely orchid", "calculator*", NULL}, /* polite phrases are ignored */
        {"please water every lonely cactus", NULL, NULL},
        {"do not water every lonely orchid please", NULL, NULL},
        {"please water every lonely orchid", NULL, "hybrid"}, /* a recipe by name ignores recorded use */
        {"please water every lonely orchid", NULL, "bm25"},
    };
    const char *const models[] = {NULL, ""};
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        wt_engine *engine = open_handmade(models[m]);
        assert_call_ok(&place, RECORD(engine, wish, "calculator"));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (m == 1 && cases[i].recipe && strcmp(cases[i].recipe, "hybrid") == 0)
                continue;
            const char *got = list_lifted(engine, cases[i].request, 1, cases[i].recipe);
            if (cases[i].first ? strcmp(got, cases[i].first) != 0 : strchr(got, '*') != NULL)
                fail_msg("model %zu, \"%s\": %s", m, cases[i].request, got);
        }
        wt_close(engine);
    }
}

static void same_request_has_probabilities(void **state)
{
    (void)state;
    const char *const models[] = {NULL, ""};
    for (size_t m = 0; m < 2; m++) {
        wt_engine *engine = open_handmade(models[m]);
        for (int times = 1; times < 4; times++) {
            assert_call_ok(&place, RECORD(engine, wish, "calculator"));
            wt_hits *hits = find_with(&place, engine, wish, NULL);
            assert_string_equal(hits->items[0]->tool->id, "calculator");
            assert_true(hits->items[0]->probability >= times / (times + 1.0) - 1e-6);
            wt_hits_free(hits);
        }
        wt_close(engine);
    }
}

static void other_requests_keep_their_hits(void **state)
{
    (void)state;
    static const char request[] = "find a song in a city";
    char before[400];
    wt_engine *engine = open_handmade(NULL);
    snprintf(before, sizeof before, "%s", list_lifted(engine, request, 7, NULL));
    assert_call_ok(&place, RECORD(engine, wish, "calculator"));
    assert_string_equal(list_lifted(engine, request, 7, NULL), before);
    wt_close(engine);
}

static void failed_or_removed_use_lifts_nothing(void **state)
{
    (void)state;
    wt_usage_filter filter;
    wt_engine *engine = open_handmade(NULL);
    record_usage_as(engine, wish, "calculator", NULL, "failed");
    assert_null(strchr(list_lifted(engine, wish, 7, NULL), '*'));
    record_usage_as(engine, wish, "calculator", "a", "ok");
    assert_string_equal(list_lifted(engine, wish, 1, NULL), "calculator*");
    wt_usage_filter_init(&filter);
    filter.client = "a";
    assert_int_equal(wt_forget_usage(engine, &filter, 0, &place.err), 1);
    assert_null(strchr(list_lifted(engine, wish, 7, NULL), '*'));
    record_usage_as(engine, wish, "files/search", NULL, NULL);
    assert_call_ok(&place, wt_remove(engine, "files/search", &place.err));
    assert_null(strchr(list_lifted(engine, wish, 7, NULL), '*'));
    wt_close(engine);
}

/* Usages of a request by one client count once: two other clients outweigh a hundred repetitions. */
static void flood_of_one_client_counts_once(void **state)
{
    (void)state;
    wt_engine *engine = open_handmade(NULL);
    for (int i = 0; i < 100; i++)
        record_usage_as(engine, wish, "files/search", "flood", NULL);
    record_usage_as(engine, wish, "calculator", "a", NULL);
    record_usage_as(engine, wish, "calculator", "b", NULL);
    const char *lifted = list_lifted(engine, wish, 7, NULL);
    assert_int_equal(strncmp(lifted, "calculator* ", 12), 0);
    assert_non_null(strstr(lifted, " files/search*"));
    wt_close(engine);
}

/* A due training is reported once, and again when the number of usages has doubled. */
static void due_training_is_reported_once(void **state)
{
    static const struct {
        int record;
        int64_t due;
    } steps[] = {{9, 0}, {0, 0}, {1, 10}, {0, 0}, {9, 0}, {1, 20}, {0, 0}};
    (void)state;
    wt_engine *engine = open_handmade("");
    wt_engine *reading = NULL;
    wt_open_options options;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (int n = 0; n < steps[i].record; n++)
            assert_call_ok(&place, RECORD(engine, "add two numbers", "calculator"));
        assert_int_equal(wt_training_due(engine, &place.err), steps[i].due);
    }
    assert_call_ok(&place, wt__usage_mark_trained(engine, &place.err));
    for (int n = 0; n < 20; n++) {
        assert_int_equal(wt_training_due(engine, &place.err), 0);
        assert_call_ok(&place, RECORD(engine, "add two numbers", "calculator"));
    }
    wt_open_options_init(&options);
    options.read_only = 1;
    assert_call_ok(&place, wt_open(&reading, place.store, &options, &place.err));
    assert_int_equal(wt_training_due(reading, &place.err), 0);
    wt_close(reading);
    assert_int_equal(wt_training_due(engine, &place.err), 20);
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_request_finds_its_tools),    cmocka_unit_test(same_request_has_probabilities),
        cmocka_unit_test(other_requests_keep_their_hits),  cmocka_unit_test(failed_or_removed_use_lifts_nothing),
        cmocka_unit_test(flood_of_one_client_counts_once), cmocka_unit_test(due_training_is_reported_once),
    };
    return cmocka_run_group_tests(tests, set_up_place, tear_down_place);
}
