/* Tests each format with valid and invalid texts. Formats are annotations unless asserted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/support.h"

/* empty: true if "" fits. in: texts that fit. out: texts that do not fit. */
static const struct {
    const char *name;
    bool empty;
    const char *in[16], *out[24];
} rows[] = {
    {"date",
     false,
     {"2026-03-01", "2024-02-29", "2000-02-29", "0000-01-31"},
     {"2026-3-1", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-03-00", "20260301",
      "2026-03-01 ", "2026/03/01",
      "\xd9\xa2"
      "026-03-01"}},
    {"time",
     false,
     {"14:30:00Z", "14:30:00.25z", "23:59:60Z", "01:59:60+02:00", "23:29:60-00:30", "00:00:00+23:59"},
     {"14:30:00", "24:00:00Z", "14:60:00Z", "14:30:61Z", "14:30:60Z", "22:59:60Z", "14:30:00.Z", "14:30:00+24:00",
      "14:30:00+2:00", "14:30Z", "14:30:00 Z"}},
    {"date-time",
     false,
     {"2026-03-01T14:30:00Z", "2026-03-01t14:30:00.123456+05:30", "1998-12-31T23:59:60Z"},
     {"2026-03-01", "2026-03-01 14:30:00Z", "2026-02-30T14:30:00Z", "2026-03-01T25:00:00Z", "2026-03-01T14:30:00"}},
    {"duration",
     false,
     {"P1DT12H", "P3Y6M4DT12H30M5S", "PT36H", "P4W", "PT0S", "P1M"},
     {"1D", "P", "PT", "P1", "P1H", "PT1D", "P1D1Y", "P1Y1D", "PT1H1S", "P1W1D", "P1DT", "P-1D", "PT1.5S"}},
    {"email",
     false,
     {"ann@example.com", "a.b+c@x.y", "\"a b\"@x.y", "a@[127.0.0.1]", "a@[IPv6:::1]"},
     {"ann", "@x.y", "ann@", "a..b@x.y", ".a@x.y", "a b@x.y", "a@-x.y", "a@[300.0.0.1]", "\xc3\xa4@x.y", "a@x.y\n"}},
    {"idn-email", false, {"\xc3\xa4nn@example.com", "a@\xc3\xbc.de"}, {"a", "a@", "\xc3\xa4 b@x.y"}},
    {"hostname",
     false,
     {"localhost", "www.example.com", "a-b.c1", "1.2"},
     {".a", "a.", "a..b", "-a", "a-", "a_b", "a b", "\xc3\xa4.de",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.de"}},
    {"ipv4",
     false,
     {"0.0.0.0", "192.0.2.1", "255.255.255.255"},
     {"256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4 ", "1.2.3.a", "1..2.3"}},
    {"ipv6",
     false,
     {"::", "::1", "1::", "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:192.0.2.1", "1:2:3:4:5:6:1.2.3.4"},
     {":", "1", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::g", "::1.2.3",
      "1.2.3.4::", "fe80::1%1", "1:2:3:4:5:6:7::8"}},
    {"uri",
     false,
     {"https://example.com/a?b=c#d", "urn:isbn:1", "mailto:a@b.c", "http://[::1]:80/", "file:///x", "a://u:p@h:1/%41"},
     {"a/b", "//host", "http://a b", "http://a/%4", "http://[::1", "http://a\\b", "http://\xc3\xa4.de", "http://h:x/",
      "1a:b", "http://[v1]/"}},
    {"uri-reference",
     true,
     {"a/b", "#x", "?q", "//h/p", "http://h", "./a:b"},
     {"a b", "%", "\\a", "#a#b", ":a", "1:b"}},
    {"iri", false, {"http://\xc3\xa4.de/\xc3\xb6", "https://h"}, {"\xc3\xa4", "http://a b", "http://\xee\x80\x80/"}},
    {"iri-reference", true, {"\xc3\xa4", "/\xe2\x82\xac"}, {"a b", "\\"}},
    {"uri-template",
     true,
     {"/users/{id}", "{+path}/x{?a,b*}", "{a:3}", "%41"},
     {"{", "}", "{}", "{a,}", "{a:0}", "{a:12345}", "a b", "{a b}", "{=a}", "%4", "{a", "'\"'"}},
    {"uuid",
     false,
     {"123e4567-e89b-12d3-a456-426614174000", "ABCDEF00-0000-0000-0000-000000000000"},
     {"123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400", "123e4567-e89b-12d3-a456-42661417400g",
      "123e4567-e89b-12d3-a4564-26614174000"}},
    {"json-pointer", true, {"/", "/a/0", "/~0~1", "//"}, {"a", "/~", "/~2", "#/a"}},
    {"relative-json-pointer", false, {"0", "1/a", "12#", "0/"}, {"-1", "01", "a", "/a", "1a", "0##", "+1/a"}},
    {"regex",
     true,
     {"^a$", "(?<n>a)\\k<n>", "[^]", "\\d{2,}", "\\cA", "\\p{L}"},
     {"(", "[", "\\a", "*a", "(?i)a", "a{2,1}", "\\Z", "(?P<n>a)"}},
};

static bool text_fits(const struct compiled *compiled, const char *text)
{
    json_t *value = json_string(text);
    assert_non_null(value);
    enum verdict verdict = check_instance(compiled, value);
    json_decref(value);
    return verdict == FITS;
}

static void checks_each_format(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char schema[64];
        snprintf(schema, sizeof schema, "{'format': '%s'}", rows[i].name);
        struct compiled *compiled = compile_text(schema, SCHEMA_2020_12, NULL, NULL);
        assert_int_equal(text_fits(compiled, ""), rows[i].empty);
        for (size_t t = 0; rows[i].in[t]; t++)
            if (!text_fits(compiled, rows[i].in[t]))
                failures += 0 < printf("%s: %s should fit\n", rows[i].name, rows[i].in[t]);
        for (size_t t = 0; rows[i].out[t]; t++)
            if (text_fits(compiled, rows[i].out[t]))
                failures += 0 < printf("%s: %s should not fit\n", rows[i].name, rows[i].out[t]);
        wt__compiled_free(compiled);
    }
    assert_int_equal(failures, 0);
}

static void formats_are_annotations_by_default(void **state)
{
    (void)state;
    struct compiled *compiled;
    json_t *schema = json_of("{'format': 'date'}");
    assert_int_equal(wt__compile_schema(&compiled, schema, SCHEMA_2020_12, NULL, false, NULL, NULL), 0);
    assert_true(text_fits(compiled, "tomorrow"));
    wt__compiled_free(compiled);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_each_format),
        cmocka_unit_test(formats_are_annotations_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
