/* Tests set metrics against values computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "choose/set_metrics.h"

static double compute_metric(const char *name, struct overlap sets)
{
    for (size_t m = 0; m < SET_METRICS; m++)
        if (strcmp(wt__set_metrics[m].name, name) == 0)
            return wt__set_metrics[m].of(sets);
    fail_msg("no metric is called %s", name);
    return 0;
}

/* Expected values of tracc:
 *
 *   needed 3, picked 2, both right: the union has 3 tools, sizes differ by 1: (1 - 1/3) * 2/3 = 4/9
 *   needed 2, picked 4, both right: (1 - 2/4) * 1 = 1/2
 *   needed 2, picked 2, one right: sizes are equal: 1/2
 *   needed 1, picked 3, all wrong: 0
 *   needed tools, picked an empty set: the size difference equals the union: 0
 *   needed an empty set: the empty set scores 1, any other 0 */
static void metrics_match_definitions(void **state)
{
    static const struct {
        struct overlap sets;
        double tracc, exact, precision, recall, f1, complete, size_diff, size;
    } rows[] = {
        {{3, 2, 2}, 4.0 / 9, 0, 1, 2.0 / 3, 4.0 / 5, 0, 1, 2},
        {{2, 4, 2}, 0.5, 0, 0.5, 1, 4.0 / 6, 1, 2, 4},
        {{2, 2, 1}, 0.5, 0, 0.5, 0.5, 0.5, 0, 0, 2},
        {{1, 3, 0}, 0, 0, 0, 0, 0, 0, 2, 3},
        {{5, 5, 5}, 1, 1, 1, 1, 1, 1, 0, 5},
        {{2, 0, 0}, 0, 0, 0, 0, 0, 0, 2, 0},
        {{0, 0, 0}, 1, 1, 1, 1, 1, 1, 0, 0},
        {{0, 2, 0}, 0, 0, 0, 0, 0, 1, 2, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct overlap sets = rows[i].sets;
        assert_float_equal(wt__tracc(sets), rows[i].tracc, 1e-12);
        assert_float_equal(compute_metric("tracc", sets), rows[i].tracc, 1e-12);
        assert_float_equal(compute_metric("exact", sets), rows[i].exact, 1e-12);
        assert_float_equal(compute_metric("set_precision", sets), rows[i].precision, 1e-12);
        assert_float_equal(compute_metric("set_recall", sets), rows[i].recall, 1e-12);
        assert_float_equal(compute_metric("set_f1", sets), rows[i].f1, 1e-12);
        assert_float_equal(compute_metric("complete", sets), rows[i].complete, 1e-12);
        assert_float_equal(compute_metric("size_diff", sets), rows[i].size_diff, 1e-12);
        assert_float_equal(compute_metric("set_size", sets), rows[i].size, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_match_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
