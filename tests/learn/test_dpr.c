/* The lessons of ToolRerank's recipes, from training to hits, on a model of two layers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "learn/support.h"

enum { USAGES = 160 };

static wt_engine *open_filled(struct place *place)
{
    wt_engine *engine = open_store(place);
    add_tools(place, engine);
    add_made_up_usages(place, engine, USAGES);
    return engine;
}

static double train(struct place *place, wt_engine *engine, const char *lesson, size_t epochs)
{
    wt_train_report *report = NULL;
    wt_train_options options;
    wt_train_options_init(&options);
    options.threads = 2;
    options.epochs = (double)epochs;
    options.rate = epochs ? 3e-3 : 0;
    sound(place, wt_train(engine, lesson, &options, &report, &place->err));
    assert_int_equal(report->len, 1);
    double after = report->items->after;
    wt_train_report_free(report);
    return after;
}

static wt_hits *find(struct place *place, wt_engine *engine, const char *recipe)
{
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.k = PLACE_TOOLS;
    sound(place, wt_find(engine, "hotel news price", 16, &options, &hits, &place->err));
    return hits;
}

static void dpr_is_what_its_lesson_measured(void **state)
{
    struct place *place = *state;
    wt_engine *engine = open_filled(place);
    double plain = train(place, engine, "dpr", 0); /* of the model as it came */
    wt_hits *before = find(place, engine, "dpr");
    train(place, engine, "encoder", 6);
    double trained = train(place, engine, "dpr", 0);
    wt_hits *after = find(place, engine, "dpr");
    if (!(trained > plain))
        fail_msg("dev recall %.3f, and after training %.3f", plain, trained);
    assert_int_equal(before->len, PLACE_TOOLS);
    assert_int_equal(after->len, PLACE_TOOLS);
    bool same = true;
    for (size_t i = 0; i < PLACE_TOOLS; i++)
        same = same && after->items[i].score == before->items[i].score;
    assert_false(same);
    wt_hits_free(before);
    wt_hits_free(after);
    wt_close(engine);
}

static void every_rerank_runs_once_there_is_a_cross_encoder(void **state)
{
    static const char *const recipes[] = {"rerank-10", "rerank-30", "rerank-50"};
    struct place *place = *state;
    wt_engine *engine = open_filled(place);
    train(place, engine, "dpr", 0);
    train(place, engine, "cross", 1);
    wt_close(engine);
    engine = open_store(place);
    for (size_t i = 0; i < 3; i++) {
        wt_hits *hits = find(place, engine, recipes[i]);
        assert_string_equal(hits->recipe, recipes[i]);
        assert_int_equal(hits->len, PLACE_TOOLS);
        wt_hits_free(hits);
    }
    wt_close(engine);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, place_set_up, place_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(dpr_is_what_its_lesson_measured),
        ROW(every_rerank_runs_once_there_is_a_cross_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
