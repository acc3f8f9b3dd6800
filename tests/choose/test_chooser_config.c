/* Tests reading back a written chooser, and rejecting invalid members by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "choose/chooser.h"

static void reads_back_written_chooser(void **state)
{
    struct arena arena = {0};
    struct chooser again;
    wt_error err;
    (void)state;
    json_t *config = wt__chooser_write(&wt__chooser_default);
    assert_non_null(config);
    assert_int_equal(wt__chooser_read(&again, config, &arena, &err), 0);
    assert_memory_equal(again.tool_weights, wt__chooser_default.tool_weights, sizeof again.tool_weights);
    assert_memory_equal(again.sizes, wt__chooser_default.sizes, sizeof again.sizes);
    assert_memory_equal(again.answerability_weights, wt__chooser_default.answerability_weights,
                        sizeof again.answerability_weights);
    assert_float_equal(again.likelihood, wt__chooser_default.likelihood, 0);
    assert_int_equal(again.no_answer.count, wt__chooser_default.no_answer.count);
    assert_memory_equal(again.no_answer.values, wt__chooser_default.no_answer.values,
                        again.no_answer.count * sizeof(float));
    assert_int_equal(again.nonconformity.count, 0);
    json_decref(config);
    wt__arena_dispose(&arena);
}

/* Choosers of older versions lack the lists in `later`, which are then empty. */
static void reads_back_calibrations(void **state)
{
    static const float nonconformity[] = {.1f, .2f}, unused[] = {.3f, .4f, .5f}, nearest[] = {.5f}, lengths[] = {9, 80};
    struct chooser chooser = wt__chooser_default, again;
    struct arena arena = {0};
    wt_error err;
    (void)state;
    chooser.nonconformity = (struct calibration){nonconformity, 2};
    chooser.unused = (struct calibration){unused, 3};
    chooser.nearest = (struct calibration){nearest, 1};
    chooser.lengths = (struct calibration){lengths, 2};
    json_t *config = wt__chooser_write(&chooser);
    assert_int_equal(wt__chooser_read(&again, config, &arena, &err), 0);
    assert_int_equal(again.nonconformity.count, 2);
    assert_memory_equal(again.nonconformity.values, nonconformity, sizeof nonconformity);
    assert_int_equal(again.unused.count, 3);
    assert_memory_equal(again.unused.values, unused, sizeof unused);
    assert_int_equal(again.nearest.count, 1);
    assert_memory_equal(again.nearest.values, nearest, sizeof nearest);
    assert_int_equal(again.lengths.count, 2);
    assert_memory_equal(again.lengths.values, lengths, sizeof lengths);
    static const char *const later[] = {"unused", "nearest", "lengths"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        assert_int_equal(json_object_del(config, later[i]), 0);
    assert_int_equal(wt__chooser_read(&again, config, &arena, &err), 0);
    assert_int_equal(again.unused.count + again.nearest.count + again.lengths.count, 0);
    json_decref(config);
    wt__arena_dispose(&arena);
}

/* Choosers of older versions lack the relevance model. */
static void reads_back_relevance(void **state)
{
    struct chooser chooser = wt__chooser_default, again;
    struct arena arena = {0};
    wt_error err;
    (void)state;
    for (int has = 0; has < 2; has++) {
        chooser.has_relevance = has;
        chooser.relevance = (struct relevance_model){{1, 2, 3, 4, 5, 6}, 7};
        json_t *config = wt__chooser_write(&chooser);
        assert_int_equal(wt__chooser_read(&again, config, &arena, &err), 0);
        assert_int_equal(again.has_relevance, has);
        if (has) {
            assert_memory_equal(&again.relevance, &chooser.relevance, sizeof again.relevance);
            assert_int_equal(json_object_del(config, "relevance_constant"), 0);
            assert_int_equal(wt__chooser_read(&again, config, &arena, &err), WT_EMODEL);
        }
        json_decref(config);
    }
    wt__arena_dispose(&arena);
}

static void rejects_incomplete_choosers(void **state)
{
    static const struct {
        const char *name, *value, *says;
    } rows[] = {
        {"tool", "[1, 2]", "\"tool\" has 2 numbers instead of 11"},
        {"tool", "7", "\"tool\" has 0 numbers"},
        {"answerability", "[0,0,0,0,0,0,0,0,0,\"x\"]", "\"answerability\" must only have numbers"},
        {"reuse", "[1]", "\"reuse\" has 1 numbers instead of 3"},
        {"past", "null", "\"past\" is not a number"},
        {"tool_constant", "\"1\"", "\"tool_constant\" is not a number"},
        {"size", "1e30", "\"size\" is not a number of at most 1e+09"},
        {"no_answer", "[1e10]", "\"no_answer\" must only have numbers of at most 1e+09"},
        {"nonconformity", "[0.2, 0.1]", "\"nonconformity\" is not in order"},
        {"unused", "[0.2, 0.1]", "\"unused\" is not in order"},
        {"nearest", "7", "\"nearest\" is not a list"},
        {"lengths", "{\"0\": 9}", "\"lengths\" is not a list"},
        {"no_answer", "null", "\"no_answer\" is not a list"},
        {"no_answer", "[0.1, null]", "\"no_answer\" must only have numbers"},
        {"relevance", "[1, 2]", "\"relevance\" has 2 numbers instead of 6"},
        {"relevance", "null", "\"relevance\" has 0 numbers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct chooser chooser;
        wt_error err = {0};
        json_t *config = wt__chooser_write(&wt__chooser_default);
        json_t *value = json_loads(rows[i].value, JSON_DECODE_ANY, NULL);
        assert_int_equal(json_object_set_new(config, rows[i].name, value), 0);
        assert_int_equal(wt__chooser_read(&chooser, config, &arena, &err), WT_EMODEL);
        assert_non_null(strstr(err.message, rows[i].says));
        json_decref(config);
        wt__arena_dispose(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_written_chooser),
        cmocka_unit_test(reads_back_calibrations),
        cmocka_unit_test(reads_back_relevance),
        cmocka_unit_test(rejects_incomplete_choosers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
