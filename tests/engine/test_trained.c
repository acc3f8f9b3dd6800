/* What training left, as a query uses it: hand-made folders, so that nothing is trained here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "encoder/encoder.h"
#include "engine/support.h"

static struct place place;

static int set_up(void **state)
{
    (void)state;
    place_make(&place);
    wt_engine *engine = open_store(&place, NULL);
    add(&place, engine, handmade);
    wt_close(engine);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    place_remove(&place);
    return 0;
}

/* STORE-models/RECIPE/config.json, of the small model's encoder or of another one. */
static void leave(const char *recipe, bool fits, const char *members)
{
    struct arena arena = {0};
    struct encoder *encoder = NULL;
    struct buffer folder = {0}, config = {0};
    sound(&place, wt__encoder_open(&encoder, place.model, &place.err));
    wt__buffer_printf(&folder, "%s-models/%s", place.store, recipe);
    wt__buffer_printf(&config, "{\"encoder\": {\"hash\": \"%s\"}, %s}", fits ? wt__encoder_hash(encoder) : "other",
                      members);
    sound(&place, wt__make_folders(folder.ptr, &place.err));
    sound(&place,
          wt__file_replace(wt__path_join(&arena, folder.ptr, "config.json"), config.ptr, config.len, &place.err));
    wt__encoder_close(encoder);
    wt__buffer_dispose(&folder);
    wt__buffer_dispose(&config);
    wt__arena_dispose(&arena);
}

/* Hits of a new engine, as a new process would have them. */
static wt_hits *asked(const char *recipe)
{
    wt_engine *engine = open_store(&place, NULL);
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = 1;
    wt_hits *hits = find_with(&place, engine, "weather in a city", &options);
    wt_close(engine);
    return hits;
}

static void same_hits(const wt_hits *a, const wt_hits *b)
{
    assert_int_equal(a->len, b->len);
    for (size_t i = 0; i < a->len; i++) {
        assert_string_equal(a->items[i].tool.id, b->items[i].tool.id);
        assert_true(a->items[i].score == b->items[i].score);
    }
}

static void without_training_auto_is_hybrid(void **state)
{
    (void)state;
    wt_hits *automatic = asked("auto"), *hybrid = asked("hybrid");
    assert_string_equal(automatic->recipe, "hybrid");
    assert_null(automatic->why);
    same_hits(automatic, hybrid);
    wt_hits_free(automatic);
    wt_hits_free(hybrid);
}

static void auto_runs_what_was_chosen_and_says_why(void **state)
{
    (void)state;
    leave("auto", true,
          "\"runs\": \"fuse(bm25, tool2vec)\", \"why\": \"it was best\", \"weights\": "
          "{\"lexical\": 1, \"dense\": 2, \"tool2vec\": 1}");
    wt_hits *hits = asked(NULL);
    assert_string_equal(hits->recipe, "fuse(bm25, tool2vec)");
    assert_string_equal(hits->why, "it was best");
    assert_true(hits->len > 0);
    wt_hits_free(hits);
}

/* The weights that lost on dev stand beside the name of what won: they must not run. */
static void auto_that_chose_hybrid_is_hybrid(void **state)
{
    (void)state;
    leave("auto", true,
          "\"runs\": \"hybrid\", \"why\": \"nothing bettered it\", \"weights\": "
          "{\"lexical\": 0, \"dense\": 1, \"part\": 0, \"tool2vec\": 1}");
    wt_hits *automatic = asked(NULL), *hybrid = asked("hybrid");
    assert_string_equal(automatic->recipe, "hybrid");
    assert_string_equal(automatic->why, "nothing bettered it");
    same_hits(automatic, hybrid);
    wt_hits_free(automatic);
    wt_hits_free(hybrid);
}

static void a_recipe_of_another_encoder_is_told(void **state)
{
    (void)state;
    leave("tool2vec", false, "\"weights\": {\"dense\": 1, \"tool2vec\": 1}");
    wt_engine *engine = open_store(&place, NULL);
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "tool2vec";
    refused(&place, wt_find(engine, "weather", 7, &options, &hits, &place.err), WT_ERECIPE,
            "its encoder was trained again since; `whichtool train tool2vec` makes it anew");
    wt_close(engine);
}

static void a_damaged_training_keeps_nobody_from_hybrid(void **state)
{
    (void)state;
    leave("auto", true, "\"weights\": [");
    wt_hits *hits = asked(NULL);
    assert_string_equal(hits->recipe, "hybrid");
    assert_non_null(strstr(hits->notice, "config.json"));
    wt_hits_free(hits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_training_auto_is_hybrid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(auto_runs_what_was_chosen_and_says_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(auto_that_chose_hybrid_is_hybrid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_recipe_of_another_encoder_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_training_keeps_nobody_from_hybrid, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
