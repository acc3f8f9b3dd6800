/* Tests `pick --complete` with unused tools, which are tools without recorded use. Unused tools have a separate
 * calibration if training requests show that unused tools may be needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "learn/support.h"

enum { REQUESTS = 120, NEW = PLACE_TOOLS - 2, ONCE = PLACE_TOOLS - 1 };

/* Writes a data set. Every fifth request is a dev request. once: a single training request needs the tool ONCE. fresh:
 * only dev requests need the tool NEW. */
static void write_unused_requests(struct learn_place *place, bool once, bool fresh)
{
    struct buffer queries = {0}, train = {0}, dev = {0};
    struct rng rng;
    bool met = false;
    wt__rng_seed(&rng, 5);
    for (size_t i = 0; i < REQUESTS; i++) {
        size_t tool = i % PLACE_TOOLS;
        bool for_dev = i % 5 == 0;
        if (!for_dev && ((fresh && tool == NEW) || (once && tool == ONCE && met)))
            tool = 0;
        met |= tool == ONCE && !for_dev;
        wt__buffer_printf(&queries, "{\"_id\": \"q%zu\", \"text\": \"", i);
        write_request_text(&queries, tool, i / PLACE_TOOLS, &rng);
        wt__buffer_printf(&queries, " %zu\"}\n", i); /* all texts differ */
        wt__buffer_printf(for_dev ? &dev : &train, "q%zu\tt%zu\t1\n", i, tool);
    }
    write_data_set(place, queries.ptr, train.ptr, dev.ptr);
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&train);
    wt__buffer_dispose(&dev);
}

static json_t *train_set(struct learn_place *place, bool neighbours)
{
    const char *const lessons[] = {"tool2vec", "mlc", neighbours ? "neighbours" : "tool2vec", "auto", "set"};
    wt_train_options options;
    char path[160], *text = NULL;
    size_t len;
    json_t *config;
    wt_train_options_init(&options);
    options.data = place->data;
    options.model = place->model;
    options.out = place->out;
    options.threads = 2;
    for (size_t l = 0; l < sizeof lessons / sizeof *lessons; l++) {
        wt_train_report *report = NULL;
        assert_train_ok(place, wt_train(NULL, lessons[l], &options, &report, &place->err));
        wt_train_report_free(report);
    }
    snprintf(path, sizeof path, "%s/set/config.json", place->out);
    assert_train_ok(place, wt__file_read(&text, &len, path, 1 << 20, &place->err));
    assert_train_ok(place, wt__json_parse(&config, text, len, &place->err));
    free(text);
    return config;
}

/* A separate calibration for unused tools has one value for each dev request. If a dev request needs only used tools,
 * the least used one of them is treated as unused. */
static void calibrates_unused_tools_separately(void **state)
{
    static const struct {
        bool once, fresh;             /* see write_unused_requests */
        bool neighbours;              /* train "neighbours" before "set" */
        size_t nonconformity, unused; /* lengths of these lists in config.json */
    } rows[] = {
        {false, false, true, REQUESTS / 5, 0},              /* every tool is used often */
        {true, true, true, REQUESTS / 5 - 3, REQUESTS / 5}, /* three dev requests need only NEW */
        {false, true, true, REQUESTS / 5, 0},               /* no training request shows a need for unused tools */
        {true, true, false, REQUESTS / 5, 0}, /* without "neighbours", a query does not know the used tools */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct learn_place place;
        make_learn_place(&place);
        write_unused_requests(&place, rows[i].once, rows[i].fresh);
        json_t *config = train_set(&place, rows[i].neighbours);
        assert_int_equal(json_array_size(wt__json_array(config, "nonconformity")), rows[i].nonconformity);
        assert_int_equal(json_array_size(wt__json_array(config, "unused")), rows[i].unused);
        json_decref(config);
        remove_model_folder(place.folder);
    }
}

/* Replaces all nonconformity scores for unused tools by one threshold in the trained config.json. */
static void put_unused_threshold(struct learn_place *place, json_t *config, double threshold)
{
    struct buffer text = {0};
    size_t count = json_array_size(wt__json_array(config, "unused"));
    json_t *nonconformity = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(nonconformity, json_real(threshold));
    json_object_set_new(config, "unused", nonconformity);
    assert_int_equal(wt__json_write(&text, config), 0);
    put_text(place->out, "set/config.json", text.ptr);
    wt__buffer_dispose(&text);
}

static bool picked_has_tool(const wt_picked *picked, size_t tool)
{
    for (size_t i = 0; i < picked->len; i++)
        if (strcmp(picked->items[i]->tool->name, place_tools[tool].name) == 0)
            return true;
    return false;
}

static void unused_tools_join_by_own_threshold(void **state)
{
    static const struct {
        double threshold;
        bool joins; /* true if NEW joins the set */
    } rows[] = {{-1, false}, {2, true}};
    struct learn_place *place = *state;
    write_unused_requests(place, true, true);
    json_t *config = train_set(place, true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_engine *engine;
        wt_open_options options;
        wt_add_report *report;
        wt_pick_options how;
        wt_picked *picked;
        put_unused_threshold(place, config, rows[i].threshold);
        wt_open_options_init(&options);
        options.model = place->model;
        options.trained = place->out;
        assert_train_ok(place, wt_open(&engine, place->store, &options, &place->err));
        assert_train_ok(place, wt_add_path(engine, place->data, NULL, &report, &place->err));
        wt_add_report_free(report);
        wt_pick_options_init(&how);
        how.complete = 0.5;
        how.abstain = -1;
        assert_train_ok(place, wt_pick(engine, "hotel news", strlen("hotel news"), &how, &picked, &place->err));
        assert_float_equal(picked->complete, 0.5, 0);
        assert_int_equal(picked_has_tool(picked, NEW), rows[i].joins);
        assert_true(picked_has_tool(picked, 0));
        wt_picked_free(picked);
        wt_close(engine);
    }
    json_decref(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calibrates_unused_tools_separately),
        cmocka_unit_test_setup_teardown(unused_tools_join_by_own_threshold, place_set_up, place_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
