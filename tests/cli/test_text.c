/* Tests untrusted text on a terminal: control characters are escaped, and columns are respected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/cli.h"
#include "text/unicode.h"

static const struct {
    const char *name, *in, *line, *lines; /* line: expected as TEXT_LINE; lines: as TEXT_LINES */
} escaped[] = {
    {"empty", "", "", ""},
    {"words", "a b", "a b", "a b"},
    {"newlines and tabs", "a\n\tb", "a b", "a\n\tb"},
    {"runs of blanks", "  a \t\r\n b  ", "a b", "  a \t\\x0d\n b  "},
    {"clear screen", "\x1b[2Ja", "\\x1b[2Ja", "\\x1b[2Ja"},
    {"set title", "\x1b]0;owned\x07", "\\x1b]0;owned\\x07", "\\x1b]0;owned\\x07"},
    {"backspaces", "safe\b\b\b\bevil", "safe\\x08\\x08\\x08\\x08evil", "safe\\x08\\x08\\x08\\x08evil"},
    {"delete", "a\x7f", "a\\x7f", "a\\x7f"},
    {"C1: a control sequence", "\xC2\x9B\x33\x31m", "\\x9b31m", "\\x9b31m"},
    {"C1: next line",
     "a\xC2\x85"
     "b",
     "a b", "a\\x85b"},
    {"line separators",
     "a\xE2\x80\xA8\xE2\x80\xA9"
     "b",
     "a b", "a\\u{2028}\\u{2029}b"},
    {"right-to-left override", "\xE2\x80\xAEgnp", "\\u{202e}gnp", "\\u{202e}gnp"},
    {"isolates", "\xE2\x81\xA6x\xE2\x81\xA9", "\\u{2066}x\\u{2069}", "\\u{2066}x\\u{2069}"},
    {"direction marks", "\xE2\x80\x8E\xD8\x9C", "\\u{200e}\\u{61c}", "\\u{200e}\\u{61c}"},
    {"zero-width space", "pay\xE2\x80\x8Bpal", "pay\\u{200b}pal", "pay\\u{200b}pal"},
    {"byte order mark", "\xEF\xBB\xBFx", "\\u{feff}x", "\\u{feff}x"},
    {"tags", "a\xF3\xA0\x81\x81", "a\\u{e0041}", "a\\u{e0041}"},
    {"supplementary variation selectors", "a\xF3\xA0\x84\x80", "a\\u{e0100}", "a\\u{e0100}"},
    {"a letter without a glyph", "a\xE3\x85\xA4", "a\\u{3164}", "a\\u{3164}"},
    {"annotations", "\xEF\xBF\xB9", "\\u{fff9}", "\\u{fff9}"},
    {"joiners", "\xE2\x80\x8C\xE2\x80\x8D", "\xE2\x80\x8C\xE2\x80\x8D", "\xE2\x80\x8C\xE2\x80\x8D"},
    {"emoji variation selector", "\xE2\x9D\xA4\xEF\xB8\x8F", "\xE2\x9D\xA4\xEF\xB8\x8F", "\xE2\x9D\xA4\xEF\xB8\x8F"},
    {"letters of other scripts", "\xE5\xA4\xA9 \xD8\xB7", "\xE5\xA4\xA9 \xD8\xB7", "\xE5\xA4\xA9 \xD8\xB7"},
    {"invalid UTF-8", "\xff\xfe", "\xEF\xBF\xBD\xEF\xBF\xBD", "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"truncated character", "a\xE2\x80", "a\xEF\xBF\xBD\xEF\xBF\xBD", "a\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"half a surrogate", "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD",
     "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
};

static void escape_as(const char *name, const char *in, enum text_shape shape, const char *want)
{
    struct buffer out = {0};
    wt__text_escape(&out, wt__str(in), shape);
    if (strcmp(out.ptr ? out.ptr : "", want) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", name, out.ptr, want);
    wt__buffer_dispose(&out);
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++) {
        escape_as(escaped[i].name, escaped[i].in, TEXT_LINE, escaped[i].line);
        escape_as(escaped[i].name, escaped[i].in, TEXT_LINES, escaped[i].lines);
    }
}

/* Checks that all invisible characters are escaped, except characters that scripts and emoji need. */
static void invisible_characters_are_escaped(void **state)
{
    (void)state;
    static const uint32_t needed[] = {0xAD, 0x200C, 0x200D, 0xFE0E, 0xFE0F};
    size_t kept = 0;
    for (uint32_t c = 1; c < 0x110000; c++) {
        struct buffer out = {0};
        char bytes[4];
        size_t len = wt__utf8_put(c, bytes);
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        wt__text_escape(&out, (struct str){bytes, len}, TEXT_LINE);
        if (wt__unicode_unseen(c) && out.len == len && memcmp(out.ptr, bytes, len) == 0)
            assert_int_equal(c, needed[kept++]);
        wt__buffer_dispose(&out);
    }
    assert_int_equal(kept, sizeof needed / sizeof *needed);
}

#define WIDE "\xE5\xA4\xA9\xE6\xB0\x97" /* two characters of two columns */
#define MARK "\xE2\x80\xA6"             /* ellipsis */

static const struct {
    const char *name, *in;
    size_t width;
    const char *out;
    size_t columns;
} cuts[] = {
    {"empty", "", 5, "", 0},
    {"no limit", "a long description", 0, "a long description", 18},
    {"fits", "abcde", 5, "abcde", 5},
    {"too long", "abcdef", 5, "abcd" MARK, 5},
    {"no blank before the ellipsis", "abc def", 5, "abc" MARK, 4},
    {"one column", "abc", 1, MARK, 1},
    {"wide characters that fit", WIDE, 4, WIDE, 4},
    {"a wide character across the limit", WIDE WIDE, 6, WIDE MARK, 5},
    {"no room for one wide character", WIDE, 1, MARK, 1},
    {"combining marks take no column",
     "e\xCC\x81"
     "abc",
     4,
     "e\xCC\x81"
     "abc",
     4},
    {"an escape counts with its visible columns", "\x1b[2J", 7, "\\x1b[2J", 7},
    {"a truncated escape", "\x1b[2J", 5, "\\x1b" MARK, 5},
    {"several lines become one", "a\nb\nc", 5, "a b c", 5},
};

static void text_is_cut_to_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct buffer out = {0};
        size_t columns = wt__text_cut(&out, wt__str(cuts[i].in), cuts[i].width);
        if (strcmp(out.ptr ? out.ptr : "", cuts[i].out) != 0 || columns != cuts[i].columns)
            fail_msg("%s: \"%s\" of %zu columns", cuts[i].name, out.ptr, columns);
        wt__buffer_dispose(&out);
    }
}

/* Cuts a megabyte of each piece to 20 columns. Combining marks and joiners take no column, so the output must have a
 * limit in bytes too. */
static void long_text_is_cut_quickly(void **state)
{
    (void)state;
    static const char *const pieces[] = {"\xCC\x81", "\xE2\x80\x8D", "\x1b", " ", "x", WIDE, "\xff"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct buffer text = {0}, out = {0};
        while (text.len < 1 << 20)
            wt__buffer_text(&text, pieces[i]);
        assert_true(wt__text_cut(&out, wt__buffer_view(&text), 20) <= 20);
        assert_true(wt__text_width(wt__buffer_view(&out)) <= 20 && out.len < 1000);
        wt__buffer_dispose(&text);
        wt__buffer_dispose(&out);
    }
}

static const struct {
    const char *name, *in;
    size_t indent, width;
    const char *out;
} wraps[] = {
    {"empty", "", 2, 20, ""},
    {"one line", "a few words", 2, 20, "a few words"},
    {"broken at a blank", "a few more words than fit", 2, 20, "a few more words\n  than fit"},
    {"no limit", "a few more words than fit on a line", 2, 0, "a few more words than fit on a line"},
    {"a word longer than a line", "abcdefghijklmnop", 0, 8, "abcdefgh\nijklmnop"},
    {"paragraphs", "a\nb\n\nc", 2, 20, "a\n  b\n  \n  c"},
    {"wide characters", WIDE WIDE WIDE, 0, 8, WIDE WIDE "\n" WIDE},
    {"narrower than the indent", "abcdefghij", 30, 20, "abcdefgh\n                              ij"},
    {"tabs", "a\t\tb", 0, 20, "a b"},
    {"controls", "\x1b[1mbold", 0, 20, "\\x1b[1mbold"},
};

static void text_is_wrapped(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++) {
        struct buffer out = {0};
        wt__text_wrap(&out, wt__str(wraps[i].in), wraps[i].indent, wraps[i].width);
        if (strcmp(out.ptr ? out.ptr : "", wraps[i].out) != 0)
            fail_msg("%s: \"%s\"", wraps[i].name, out.ptr);
        wt__buffer_dispose(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(invisible_characters_are_escaped),
        cmocka_unit_test(text_is_cut_to_columns),
        cmocka_unit_test(long_text_is_cut_quickly),
        cmocka_unit_test(text_is_wrapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
