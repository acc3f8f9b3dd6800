/* Tests writing and reading runs and judgements in trec_eval's format: fields between blanks, ranks by score. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "eval/internal.h"

static void ids_are_escaped_to_one_field(void **state)
{
    (void)state;
    static const char *const ids[] = {"plain", "GET /pets/{id}", "a\tb\nc", "100%", "%41", "\xc3\xa9t\xc3\xa9", "\x7f"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct buffer out = {0};
        wt__trec_escape(&out, wt__str(ids[i]));
        assert_null(strpbrk(out.ptr, " \t\n"));
        wt__trec_unescape(out.ptr);
        assert_string_equal(out.ptr, ids[i]);
        wt__buffer_dispose(&out);
    }
}

/* Other programs do not escape ids. */
static void a_percent_sign_without_digits_is_kept(void **state)
{
    static const char *const rows[][2] = {
        {"100%", "100%"}, {"%4", "%4"}, {"%zz", "%zz"}, {"%00", "%00"}, {"%4a%4A", "JJ"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char field[16];
        snprintf(field, sizeof field, "%s", rows[i][0]);
        wt__trec_unescape(field);
        assert_string_equal(field, rows[i][1]);
    }
}

static void written_scores_decrease_strictly(void **state)
{
    (void)state;
    static const double scores[] = {2.5, 2.5, 2.5, 1.0000000001, 1, 3, 0, 0, -1, NAN};
    size_t count = sizeof scores / sizeof *scores;
    struct buffer out = {0};
    float last = INFINITY;
    for (size_t i = 0; i < count; i++)
        wt__trec_run_line(&out, STR("q 1"), STR("t"), i + 1, scores[i], &last, "bm25");
    const char *line = out.ptr;
    float before = INFINITY;
    for (size_t i = 0; i < count; i++) {
        char query[16], tool[16], recipe[16];
        int rank = 0;
        float score = 0;
        assert_int_equal(sscanf(line, "%15s Q0 %15s %d %g %15s\n", query, tool, &rank, &score, recipe), 5);
        assert_string_equal(query, "q%201");
        assert_string_equal(recipe, "bm25");
        assert_int_equal(rank, (int)i + 1);
        assert_true(score < before);
        before = score;
        line = strchr(line, '\n') + 1;
    }
    assert_int_equal(*line, '\0');
    wt__buffer_dispose(&out);
}

static void judgements_have_four_fields(void **state)
{
    (void)state;
    struct buffer out = {0};
    wt__trec_qrels_line(&out, STR("q1"), &(struct judgement){STR("a b"), 2});
    wt__trec_qrels_line(&out, STR("q1"), &(struct judgement){STR("c"), -1});
    assert_string_equal(out.ptr, "q1 0 a%20b 2\nq1 0 c -1\n");
    wt__buffer_dispose(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_escaped_to_one_field),
        cmocka_unit_test(a_percent_sign_without_digits_is_kept),
        cmocka_unit_test(written_scores_decrease_strictly),
        cmocka_unit_test(judgements_have_four_fields),
    };
    return cmocka_run_group_tests_name("eval/trec", tests, NULL, NULL);
}
