/* Tests UTF-8 and the Unicode tables: decoding is safe on any bytes, and classes and mappings equal the reference
 * tables for every code point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/unicode.h"
#include "text/support.h"

enum { CODE_POINTS = 0x110000 };

static bool is_surrogate(uint32_t c)
{
    return c >= 0xD800 && c <= 0xDFFF;
}

static const struct {
    const char *name, *in;
    size_t len;
    uint32_t out[6];
    size_t count;
} decodings[] = {
#define BYTES(text) text, sizeof(text) - 1
    {"ascii", BYTES("a"), {'a'}, 1},
    {"nul", BYTES("\0"), {0}, 1},
    {"two bytes", BYTES("\xC3\xA9"), {0xE9}, 1},
    {"three bytes", BYTES("\xE2\x82\xAC"), {0x20AC}, 1},
    {"four bytes", BYTES("\xF0\x9F\x98\x80"), {0x1F600}, 1},
    {"last code point", BYTES("\xF4\x8F\xBF\xBF"), {0x10FFFF}, 1},
    {"above the last code point", BYTES("\xF4\x90\x80\x80"), {0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD}, 4},
    {"a continuation byte without a lead byte", BYTES("\x80z"), {0xFFFD, 'z'}, 2},
    {"overlong slash", BYTES("\xC0\xAF"), {0xFFFD, 0xFFFD}, 2},
    {"overlong NUL in three bytes", BYTES("\xE0\x80\x80"), {0xFFFD, 0xFFFD, 0xFFFD}, 3},
    {"surrogate", BYTES("\xED\xA0\x80"), {0xFFFD, 0xFFFD, 0xFFFD}, 3},
    {"a character cut after one byte", BYTES("\xE2"), {0xFFFD}, 1},
    {"cut after two bytes: one replacement", BYTES("\xE2\x82"), {0xFFFD}, 1},
    {"cut after three bytes: one replacement", BYTES("\xF0\x9F\x98"), {0xFFFD}, 1},
    {"the character after a cut one is kept", BYTES("\xE2\x82z"), {0xFFFD, 'z'}, 2},
    {"a lead byte ends an incomplete character", BYTES("\xE2\xC3\xA9"), {0xFFFD, 0xE9}, 2},
    {"bytes that never occur in UTF-8", BYTES("\xFF\xFE"), {0xFFFD, 0xFFFD}, 2},
    {"a replacement character is valid", BYTES("\xEF\xBF\xBD"), {0xFFFD}, 1},
};

static void decoding_resynchronises(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decodings / sizeof *decodings; i++) {
        const char *at = decodings[i].in, *end = at + decodings[i].len;
        size_t count = 0;
        for (; at < end; count++) {
            uint32_t c = wt__utf8_next(&at, end);
            if (count >= decodings[i].count || c != decodings[i].out[count])
                fail_msg("%s: code point %zu is %04X", decodings[i].name, count, (unsigned)c);
        }
        assert_int_equal(count, decodings[i].count);
    }
}

static void code_points_round_trip(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        char bytes[4];
        size_t len = wt__utf8_put(c, bytes);
        const char *at = bytes;
        uint32_t back = wt__utf8_next(&at, bytes + len);
        if (at != bytes + len || back != (is_surrogate(c) ? UNICODE_REPLACEMENT : c))
            fail_msg("%04X came back as %04X", (unsigned)c, (unsigned)back);
    }
}

static void append_produces_valid_utf8(void **state)
{
    (void)state;
    struct rng rng;
    wt__rng_seed(&rng, 1);
    for (int round = 0; round < 20000; round++) {
        char bytes[64];
        size_t len = wt__rng_below(&rng, sizeof bytes + 1);
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)(wt__rng_below(&rng, 3) ? wt__rng_below(&rng, 256) : 'a');
        struct str in = {bytes, len};
        struct buffer out = {0};
        wt__utf8_append(&out, in);
        assert_false(out.failed);
        assert_true(wt__utf8_valid(wt__buffer_view(&out)));
        assert_int_equal(wt__utf8_valid(in), wt__str_equal(in, wt__buffer_view(&out)));
        wt__buffer_dispose(&out);
    }
    struct buffer out = {0};
    wt__utf8_append(&out, STR("0123456789 caf\xC3 ok \xFF"));
    assert_string_equal(out.ptr, "0123456789 caf\xEF\xBF\xBD ok \xEF\xBF\xBD");
    wt__buffer_dispose(&out);
    assert_true(wt__utf8_valid((struct str){NULL, 0}));
}

static void classifies_code_points(void **state)
{
    static const struct {
        uint32_t c;
        enum unicode_kind kind;
    } rows[] = {{'a', UNICODE_LETTER},    {'A', UNICODE_UPPER},    {'0', UNICODE_DIGIT},     {'_', UNICODE_OTHER},
                {0xE9, UNICODE_LETTER},   {0xC9, UNICODE_UPPER},   {0x1C5, UNICODE_UPPER},   {0x4E2D, UNICODE_LETTER},
                {0x301, UNICODE_MARK},    {0x660, UNICODE_DIGIT},  {0x2160, UNICODE_DIGIT},  {0x3000, UNICODE_OTHER},
                {0x1F600, UNICODE_OTHER}, {0xFFFD, UNICODE_OTHER}, {0x10FFFF, UNICODE_OTHER}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wt__unicode_kind(rows[i].c) != rows[i].kind)
            fail_msg("wrong kind of %04X", (unsigned)rows[i].c);
}

/* Sets to[c] = value for each c of the ranges. */
static void mark_ranges(unsigned char *to, const json_t *ranges, unsigned char value)
{
    for (size_t i = 0; i < json_array_size(ranges); i++) {
        const json_t *range = json_array_get(ranges, i);
        json_int_t last = json_integer_value(json_array_get(range, 1));
        for (json_int_t c = json_integer_value(json_array_get(range, 0)); c <= last; c++)
            if (!is_surrogate((uint32_t)c))
                to[c] = value;
    }
}

static void bert_classes_equal_the_reference(void **state)
{
    char normalizer_path[PATH_BYTES], splitter_path[PATH_BYTES];
    (void)state;
    if (!shared_path(normalizer_path, "golden/tokenizers/unicode/bert_normalizer.json") ||
        !shared_path(splitter_path, "golden/tokenizers/unicode/bert_pretokenizer.json"))
        skip();
    struct str normalizer_text = read_whole(normalizer_path), splitter_text = read_whole(splitter_path);
    json_t *normalizer = parse_reference_json(normalizer_text), *splitter = parse_reference_json(splitter_text);
    unsigned char *expected = calloc(CODE_POINTS, 1);
    assert_non_null(expected);

    mark_ranges(expected, json_object_get(splitter, "punctuation"), BERT_PUNCTUATION);
    mark_ranges(expected, json_object_get(normalizer, "strip_accents_removed"), BERT_MARK);
    mark_ranges(expected, json_object_get(normalizer, "cjk_padded"), BERT_CJK);
    mark_ranges(expected, json_object_get(normalizer, "clean_to_space"), BERT_SPACE);
    mark_ranges(expected, json_object_get(normalizer, "clean_removed"), BERT_REMOVED);
    size_t different = 0;
    for (uint32_t c = 0; c < CODE_POINTS; c++)
        if (!is_surrogate(c) && wt__bert_class(c) != expected[c] && different++ < 10)
            print_error("%04X is %d, the reference has %d\n", (unsigned)c, wt__bert_class(c), expected[c]);
    assert_int_equal(different, 0);
    free(expected);
    json_decref(normalizer);
    json_decref(splitter);
    free((void *)normalizer_text.ptr);
    free((void *)splitter_text.ptr);
}

typedef unsigned mapping_function(uint32_t c, uint32_t *out);

/* Returns c mapped by `map` as UTF-8. strip: omit combining marks. */
static struct str map_code_point(mapping_function *map, bool strip, uint32_t c, char *bytes)
{
    uint32_t parts[UNICODE_MAX_DECOMPOSED];
    unsigned count = map(c, parts);
    size_t len = 0;

    for (unsigned i = 0; i < count; i++)
        if (!strip || wt__bert_class(parts[i]) != BERT_MARK)
            len += wt__utf8_put(parts[i], bytes + len);
    return (struct str){bytes, len};
}

static void check_mapping(const json_t *table, mapping_function *map, bool strip)
{
    size_t different = 0;

    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        enum bert_class class = wt__bert_class(c);
        bool hangul = c >= 0xAC00 && c <= 0xD7A3; /* not listed: decomposed by arithmetic */
        if (is_surrogate(c) || class == BERT_REMOVED || class == BERT_SPACE ||
            (strip && (class == BERT_MARK || hangul)))
            continue;
        char key[16], own[4], bytes[4 * UNICODE_MAX_DECOMPOSED];
        snprintf(key, sizeof key, "%04X", (unsigned)c);
        struct str expected = {own, wt__utf8_put(c, own)};
        if (json_object_get(table, key))
            expected = text_of(table, key);
        if (!wt__str_equal(map_code_point(map, strip, c, bytes), expected) && different++ < 10)
            print_error("%s differs\n", key);
    }
    assert_int_equal(different, 0);
}

static void lower_case_and_decomposition_equal_the_reference(void **state)
{
    char path[PATH_BYTES];
    (void)state;
    if (!shared_path(path, "golden/tokenizers/unicode/bert_normalizer.json"))
        skip();
    struct str text = read_whole(path);
    json_t *tables = parse_reference_json(text);
    check_mapping(json_object_get(tables, "lowercase_map"), wt__unicode_lower, false);
    check_mapping(json_object_get(tables, "strip_accents_map"), wt__unicode_decompose, true);
    json_decref(tables);
    free((void *)text.ptr);
}

static void hangul_decomposes_by_arithmetic(void **state)
{
    uint32_t parts[UNICODE_MAX_DECOMPOSED];
    (void)state;
    for (uint32_t c = 0xAC00; c <= 0xD7A3; c++) {
        uint32_t index = c - 0xAC00, last = index % 28;
        unsigned count = wt__unicode_decompose(c, parts);
        assert_int_equal(count, last ? 3 : 2);
        assert_int_equal(parts[0], 0x1100 + index / 588);
        assert_int_equal(parts[1], 0x1161 + index % 588 / 28);
        if (last)
            assert_int_equal(parts[2], 0x11A7 + last);
    }
}

static void words_have_a_letter_or_a_number(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        bool word;
    } rows[] = {
        {{NULL, 0}, false},       {STR("... ?!"), false}, {STR("-"), false}, {STR("\xff\xfe"), false},
        {STR("\xcc\x81"), false}, {STR(" a"), true},      {STR("7"), true},  {STR("\xe9\x9b\xa8"), true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(wt__has_word(rows[i].text), rows[i].word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_resynchronises),
        cmocka_unit_test(code_points_round_trip),
        cmocka_unit_test(append_produces_valid_utf8),
        cmocka_unit_test(classifies_code_points),
        cmocka_unit_test(words_have_a_letter_or_a_number),
        cmocka_unit_test(bert_classes_equal_the_reference),
        cmocka_unit_test(lower_case_and_decomposition_equal_the_reference),
        cmocka_unit_test(hangul_decomposes_by_arithmetic),
    };
    return cmocka_run_group_tests_name("text/unicode", tests, NULL, NULL);
}
