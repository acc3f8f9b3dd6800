/* Tests the sampler, which selects the examples of each batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "learn/loop.h"

enum { BATCH = 4, PARTS = 5, BATCHES = 600 };
/* Parts of 900, 0, 100, 3 and 25 examples. */
static const size_t ends[PARTS] = {900, 900, 1000, 1003, 1028};

static struct sampler sampler_of(uint64_t seed, size_t batch, const size_t *part_ends, size_t parts)
{
    struct sampler sampler;
    wt_error err;
    assert_int_equal(wt__sampler_open(&sampler, seed, batch, part_ends, parts, &err), 0);
    return sampler;
}

static size_t find_part_of(uint32_t example)
{
    size_t part = 0;
    while (example >= ends[part])
        part++;
    return part;
}

static void takes_batches_of_one_part(void **state)
{
    struct sampler sampler = sampler_of(1, BATCH, ends, PARTS);
    uint32_t chosen[BATCH];
    (void)state;
    for (uint64_t b = 0; b < BATCHES; b++) {
        size_t count = wt__sampler_choose(&sampler, b, chosen), part = find_part_of(chosen[0]);
        assert_int_equal(count, part == 3 ? 3 : BATCH); /* a part smaller than a batch is used whole */
        for (size_t i = 1; i < count; i++)
            assert_int_equal(find_part_of(chosen[i]), part);
    }
    wt__sampler_dispose(&sampler);
}

static void parts_alternate_by_square_root_of_size(void **state)
{
    static const double roots[PARTS] = {30, 0, 10, 1.7320508, 5};
    struct sampler sampler = sampler_of(1, BATCH, ends, PARTS);
    uint32_t chosen[BATCH];
    size_t batches[PARTS] = {0};
    (void)state;
    for (uint64_t b = 0; b < BATCHES; b++) {
        wt__sampler_choose(&sampler, b, chosen);
        batches[find_part_of(chosen[0])]++;
        for (size_t p = 0; p < PARTS; p++) { /* at any time, within 1.5 batches of the share */
            double due = roots[p] / 46.7320508 * (double)(b + 1);
            assert_true((double)batches[p] > due - 1.5 && (double)batches[p] < due + 1.5);
        }
    }
    wt__sampler_dispose(&sampler);
}

static void uses_every_example_once_per_epoch(void **state)
{
    struct sampler sampler = sampler_of(1, BATCH, ends, PARTS);
    uint32_t chosen[BATCH];
    unsigned seen[1028] = {0};
    size_t batches = 0;
    (void)state;
    for (uint64_t b = 0; batches < 3 * 25; b++) { /* three epochs of the part with 100 examples */
        size_t count = wt__sampler_choose(&sampler, b, chosen);
        if (find_part_of(chosen[0]) != 2)
            continue;
        batches++;
        for (size_t i = 0; i < count; i++)
            seen[chosen[i]]++;
    }
    for (size_t e = ends[1]; e < ends[2]; e++)
        assert_int_equal(seen[e], 3);
    wt__sampler_dispose(&sampler);
}

/* A resumed training may begin at any batch, so a batch must not depend on earlier calls. */
static void batches_depend_on_their_number_only(void **state)
{
    static const uint64_t asked[] = {599, 0, 17, 16, 300, 301};
    struct sampler through = sampler_of(7, BATCH, ends, PARTS), by_leaps = sampler_of(7, BATCH, ends, PARTS);
    uint32_t all[BATCHES][BATCH] = {{0}}, chosen[BATCH];
    size_t counts[BATCHES];
    (void)state;
    for (uint64_t b = 0; b < BATCHES; b++)
        counts[b] = wt__sampler_choose(&through, b, all[b]);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        assert_int_equal(wt__sampler_choose(&by_leaps, asked[i], chosen), counts[asked[i]]);
        assert_memory_equal(chosen, all[asked[i]], counts[asked[i]] * sizeof *chosen);
    }
    wt__sampler_dispose(&through);
    wt__sampler_dispose(&by_leaps);
}

static void another_seed_gives_other_batches(void **state)
{
    struct sampler one = sampler_of(1, BATCH, ends, PARTS), two = sampler_of(2, BATCH, ends, PARTS);
    uint32_t first[BATCH], second[BATCH];
    (void)state;
    wt__sampler_choose(&one, 0, first);
    wt__sampler_choose(&two, 0, second);
    assert_memory_not_equal(first, second, sizeof first);
    wt__sampler_dispose(&one);
    wt__sampler_dispose(&two);
}

/* For a single catalogue, the order must be the same as in earlier versions. */
static void single_part_keeps_its_order(void **state)
{
    static const size_t end = 5;
    static const uint32_t want[] = {3, 2, 4, 0, 1, 3, 4, 1, 0, 2, 2, 1};
    struct sampler sampler = sampler_of(1, 3, &end, 1);
    uint32_t got[12];
    (void)state;
    for (uint64_t b = 0; b < 4; b++)
        assert_int_equal(wt__sampler_choose(&sampler, b, got + 3 * b), 3);
    assert_memory_equal(got, want, sizeof want);
    wt__sampler_dispose(&sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_batches_of_one_part),         cmocka_unit_test(parts_alternate_by_square_root_of_size),
        cmocka_unit_test(uses_every_example_once_per_epoch), cmocka_unit_test(batches_depend_on_their_number_only),
        cmocka_unit_test(another_seed_gives_other_batches),  cmocka_unit_test(single_part_keeps_its_order),
    };
    return cmocka_run_group_tests_name("learn/sampler", tests, NULL, NULL);
}
