/* Tests the trie of pieces: it finds exactly the added keys, and damaged sections are harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/rng.h"
#include "text/trie_find.h"

static void finds_exactly_the_added_keys(void **state)
{
    struct trie_key keys[] = {{STR("ab"), 3}, {STR("a"), 1}, {STR("abcd"), 4}, {STR("\xFF\0z"), 5},
                              {STR("a"), 2},  {STR(""), 9},  {STR("b"), 0}};
    static const struct {
        struct str key;
        int32_t value;
    } rows[] = {{STR("a"), 2}, {STR("ab"), 3}, {STR("abc"), -1},    {STR("abcd"), 4}, {STR("abcde"), -1},
                {STR("b"), 0}, {STR(""), -1},  {STR("\xFF\0z"), 5}, {STR("c"), -1},   {STR("\0"), -1}};
    struct buffer section = {0};
    struct trie trie;
    int32_t value = -7;
    (void)state;
    assert_int_equal(wt__trie_build(&section, keys, sizeof keys / sizeof *keys), 0);
    assert_true(wt__trie_open(&trie, section.ptr, section.len));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(trie_find(&trie, rows[i].key), rows[i].value);
    assert_int_equal(wt__trie_longest(&trie, 0, STR("abcx"), &value), 2);
    assert_int_equal(value, 3);
    assert_int_equal(wt__trie_longest(&trie, wt__trie_walk(&trie, STR("ab")), STR("cdx"), &value), 2);
    assert_int_equal(value, 4);
    assert_int_equal(wt__trie_longest(&trie, 0, STR("xa"), &value), 0);
    wt__buffer_dispose(&section);
}

static void finds_many_random_keys(void **state)
{
    enum { KEYS = 20000 };
    static char bytes[KEYS][8];
    static struct trie_key keys[KEYS];
    struct buffer section = {0};
    struct trie trie;
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 17);
    for (size_t i = 0; i < KEYS; i++) {
        size_t len = 1 + wt__rng_below(&rng, sizeof *bytes);
        for (size_t j = 0; j < len; j++)
            bytes[i][j] = (char)wt__rng_below(&rng, i % 3 == 0 ? 256 : 6);
        keys[i] = (struct trie_key){{bytes[i], len}, (int32_t)i};
    }
    assert_int_equal(wt__trie_build(&section, keys, KEYS), 0);
    assert_true(wt__trie_open(&trie, section.ptr, section.len));
    for (size_t i = 0; i < KEYS; i++) { /* wt__trie_build has sorted the keys; the last of equal keys wins */
        bool last = i + 1 == KEYS || !wt__str_equal(keys[i].text, keys[i + 1].text);
        if (last)
            assert_int_equal(trie_find(&trie, keys[i].text), keys[i].value);
    }
    size_t used = 1;
    for (uint32_t node = 1; node < trie.unit_count; node++)
        used += wt__trie_unit(&trie, node).parent != UINT32_MAX;
    assert_true(used * 3 > trie.unit_count); /* random keys leave many units free; words leave a tenth free */
    wt__buffer_dispose(&section);
}

static void damaged_sections_do_not_cause_invalid_reads(void **state)
{
    struct trie_unit units[16] = {{0}};
    struct trie trie;
    struct rng rng;
    (void)state;
    assert_false(wt__trie_open(&trie, units, 0));
    assert_false(wt__trie_open(&trie, units, sizeof *units + 1));
    wt__rng_seed(&rng, 19);
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < 16; i++) {
            units[i].base = (uint32_t)(wt__rng_below(&rng, 8) ? wt__rng_below(&rng, 32) : wt__rng_next(&rng));
            units[i].parent = (uint32_t)wt__rng_below(&rng, 16);
            units[i].value = (int32_t)wt__rng_next(&rng);
        }
        assert_true(wt__trie_open(&trie, units, sizeof units));
        int32_t value = 0;
        assert_in_range(wt__trie_longest(&trie, 0, STR("\1\2\3\4\5\6\7\0\1\2\3"), &value), 0, 11);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_exactly_the_added_keys),
        cmocka_unit_test(finds_many_random_keys),
        cmocka_unit_test(damaged_sections_do_not_cause_invalid_reads),
    };
    return cmocka_run_group_tests_name("text/trie", tests, NULL, NULL);
}
