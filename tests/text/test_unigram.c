/* Tests the unigram tokenizer: splitting, the best path, and long words in a bounded window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/opened.h"
#include "text/trie_find.h"
#include "text/unicode.h"
#include "text/unigram_json.h"

#define BLANK "\xE2\x96\x81"
/* The pieces with ids 4 to 12. */
#define PIECES                                                                                                         \
    ",[\"" BLANK "\",-3],[\"a\",-3],[\"b\",-3],[\"ab\",-6],[\"" BLANK "a\",-4],[\"ba\",-5],[\"" BLANK                  \
    "ab\",-9],[\"\xC3\xA9\",-6],[\"<0x41>\",-1]"

static void splits_and_encodes_words(void **state)
{
    static const struct {
        const char *name, *text, *ids;
    } rows[] = {
        {"empty text", "", "1 2"},
        {"text of blanks only", " \t\n", "1 2"},
        {"a word gets its prefix", "a", "1 8 2"},
        {"prefix and letter without a common piece are two pieces", "b", "1 4 6 2"},
        {"the path with the higher score wins", "aab", "1 8 7 2"},
        {"the first of two paths with equal scores wins", "xab", "1 4 3 7 2"},
        {"pieces end at blanks", "a b a", "1 8 4 6 8 2"},
        {"several blanks count as one", "a   b", "1 8 4 6 2"},
        {"a literal U+2581 is a blank", "a" BLANK "b", "1 8 4 6 2"},
        {"a literal U+2581 at the start is the prefix", BLANK "a", "1 8 2"},
        {"a literal U+2581 does not collapse with a blank", "a " BLANK "b", "1 8 4 4 6 2"},
        {"a no-break space inside the text is not a space",
         "a\xC2\xA0"
         "b",
         "1 8 3 6 2"},
        {"blanks of any kind at both ends are stripped",
         "\xC2\xA0"
         "a\xE3\x80\x80",
         "1 8 2"},
        {"unknown characters of one word become one id", "xyzb", "1 4 3 6 2"},
        {"unknown characters of two words become two ids", "x y", "1 4 3 4 3 2"},
        {"a character of two bytes is one character", "\xC3\xA9\xC3\xA8", "1 4 11 3 2"},
        {"a byte piece matches its literal text, not its byte", "<0x41>A", "1 4 12 3 2"},
        {"invalid UTF-8 is unknown", "\xFF", "1 4 3 2"},
        {"special tokens split the raw text", "a[SEP]b", "1 8 2 4 6 2"},
        {"special tokens do not include the blanks next to them", "a [CLS] b", "1 8 1 4 6 2"},
        {"a special token that is not a piece is matched", "[MASK]a", "1 90 8 2"},
        {"the unknown token is matched after normalisation", "a[UNK]b", "1 8 3 4 6 2"},
        {"the blank before an unknown token is a piece", "a [UNK] b", "1 8 4 3 4 6 2"},
        {"two adjacent unknown tokens are two ids", "[UNK][UNK]", "1 3 3 2"},
        {"no prefix is added before an unknown token at the start", "[UNK]a", "1 3 8 2"},
        {"an incomplete special token is text", "[MASK", "1 4 3 2"},
    };
    struct opened own;
    (void)state;
    open_json(&own, UNIGRAM_JSON(UNIGRAM_NORMALIZER_4, UNIGRAM_METASPACE, PIECES));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].name);
        assert_encoded(&own.tokenizer, wt__str(rows[i].text), 16, rows[i].ids);
    }
    dispose_opened(&own);
}

static void newer_normaliser_treats_blanks_and_accents_differently(void **state)
{
    static const struct {
        const char *name, *text, *ids;
    } rows[] = {
        {"the left end is not stripped", " a", "1 8 2"},
        {"several blanks at the left end are one prefix", "  a", "1 8 2"},
        {"blanks beside a special token stay", "a [SEP] a", "1 8 2 8 2"},
        {"a line feed is a space", "a\nb", "1 8 4 6 2"},
        {"a lone no-break space stays",
         "a\xC2\xA0"
         "b",
         "1 8 3 6 2"},
        {"two blanks of any kind are a space",
         "a\xC2\xA0\xE3\x80\x80"
         "b",
         "1 8 4 6 2"},
        {"accents are composed", "e\xCC\x81", "1 4 11 2"},
    };
    struct opened own;
    (void)state;
    open_json(&own, UNIGRAM_JSON(UNIGRAM_NORMALIZER_5, UNIGRAM_METASPACE, PIECES));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].name);
        assert_encoded(&own.tokenizer, wt__str(rows[i].text), 16, rows[i].ids);
    }
    dispose_opened(&own);
}

static void whitespace_split_drops_blanks(void **state)
{
    struct opened own;
    (void)state;
    open_json(&own, UNIGRAM_JSON("null",
                                 "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"}"
                                 "," UNIGRAM_METASPACE "]}",
                                 PIECES));
    assert_encoded(&own.tokenizer,
                   STR(" a  b\xE2\x80\x83\t"
                       "a "),
                   16, "1 8 4 6 8 2");
    assert_encoded(&own.tokenizer, STR("a " BLANK "a" BLANK), 16, "1 8 8 4 2");
    dispose_opened(&own);
}

static void prefix_can_be_disabled(void **state)
{
    struct opened own;
    (void)state;
    open_json(&own,
              UNIGRAM_JSON("null", "{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\",\"prepend_scheme\":\"never\"}",
                           PIECES));
    assert_encoded(&own.tokenizer, STR("ab a"), 16, "1 7 8 2");
    dispose_opened(&own);
}

static void unigram_truncation_keeps_the_frame(void **state)
{
    struct opened own;
    (void)state;
    open_json(&own, UNIGRAM_JSON(UNIGRAM_NORMALIZER_4, UNIGRAM_METASPACE, PIECES));
    assert_encoded(&own.tokenizer, STR("a b a"), 6, "1 8 4 6 8 2");
    assert_encoded(&own.tokenizer, STR("a b a"), 5, "1 8 4 6 2");
    assert_encoded(&own.tokenizer, STR("a b a"), 3, "1 8 2");
    assert_encoded(&own.tokenizer, STR("a b a"), 2, "1 2");
    assert_encoded(&own.tokenizer, STR("a b a"), 1, "1");
    assert_encoded(&own.tokenizer, STR("a b a"), 0, "");
    assert_encoded(&own.tokenizer, (struct str){NULL, 0}, 4, "1 2");
    dispose_opened(&own);
}

/* Reference implementation without a window. ids: [word.len + 1]. */
static size_t find_path_in_whole_word(const struct unigram *u, struct str word, int32_t *ids)
{
    struct plain {
        double score;
        size_t from;
        int32_t id;
    } *best = calloc(word.len + 1, sizeof *best);
    size_t count = 0;

    assert_non_null(best);
    for (size_t i = 1; i <= word.len; i++)
        best[i].from = SIZE_MAX;
    for (size_t at = 0; at < word.len;) {
        const char *next = word.ptr + at;
        wt__utf8_next(&next, word.ptr + word.len);
        size_t character = (size_t)(next - word.ptr) - at;
        bool single = false;
        for (size_t len = 1; len <= u->longest + 1 && at + len <= word.len; len++) {
            int32_t id = len <= u->longest ? trie_find(&u->trie, (struct str){word.ptr + at, len}) : -1;
            double score = u->unknown_score;
            if (id >= 0)
                memcpy(&score, u->scores + (size_t)id * sizeof score, sizeof score);
            else
                continue;
            single = single || len == character;
            score += best[at].score;
            if (best[at + len].from == SIZE_MAX || score > best[at + len].score)
                best[at + len] = (struct plain){score, at, id};
        }
        double unknown = u->unknown_score + best[at].score;
        if (!single && (best[at + character].from == SIZE_MAX || unknown > best[at + character].score))
            best[at + character] = (struct plain){unknown, at, u->unknown};
        at += character;
    }
    for (size_t at = word.len; at > 0; at = best[at].from)
        if (best[at].id != u->unknown || count == 0 || ids[count - 1] != u->unknown)
            ids[count++] = best[at].id;
    for (size_t i = 0; i < count / 2; i++) {
        int32_t swapped = ids[i];
        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = swapped;
    }
    free(best);
    return count;
}

/* Opens a model of random pieces. The alphabet is small, so that most pieces overlap. */
static void open_random(struct opened *out, struct rng *rng)
{
    static const char *const letters[] = {"a", "b", "c", "\xC3\xA9"};
    struct buffer pieces = {0}, json = {0};
    static const char head[] = UNIGRAM_JSON(UNIGRAM_NORMALIZER_4, UNIGRAM_METASPACE, "@");
    const char *hole = strchr(head, '@');

    assert_non_null(hole);
    for (int i = 0; i < 60; i++) {
        wt__buffer_text(&pieces, ",[\"");
        for (size_t n = 1 + wt__rng_below(rng, 9); n > 0; n--)
            wt__buffer_text(&pieces, letters[wt__rng_below(rng, 4)]);
        wt__buffer_printf(&pieces, "\",-%.4f]", 1 + 12 * wt__rng_unit(rng));
    }
    wt__buffer_append(&json, head, (size_t)(hole - head));
    wt__buffer_str(&json, wt__buffer_view(&pieces));
    wt__buffer_text(&json, hole + 1);
    open_json(out, json.ptr);
    wt__buffer_dispose(&pieces);
    wt__buffer_dispose(&json);
}

static void windowed_words_match_whole_words(void **state)
{
    static const char *const letters[] = {"a", "b", "c", "\xC3\xA9", "x"};
    enum { MAX_BYTES = 5 * UNIGRAM_WINDOW };
    static int32_t ids[MAX_BYTES + 8], expected[MAX_BYTES + 8];
    static char word[MAX_BYTES + 8];
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 7);
    for (int round = 0; round < 40; round++) {
        struct opened own;
        open_random(&own, &rng);
        size_t wanted = round < 20 ? wt__rng_below(&rng, 64) : wt__rng_below(&rng, MAX_BYTES), len = sizeof BLANK - 1;
        memcpy(word, BLANK, len);
        while (len < wanted) {
            const char *letter = letters[wt__rng_below(&rng, wt__rng_below(&rng, 9) == 0 ? 5 : 4)];
            memcpy(word + len, letter, strlen(letter));
            len += strlen(letter);
        }
        size_t count = wt__tokenizer_encode(&own.tokenizer, (struct str){word, len}, sizeof ids / sizeof *ids, ids);
        size_t plain = find_path_in_whole_word(&own.tokenizer.unigram, (struct str){word, len}, expected);
        assert_int_equal(count, plain + 2);
        assert_memory_equal(ids + 1, expected, plain * sizeof *ids);
        dispose_opened(&own);
    }
}

/* Encodes words whose paths never meet, and words of unknown characters or marks. */
static void awkward_unigram_words_take_linear_time(void **state)
{
    enum { WORD = 1 << 20 };
    static const char *const units[] = {"a", "x", "\xCC\x81", "\xF0\x9F\x91\x8D", "ab", "[UNK]", "\xFF", BLANK, " "};
    static int32_t ids[WORD + 8];
    struct opened own;
    char *word = malloc(WORD);
    (void)state;
    assert_non_null(word);
    open_json(&own, UNIGRAM_JSON(UNIGRAM_NORMALIZER_4, UNIGRAM_METASPACE,
                                 ",[\"a\",-3],[\"aaaa\",-3],[\"aaaaaaaaaaaaaaaa\",-3]"));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t unit = strlen(units[i]);
        for (size_t at = 0; at < WORD; at++)
            word[at] = units[i][at % unit];
        size_t count = wt__tokenizer_encode(&own.tokenizer, (struct str){word, WORD}, WORD + 8, ids);
        assert_in_range(count, 2, WORD + 8);
        for (size_t j = 0; j < count; j++)
            assert_in_range(ids[j], 0, own.tokenizer.token_count - 1);
        if (i == 0)
            assert_in_range(count, 2 + WORD / 16, 2 + WORD / 16 + WORD / UNIGRAM_WINDOW * 4 + 16);
    }
    free(word);
    dispose_opened(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_and_encodes_words),
        cmocka_unit_test(newer_normaliser_treats_blanks_and_accents_differently),
        cmocka_unit_test(whitespace_split_drops_blanks),
        cmocka_unit_test(prefix_can_be_disabled),
        cmocka_unit_test(unigram_truncation_keeps_the_frame),
        cmocka_unit_test(windowed_words_match_whole_words),
        cmocka_unit_test(awkward_unigram_words_take_linear_time),
    };
    return cmocka_run_group_tests_name("text/unigram", tests, NULL, NULL);
}
