/* wt_preview_waiting predicts the places that waiting tools would take, without changing the catalogue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/set_up.h"
#include "whichtool/review.h"

enum { OTHERS = 150, WAITING = 15 };

static void add_waiting_flood(wt_engine *engine)
{
    struct buffer text = {0};
    synthetic_tools(&text, 1, OTHERS, 7);
    add(&place, engine, text.ptr);
    wt__buffer_clear(&text);
    wt__buffer_text(&text, "{\"tools\":[");
    for (int i = 0; i < WAITING; i++)
        wt__buffer_printf(&text, "{\"name\":\"grab_%c\",\"description\":\"%s %d\"},", 'a' + i,
                          i % 2 ? "book a table in city" : "find tables booked hotel city storm invoice song flight",
                          i);
    wt__buffer_text(&text, "{\"name\":\"meek\",\"description\":\"quokka\"}]}");
    wt_review_report *report = NULL;
    assert_call_ok(&place, wt_review(engine, "new", text.ptr, text.len, NULL, &report, &place.err));
    assert_int_equal(report->waiting_new, WAITING + 1);
    wt_review_report_free(report);
    wt__buffer_dispose(&text);
}

static wt_preview *preview_of(wt_engine *engine, const char *const *names, size_t count)
{
    wt_preview *out = NULL;
    wt_preview_options options;
    wt_preview_options_init(&options);
    options.names = names;
    options.name_count = count;
    assert_call_ok(&place, wt_preview_waiting(engine, "new", &options, &out, &place.err));
    return out;
}

static uint64_t catalogue_generation(wt_engine *engine)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    assert_call_ok(&place, wt_info(engine, &info, &place.err));
    assert_int_equal(info.tools, OTHERS);
    return info.generation;
}

/* Checks the preview of a flood. model: "" for words only, NULL for the built-in model. */
static void check_flood_preview(const char *model)
{
    wt_engine *engine = open_test_engine(&place, model);
    add_waiting_flood(engine);
    uint64_t before = catalogue_generation(engine);
    wt_preview *all = preview_of(engine, NULL, 0);
    assert_int_equal(all->waiting, WAITING + 1);
    assert_false(all->recorded);
    assert_true(all->requests > OTHERS / 2);
    assert_true(all->places_now == 0 && all->tools_now == 0);
    assert_true(all->places_then > .04);
    assert_true(all->tools_then > .096 && all->tools_then < .097);
    assert_string_equal(all->recipe, model ? "bm25" : "hybrid");
    assert_non_null(strstr(all->sentence,
                           " searches for tools of other providers, new has 0.00 % of the first 5 places (and "
                           "0.00 % of the tools); with the waiting tools "));
    assert_non_null(strstr(all->sentence, " % (9.64 %)"));
    const char *meek[] = {"meek"};
    wt_preview *one = preview_of(engine, meek, 1);
    assert_int_equal(one->waiting, 1);
    assert_true(one->places_then < .01);
    assert_false(one->far);
    assert_int_equal(catalogue_generation(engine), before); /* the live catalogue is unchanged */
    wt_preview_free(all);
    wt_preview_free(one);
    wt_close(engine);
}

static void predicts_flood_by_words(void **state)
{
    (void)state;
    check_flood_preview("");
}

static void predicts_flood_by_meaning(void **state)
{
    (void)state;
    check_flood_preview(NULL);
}

/* With enough recorded requests, the preview searches for these requests. Requests that used the provider do not
 * count. */
static void searches_recorded_requests(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    add_waiting_flood(engine);
    wt_tools *tools = NULL;
    assert_call_ok(&place, wt_list(engine, NULL, &tools, &place.err));
    for (size_t i = 0; i < WT_PREVIEW_RECORDED + 5; i++) {
        char request[64];
        const char *used[] = {tools->items[i]->id};
        snprintf(request, sizeof request, "book a table in city %zu", i);
        assert_call_ok(&place, wt_record_usage(engine, request, strlen(request), used, 1, NULL, &place.err));
    }
    wt_tools_free(tools);
    wt_preview *out = preview_of(engine, NULL, 0);
    assert_true(out->recorded);
    assert_int_equal(out->requests, WT_PREVIEW_RECORDED + 5);
    assert_true(out->far && out->places_then > .8);
    assert_non_null(strstr(out->sentence, "In 25 recorded requests for tools of other providers, "));
    assert_non_null(strstr(out->sentence, ": far above its share."));
    wt_preview_free(out);
    wt_close(engine);
}

static void rejects_preview_without_waiting_tools(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_preview *out = NULL;
    wt_preview_options options;
    const char *names[] = {"meek", "none"};
    wt_preview_options_init(&options);
    assert_call_refused(&place, wt_preview_waiting(engine, "new", NULL, &out, &place.err), WT_ENOTFOUND,
                        "nothing of new waits");
    add_waiting_flood(engine);
    options.names = names;
    options.name_count = 2;
    assert_call_refused(&place, wt_preview_waiting(engine, "new", &options, &out, &place.err), WT_ENOTFOUND,
                        "not every named tool of new waits");
    wt_close(engine);

    remove_test_place(&place);
    make_test_place(&place);
    engine = open_test_engine(&place, "");
    wt_review_report *report = NULL;
    static const char alone[] = "{\"tools\":[{\"name\":\"a\",\"description\":\"alone here\"}]}";
    assert_call_ok(&place, wt_review(engine, "new", alone, sizeof alone - 1, NULL, &report, &place.err));
    wt_review_report_free(report);
    assert_call_refused(&place, wt_preview_waiting(engine, "new", NULL, &out, &place.err), WT_EEMPTY,
                        "no tool of another provider has a description");
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(predicts_flood_by_words, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(predicts_flood_by_meaning, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(searches_recorded_requests, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(rejects_preview_without_waiting_tools, set_up_place, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
