/* test_status.c: wt_get_status agrees with the other counts and works for any store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/set_up.h"

static wt_status *status_of(wt_engine *engine)
{
    wt_status *status = NULL;
    assert_call_ok(&place, wt_get_status(engine, &status, &place.err));
    return status;
}

static void status_agrees_with_other_counts(void **state)
{
    (void)state;
    wt_catalog_info info;
    wt_engine *engine = open_test_engine(&place, NULL);
    const char *tools[] = {"calculator"};
    wt_record_options failed;
    wt_record_options_init(&failed);
    failed.outcome = "failed";
    assert_call_ok(&place, wt_record_usage(engine, "two and two", 11, tools, 1, NULL, &place.err));
    assert_call_ok(&place, wt_record_usage(engine, "two and two", 11, tools, 1, NULL, &place.err));
    assert_call_ok(&place, wt_record_usage(engine, "three", 5, tools, 1, &failed, &place.err));
    wt_status *status = status_of(engine);
    wt_catalog_info_init(&info);
    assert_call_ok(&place, wt_info(engine, &info, &place.err));
    assert_int_equal(status->tools, info.tools);
    assert_int_equal(status->embedded, info.embedded);
    assert_int_equal(status->embedded, HANDMADE);
    assert_int_equal(status->provider_count, HANDMADE_PROVIDERS);
    uint64_t sum = 0, least = UINT64_MAX;
    for (size_t i = 0; i < status->provider_count; i++) {
        assert_true(status->providers[i]->tools <= least);
        least = status->providers[i]->tools;
        sum += least;
    }
    assert_int_equal(sum, HANDMADE);
    assert_int_equal(status->usages, 3);
    assert_int_equal(status->teaching, 2);
    assert_int_equal(status->untrained, 1);
    assert_int_equal(status->trained_count, 0);
    assert_string_equal(status->store, place.store);
    assert_true(status->store_version > 0 && status->store_bytes > 0 && status->model_bytes > 0);
    assert_true(status->model_installed);
    assert_string_equal(status->recipe, "hybrid");
    wt_status_free(status);
    wt_close(engine);
}

static void status_is_reported_for_any_store(void **state)
{
    static const struct {
        const char *path, *model, *recipe;
    } cases[] = {{":memory:", "", "hybrid"}, {":memory:", "/no/such/model", "hybrid"}, {NULL, "", "hybrid"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_engine *engine;
        wt_open_options options;
        wt_open_options_init(&options);
        options.model = cases[i].model;
        assert_call_ok(&place, wt_open(&engine, cases[i].path ? cases[i].path : place.store, &options, &place.err));
        wt_status *status = status_of(engine);
        assert_string_equal(status->recipe, cases[i].recipe);
        assert_string_equal(status->model, cases[i].model);
        assert_false(status->model_installed);
        assert_int_equal(status->embedded, 0);
        assert_int_equal(status->tools, cases[i].path ? 0 : HANDMADE);
        wt_status_free(status);
        wt_close(engine);
    }
    wt_status_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(status_agrees_with_other_counts, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(status_is_reported_for_any_store, set_up_handmade, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
