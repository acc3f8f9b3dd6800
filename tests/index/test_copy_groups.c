/* Tests groups of exact copies: their members, their storage in a snapshot, and the detection of inconsistent keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "index/catalogue.h"
#include "index/snapshot.h"

enum { ROWS = 8, MANY = 3000, PROVIDERS = 40, WORDINGS = 900 };

/* Each string has one character per row. says: text of the tool, or '-' if it has no text. providers: provider of the
 * tool. groups: expected group of the row, or '-' if it has no copies. */
static const struct {
    const char *name, *says, *providers, *groups;
} cases[] = {
    {"all texts differ", "abcdefgh", "12345678", "--------"},
    {"two providers with the same texts", "abcabdef", "12345678", "ab-ab---"},
    {"equal texts of one provider form no group", "aabbcdef", "11223456", "--------"},
    {"one of two providers has the text twice", "aaab----", "112-----", "aaa-----"},
    {"all texts are the same", "aaaaaaaa", "12345678", "aaaaaaaa"},
    {"tools without a text form no group", "--------", "12345678", "--------"},
    {"rows of two groups alternate", "abababab", "11222222", "abababab"},
};

static void put_keys(struct snapshot_key *keys, const char *providers)
{
    for (size_t row = 0; row < ROWS; row++)
        keys[row] = (struct snapshot_key){.id = (int64_t)row + 1, .provider = (uint32_t)providers[row], .group = 77};
}

static void groups_copies_of_several_providers(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct snapshot_key keys[ROWS];
        uint64_t hashes[ROWS];
        uint32_t *rows;
        size_t count;
        put_keys(keys, cases[c].providers);
        for (size_t row = 0; row < ROWS; row++)
            hashes[row] = cases[c].says[row] == '-' ? 0 : (uint64_t)cases[c].says[row] << 55;
        assert_int_equal(wt__copy_groups_build(&rows, &count, keys, hashes, ROWS, NULL), 0);
        const struct snapshot snapshot = {.rows = ROWS, .keys = keys, .copies = {rows, count}};
        assert_int_equal(wt__copy_groups_check(&snapshot, NULL), 0);
        for (uint32_t row = 0; row < ROWS; row++) {
            size_t wanted = 0, len;
            const uint32_t *group = wt__copy_group(&snapshot, row, &len);
            for (uint32_t other = 0; cases[c].groups[row] != '-' && other < ROWS; other++)
                if (cases[c].groups[other] == cases[c].groups[row] && (wanted >= len || group[wanted++] != other))
                    fail_msg("%s: the group of row %u lacks %u", cases[c].name, row, other);
            if (len != wanted)
                fail_msg("%s: the group of row %u has %zu rows, not %zu", cases[c].name, row, len, wanted);
        }
        free(rows);
    }
}

static void groups_match_a_check_of_every_pair(void **state)
{
    static struct snapshot_key keys[MANY];
    static uint64_t hashes[MANY];
    uint32_t *rows;
    size_t count;
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 3);
    for (size_t row = 0; row < MANY; row++) {
        keys[row] = (struct snapshot_key){.id = (int64_t)row, .provider = wt__rng_below(&rng, PROVIDERS)};
        hashes[row] = wt__rng_below(&rng, WORDINGS);
    }
    assert_int_equal(wt__copy_groups_build(&rows, &count, keys, hashes, MANY, NULL), 0);
    const struct snapshot snapshot = {.rows = MANY, .keys = keys, .copies = {rows, count}};
    assert_int_equal(wt__copy_groups_check(&snapshot, NULL), 0);
    for (uint32_t row = 0; row < MANY; row++) {
        size_t same = 0, others = 0, len;
        for (uint32_t other = 0; hashes[row] && other < MANY; other++)
            if (hashes[other] == hashes[row]) {
                same++;
                others += keys[other].provider != keys[row].provider;
            }
        wt__copy_group(&snapshot, row, &len);
        if (others > 0)
            assert_int_equal(len, same);
        if (same < 2)
            assert_int_equal(len, 0);
    }
    free(rows);
}

static void snapshot_stores_groups(void **state)
{
    struct snapshot_key keys[ROWS];
    const uint64_t hashes[ROWS] = {5, 0, 7, 5, 0, 7, 7, 9};
    struct snapshot_content content = {.generation = 1, .keys = keys, .rows = ROWS};
    struct snapshot *snapshot;
    uint32_t *rows;
    size_t len;
    (void)state;
    put_keys(keys, "12345678");
    assert_int_equal(wt__copy_groups_build(&rows, &content.copies.count, keys, hashes, ROWS, NULL), 0);
    content.copies.rows = rows;
    content.lexical = make_block(1, ROWS, &content.lexical_len);
    assert_int_equal(wt__snapshot_build(&snapshot, NULL, &content, NULL), 0);
    free(rows);
    free((void *)content.lexical);
    assert_int_equal(wt__snapshot_validate(snapshot, NULL), 0);
    const uint32_t *group = wt__copy_group(snapshot, 5, &len), wanted[] = {2, 5, 6};
    assert_int_equal(len, 3);
    assert_memory_equal(group, wanted, sizeof wanted);
    wt__copy_group(snapshot, 1, &len);
    assert_int_equal(len, 0);
    wt__copy_group(snapshot, ROWS, &len);
    assert_int_equal(len, 0);
    wt__snapshot_free(snapshot);
}

static void reports_inconsistent_groups(void **state)
{
    static const struct {
        uint32_t groups[4], rows[4];
        size_t count, found; /* found: size of the group of row 0 */
    } bad[] = {
        {{1, 1, 0, 0}, {0, 4}, 2, 1},          /* row 4 of the group does not exist */
        {{1, 1, 0, 0}, {0, 2}, 2, 1},          /* the key of row 2 has no group */
        {{9, 9, 0, 0}, {0, 1}, 2, 0},          /* the keys' group starts beyond the end of the list */
        {{1, 1, 1, 0}, {0, 1}, 2, 2},          /* the list lacks row 2 of the group */
        {{2, 2, 0, 0}, {0, 1}, 2, 1},          /* the keys' group starts at the second row of the list */
        {{1, 1, 0, 0}, {1, 0}, 2, 2},          /* the rows of the group are not in order */
        {{UINT32_MAX, 1, 0, 0}, {0, 1}, 2, 0}, /* the maximum group */
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct snapshot_key keys[4] = {{.id = 1}, {.id = 2}, {.id = 3}, {.id = 4}};
        wt_error err;
        size_t len;
        for (size_t row = 0; row < 4; row++)
            keys[row].group = bad[i].groups[row];
        const struct snapshot snapshot = {.rows = 4, .keys = keys, .copies = {bad[i].rows, bad[i].count}};
        if (wt__copy_groups_check(&snapshot, &err) != WT_ESTORE)
            fail_msg("case %zu is not reported", i);
        assert_string_equal(err.message, "damaged: copies and their groups do not agree");
        wt__copy_group(&snapshot, 0, &len);
        assert_int_equal(len, bad[i].found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_copies_of_several_providers),
        cmocka_unit_test(groups_match_a_check_of_every_pair),
        cmocka_unit_test(snapshot_stores_groups),
        cmocka_unit_test(reports_inconsistent_groups),
    };
    make_words();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
