/* Tests the hashes of names. Only letters and digits count, without their case and accents. Any bytes are accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/rng.h"
#include "text/analyser.h"

static uint64_t name_hash_of(struct str text)
{
    return wt__name_hash_end(wt__name_hash_text(NAME_HASH_EMPTY, text));
}

static void spellings_of_a_name_have_the_same_hash(void **state)
{
    static const struct {
        struct str a, b;
        bool same;
    } cases[] = {
        {STR("create_issue"), STR("createIssue"), true},
        {STR("create_issue"), STR("Create Issue"), true},
        {STR("create_issue"), STR("CREATE-ISSUE"), true},
        {STR("create_issue"), STR("  create.issue!\n"), true},
        {STR("create_issue"), STR("createissue"), true},
        {STR("cr\303\251er"), STR("creer"), true},         /* composed accent */
        {STR("cre\314\201er"), STR("cr\303\211ER"), true}, /* combining accent */
        {STR("get_v2"), STR("getV2"), true},
        {STR("\xD0\x9F\xD0\x9E\xD0\x98\xD0\xA1\xD0\x9A"), STR("\xD0\xBF\xD0\xBE\xD0\xB8\xD1\x81\xD0\xBA"), true},
        {STR("\xE6\xA4\x9C\xE7\xB4\xA2"), STR("\xE6\xA4\x9C \xE7\xB4\xA2"), true},
        {STR("a\0b"), STR("ab"), true},
        {STR("a\377b"), STR("ab"), true}, /* invalid UTF-8 */
        {STR("?! _"), STR(""), true},
        {STR("create_issue"), STR("create_issues"), false},
        {STR("create_issue"), STR("issue_create"), false},
        {STR("get_v2"), STR("get_v3"), false},
        {STR("a"), STR(""), false},
        {STR("\xE6\xA4\x9C"), STR("\xE7\xB4\xA2"), false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if ((name_hash_of(cases[i].a) == name_hash_of(cases[i].b)) != cases[i].same)
            fail_msg("row %zu: \"%.*s\", \"%.*s\"", i, (int)cases[i].a.len, cases[i].a.ptr, (int)cases[i].b.len,
                     cases[i].b.ptr);
    assert_true(name_hash_of((struct str){NULL, 0}) == name_hash_of(STR("")));
}

static void written_hash_depends_on_every_byte(void **state)
{
    static const struct str texts[] = {STR(""),       STR("\0"),      STR("search"),
                                       STR("Search"), STR("sear_ch"), STR("search ")};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            assert_true((wt__name_hash_written(texts[i]) == wt__name_hash_written(texts[j])) == (i == j));
        assert_true(wt__name_hash_written(texts[i]) != name_hash_of(texts[i]));
    }
}

/* Hashing a text in two parts gives the hash of the whole text. */
static void hash_can_be_continued(void **state)
{
    static const struct str name = STR("mcp__github__create_issue");
    (void)state;
    for (size_t cut = 0; cut <= name.len; cut++) {
        uint64_t first = wt__name_hash_text(NAME_HASH_EMPTY, (struct str){name.ptr, cut});
        assert_true(wt__name_hash_end(wt__name_hash_text(first, (struct str){name.ptr + cut, name.len - cut})) ==
                    name_hash_of(name));
    }
}

/* The texts are on the heap, so that sanitizers detect reads out of bounds. */
static void hashes_any_bytes(void **state)
{
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 21);
    for (size_t round = 0; round < 2000; round++) {
        size_t len = wt__rng_below(&rng, 24);
        char *bytes = malloc(len ? len : 1);
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)wt__rng_below(&rng, 256);
        struct str text = {bytes, len};
        assert_true(name_hash_of(text) >> NAME_HASH_BITS == 0);
        assert_true(wt__name_hash_written(text) >> NAME_HASH_BITS == 0);
        assert_true(name_hash_of(text) == name_hash_of(text));
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings_of_a_name_have_the_same_hash),
        cmocka_unit_test(written_hash_depends_on_every_byte),
        cmocka_unit_test(hash_can_be_continued),
        cmocka_unit_test(hashes_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
