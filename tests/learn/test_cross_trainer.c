/* Tests the lesson "cross" on a model of two layers: the figure on dev, the fields of a tool, and resuming. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/json.h"
#include "base/sha256.h"
#include "encoder/config.h"
#include "learn/trainers.h"
#include "learn/support.h"
#include "rerank/cross.h"

static wt_train_options options_of_cross_trainer(void)
{
    wt_train_options options;
    wt_train_options_init(&options);
    options.epochs = 8;
    options.rate = 3e-3;
    options.threads = 2;
    return options;
}

static wt_engine *open_filled_cross_trainer(struct learn_place *place)
{
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_synthetic_usages(place, engine, 160);
    return engine;
}

static wt_train_report *train_cross_lesson(struct learn_place *place, wt_engine *engine, const char *lesson,
                                           const wt_train_options *options)
{
    wt_train_report *report = NULL;
    assert_train_ok(place, wt_train(engine, lesson, options, &report, &place->err));
    return report;
}

static void hash_of_cross(const char *out, char hex[65])
{
    hash_trained_model(out, "cross", hex);
}

/* Computes recall@5 on dev with the trained model; all tools are candidates. Also checks that the probabilities add up
 * to the number of gold tools. */
static double recall_by_reader(struct learn_place *place, struct cross *cross, const struct examples *examples)
{
    static int32_t ids[PLACE_TOOLS][CROSS_TOKENS];
    struct token_run tools[PLACE_TOOLS];
    const struct example_set *dev = &examples->dev;
    double sum = 0, expected = 0;
    for (size_t i = 0; i < PLACE_TOOLS; i++)
        tools[i] = wt__cross_tokens(cross, examples->texts[0][i], ids[i]);
    for (size_t d = 0; d < dev->count; d++) {
        float logits[PLACE_TOOLS];
        size_t found = 0;
        assert_train_ok(place, wt__cross_score(cross, dev->texts[d], tools, PLACE_TOOLS, NULL, logits, &place->err));
        for (size_t l = dev->starts[d]; l < dev->starts[d + 1]; l++) {
            size_t better = 0;
            for (size_t i = 0; i < PLACE_TOOLS; i++)
                better += logits[i] > logits[dev->tools[l]];
            found += better < 5;
        }
        for (size_t i = 0; i < PLACE_TOOLS; i++)
            expected += (double)wt__cross_probability(logits[i]);
        sum += (double)found / (double)(dev->starts[d + 1] - dev->starts[d]);
    }
    assert_float_equal(expected, (double)dev->starts[dev->count], 1e-3);
    return sum / (double)dev->count;
}

static void trained_cross_encoder_ranks_better(void **state)
{
    static const char *const losses[] = {"softmax", "bce", "both"};
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_cross_trainer(place);
    wt_train_options options = options_of_cross_trainer();
    struct examples examples;
    assert_train_ok(place,
                    wt__examples_read(&examples, engine, &(struct examples_options){.seed = 1}, NULL, &place->err));
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        char folder[160];
        struct model_config config;
        struct cross *cross;
        options.loss = losses[i];
        wt_train_report *report = train_cross_lesson(place, engine, "cross", &options);
        const wt_trained *item = report->items[0];
        assert_int_equal(report->len, 1);
        if (!(item->after > item->before + .1))
            fail_msg("%s: from %g to %g", losses[i], item->before, item->after);
        assert_string_equal(item->figure, "recall@5 of the best 30, reranked");
        double after = item->after;
        wt_train_report_free(report);
        snprintf(folder, sizeof folder, "%s/cross", place->out);
        assert_train_ok(place, wt__model_config_read(&config, folder, &place->err));
        assert_int_equal(config.labels, 1);
        assert_train_ok(place, wt__cross_open(&cross, folder, NULL, &place->err));
        assert_float_equal(recall_by_reader(place, cross, &examples), after, 1e-6);
        wt__cross_close(cross);
    }
    wt__examples_dispose(&examples);
    options.loss = "hinge";
    wt_train_report *none;
    assert_train_refused(place, wt_train(engine, "cross", &options, &none, &place->err), WT_EINVAL,
                         "the lesson \"cross\" has no loss \"hinge\"; it has: softmax bce both");
    wt_close(engine);
}

/* The candidates still come from the whole model, so the figure before the training is the same. */
static void keeps_first_layers(void **state)
{
    struct learn_place *place = *state;
    struct model_config config;
    wt_engine *engine = open_filled_cross_trainer(place);
    wt_train_options options = options_of_cross_trainer();
    double before[2];
    options.epochs = 1;
    for (size_t layers = 2; layers > 0; layers--) {
        options.layers = layers;
        wt_train_report *report = train_cross_lesson(place, engine, "cross", &options);
        before[layers - 1] = report->items[0]->before;
        assert_train_ok(place, wt__model_config_read(&config, report->items[0]->path, &place->err));
        assert_int_equal(config.layers, layers);
        struct cross *cross;
        assert_train_ok(place, wt__cross_open(&cross, report->items[0]->path, NULL, &place->err));
        wt__cross_close(cross);
        wt_train_report_free(report);
    }
    assert_true(before[0] == before[1]);
    options.freeze = 2;
    wt_train_report *none;
    assert_train_refused(place, wt_train(engine, "cross", &options, &none, &place->err), WT_EINVAL,
                         "cannot freeze 2 layers; the model has 1");
    wt_close(engine);
}

/* Cancels at the beginning of the n-th measurement; *context holds n. The beginning of a phase is always reported, so
 * the moment does not depend on the machine's speed. */
static int stop_at_phase(void *context, const wt_train_progress *progress)
{
    size_t *left = context;
    if (strcmp(progress->phase, "measuring") == 0 && progress->done == 0)
        *left -= *left > 0;
    return *left == 0;
}

static void stopped_and_resumed_cross_is_identical(void **state)
{
    struct learn_place *place = *state;
    char whole[65], resumed[65], folder[96];
    wt_engine *engine = open_filled_cross_trainer(place);
    wt_train_options options = options_of_cross_trainer();
    wt_train_report *report = train_cross_lesson(place, engine, "cross", &options);
    double before = report->items[0]->before, after = report->items[0]->after;
    wt_train_report_free(report);
    hash_of_cross(place->out, whole);
    snprintf(folder, sizeof folder, "%s/second", place->folder);
    options.out = folder;
    for (size_t at = 1; at < 4; at++) {
        size_t left = at;
        options.progress = stop_at_phase;
        options.progress_context = &left;
        options.resume = 0;
        assert_train_refused(place, wt_train(engine, "cross", &options, &report, &place->err), WT_ECANCELLED,
                             "; resume to continue from there");
        options.progress = NULL;
        options.resume = 1;
        report = train_cross_lesson(place, engine, "cross", &options);
        hash_of_cross(folder, resumed);
        assert_string_equal(whole, resumed);
        assert_true(report->items[0]->before == before && report->items[0]->after == after);
        wt_train_report_free(report);
    }
    report = train_cross_lesson(place, engine, "cross", &options); /* resumes a training that had ended */
    assert_non_null(strstr(report->items[0]->notice, "had already ended"));
    assert_true(report->items[0]->before == before && report->items[0]->after == after);
    wt_train_report_free(report);
    wt_close(engine);
}

/* The lesson starts from the trained encoder if it exists, and is not part of "all". */
static void starts_from_trained_encoder(void **state)
{
    struct learn_place *place = *state;
    char plain[65], after[65];
    wt_engine *engine = open_filled_cross_trainer(place);
    wt_train_options options = options_of_cross_trainer();
    options.epochs = 1;
    options.freeze = 2;
    wt_train_report_free(train_cross_lesson(place, engine, "cross", &options));
    hash_of_cross(place->out, plain);
    options.freeze = 0;
    wt_train_report *report = train_cross_lesson(place, engine, "all", &options);
    for (size_t i = 0; i < report->len; i++)
        assert_string_not_equal(report->items[i]->lesson, "cross");
    wt_train_report_free(report);
    options.freeze = 2;
    wt_train_report_free(train_cross_lesson(place, engine, "cross", &options));
    hash_of_cross(place->out, after);
    assert_string_not_equal(plain, after);
    wt_close(engine);
}

/* The fields are recorded in config.json, and other fields give another model. */
static void reads_chosen_fields(void **state)
{
    static const struct {
        const char *fields, *says;
    } bad[] = {{"", "unknown field \"\""},
               {"name,,provider", "unknown field \"\""},
               {"parameter-texts", "choose from: category, provider, name, description, parameters"}};
    struct learn_place *place = *state;
    char usual[65], chosen[65], path[160], *text;
    size_t len;
    wt_engine *engine = open_filled_cross_trainer(place);
    wt_train_options options = options_of_cross_trainer();
    wt_train_report *none;
    options.epochs = 1;
    wt_train_report_free(train_cross_lesson(place, engine, "cross", &options));
    hash_of_cross(place->out, usual);
    options.fields = "parameters,name";
    wt_train_report_free(train_cross_lesson(place, engine, "cross", &options));
    hash_of_cross(place->out, chosen);
    assert_string_not_equal(usual, chosen);
    snprintf(path, sizeof path, "%s/cross/config.json", place->out);
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, NULL), 0);
    json_t *config = json_loadb(text, len, 0, NULL);
    const json_t *fields = json_object_get(json_object_get(config, "whichtool"), "fields");
    assert_int_equal(json_array_size(fields), 2);
    assert_string_equal(json_string_value(json_array_get(fields, 0)), "name");
    assert_string_equal(json_string_value(json_array_get(fields, 1)), "parameters");
    json_decref(config);
    free(text);
    options.fields = "provider,name,description,";
    wt_train_report_free(train_cross_lesson(place, engine, "cross", &options));
    hash_of_cross(place->out, chosen);
    assert_string_equal(usual, chosen);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.fields = bad[i].fields;
        assert_train_refused(place, wt_train(engine, "cross", &options, &none, &place->err), WT_EINVAL, bad[i].says);
    }
    options.fields = "name";
    assert_train_refused(place, wt_train(engine, "dpr", &options, &none, &place->err), WT_EINVAL,
                         "fields can be chosen for \"encoder\" and \"cross\", not for \"dpr\"");
    wt_close(engine);
}

static void accepts_several_data_sets_and_few_tools(void **state)
{
    struct learn_place *place = *state;
    char both[200];
    wt_engine *engine = open_place_store(place);
    wt_train_options options = options_of_cross_trainer();
    options.epochs = 1;
    /* One tool and one request: there are no negatives and no dev requests. */
    import_tool_lines(place, engine, "{\"name\": \"only\"}");
    import_usages(place, engine, "{\"request\": \"the only one\", \"tools\": [\"only\"]}\n");
    wt_train_report *report = train_cross_lesson(place, engine, "cross", &options);
    assert_true(isnan(report->items[0]->before) && isnan(report->items[0]->after));
    wt_train_report_free(report);
    wt_close(engine);
    write_data_set(place, "{\"_id\": \"a\", \"text\": \"hotel news\"}\n{\"_id\": \"b\", \"text\": \"paris\"}\n",
                   "a\tt0\t1\na\tt3\t1\n", "b\tt1\t1\n");
    snprintf(both, sizeof both, "%s\n%s", place->data, place->data);
    options.data = both;
    options.model = place->model;
    options.out = place->out;
    options.negatives = 8;
    report = train_cross_lesson(place, NULL, "cross", &options);
    assert_true(report->items[0]->before >= 0 && report->items[0]->after >= 0);
    wt_train_report_free(report);
    options.memory = 1000;
    wt_train_report *none;
    assert_train_refused(place, wt_train(NULL, "cross", &options, &none, &place->err), WT_ENOMEM,
                         "training would take ");
}

/* A step has room for the longest request, even if that is not a dev request. */
static void accepts_requests_longer_than_dev(void **state)
{
    enum { LONG = 40, WORDS = 30 };
    struct learn_place *place = *state;
    struct buffer queries = {0}, train_side = {0};
    for (size_t i = 0; i < LONG; i++) {
        wt__buffer_printf(&queries, "{\"_id\": \"q%zu\", \"text\": \"", i);
        for (size_t w = 0; w < WORDS; w++)
            wt__buffer_printf(&queries, "%s ", tiny_words[5 + (i + w) % (TINY_WORDS - 5)]);
        wt__buffer_text(&queries, "\"}\n");
        wt__buffer_printf(&train_side, "q%zu\tt%zu\t1\n", i, i % PLACE_TOOLS);
    }
    wt__buffer_text(&queries, "{\"_id\": \"brief\", \"text\": \"paris\"}\n");
    write_data_set(place, queries.ptr, train_side.ptr, "brief\tt1\t1\n");
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&train_side);
    wt_train_options options = options_of_cross_trainer();
    options.epochs = 1;
    options.data = place->data;
    options.model = place->model;
    options.out = place->out;
    wt_train_report *report = train_cross_lesson(place, NULL, "cross", &options);
    assert_true(report->items[0]->steps > 0 && report->items[0]->after >= 0);
    wt_train_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(trained_cross_encoder_ranks_better, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(keeps_first_layers, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(stopped_and_resumed_cross_is_identical, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(starts_from_trained_encoder, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(reads_chosen_fields, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(accepts_several_data_sets_and_few_tools, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(accepts_requests_longer_than_dev, place_set_up, place_tear_down),
    };
    return cmocka_run_group_tests_name("learn/cross_trainer", tests, NULL, NULL);
}
