/* Tests byte-level BPE: the pattern that splits words, merging by rank, and long words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/opened.h"
#include "text/unicode.h"

enum { SPECIALS = 5, FIRST_MERGED = SPECIALS + 256 };

/* Writes the character of a byte in the byte-level alphabet. */
static size_t put_byte(unsigned byte, char out[4])
{
    for (uint32_t c = 0; c < 0x200; c++)
        if (wt__bpe_byte_of(c) == (int)byte)
            return wt__utf8_put(c, out);
    return 0;
}

static void append_token(struct buffer *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char character[4];
        struct str s = {character, put_byte((unsigned char)bytes[i], character)};
        wt__buffer_str(out, s);
    }
}

/* Opens a model with every byte (id 5 + byte) and the given merges (ids from 261), each "left|right" in raw bytes. */
static void open_merges(struct opened *out, const char *const *merges, size_t count, bool prefix_space)
{
    struct buffer vocabulary = {0}, list = {0}, config = {0};

    wt__buffer_text(&vocabulary, "{\"<s>\":0,\"<pad>\":1,\"</s>\":2,\"<unk>\":3,\"<mask>\":4");
    wt__buffer_text(&list, "#version: 0.2\n");
    for (unsigned byte = 0; byte < 256; byte++) {
        struct buffer name = {0};
        append_token(&name, &(char){(char)byte}, 1);
        wt__buffer_char(&vocabulary, ',');
        wt__buffer_json(&vocabulary, wt__buffer_view(&name));
        wt__buffer_printf(&vocabulary, ":%u", SPECIALS + byte);
        wt__buffer_dispose(&name);
    }
    for (size_t i = 0; i < count; i++) {
        const char *bar = strchr(merges[i], '|');
        struct buffer name = {0};
        append_token(&list, merges[i], (size_t)(bar - merges[i]));
        wt__buffer_char(&list, ' ');
        append_token(&list, bar + 1, strlen(bar + 1));
        wt__buffer_char(&list, '\n');
        append_token(&name, merges[i], (size_t)(bar - merges[i]));
        append_token(&name, bar + 1, strlen(bar + 1));
        wt__buffer_char(&vocabulary, ',');
        wt__buffer_json(&vocabulary, wt__buffer_view(&name));
        wt__buffer_printf(&vocabulary, ":%zu", FIRST_MERGED + i);
        wt__buffer_dispose(&name);
    }
    wt__buffer_char(&vocabulary, '}');
    wt__buffer_printf(&config, "{\"add_prefix_space\":%s}", prefix_space ? "true" : "false");
    open_files(out, &(struct tokenizer_files){.vocab_json = wt__buffer_view(&vocabulary),
                                              .merges_txt = wt__buffer_view(&list),
                                              .tokenizer_config_json = wt__buffer_view(&config)});
    wt__buffer_dispose(&vocabulary);
    wt__buffer_dispose(&list);
    wt__buffer_dispose(&config);
}

/* Checks the tokens of the text, separated by dots. Every pair of the characters in `bytes` has a merge, so each token
 * has two bytes, except the last token of a word with an odd length. */
static void assert_words(struct str text, bool prefix_space, const char *expected)
{
    static char names[65536][4];
    static const char *merges[65536];
    static const char bytes[] = " \t\nab1!'smdtrevl";
    size_t count = 0;
    struct opened own;
    int32_t ids[64];
    struct buffer shown = {0};

    for (const char *left = bytes; *left; left++)
        for (const char *right = bytes; *right; right++) {
            snprintf(names[count], sizeof names[count], "%c|%c", *left, *right);
            merges[count] = names[count];
            count++;
        }
    open_merges(&own, merges, count, prefix_space);
    size_t found = wt__tokenizer_encode(&own.tokenizer, text, 64, ids);
    for (size_t i = 1; i + 1 < found; i++) {
        if (i > 1)
            wt__buffer_char(&shown, '.');
        if (ids[i] < FIRST_MERGED)
            wt__buffer_char(&shown, (char)(ids[i] - SPECIALS));
        else
            wt__buffer_printf(&shown, "%c%c", names[ids[i] - FIRST_MERGED][0], names[ids[i] - FIRST_MERGED][2]);
    }
    if (strcmp(shown.ptr ? shown.ptr : "", expected) != 0)
        fail_msg("\"%.*s\" gives %s, not %s", (int)text.len, text.ptr, shown.ptr ? shown.ptr : "", expected);
    wt__buffer_dispose(&shown);
    dispose_opened(&own);
}

/* Pairs merge from the left: a word of n bytes becomes pairs and, if n is odd, a last byte. */
static void splits_text_by_the_pattern(void **state)
{
    static const struct {
        const char *name, *text, *words;
    } rows[] = {
        {"letters, numbers, others", "ab11!!", "ab.11.!!"},
        {"a space belongs to the word after it", "ab ab", "ab. a.b"},
        {"the last of several spaces belongs to the word after it", "a  b", "a. . b"},
        {"a space belongs to a sign after it", "a !a", "a. !.a"},
        {"blanks at the end stay together", "a  ", "a.  "},
        {"a tab is a word of its own", "a\ta", "a.\t.a"},
        {"the last of several tabs is a word of its own", "a\t\ta", "a.\t.\t.a"},
        {"a space after a tab belongs to the word after it", "a\t a", "a.\t. a"},
        {"a contraction is a word of its own", "a's", "a.'s"},
        {"a contraction of two letters is a word of its own", "a'reb", "a.'r.e.b"},
        {"no contraction after a space", "a 's", "a. '.s"},
        {"no contraction inside a run of signs", "!'s", "!'.s"},
        {"no contraction at the first of two quotes", "''s", "''.s"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].name);
        assert_words(wt__str(rows[i].text), false, rows[i].words);
    }
}

static void prefix_space_is_part_of_the_pattern(void **state)
{
    (void)state;
    assert_words(STR("ab"), true, " a.b");
    assert_words(STR(" ab"), true, " a.b");
    assert_words(STR("'s"), true, " '.s");
    assert_words(STR("\ta"), true, " .\t.a");
    assert_words(STR("\t\ta"), true, " \t.\t.a");
    assert_words(STR("\t"), true, " \t");
    assert_words(STR(""), true, "");
}

static void pairs_merge_by_rank(void **state)
{
    static const char *const merges[] = {"b|c", "a|b", "a|bc", "a|a", "aa|aa", " |a"};
    enum { A = SPECIALS + 'a', B = SPECIALS + 'b', C = SPECIALS + 'c' };
    struct opened own;
    (void)state;
    open_merges(&own, merges, sizeof merges / sizeof *merges, false);
    assert_encoded(&own.tokenizer, STR("abc"), 8, "0 263 2"); /* merges b c first, although a b is further left */
    assert_encoded(&own.tokenizer, STR("abab"), 8, "0 262 262 2");
    assert_encoded(&own.tokenizer, STR("aaa"), 8, "0 264 102 2"); /* merges the leftmost of equal pairs */
    assert_encoded(&own.tokenizer, STR("aaaaaa"), 8, "0 265 264 2");
    assert_encoded(&own.tokenizer, STR("cb"), 8, "0 104 103 2");
    assert_encoded(&own.tokenizer, STR("a a"), 8, "0 102 266 2");
    assert_encoded(&own.tokenizer, STR("\xC3\xA9\xFF"), 8, "0 200 174 244 196 194 2"); /* U+FFFD as three bytes */
    dispose_opened(&own);
}

static void special_tokens_split_text(void **state)
{
    struct opened own;
    (void)state;
    open_merges(&own, NULL, 0, false);
    assert_encoded(&own.tokenizer, STR("a<mask>"), 8, "0 102 4 2");
    /* <mask> includes the blanks before it. */
    assert_encoded(&own.tokenizer, STR("a \xE3\x80\x80\t<mask> a"), 8, "0 102 4 37 102 2");
    assert_encoded(&own.tokenizer, STR("a </s> <s"), 10, "0 102 37 2 37 65 120 2");
    assert_encoded(&own.tokenizer, STR("<mask><mask>"), 8, "0 4 4 2");
    dispose_opened(&own);
}

/* Reference implementation: repeatedly merges the first pair of the lowest rank. */
static size_t merge_by_exhaustive_search(const char *const *merges, size_t merge_count, struct str word, int32_t *ids)
{
    struct str parts[256];
    size_t count = word.len;

    for (size_t i = 0; i < count; i++)
        parts[i] = (struct str){word.ptr + i, 1};
    for (size_t rank = 0; rank < merge_count;) {
        const char *bar = strchr(merges[rank], '|');
        struct str left = {merges[rank], (size_t)(bar - merges[rank])}, right = wt__str(bar + 1);
        size_t i = 0;
        while (i + 1 < count && !(wt__str_equal(parts[i], left) && wt__str_equal(parts[i + 1], right)))
            i++;
        if (i + 1 >= count) {
            rank++;
            continue;
        }
        parts[i].len += parts[i + 1].len;
        memmove(parts + i + 1, parts + i + 2, (count - i - 2) * sizeof *parts);
        count--;
        rank = 0;
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = SPECIALS + (unsigned char)parts[i].ptr[0];
        for (size_t m = 0; parts[i].len > 1 && m < merge_count; m++) {
            const char *bar = strchr(merges[m], '|');
            size_t left = (size_t)(bar - merges[m]);
            if (left + strlen(bar + 1) == parts[i].len && memcmp(merges[m], parts[i].ptr, left) == 0 &&
                memcmp(bar + 1, parts[i].ptr + left, parts[i].len - left) == 0)
                ids[i] = (int32_t)(FIRST_MERGED + m);
        }
    }
    return count;
}

static void merging_matches_exhaustive_search(void **state)
{
    static const char *const merges[] = {"a|b",  "b|b",   "ab|c",    "c|a", "a|a",   "aa|b",
                                         "bb|c", "ca|aa", "abc|abc", "c|c", "cc|cc", "bb|bb"};
    enum { MERGES = sizeof merges / sizeof *merges };
    struct opened own;
    struct rng rng;
    (void)state;
    open_merges(&own, merges, MERGES, false);
    wt__rng_seed(&rng, 11);
    for (int round = 0; round < 5000; round++) {
        char word[200];
        int32_t ids[256], expected[256];
        size_t len = 1 + wt__rng_below(&rng, round % 10 == 0 ? sizeof word : 12);
        for (size_t i = 0; i < len; i++)
            word[i] = (char)('a' + wt__rng_below(&rng, 3));
        size_t count = wt__tokenizer_encode(&own.tokenizer, (struct str){word, len}, 256, ids);
        size_t plain = merge_by_exhaustive_search(merges, MERGES, (struct str){word, len}, expected);
        if (count != plain + 2 || memcmp(ids + 1, expected, plain * sizeof *ids) != 0)
            fail_msg("%.*s", (int)len, word);
    }
    dispose_opened(&own);
}

static void long_bpe_words_take_linear_time(void **state)
{
    static const char *const merges[] = {"a|a", "aa|aa", "aaaa|aaaa"};
    enum { WORD = 1 << 20 };
    static const char *const units[] = {"a", "\xF0\x9F\x91\x8D", "\xCC\x81", " ", "ba", "\t "};
    static int32_t ids[WORD + 8];
    struct opened own;
    char *word = malloc(WORD);
    (void)state;
    assert_non_null(word);
    open_merges(&own, merges, 3, false);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        for (size_t at = 0; at < WORD; at++)
            word[at] = units[i][at % strlen(units[i])];
        size_t count = wt__tokenizer_encode(&own.tokenizer, (struct str){word, WORD}, WORD + 8, ids);
        assert_in_range(count, 2, WORD + 8);
        if (i == 0)
            assert_int_equal(count, WORD / 8 + 2);
    }
    /* Only the start of a long text is read. */
    assert_int_equal(wt__tokenizer_encode(&own.tokenizer, (struct str){word, WORD}, 16, ids), 16);
    free(word);
    dispose_opened(&own);
}

static void every_byte_has_one_character(void **state)
{
    bool seen[256] = {false};
    size_t count = 0;
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        int byte = wt__bpe_byte_of(c);
        if (byte < 0)
            continue;
        assert_in_range(byte, 0, 255);
        assert_false(seen[byte]);
        seen[byte] = true;
        count++;
    }
    assert_int_equal(count, 256);
    assert_int_equal(wt__bpe_byte_of(0x120), ' '); /* the space, written as U+0120 */
    assert_int_equal(wt__bpe_byte_of(0x10A), '\n');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_text_by_the_pattern),
        cmocka_unit_test(prefix_space_is_part_of_the_pattern),
        cmocka_unit_test(pairs_merge_by_rank),
        cmocka_unit_test(special_tokens_split_text),
        cmocka_unit_test(merging_matches_exhaustive_search),
        cmocka_unit_test(long_bpe_words_take_linear_time),
        cmocka_unit_test(every_byte_has_one_character),
    };
    return cmocka_run_group_tests_name("text/bpe", tests, NULL, NULL);
}
