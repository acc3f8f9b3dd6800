/* Tests the literals of a request: their kinds, their beginnings and ends, and their normalised text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/buffer.h"
#include "call/arguments.h"

/* expected: the letter of each literal's kind (see append_literal), then its text. '$' after the text marks money and
 * precedes the currency code. '%' after the text marks a percentage. '~' before the letter marks a number word. */
static const struct {
    const char *name, *request, *expected;
} cases[] = {
    {"an empty request", "", ""},
    {"words only", "what is it like there", ""},
    {"numbers", "3 and -97.8, 1,200, 20k, 3 million, 5km", "n3 n-97.8 n1200 n20000 n3000000 n5"},
    {"money and percentages", "$5 and 5% of -$7", "n5$ n5% n-7$"},
    {"other currencies",
     "\xe2\x82\xac"
     "50.5, \xc2\xa3"
     "1,200 and \xc2\xa5"
     "300",
     "n50.5$ n1200$ n300$"},
    {"currency codes", "250 USD, 5 nok, 20 dollars, 30 CZK and 30 czk", "n250$USD n5$NOK n20$ n30$CZK n30"},
    {"a minus sign outside ASCII",
     "at \xe2\x88\x92"
     "97.8 and 3",
     "n-97.8 n3"},
    {"degrees",
     "11.6\xc2\xb0 N, 20\xc2\xb0"
     "C, 97.8\xc2\xb0 W, 5\xc2\xb0 Celsius",
     "n11.6 n20 c97.8\xc2\xb0 W n5 mCelsius"},
    {"a dash in a range",
     "2\xe2\x80\x93"
     "4 nights",
     "n2 n4"},
    {"a pair of numbers", "11.6,-97.8 or 11.6,97.8", "n11.6 n-97.8 n11.6 n97.8"},
    {"a decimal comma is not a number", "1.234,56 and 7", "c1.234,56 n7"},
    {"several points make an identifier", "ping 192.168.0.1, version 1.2.3.", "c192.168.0.1 c1.2.3"},
    {"more digits than a double holds", "12345678901234567890, 4111111111111111 and 4",
     "c12345678901234567890 c4111111111111111 n4"},
    {"long numbers with separators or a sign", "1,234,567,890,123,456,789, 1234567890123456.5 and $1234567890123456.",
     "c1,234,567,890,123,456,789 c1234567890123456.5 c1234567890123456"},
    {"as many digits as a double holds", "123456789012345 and 1234567890123.45", "n123456789012345 n1234567890123.45"},
    {"leading zeros", "zip 02139, 007 and 0.5, 00k", "n02139 n007 n0.5 n0"},
    {"number words", "two of a dozen", "~n2 ~n12"},
    {"digits within a word", "3D, 1st", "c3D c1st"},
    {"dates", "2023-04-15, 4/15/2023, 15.4.2023, April 15th, 2023 and 15 April 2023",
     "d2023-04-15 d2023-04-15 d2023-04-15 d2023-04-15 d2023-04-15"},
    {"an invalid date", "31.31.2023", "c31.31.2023"},
    {"the last of February", "2024-02-29 and 2000-02-29, 29.2.1900", "d2024-02-29 d2000-02-29 c29.2.1900"},
    {"times", "at 7:05 p.m. or 19:05, 5pm", "t19:05 t19:05 t17:00"},
    {"times followed by UTC", "14:30 UTC, 19:30:15 UTC and 14:30 utc", "t14:30 t19:30:15 t14:30"},
    {"times with seconds", "19:30:15, 14:30:00Z and 14:30:00+01:00, 19:30:61",
     "t19:30:15 t14:30:00Z t14:30:00+01:00 t19:30 n61"},
    {"a date with its time", "2026-12-01T19:30:00Z, (2026-12-01T19:30), 2026-12-01t19:30:00.25-05:30.",
     "D2026-12-01T19:30:00Z D2026-12-01T19:30 D2026-12-01t19:30:00.25-05:30"},
    {"dates and times that do not form a timestamp", "2026-12-01 19:30, 2026-13-01T19:30, 2026-12-01T19",
     "d2026-12-01 t19:30 n2026 n13 c01T19 n30 n2026 n12 c01T19"},
    {"addresses", "ada@example.org, (https://example.org/a?b=c), [a](http://b.org).",
     "eada@example.org uhttps://example.org/a?b=c uhttp://b.org"},
    {"quoted", "'a b' and \"c's d\" and `e`", "qa b qc's d qe"},
    {"typographic quotes",
     "\xe2\x80\x9c"
     "a b\xe2\x80\x9d, \xe2\x80\x98"
     "it\xe2\x80\x99s c\xe2\x80\x99 and \xc2\xab"
     "d\xc2\xbb",
     "qa b qit\xe2\x80\x99s c qd"},
    {"quotes without an end",
     "it's 'a b, \"c, \xe2\x80\x9c"
     "d",
     ""},
    {"identifiers", "8tq, AB-1234, getForecast", "c8tq cAB-1234 cgetForecast"},
    {"names", "Is it in Kansas City or Berkeley, CA", "mKansas City mBerkeley, CA"},
    {"names with letters beyond ASCII", "from \xc3\x85lesund to S\xc3\xa3o Paulo", "m\xc3\x85lesund mS\xc3\xa3o Paulo"},
    {"the first word of a sentence is not a name", "Weather. \xc3\x89t\xc3\xa9 it is", ""},
    {"invalid UTF-8",
     "\xff\xfe"
     "3 \x80"
     "4\xc3",
     "n3 n4"},
    {"numbers next to letters beyond ASCII",
     "caf\xc3\xa9"
     "3 \xc3\xa9"
     "4",
     "ccaf\xc3\xa9"
     "3"},
};

static void append_literal(struct buffer *out, const struct literal *literal)
{
    static const char kinds[] = {[LITERAL_NUMBER] = 'n', [LITERAL_DATE] = 'd',      [LITERAL_TIME] = 't',
                                 [LITERAL_EMAIL] = 'e',  [LITERAL_DATE_TIME] = 'D', [LITERAL_URL] = 'u',
                                 [LITERAL_QUOTED] = 'q', [LITERAL_CODE] = 'c',      [LITERAL_NAME] = 'm'};
    wt__buffer_text(out, out->len > 0 ? " " : "");
    wt__buffer_text(out, literal->spelled ? "~" : "");
    wt__buffer_char(out, kinds[literal->kind]);
    wt__buffer_str(out, literal->text);
    wt__buffer_text(out, literal->money ? "$" : literal->percent ? "%" : "");
    wt__buffer_str(out, literal->currency);
}

static void literals_are_found(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct literals literals;
        struct arena arena = {0};
        struct buffer told = {0};
        assert_int_equal(wt__literals_read(&literals, wt__str(cases[i].request), &arena), 0);
        for (size_t l = 0; l < literals.len; l++)
            append_literal(&told, &literals.items[l]);
        const char *text = told.ptr ? told.ptr : "";
        if (strcmp(text, cases[i].expected) != 0)
            print_error("%s: \"%s\" for \"%s\"\n", cases[i].name, text, cases[i].expected), failures++;
        wt__buffer_dispose(&told);
        wt__arena_dispose(&arena);
    }
    assert_int_equal(failures, 0);
}

static void number_of_literals_is_limited(void **state)
{
    struct literals literals;
    struct buffer request = {0};
    struct arena arena = {0};
    (void)state;
    for (int i = 0; i < LITERALS_MOST + 9; i++)
        wt__buffer_printf(&request, "%d ", i);
    assert_int_equal(wt__literals_read(&literals, wt__buffer_view(&request), &arena), 0);
    assert_int_equal(literals.len, LITERALS_MOST);
    assert_float_equal(literals.items[LITERALS_MOST - 1].number, LITERALS_MOST - 1, 0);
    wt__buffer_dispose(&request);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_found),
        cmocka_unit_test(number_of_literals_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
