/* formats.c: the table of formats, and the checks of the short ones. */
#include "schema/formats.h"

#include "schema/formats_inside.h"
#include "schema/pattern.h"

static bool is_uuid(struct str text)
{
    if (text.len != 36)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : wt__hex_digit(text.ptr[i]) < 0)
            return false;
    }
    return true;
}

static bool is_json_pointer(struct str text)
{
    if (text.len > 0 && text.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '~' && (i + 1 == text.len || (text.ptr[i + 1] != '0' && text.ptr[i + 1] != '1')))
            return false;
    return true;
}

static bool is_relative_json_pointer(struct str text)
{
    size_t digits = 0;
    while (digits < text.len && wt__is_digit(text.ptr[digits]))
        digits++;
    if (digits == 0 || (digits > 1 && text.ptr[0] == '0'))
        return false;
    struct str rest = {text.ptr + digits, text.len - digits};
    return wt__str_equal(rest, STR("#")) || is_json_pointer(rest);
}

static const struct format formats[] = {
    {"date", "a date such as 2026-03-01", wt__is_date},
    {"time", "a time with its zone such as 14:30:00Z", wt__is_time},
    {"date-time", "a date with time such as 2026-03-01T14:30:00Z", wt__is_date_time},
    {"duration", "a duration such as P1DT12H", wt__is_duration},
    {"email", "an email address such as ann@example.com", wt__is_email},
    {"idn-email", "an email address such as ann@example.com", wt__is_idn_email},
    {"hostname", "a host name such as www.example.com", wt__is_hostname},
    {"ipv4", "an IPv4 address such as 192.0.2.1", wt__is_ipv4},
    {"ipv6", "an IPv6 address such as 2001:db8::1", wt__is_ipv6},
    {"uri", "a URI such as https://example.com/a", wt__is_uri},
    {"uri-reference", "a URI or a relative one such as a/b?c", wt__is_uri_reference},
    {"iri", "an IRI such as https://example.com/a", wt__is_iri},
    {"iri-reference", "an IRI or a relative one such as a/b?c", wt__is_iri_reference},
    {"uri-template", "a URI template such as /users/{id}", wt__is_uri_template},
    {"uuid", "a UUID such as 123e4567-e89b-12d3-a456-426614174000", is_uuid},
    {"json-pointer", "a JSON pointer such as /a/0", is_json_pointer},
    {"relative-json-pointer", "a relative JSON pointer such as 1/a", is_relative_json_pointer},
    {"regex", "a regular expression", NULL},
};

const struct format *wt__format_find(struct str name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (wt__str_equal(name, wt__str(formats[i].name)))
            return &formats[i];
    return NULL;
}

enum format_answer wt__format_fits(const struct format *format, struct str text)
{
    if (format->fits)
        return format->fits(text) ? FORMAT_YES : FORMAT_NO;
    enum pattern_answer answer = wt__pattern_is_valid(text);
    if (answer == PATTERN_NO_MEMORY)
        return FORMAT_NO_MEMORY;
    return answer == PATTERN_YES ? FORMAT_YES : FORMAT_NO;
}
