/* Tests that training reports the same dev recall as an evaluation. Tests training on several data sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/rng.h"
#include "encoder/support.h"
#include "learn/support.h"

/* Writes a data set of 100 requests. The dev split has every fifth request. If `unused` is true, it has the requests of
 * the last two tools instead, so that no training request uses them. */
static void put_dev_set(struct learn_place *place, const char *name, uint64_t seed, bool unused)
{
    struct buffer queries = {0}, train_side = {0}, dev = {0};
    struct rng rng;
    snprintf(place->data, sizeof place->data, "%s/%s", place->folder, name);
    wt__rng_seed(&rng, seed);
    for (size_t i = 0; i < 100; i++) {
        bool aside = unused ? i % PLACE_TOOLS >= PLACE_TOOLS - 2 : i % 5 == 0;
        wt__buffer_printf(&queries, "{\"_id\": \"q%zu\", \"text\": \"", i);
        write_request_text(&queries, i % PLACE_TOOLS, i / PLACE_TOOLS, &rng);
        wt__buffer_text(&queries, i % 3 ? "\"}\n" : " and then find a hotel in paris\"}\n");
        wt__buffer_printf(aside ? &dev : &train_side, "q%zu\tt%zu\t1\n", i, i % PLACE_TOOLS);
    }
    write_data_set(place, queries.ptr, train_side.ptr, dev.ptr);
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&train_side);
    wt__buffer_dispose(&dev);
}

static wt_train_options make_train_options(struct learn_place *place)
{
    wt_train_options options;
    wt_train_options_init(&options);
    options.data = place->data;
    options.model = place->model;
    options.out = place->out;
    options.epochs = 2;
    options.batch = 16;
    options.rate = 3e-3;
    options.threads = 2;
    return options;
}

static wt_train_report *train_on_sets(struct learn_place *place, const wt_train_options *options)
{
    wt_train_report *report = NULL;
    assert_train_ok(place, wt_train(NULL, "encoder", options, &report, &place->err));
    return report;
}

static double recall_before(struct learn_place *place, const wt_train_options *options)
{
    wt_train_report *report = train_on_sets(place, options);
    double before = report->items[0]->before;
    wt_train_report_free(report);
    return before;
}

static double recall_of_eval(struct learn_place *place, const char *recipe)
{
    static const size_t cutoffs[WT_MAX_CUTOFFS] = {5};
    wt_eval_options options;
    wt_eval_report *report = NULL;
    wt_eval_options_init(&options);
    options.split = "dev";
    options.recipes = recipe;
    options.model = place->model;
    options.timed = 1;
    memcpy(options.cutoffs, cutoffs, sizeof cutoffs);
    assert_train_ok(place, wt_eval(place->data, &options, &report, &place->err));
    double recall = NAN;
    for (size_t m = 0; m < report->rows[0]->metric_count; m++)
        if (strcmp(report->rows[0]->metrics[m]->name, "recall@5") == 0)
            recall = report->rows[0]->metrics[m]->value;
    wt_eval_report_free(report);
    return recall;
}

static void dev_recall_equals_the_recall_of_the_evaluation(void **state)
{
    static const struct {
        const char *dev, *recipe, *figure;
    } rows[] = {{"description", "dense", "recall@5 by description"}, {"hybrid", "hybrid", "recall@5 of hybrid"}};
    struct learn_place *place = *state;
    put_dev_set(place, "one", 5, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_train_options options = make_train_options(place);
        options.dev = rows[i].dev;
        wt_train_report *report = train_on_sets(place, &options);
        assert_string_equal(report->items[0]->figure, rows[i].figure);
        double recall = recall_of_eval(place, rows[i].recipe);
        assert_true(recall > 0 && recall < 1);
        assert_true(fabs(report->items[0]->before - recall) < 1e-6);
        wt_train_report_free(report);
    }
}

static void unused_tools_are_ranked_by_description(void **state)
{
    struct learn_place *place = *state;
    put_dev_set(place, "unused", 5, true);
    wt_train_options options = make_train_options(place);
    double by_use = recall_before(place, &options);
    options.dev = "description";
    assert_true(recall_before(place, &options) == by_use);
    put_dev_set(place, "used", 5, false);
    options = make_train_options(place);
    by_use = recall_before(place, &options);
    options.dev = "description";
    assert_true(recall_before(place, &options) != by_use);
}

static void figure_is_the_mean_over_data_sets(void **state)
{
    struct learn_place *place = *state;
    char both[240];
    put_dev_set(place, "one", 5, false);
    wt_train_options options = make_train_options(place);
    double one = recall_before(place, &options);
    snprintf(both, sizeof both, "%s\n", place->data);
    put_dev_set(place, "two", 6, true);
    double two = recall_before(place, &options);
    strcat(both, place->data);
    options.data = both;
    options.keep_last = 1;
    wt_train_report *report = train_on_sets(place, &options);
    const wt_trained *item = report->items[0];
    assert_float_equal(item->before, (one + two) / 2, 1e-9);
    assert_true(item->measurement_count > 2);
    for (size_t i = 0; i < item->measurement_count; i++) {
        const wt_measurement *m = item->measurements[i];
        assert_int_equal(m->len, 2);
        assert_string_equal(m->sets[0].set, "one");
        assert_string_equal(m->sets[1].set, "two");
        assert_float_equal(m->figure, (m->sets[0].value + m->sets[1].value) / 2, 1e-9);
        assert_true(i == 0 ? m->step == 0 : m->step > item->measurements[i - 1]->step);
    }
    assert_float_equal(item->measurements[0]->sets[0].value, one, 1e-9);
    /* keep_last keeps the last model, whatever its figure. */
    assert_true(item->after == item->measurements[item->measurement_count - 1]->figure);
    wt_train_report_free(report);
}

static void a_limit_of_tools_keeps_the_tools_of_dev(void **state)
{
    struct learn_place *place = *state;
    put_dev_set(place, "unused", 5, true); /* dev uses two of eight tools */
    wt_train_options options = make_train_options(place);
    double whole = recall_before(place, &options);
    options.dev_tools = 1;
    assert_true(whole < 1);
    assert_float_equal(recall_before(place, &options), 1, 1e-9);
}

/* Stops when training looks for hard negatives, which is after the first steps. */
static int stop_at_hard_negatives(void *context, const wt_train_progress *progress)
{
    (void)context;
    return strcmp(progress->phase, "looking for hard negatives") == 0;
}

static void training_on_several_sets_resumes_to_the_same_bits(void **state)
{
    struct learn_place *place = *state;
    char both[240], through[65], resumed[65];
    wt_train_report *report = NULL;
    put_dev_set(place, "one", 5, false);
    snprintf(both, sizeof both, "%s\n", place->data);
    put_dev_set(place, "two", 6, true);
    strcat(both, place->data);
    wt_train_options options = make_train_options(place);
    options.data = both;
    options.join = .3;
    options.negatives = 1;
    options.most_of = "60\ntwo=30";
    options.dev = "hybrid";
    report = train_on_sets(place, &options);
    /* 60 and 30 requests; for every 7 requests, training adds 3 joined ones. */
    assert_int_equal(report->items[0]->steps, 2 * (60 + 25 + 30 + 12) / 16);
    wt_train_report_free(report);
    hash_trained_model(place->out, "encoder", through);
    options.progress = stop_at_hard_negatives;
    assert_train_refused(place, wt_train(NULL, "encoder", &options, &report, &place->err), WT_ECANCELLED,
                         "; resume to continue from there");
    options.progress = NULL;
    options.resume = 1;
    wt_train_report_free(train_on_sets(place, &options));
    hash_trained_model(place->out, "encoder", resumed);
    assert_string_equal(through, resumed);
}

static void invalid_options_are_rejected(void **state)
{
    static const struct {
        const char *lesson, *most_of, *dev;
        double join;
        const char *why;
    } rows[] = {
        {"encoder", "two=5", NULL, 0, "no data set is called \"two\""},
        {"encoder", "7\none=", NULL, 0, "N from 1 to 10000000, not \"one=\""},
        {"encoder", "0", NULL, 0, "not \"0\""},
        {"encoder", "=5", NULL, 0, "not \"=5\""},
        {"encoder", "-1", NULL, 0, "not \"-1\""},
        {"encoder", "one=5x", NULL, 0, "not \"one=5x\""},
        {"encoder", NULL, "words", 0, "must be use, description, hybrid or head, not \"words\""},
        {"encoder", NULL, NULL, .95, "the share of joined requests must be 0 to 0.9"},
        {"encoder", NULL, NULL, -1, "the share of joined requests must be"},
        {"encoder", NULL, NULL, NAN, "the share of joined requests must be"},
        {"mlc", NULL, NULL, .3, "joined requests work with \"encoder\" and \"cross\", not with \"mlc\""},
    };
    struct learn_place *place = *state;
    put_dev_set(place, "one", 5, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_train_report *report = NULL;
        wt_train_options options = make_train_options(place);
        options.most_of = rows[i].most_of;
        options.dev = rows[i].dev;
        options.join = rows[i].join;
        assert_train_refused(place, wt_train(NULL, rows[i].lesson, &options, &report, &place->err), WT_EINVAL,
                             rows[i].why);
        assert_null(report);
    }
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, place_set_up, place_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(dev_recall_equals_the_recall_of_the_evaluation),
        ROW(unused_tools_are_ranked_by_description),
        ROW(figure_is_the_mean_over_data_sets),
        ROW(a_limit_of_tools_keeps_the_tools_of_dev),
        ROW(training_on_several_sets_resumes_to_the_same_bits),
        ROW(invalid_options_are_rejected),
    };
    return cmocka_run_group_tests_name("eval/dev_recall", tests, NULL, NULL);
}
