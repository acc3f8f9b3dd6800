/* Tests the sorted list of names: it finds all added names in order of kind and row, and its check reports damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "index/names.h"

static const uint64_t greatest = (UINT64_C(1) << 40) - 1; /* maximum 40-bit hash */

static void entry_contains_its_parts(void **state)
{
    static const enum name_kind kinds[] = {NAME_OWN, NAME_TITLE, NAME_ID, NAME_PATH, NAME_WRITTEN};
    static const uint32_t rows[] = {0, 1, 1999999, NAME_NO_ROW};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            uint64_t entry = wt__name_entry(greatest - 1, kinds[k], rows[r]);
            assert_int_equal(wt__name_kind(entry), kinds[k]);
            assert_int_equal(wt__name_row(entry), rows[r]);
            assert_true(entry > wt__name_entry(greatest - 2, NAME_WRITTEN, NAME_NO_ROW));
            assert_true(entry < wt__name_entry(greatest, NAME_OWN, 0));
        }
}

static void empty_list_has_no_names(void **state)
{
    struct name_index none = {0};
    struct names_builder builder = {0};
    (void)state;
    assert_int_equal(wt__names_find(&none, 7).count, 0);
    assert_false(wt__names_has(&none, 7, 0));
    assert_int_equal(wt__names_check(&none, 0, NULL), 0);
    assert_int_equal(wt__names_mark(&none), 0);
    assert_int_equal(wt__names_find(&none, greatest).count, 0);
    assert_false(wt__names_has(&none, greatest, 0));
    free(none.marks);
    struct name_index built = wt__names_builder_finish(&builder);
    assert_int_equal(built.count + built.words, 0);
    wt__names_builder_dispose(&builder);
    wt__names_builder_dispose(&builder);
}

static void finds_rows_of_a_name_in_order(void **state)
{
    static const struct {
        uint64_t hash;
        enum name_kind kind;
        uint32_t row;
        size_t words;
    } added[] = {{500, NAME_ID, 2, 3},
                 {9, NAME_OWN, 4, 2},
                 {500, NAME_OWN, 7, 2},
                 {500, NAME_OWN, 1, 2},
                 {9, NAME_OWN, 4, 2},
                 {0, NAME_WRITTEN, 0, 0},
                 {greatest, NAME_PATH, NAME_NO_ROW, 0}};
    static const uint32_t rows[] = {1, 7, 2};
    struct names_builder builder = {0};
    (void)state;
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        assert_int_equal(wt__names_builder_add(&builder, added[i].hash, added[i].kind, added[i].row, added[i].words),
                         0);
    struct name_index names = wt__names_builder_finish(&builder);
    assert_int_equal(names.count, 6); /* one is a duplicate */
    assert_int_equal(names.words, 3);
    struct name_run run = wt__names_find(&names, 500);
    assert_int_equal(run.count, 3);
    for (size_t i = 0; i < run.count; i++) {
        assert_int_equal(wt__name_row(names.entries[run.first + i]), rows[i]);
        assert_true(wt__names_has(&names, 500, rows[i]));
    }
    assert_int_equal(wt__names_find(&names, 0).count, 1);
    assert_int_equal(wt__names_find(&names, 9).count, 1);
    assert_int_equal(wt__names_find(&names, greatest).count, 1);
    assert_int_equal(wt__names_find(&names, 499).count, 0);
    assert_int_equal(wt__names_find(&names, 501).count, 0);
    assert_false(wt__names_has(&names, 500, 4));
    assert_false(wt__names_has(&names, 501, 1));
    assert_int_equal(wt__names_check(&names, NAME_NO_ROW + 1, NULL), 0);
    wt__names_builder_dispose(&builder);
}

/* Continues a builder with removed, renumbered and added rows. The result equals that of a new builder. */
static void continued_builder_has_the_same_names(void **state)
{
    enum { ROWS = 300, HASHES = 500 };
    (void)state;
    struct names_builder before = {0}, follower = {0}, anew = {0};
    uint32_t moved[ROWS], next = 0;
    struct rng rng;
    wt__rng_seed(&rng, 9);
    for (uint32_t row = 0; row < ROWS; row++) {
        bool stays = wt__rng_below(&rng, 3) > 0;
        next += (uint32_t)wt__rng_below(&rng, 2); /* leave a gap for a new row */
        for (size_t i = wt__rng_below(&rng, 4); i > 0; i--) {
            uint64_t hash = wt__rng_below(&rng, HASHES) * (greatest / HASHES);
            assert_int_equal(wt__names_builder_add(&before, hash, NAME_OWN, row, 1), 0);
            if (stays)
                assert_int_equal(wt__names_builder_add(&anew, hash, NAME_OWN, next, 1), 0);
        }
        moved[row] = stays ? next++ : NAME_NO_ROW;
    }
    wt__names_builder_finish(&before);
    for (uint32_t row = 0, old = 0; row < next; row++) {
        while (old < ROWS && (moved[old] == NAME_NO_ROW || moved[old] < row))
            old++;
        if (old < ROWS && moved[old] == row)
            continue;
        uint64_t hash = wt__rng_below(&rng, HASHES) * (greatest / HASHES);
        assert_int_equal(wt__names_builder_add(&follower, hash, NAME_TITLE, row, 1), 0);
        assert_int_equal(wt__names_builder_add(&anew, hash, NAME_TITLE, row, 1), 0);
    }
    assert_int_equal(wt__names_builder_follow(&follower, &before, moved), 0);
    struct name_index a = wt__names_builder_finish(&anew), b = wt__names_builder_finish(&follower);
    assert_true(a.count > ROWS / 2);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.entries, b.entries, a.count * sizeof *a.entries);
    wt__names_builder_dispose(&before);
    wt__names_builder_dispose(&follower);
    wt__names_builder_dispose(&anew);
}

/* A search starts at an estimated index. Its result must be correct even if the estimate is bad. */
static void finds_hashes_of_any_distribution(void **state)
{
    enum { COUNT = 3000 };
    static const uint64_t bases[] = {0, UINT64_C(1) << 39, (UINT64_C(1) << 40) - 2 * COUNT - 2};
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 7);
    for (size_t spread = 0; spread <= sizeof bases / sizeof *bases; spread++) {
        struct names_builder builder = {0};
        static uint64_t hashes[COUNT];
        bool even = spread == sizeof bases / sizeof *bases;
        for (uint32_t i = 0; i < COUNT; i++) {
            hashes[i] = even ? wt__rng_below(&rng, greatest / 2) * 2 : bases[spread] + 2 * (uint64_t)i;
            assert_int_equal(wt__names_builder_add(&builder, hashes[i], NAME_OWN, i, 1), 0);
        }
        struct name_index names = wt__names_builder_finish(&builder);
        for (int marked = 0; marked < 2; marked++) {
            if (marked)
                assert_int_equal(wt__names_mark(&names), 0);
            for (uint32_t i = 0; i < COUNT; i++) {
                assert_true(wt__names_find(&names, hashes[i]).count >= 1);
                assert_true(wt__names_has(&names, hashes[i], i));
                assert_int_equal(wt__names_find(&names, hashes[i] + 1).count, 0);
                assert_false(wt__names_has(&names, hashes[i], COUNT));
            }
        }
        free(names.marks);
        wt__names_builder_dispose(&builder);
    }
}

static void reports_damaged_names(void **state)
{
    static const struct {
        const char *name;
        uint64_t hashes[3];
        uint32_t rows[3], of;
        int code;
    } cases[] = {
        {"in order", {1, 2, 3}, {0, 2, 1}, 3, 0},
        {"out of order", {1, 3, 2}, {0, 0, 0}, 3, WT_ESTORE},
        {"rows out of order", {1, 1, 1}, {0, 2, 1}, 3, WT_ESTORE},
        {"duplicate entry", {1, 2, 2}, {0, 1, 1}, 3, WT_ESTORE},
        {"last row does not exist", {1, 2, 3}, {0, 2, 3}, 3, WT_ESTORE},
        {"first row does not exist", {1, 2, 3}, {NAME_NO_ROW, 0, 1}, 3, WT_ESTORE},
        {"index without rows", {1, 2, 3}, {0, 0, 0}, 0, WT_ESTORE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t entries[3];
        wt_error err = {0};
        for (size_t e = 0; e < 3; e++)
            entries[e] = wt__name_entry(cases[i].hashes[e], NAME_OWN, cases[i].rows[e]);
        const struct name_index names = {.entries = entries, .count = 3, .words = 1};
        if (wt__names_check(&names, cases[i].of, &err) != cases[i].code)
            fail_msg("%s: %s", cases[i].name, err.message);
        if (cases[i].code < 0)
            assert_string_equal(err.message, "damaged: names are out of order or refer to missing rows");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entry_contains_its_parts),         cmocka_unit_test(empty_list_has_no_names),
        cmocka_unit_test(finds_rows_of_a_name_in_order),    cmocka_unit_test(continued_builder_has_the_same_names),
        cmocka_unit_test(finds_hashes_of_any_distribution), cmocka_unit_test(reports_damaged_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
