/* Tests of sorting, removal of duplicates, lower bounds and percentiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/sort.h"
#include "base/topk.h"

enum { MOST = 300, LONGEST = SORT_MERGED_MAX + 2 };

/* Defines a test that sorts the type's extremes and random values with many ties. */
#define HOLDS(name, type, least, greatest)                                                                             \
    static void name##_are_sorted_in_ascending_order(void **state)                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        struct rng rng;                                                                                                \
        wt__rng_seed(&rng, 5);                                                                                         \
        wt__sort_##name(NULL, 0);                                                                                      \
        for (size_t count = 1; count < MOST; count += 7) {                                                             \
            type values[MOST] = {greatest, 1, least};                                                                  \
            size_t ones = 0, left = 0;                                                                                 \
            for (size_t i = 3; i < count; i++)                                                                         \
                values[i] = (type)wt__rng_below(&rng, 50);                                                             \
            for (size_t i = 0; i < count; i++)                                                                         \
                ones += values[i] == 1;                                                                                \
            wt__sort_##name(values, count);                                                                            \
            for (size_t i = 0; i < count; i++) {                                                                       \
                assert_true(i == 0 || values[i - 1] <= values[i]);                                                     \
                left += values[i] == 1;                                                                                \
            }                                                                                                          \
            assert_int_equal(left, ones);                                                                              \
            assert_true(values[count - 1] == (greatest));                                                              \
            assert_true(count < 3 || values[0] == (least));                                                            \
        }                                                                                                              \
    }

/* Defines a test that compares the lower bound with a linear search. It looks for listed and unlisted values, in lists
 * with ties. */
#define IS_FOUND(name, type, least, greatest)                                                                          \
    static void name##_lower_bounds_match_linear_search(void **state)                                                  \
    {                                                                                                                  \
        static const type values[] = {least, 2, 2, 4, 6, 6, 6, 9, greatest};                                           \
        (void)state;                                                                                                   \
        for (size_t count = 0; count <= sizeof values / sizeof *values; count++)                                       \
            for (int v = -1; v < 12; v++) {                                                                            \
                type value = v < 0 ? (least) : v > 10 ? (greatest) : (type)v;                                          \
                size_t first = 0;                                                                                      \
                while (first < count && values[first] < value)                                                         \
                    first++;                                                                                           \
                assert_int_equal(wt__lower_bound_##name(count > 0 ? values : NULL, count, value), first);              \
            }                                                                                                          \
    }

IS_FOUND(u32, uint32_t, 0, UINT32_MAX)
IS_FOUND(u64, uint64_t, 0, UINT64_MAX)
IS_FOUND(i64, int64_t, INT64_MIN, INT64_MAX)

HOLDS(u32, uint32_t, 0, UINT32_MAX)
HOLDS(u64, uint64_t, 0, UINT64_MAX)
HOLDS(i64, int64_t, INT64_MIN, INT64_MAX)
HOLDS(floats, float, -1e38F, 1e38F)
HOLDS(doubles, double, -1e300, 1e300)

/* Lists of 1 to LONGEST values. The values are equal, or differ in some bytes, or in all bytes. */
static void sorts_values_that_differ_in_any_byte(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 32, 33, 255, 256, 257, SORT_MERGED_MAX, LONGEST};
    static const uint64_t masks[] = {0, 0xff, 0xff0000ff00000000, 0x100000000000001, UINT64_MAX};
    static uint64_t values[LONGEST];
    struct rng rng;
    wt__rng_seed(&rng, 6);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
            uint64_t before = 0, behind = 0;
            for (size_t i = 0; i < counts[c]; i++) {
                values[i] = wt__rng_next(&rng) & masks[m];
                before += values[i] * values[i];
            }
            wt__sort_u64(values, counts[c]);
            for (size_t i = 0; i < counts[c]; i++) {
                assert_true(i == 0 || values[i - 1] <= values[i]);
                behind += values[i] * values[i];
            }
            assert_true(before == behind);
        }
}

static void sorts_scored_rows_by_score_then_row(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 7, 300, SORT_MERGED_MAX, LONGEST};
    static const float scores[] = {1, 0, -0.0F, -1, 1e-40F, -1e-40F, 3e38F, -3e38F, 0.5F};
    static struct scored items[LONGEST];
    struct rng rng;
    wt__rng_seed(&rng, 7);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint64_t rows = 0;
        for (size_t i = 0; i < counts[c]; i++)
            items[i] = (struct scored){scores[wt__rng_below(&rng, sizeof scores / sizeof *scores)],
                                       (uint32_t)((i * 7919) % counts[c])};
        wt__scored_sort(items, counts[c]);
        for (size_t i = 0; i < counts[c]; i++) {
            assert_true(i == 0 || wt__scored_better(items[i - 1], items[i]));
            rows += items[i].row;
        }
        assert_int_equal(rows, counts[c] * (counts[c] - (counts[c] > 0)) / 2);
    }
}

static void sorts_texts_by_bytes(void **state)
{
    (void)state;
    char bytes[][4] = {"b", "\xc3\xa4", "", "B", "ba", "b"};
    char *texts[] = {bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]};
    static const char *const sorted[] = {"", "B", "b", "b", "ba", "\xc3\xa4"};
    wt__sort_texts(NULL, 0);
    wt__sort_texts(texts, sizeof texts / sizeof *texts);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(texts[i], sorted[i]);
}

static void unique_sort_removes_duplicates(void **state)
{
    (void)state;
    static const struct {
        size_t count, kept;
        uint32_t values[6], sorted[6];
    } cases[] = {
        {0, 0, {0}, {0}},
        {1, 1, {7}, {7}},
        {4, 1, {7, 7, 7, 7}, {7}},
        {6, 4, {9, 0, UINT32_MAX, 9, 3, 0}, {0, 3, 9, UINT32_MAX}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint32_t narrow[6];
        uint64_t wide[6];
        for (size_t i = 0; i < 6; i++) {
            narrow[i] = cases[c].values[i];
            wide[i] = (uint64_t)cases[c].values[i] << 32; /* the low 32 bits are equal */
        }
        assert_int_equal(wt__sort_unique_u32(narrow, cases[c].count), cases[c].kept);
        assert_int_equal(wt__sort_unique_u64(wide, cases[c].count), cases[c].kept);
        for (size_t i = 0; i < cases[c].kept; i++) {
            assert_int_equal(narrow[i], cases[c].sorted[i]);
            assert_int_equal(wide[i] >> 32, cases[c].sorted[i]);
        }
    }
    assert_int_equal(wt__sort_unique_u32(NULL, 0), 0);
}

static void percentile_is_one_of_the_values(void **state)
{
    (void)state;
    double twenty[20];
    for (int i = 0; i < 20; i++)
        twenty[i] = i + 1;
    assert_true(wt__percentile(twenty, 20, 50) == 10);
    assert_true(wt__percentile(twenty, 20, 95) == 19);
    assert_true(wt__percentile(twenty, 20, 99) == 20);
    assert_true(wt__percentile(twenty, 20, 100) == 20);
    assert_true(wt__percentile(twenty, 20, 0.1) == 1);
    assert_true(wt__percentile(twenty, 1, 99) == 1);
    assert_true(wt__percentile(NULL, 0, 50) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u32_lower_bounds_match_linear_search),
        cmocka_unit_test(u64_lower_bounds_match_linear_search),
        cmocka_unit_test(i64_lower_bounds_match_linear_search),
        cmocka_unit_test(u32_are_sorted_in_ascending_order),
        cmocka_unit_test(u64_are_sorted_in_ascending_order),
        cmocka_unit_test(i64_are_sorted_in_ascending_order),
        cmocka_unit_test(floats_are_sorted_in_ascending_order),
        cmocka_unit_test(doubles_are_sorted_in_ascending_order),
        cmocka_unit_test(sorts_values_that_differ_in_any_byte),
        cmocka_unit_test(sorts_scored_rows_by_score_then_row),
        cmocka_unit_test(sorts_texts_by_bytes),
        cmocka_unit_test(unique_sort_removes_duplicates),
        cmocka_unit_test(percentile_is_one_of_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
