/* Tests the parsing of label files, and Cohen's kappa of tables with known values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generate/comparison.h"

static void test_label_files_are_parsed(void **state)
{
    static const struct {
        const char *file;
        const char *labels; /* pairs and labels in their order, such as "1a 2t"; NULL if the file is refused */
        const char *says;
    } rows[] = {
        {"", "", NULL},
        {"1\ta\n2\tb\n3\ttie\n", "1a 2b 3t", NULL},
        {"pair\tverdict\ta\tb\n7\tTIE\tx\ty\r\n\n1\tA\tx\ty", "7t 1a", NULL},
        {"verdict\tby\tPair\nb\tme\t12\n", "12b", NULL},
        {"1\t\n2\t?\n3\n4\t b \n", "4b", NULL},
        {"pair\n", NULL, "labels:1: \"pair\" is not a pair number"},
        {"1\ta\n1\tb\n", NULL, "labels:2: pair 1 appears twice"},
        {"01\ta\n", NULL, "\"01\" is not a pair number"},
        {"0\ta\n", NULL, "\"0\" is not a pair number"},
        {"1000001\ta\n", NULL, "\"1000001\" is not a pair number"},
        {"1\tc\n", NULL, "labels:1: \"c\" is not a verdict; use a, b or tie"},
        {"\t\t\n1\tfirst\n", NULL, "labels:2: \"first\" is not a verdict"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pair_labels labels;
        wt_error err;
        int rc = wt__pair_labels_parse(&labels, (struct str){rows[i].file, strlen(rows[i].file)}, "labels", &err);
        assert_int_equal(rc, rows[i].labels ? 0 : WT_EFORMAT);
        if (rc < 0) {
            if (!strstr(err.message, rows[i].says))
                fail_msg("row %zu: %s", i, err.message);
            continue;
        }
        char text[128] = "";
        for (size_t l = 0; l < labels.count; l++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%zu%c", l ? " " : "", labels.rows[l].pair,
                     "abt"[labels.rows[l].label]);
        assert_string_equal(text, rows[i].labels);
        wt__pair_labels_dispose(&labels);
    }
}

static void test_kappa_equals_known_values(void **state)
{
    static const struct {
        struct agreement table;
        double kappa;
    } rows[] = {
        {{{{10, 0, 0}, {0, 20, 0}, {0, 0, 5}}}, 1},
        {{{{20, 5, 0}, {10, 15, 0}, {0, 0, 0}}}, 0.4}, /* agreement 35 of 50, by chance 25 */
        {{{{25, 25, 0}, {25, 25, 0}, {0, 0, 0}}}, 0},
        {{{{0, 10, 0}, {10, 0, 0}, {0, 0, 0}}}, -1},
        {{{{9, 0, 0}, {0, 0, 0}, {0, 0, 0}}}, NAN},
        {{{{0}}}, NAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double kappa = wt__agreement_kappa(&rows[i].table);
        assert_true(isnan(rows[i].kappa) ? isnan(kappa) : fabs(kappa - rows[i].kappa) < 1e-12);
    }
    assert_int_equal(wt__agreement_pairs(&rows[1].table), 50);
    assert_int_equal(wt__agreement_same(&rows[1].table), 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_label_files_are_parsed),
        cmocka_unit_test(test_kappa_equals_known_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
