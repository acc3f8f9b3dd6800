/* Tests the words of rows: what was added is read, and damaged or missing rows are empty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "index/row_words.h"

static void rows_are_read_as_they_were_added(void **state)
{
    static const uint16_t tokens[] = {5, 6, ROW_WORDS_BREAK, 7 | ROW_WORDS_CONTINUE};
    static const size_t lengths[] = {3, 0, 4, 1};
    struct row_words_builder builder = {.rows = 0};
    (void)state;
    for (size_t row = 0; row < 4; row++)
        assert_int_equal(wt__row_words_add(&builder, (struct row_tokens){tokens, lengths[row]}, NULL), 0);
    struct row_words words = wt__row_words_view(&builder);
    assert_int_equal(wt__row_words_check(&words, NULL), 0);
    for (uint32_t row = 0; row < 4; row++) {
        struct row_tokens found = wt__row_words(&words, row);
        assert_int_equal(found.len, lengths[row]);
        for (size_t i = 0; i < found.len; i++)
            assert_int_equal(found.items[i], tokens[i]);
    }
    assert_int_equal(wt__row_words(&words, 4).len, 0);
    assert_int_equal(wt__row_words(&(struct row_words){0}, 0).len, 0);
    wt__row_words_dispose(&builder);
}

static void damaged_rows_are_empty_and_reported(void **state)
{
    static const uint16_t tokens[ROW_WORDS_MAX + 2] = {0};
    static const struct {
        uint32_t ends[3];
        size_t count; /* number of tokens */
        uint32_t damaged;
    } cases[] = {
        {{2, 1, 3}, 3, 1},                                                 /* the second row ends before its start */
        {{1, 2, 4}, 3, 2},                                                 /* the third row ends after the tokens */
        {{1, ROW_WORDS_MAX + 2, ROW_WORDS_MAX + 2}, ROW_WORDS_MAX + 2, 1}, /* too many tokens */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct row_words words = {cases[i].ends, tokens, 3, cases[i].count};
        wt_error err;
        assert_int_equal(wt__row_words_check(&words, &err), WT_ESTORE);
        assert_int_equal(wt__row_words(&words, cases[i].damaged).len, 0);
        assert_int_equal(wt__row_words(&words, 0).len, cases[i].ends[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_read_as_they_were_added),
                                       cmocka_unit_test(damaged_rows_are_empty_and_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
