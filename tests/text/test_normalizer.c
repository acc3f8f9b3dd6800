/* Tests the passes of the normaliser, alone and combined, and that a damaged character map does no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/rng.h"
#include "text/character_map.h"
#include "text/normalizer.h"
#include "text/unicode.h"

#define ACUTE "\xCC\x81"
#define FULLWIDTH_A "\xEF\xBC\xA1"
#define LIGATURE_FI "\xEF\xAC\x81"

static const struct mapped map_rows[] = {
    {FULLWIDTH_A, "A"}, {LIGATURE_FI, "fi"},    {LIGATURE_FI ACUTE, "never"}, {"e" ACUTE, "\xC3\xA9"},
    {"\t", " "},        {"\xC2\xAD", ""},       {"\xE2\x84\xA2", "TM"},       {"\xC2\xA8", " \xCC\x88"},
    {"\xC2\xA0", " "},  {"\r\n", "line break"}, {"\xEA\xB0\x80", "ga"},
};

static bool append_normalized(void *context, struct str bytes)
{
    wt__buffer_append(context, bytes.ptr, bytes.len);
    return true;
}

static void assert_normalized(const struct normalizer *n, const char *name, struct str text, const char *expected)
{
    struct buffer out = {0};

    wt__normalizer_run(n, text, append_normalized, &out);
    if (strcmp(out.ptr ? out.ptr : "", expected) != 0)
        fail_msg("%s: \"%.*s\" gives \"%s\", not \"%s\"", name, (int)text.len, text.ptr, out.ptr ? out.ptr : "",
                 expected);
    wt__buffer_dispose(&out);
}

static void map_replaces_clusters(void **state)
{
    static const struct {
        const char *name, *text, *expected;
    } rows[] = {
        {"text without a key", "plain text", "plain text"},
        {"one code point", FULLWIDTH_A "b", "Ab"},
        {"a cluster that is a key", "e" ACUTE, "\xC3\xA9"},
        {"a cluster that begins with a key loses its rest", FULLWIDTH_A ACUTE "b", "Ab"},
        {"the shortest key counts", LIGATURE_FI ACUTE, "fi"},
        {"the code points of a long cluster are looked up one by one", FULLWIDTH_A ACUTE ACUTE, "A" ACUTE ACUTE},
        {"a soft hyphen and the letter after it are two clusters",
         "\xC2\xAD"
         "e\xC2\xAD",
         "e"},
        {"a key with an empty replacement is removed",
         "a\xC2\xAD"
         "b",
         "ab"},
        {"a key with a longer replacement", "x\xE2\x84\xA2", "xTM"},
        {"a carriage return and a line feed are one cluster", "a\r\nb", "aline breakb"},
        {"clusters without a key are kept", "\xC3\xA8 \xF0\x9F\x91\x8D", "\xC3\xA8 \xF0\x9F\x91\x8D"},
        {"Hangul", "\xEA\xB0\x80\xEA\xB0\x80", "gaga"},
        {"invalid UTF-8 becomes U+FFFD", "a\xFF\xC3", "a\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"the letter before a mark is looked up with the mark", "aae" ACUTE "e",
         "aa\xC3\xA9"
         "e"},
    };
    struct buffer map = {0};
    struct normalizer n = {0};
    (void)state;
    append_character_map(&map, map_rows, sizeof map_rows / sizeof *map_rows);
    assert_true(wt__precompiled_open(&n.map, wt__buffer_view(&map)));
    wt__normalizer_prepare(&n);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_normalized(&n, rows[i].name, wt__str(rows[i].text), rows[i].expected);
    wt__buffer_dispose(&map);
}

static void collapses_spaces_after_the_map(void **state)
{
    static const struct {
        const char *name, *text, *expected;
    } rows[] = {
        {"blanks inside the text collapse", "a  \t b", "a b"},
        {"a space from the map collapses with the space before it", "a \xC2\xA0\xC2\xA8", "a \xCC\x88"},
        {"both ends are stripped before the map", "\xE3\x80\x80 a \n", "a"},
        {"the end is stripped before the map adds a space", "a\xC2\xA8 ", "a \xCC\x88"},
        {"only blanks", " \t\xC2\xA0", ""},
    };
    struct buffer map = {0};
    struct normalizer n = {.strip_left = true, .strip_right = true, .collapse_spaces = true};
    (void)state;
    append_character_map(&map, map_rows, sizeof map_rows / sizeof *map_rows);
    assert_true(wt__precompiled_open(&n.map, wt__buffer_view(&map)));
    wt__normalizer_prepare(&n);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_normalized(&n, rows[i].name, wt__str(rows[i].text), rows[i].expected);
    wt__buffer_dispose(&map);
}

static void collapses_blanks_and_composes(void **state)
{
    static const struct {
        const char *name, *text, *expected;
    } rows[] = {
        {"letters and accents are composed", "cafe" ACUTE " e" ACUTE, "caf\xC3\xA9 \xC3\xA9"},
        {"marks are ordered before composition", "a\xCC\x81\xCC\xA3", "\xE1\xBA\xA1\xCC\x81"},
        {"Hangul is composed from its parts", "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xEA\xB0\x81"},
        {"a starter composes with a starter", "\xE0\xA7\x87\xE0\xA6\xBE", "\xE0\xA7\x8B"},
        {"a mark without a letter is kept", ACUTE "a", ACUTE "a"},
        {"a tab, line feed or carriage return becomes a space", "a\tb\nc\rd", "a b c d"},
        {"a single blank of another kind stays",
         "a\vb\xC2\xA0"
         "c",
         "a\vb\xC2\xA0"
         "c"},
        {"two blanks of any kind become a space",
         "a\v\xC2\xA0"
         "c",
         "a c"},
        {"the right end is stripped", "  a  ", " a"},
        {"a singleton is replaced", "\xE2\x84\xAB", "\xC3\x85"},
    };
    struct normalizer n = {.squeeze_blanks = true, .compose = true, .strip_right = true};
    (void)state;
    wt__normalizer_prepare(&n);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_normalized(&n, rows[i].name, wt__str(rows[i].text), rows[i].expected);
}

static void splits_too_many_marks_into_portions(void **state)
{
    enum { MARKS = 1000 };
    struct normalizer n = {.compose = true};
    struct buffer text = {0}, out = {0};
    (void)state;
    wt__normalizer_prepare(&n);
    wt__buffer_char(&text, 'e');
    for (int i = 0; i < MARKS; i++)
        wt__buffer_text(&text, ACUTE);
    wt__normalizer_run(&n, wt__buffer_view(&text), append_normalized, &out);
    assert_int_equal(out.len, 2 * MARKS); /* one acute accent is composed with the letter */
    assert_memory_equal(out.ptr, "\xC3\xA9" ACUTE, 4);
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&out);
}

static bool count_and_stop(void *context, struct str bytes)
{
    (void)bytes;
    ++*(size_t *)context;
    return false;
}

static void stops_when_the_callback_returns_false(void **state)
{
    struct normalizer n = {.collapse_spaces = true, .compose = true};
    size_t calls = 0;
    (void)state;
    wt__normalizer_prepare(&n);
    wt__normalizer_run(&n, STR("a b\xC3\xA9 \xC3\xA9" ACUTE ACUTE " c"), count_and_stop, &calls);
    assert_int_equal(calls, 1);
}

static void damaged_maps_are_harmless(void **state)
{
    static const char *const broken[] = {"", "\x04", "\x05\0\0\0abcde", "\xFF\xFF\xFF\xFF", "\x08\0\0\0abcd"};
    static const size_t lengths[] = {0, 1, 9, 4, 8};
    struct precompiled map;
    struct buffer sound = {0};
    struct rng rng;
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_false(wt__precompiled_open(&map, (struct str){broken[i], lengths[i]}));
    append_character_map(&sound, map_rows, sizeof map_rows / sizeof *map_rows);
    wt__rng_seed(&rng, 5);
    for (int round = 0; round < 2000; round++) {
        size_t len = 4 + 4 * MAP_UNITS / 64 + wt__rng_below(&rng, 64);
        char *copy = malloc(len);
        assert_non_null(copy);
        memcpy(copy, sound.ptr, len);
        copy[0] = (char)(MAP_UNITS / 16);
        copy[1] = copy[2] = copy[3] = 0;
        copy[1] = (char)(MAP_UNITS / 16 >> 8);
        for (int i = 0; i < 16; i++)
            copy[4 + wt__rng_below(&rng, len - 4)] = (char)wt__rng_below(&rng, 256);
        struct normalizer n = {.collapse_spaces = true};
        if (wt__precompiled_open(&n.map, (struct str){copy, len})) {
            struct buffer out = {0};
            wt__normalizer_prepare(&n);
            wt__normalizer_run(&n, STR("a" FULLWIDTH_A ACUTE " e" ACUTE "\xC2\xA8\r\n\xEA\xB0\x80"), append_normalized,
                               &out);
            wt__buffer_dispose(&out);
        }
        free(copy);
    }
    wt__buffer_dispose(&sound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_replaces_clusters),
        cmocka_unit_test(collapses_spaces_after_the_map),
        cmocka_unit_test(collapses_blanks_and_composes),
        cmocka_unit_test(splits_too_many_marks_into_portions),
        cmocka_unit_test(stops_when_the_callback_returns_false),
        cmocka_unit_test(damaged_maps_are_harmless),
    };
    return cmocka_run_group_tests_name("text/normalizer", tests, NULL, NULL);
}
