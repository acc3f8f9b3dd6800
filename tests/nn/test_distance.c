/* Tests that the buckets of distances equal the buckets of the reference implementations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "nn/attention.h"

static const struct {
    const char *name;
    int32_t buckets, max;
} tables[] = {{"deberta_buckets16_max128", 16, 128},
              {"deberta_buckets32_max128", 32, 128},
              {"deberta_buckets256_max512", 256, 512},
              {"deberta_buckets256_max514", 256, 514},
              {"deberta_buckets320_max640", 320, 640}};

/* Returns the bucket of a distance, looked up as attention does. */
static int32_t look_up_bucket(const struct distances *d, int32_t distance)
{
    int32_t positions[2] = {distance, 0};

    return d->bucket[wt__distance_index(positions, 0, 1, d->reach)];
}

static void buckets_match_reference(void **state)
{
    json_t *all = golden_json("encoders/buckets.json");
    static int32_t bucket[2 * 640 + 1];
    struct distances d;

    (void)state;
    if (!all)
        skip();
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
        json_t *table = wt__json_object(all, tables[t].name), *list = wt__json_array(table, "bucket");
        int32_t from = (int32_t)wt__json_int(table, "rel_from", 0), span = tables[t].buckets;

        assert_true(json_array_size(list) > 1000);
        wt__distances_deberta(&d, bucket, tables[t].buckets, tables[t].max);
        assert_int_equal(d.count, 2 * span);
        for (size_t i = 0; i < json_array_size(list); i++) {
            int32_t row = (int32_t)json_integer_value(json_array_get(list, i)) + span;

            row = row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row;
            if (look_up_bucket(&d, from + (int32_t)i) != row)
                fail_msg("%s at %d: %d, expected %d", tables[t].name, from + (int32_t)i,
                         look_up_bucket(&d, from + (int32_t)i), row);
        }
    }
    json_t *table = wt__json_object(all, "mpnet_32_128 (relative_position = key - query)");
    json_t *list = wt__json_array(table, "bucket");
    int32_t from = (int32_t)wt__json_int(table, "rel_from", 0);
    assert_true(json_array_size(list) > 1000);
    wt__distances_mpnet(&d, bucket);
    for (size_t i = 0; i < json_array_size(list); i++)
        assert_int_equal(look_up_bucket(&d, -(from + (int32_t)i)), json_integer_value(json_array_get(list, i)));
    json_decref(all);
}

static void distances_without_buckets_keep_own_rows(void **state)
{
    int32_t bucket[2 * 32 + 1];
    struct distances d;

    (void)state;
    wt__distances_deberta(&d, bucket, -1, 32);
    assert_int_equal(d.count, 64);
    for (int32_t distance = -100; distance <= 100; distance++)
        assert_int_equal(look_up_bucket(&d, distance), distance < -32 ? 0 : distance > 31 ? 63 : distance + 32);
    assert_int_equal(d.bucket[wt__distance_index(NULL, 7, 3, d.reach)], 36); /* positions are row indices */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_match_reference),
        cmocka_unit_test(distances_without_buckets_keep_own_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
