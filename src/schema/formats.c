/* formats.c: the table of formats and their grammars, such as dates, host names and URIs. Also resolves references (RFC
 * 3986, section 5.2). */
#include "schema/compiled.h"

#include <string.h>

#include "base/memory.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- dates and times */

/* Dates, times and durations of RFC 3339. A leap second is valid only at 23:59:60 UTC. */

/* Parses `count` digits at *at. Returns -1 if there are fewer. */
static int parse_digits(struct str text, size_t *at, size_t count)
{
    int value = 0;
    for (size_t i = 0; i < count; i++, (*at)++) {
        if (*at >= text.len || !wt__is_digit(text.ptr[*at]))
            return -1;
        value = value * 10 + (text.ptr[*at] - '0');
    }
    return value;
}

static bool accept_char(struct str text, size_t *at, char wanted)
{
    bool there = *at < text.len && text.ptr[*at] == wanted;
    *at += there;
    return there;
}

static bool parse_date(struct str text, size_t *at)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = parse_digits(text, at, 4);
    if (year < 0 || !accept_char(text, at, '-'))
        return false;
    int month = parse_digits(text, at, 2);
    if (month < 1 || month > 12 || !accept_char(text, at, '-'))
        return false;
    int day = parse_digits(text, at, 2);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* Parses the UTC offset at *at. *minutes: the offset in minutes, positive if local time is ahead of UTC. */
static bool parse_utc_offset(struct str text, size_t *at, int *minutes)
{
    *minutes = 0;
    if (accept_char(text, at, 'Z') || accept_char(text, at, 'z'))
        return true;
    bool ahead = accept_char(text, at, '+');
    if (!ahead && !accept_char(text, at, '-'))
        return false;
    int hour = parse_digits(text, at, 2);
    if (hour < 0 || hour > 23 || !accept_char(text, at, ':'))
        return false;
    int minute = parse_digits(text, at, 2);
    *minutes = (hour * 60 + minute) * (ahead ? 1 : -1);
    return minute >= 0 && minute <= 59;
}

static bool parse_time_of_day(struct str text, size_t *at)
{
    int minutes, hour = parse_digits(text, at, 2);
    if (hour < 0 || hour > 23 || !accept_char(text, at, ':'))
        return false;
    int minute = parse_digits(text, at, 2);
    if (minute < 0 || minute > 59 || !accept_char(text, at, ':'))
        return false;
    int second = parse_digits(text, at, 2);
    if (second < 0 || second > 60)
        return false;
    if (accept_char(text, at, '.')) {
        if (parse_digits(text, at, 1) < 0)
            return false;
        while (*at < text.len && wt__is_digit(text.ptr[*at]))
            (*at)++;
    }
    if (!parse_utc_offset(text, at, &minutes))
        return false;
    int utc = (hour * 60 + minute - minutes + 2 * 24 * 60) % (24 * 60);
    return second < 60 || utc == 23 * 60 + 59;
}

static bool is_date(struct str text)
{
    size_t at = 0;
    return parse_date(text, &at) && at == text.len;
}

static bool is_time(struct str text)
{
    size_t at = 0;
    return parse_time_of_day(text, &at) && at == text.len;
}

static bool is_date_time(struct str text)
{
    size_t at = 0;
    if (!parse_date(text, &at) || !(accept_char(text, &at, 'T') || accept_char(text, &at, 't')))
        return false;
    return parse_time_of_day(text, &at) && at == text.len;
}

/* Parses elements of a duration: digits followed by one of the units. Units must appear in the given order, at most
 * once and without gaps: hours and seconds need minutes between them. Returns the number of elements, or -1 if invalid.
 */
static int count_duration_elements(struct str text, size_t *at, const char *units)
{
    const char *last = NULL;
    int count = 0;
    while (*at < text.len && wt__is_digit(text.ptr[*at])) {
        while (*at < text.len && wt__is_digit(text.ptr[*at]))
            (*at)++;
        const char *unit = *at < text.len && text.ptr[*at] != '\0' ? strchr(units, text.ptr[*at]) : NULL;
        if (!unit || (last && unit != last + 1))
            return -1;
        last = unit;
        (*at)++;
        count++;
    }
    return count;
}

static bool is_duration(struct str text)
{
    size_t at = 0;
    if (!accept_char(text, &at, 'P'))
        return false;
    size_t start = at;
    if (count_duration_elements(text, &at, "W") == 1)
        return at == text.len;
    at = start;
    int days = count_duration_elements(text, &at, "YMD"), times = 0;
    if (days < 0)
        return false;
    if (accept_char(text, &at, 'T') && (times = count_duration_elements(text, &at, "HMS")) <= 0)
        return false;
    return at == text.len && days + times > 0;
}

/* ---------------------------------------------------------------- hosts and mailboxes */

/* Host names, IP addresses and mailboxes. Labels of internationalised names ("xn--...") are not decoded. Only their
 * characters are checked. */

enum { HOST_BYTES = 253, LABEL_BYTES = 63, LOCAL_BYTES = 64, MAILBOX_BYTES = 254 };

static bool is_hostname(struct str text)
{
    size_t label = 0;
    if (text.len == 0 || text.len > HOST_BYTES || text.ptr[text.len - 1] == '.')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool ends = i + 1 == text.len || text.ptr[i + 1] == '.';
        if (c == '.') {
            if (label == 0)
                return false;
            label = 0;
            continue;
        }
        bool alphanumeric = wt__is_letter(c) || wt__is_digit(c);
        if (!alphanumeric && (c != '-' || label == 0 || ends))
            return false;
        if (++label > LABEL_BYTES)
            return false;
    }
    return true;
}

static bool is_ipv4(struct str text)
{
    size_t at = 0;
    for (int part = 0; part < 4; part++) {
        size_t begin = at;
        int value = 0;
        for (; at < text.len && at < begin + 3 && wt__is_digit(text.ptr[at]); at++)
            value = value * 10 + (text.ptr[at] - '0');
        if (at == begin || value > 255 || (text.ptr[begin] == '0' && at > begin + 1))
            return false;
        if (part < 3 && (at >= text.len || text.ptr[at++] != '.'))
            return false;
    }
    return at == text.len;
}

/* Counts the groups of hexadecimal digits in a part of an IPv6 address. A final IPv4 address counts as two groups.
 * Returns -1 if the part is invalid. */
static int count_ipv6_groups(struct str text, bool may_end_in_ipv4)
{
    int count = 0;
    size_t at = 0;
    while (at < text.len) {
        size_t begin = at;
        while (at < text.len && wt__hex_digit(text.ptr[at]) >= 0)
            at++;
        if (at < text.len && text.ptr[at] == '.')
            return may_end_in_ipv4 && is_ipv4((struct str){text.ptr + begin, text.len - begin}) ? count + 2 : -1;
        if (at == begin || at - begin > 4)
            return -1;
        count++;
        if (at == text.len)
            return count;
        if (text.ptr[at++] != ':' || at == text.len)
            return -1;
    }
    return count;
}

static bool is_ipv6(struct str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] != ':' || text.ptr[i + 1] != ':')
            continue;
        int before = count_ipv6_groups((struct str){text.ptr, i}, false);
        int after = count_ipv6_groups((struct str){text.ptr + i + 2, text.len - i - 2}, true);
        return before >= 0 && after >= 0 && before + after <= 7;
    }
    return count_ipv6_groups(text, true) == 8;
}

static bool is_atom(char c, bool wide)
{
    return wt__is_letter(c) || wt__is_digit(c) || (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~", c)) ||
           (wide && (unsigned char)c >= 0x80);
}

static bool is_dot_atom(struct str text, bool wide)
{
    bool dot = true; /* true after a dot and at the start */
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' ? dot : !is_atom(text.ptr[i], wide))
            return false;
        dot = text.ptr[i] == '.';
    }
    return !dot;
}

static bool is_quoted(struct str text, bool wide)
{
    if (text.len < 2 || text.ptr[0] != '"' || text.ptr[text.len - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '\\' && i + 2 < text.len)
            i++;
        else if (c == '"' || c == '\\' || c < 0x20 || c == 0x7f || (c >= 0x80 && !wide))
            return false;
    }
    return true;
}

static bool is_mail_domain(struct str domain, bool wide)
{
    if (domain.len > 2 && domain.ptr[0] == '[' && domain.ptr[domain.len - 1] == ']') {
        struct str inner = {domain.ptr + 1, domain.len - 2};
        if (wt__str_starts(inner, STR("IPv6:")))
            return is_ipv6((struct str){inner.ptr + 5, inner.len - 5});
        return is_ipv4(inner);
    }
    if (!wide)
        return is_hostname(domain);
    return domain.len <= HOST_BYTES && is_dot_atom(domain, true) && !memchr(domain.ptr, '=', domain.len);
}

static bool is_mailbox(struct str text, bool wide)
{
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != '@')
        at--;
    if (at == 0 || text.len > MAILBOX_BYTES || !wt__utf8_valid(text))
        return false;
    struct str local = {text.ptr, at - 1}, domain = {text.ptr + at, text.len - at};
    if (local.len > LOCAL_BYTES || !(is_dot_atom(local, wide) || is_quoted(local, wide)))
        return false;
    return is_mail_domain(domain, wide);
}

static bool is_email(struct str text)
{
    return is_mailbox(text, false);
}

static bool is_idn_email(struct str text)
{
    return is_mailbox(text, true);
}

/* ---------------------------------------------------------------- parts of URIs */

static struct str cut_front(struct str *rest, size_t len, size_t skip)
{
    struct str head = {rest->ptr, len};
    rest->ptr += len + skip;
    rest->len -= len + skip;
    return head;
}

/* Returns the position of the first character of `text` that is in `stops`; text.len if there is no such character. */
static size_t find_any(struct str text, const char *stops)
{
    size_t at = 0;
    while (at < text.len && !(text.ptr[at] != '\0' && strchr(stops, text.ptr[at])))
        at++;
    return at;
}

static bool is_uri_scheme(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool later = wt__is_digit(c) || c == '+' || c == '-' || c == '.';
        if (!wt__is_letter(c) && (i == 0 || !later))
            return false;
    }
    return text.len > 0;
}

/* Cuts `text` at the first `sign`, and sets *tail to the part after `sign`. Returns false if the text does not contain
 * `sign`. */
static bool cut_tail(struct str *text, const char *sign, struct str *tail)
{
    size_t at = find_any(*text, sign);
    if (at == text->len)
        return false;
    *tail = (struct str){text->ptr + at + 1, text->len - at - 1};
    text->len = at;
    return true;
}

void wt__uri_split(struct uri *out, struct str text)
{
    const struct str none = {"", 0};
    *out = (struct uri){.scheme = none, .authority = none, .path = none, .query = none, .fragment = none};
    if (text.len == 0)
        return;
    cut_tail(&text, "#", &out->fragment);
    out->has_query = cut_tail(&text, "?", &out->query);
    size_t at = find_any(text, ":/");
    if (at < text.len && text.ptr[at] == ':' && is_uri_scheme((struct str){text.ptr, at})) {
        out->scheme = cut_front(&text, at, 1);
        out->has_scheme = true;
    }
    if (wt__str_starts(text, STR("//"))) {
        cut_front(&text, 0, 2);
        out->authority = cut_front(&text, find_any(text, "/"), 0);
        out->has_authority = true;
    }
    out->path = text;
}

/* Removes the last segment appended after `from`, and the slash before it. */
static void drop_segment(struct buffer *out, size_t from)
{
    size_t len = out->len;
    while (len > from && out->ptr[len - 1] != '/')
        len--;
    wt__buffer_cut(out, len > from ? len - 1 : from);
}

/* Appends a path without its dot segments. */
static void append_path(struct buffer *out, struct str path)
{
    size_t from = out->len;
    while (path.len > 0) {
        bool slash = path.ptr[0] == '/';
        struct str rest = {path.ptr + slash, path.len - slash};
        struct str segment = {rest.ptr, find_any(rest, "/")};
        bool up = wt__str_equal(segment, STR("..")), dots = up || wt__str_equal(segment, STR("."));
        if (up)
            drop_segment(out, from);
        if (slash && (!dots || segment.len == rest.len))
            wt__buffer_char(out, '/');
        if (!dots)
            wt__buffer_str(out, segment);
        path = (struct str){rest.ptr + segment.len, rest.len - segment.len};
    }
}

/* Appends the path of a relative reference, which replaces the last segment of the base path. */
static void append_merged(struct buffer *out, const struct uri *base, struct str path)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer merged = {0};
    size_t len = base->path.len;
    while (len > 0 && base->path.ptr[len - 1] != '/')
        len--;
    if (base->has_authority && base->path.len == 0)
        wt__buffer_char(&merged, '/');
    wt__buffer_str(&merged, (struct str){base->path.ptr, len});
    wt__buffer_str(&merged, path);
    append_path(out, wt__buffer_view(&merged));
    out->failed |= merged.failed;
}

void wt__uri_resolve(struct buffer *out, struct str base_text, struct str reference)
{
    struct uri base, ref;
    wt__uri_split(&base, base_text);
    wt__uri_split(&ref, reference);
    const struct uri *scheme = ref.has_scheme ? &ref : &base;
    const struct uri *authority = ref.has_scheme || ref.has_authority ? &ref : &base;
    bool same_path = authority == &base && ref.path.len == 0;
    const struct uri *query = same_path && !ref.has_query ? &base : &ref;
    if (scheme->has_scheme) {
        wt__buffer_str(out, scheme->scheme);
        wt__buffer_char(out, ':');
    }
    if (authority->has_authority) {
        wt__buffer_text(out, "//");
        wt__buffer_str(out, authority->authority);
    }
    if (same_path)
        wt__buffer_str(out, base.path);
    else if (authority == &ref || (ref.path.len > 0 && ref.path.ptr[0] == '/'))
        append_path(out, ref.path);
    else
        append_merged(out, &base, ref.path);
    if (query->has_query) {
        wt__buffer_char(out, '?');
        wt__buffer_str(out, query->query);
    }
}

bool wt__uri_decode(struct buffer *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '%') {
            wt__buffer_char(out, text.ptr[i]);
            continue;
        }
        int high = i + 2 < text.len ? wt__hex_digit(text.ptr[i + 1]) : -1;
        int low = i + 2 < text.len ? wt__hex_digit(text.ptr[i + 2]) : -1;
        if (high < 0 || low < 0)
            return false;
        wt__buffer_char(out, (char)(high * 16 + low));
        i += 2;
    }
    return true;
}

/* ---------------------------------------------------------------- URI formats */

/* True if an IRI may contain the character (ucschar of RFC 3987). private: also true for private-use characters
 * (iprivate), which are allowed in a query. */
static bool is_iri_char(uint32_t c, bool private)
{
    if (c < 0xA0 || (c & 0xFFFE) == 0xFFFE || (c >= 0xD800 && c <= 0xDFFF) || (c >= 0xFDD0 && c <= 0xFDEF))
        return false;
    if ((c >= 0xE000 && c <= 0xF8FF) || c >= 0xF0000)
        return private;
    return !(c >= 0xFFF0 && c <= 0xFFFF) && !(c >= 0xE0000 && c < 0xE1000);
}

/* True if the text consists of unreserved characters, sub-delims, percent-encoded bytes and characters of `more`.
 * wide: also allow the additional characters of an IRI
 * private: as in is_iri_char */
static bool has_only_uri_chars(struct str text, const char *more, bool wide, bool private)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at < end) {
        char c = *at;
        if ((unsigned char)c >= 0x80) {
            if (!wide || !is_iri_char(wt__utf8_next(&at, end), private))
                return false;
        } else if (c == '%') {
            if (end - at < 3 || wt__hex_digit(at[1]) < 0 || wt__hex_digit(at[2]) < 0)
                return false;
            at += 3;
        } else if (wt__is_letter(c) || wt__is_digit(c) ||
                   (c != '\0' && (strchr("-._~!$&'()*+,;=", c) || strchr(more, c)))) {
            at++;
        } else {
            return false;
        }
    }
    return true;
}

/* True for an IPvFuture address of RFC 3986: "v", hexadecimal digits, ".", and other characters. */
static bool is_future_address(struct str text)
{
    size_t at = 1;
    if (text.len < 4 || (text.ptr[0] != 'v' && text.ptr[0] != 'V'))
        return false;
    while (at < text.len && wt__hex_digit(text.ptr[at]) >= 0)
        at++;
    struct str rest = {text.ptr + at, text.len - at};
    return at > 1 && rest.len > 1 && rest.ptr[0] == '.' && !memchr(rest.ptr, '%', rest.len) &&
           has_only_uri_chars(rest, ":", false, false);
}

static bool is_authority(struct str text, bool wide)
{
    size_t at = find_any(text, "@");
    if (at < text.len && !has_only_uri_chars((struct str){text.ptr, at}, ":", wide, false))
        return false;
    size_t host = at < text.len ? at + 1 : 0;
    at = host;
    if (at < text.len && text.ptr[at] == '[') {
        const char *close = memchr(text.ptr + at, ']', text.len - at);
        if (!close)
            return false;
        struct str address = {text.ptr + at + 1, (size_t)(close - text.ptr) - at - 1};
        if (!is_ipv6(address) && !is_future_address(address))
            return false;
        at = (size_t)(close - text.ptr) + 1;
    } else {
        while (at < text.len && text.ptr[at] != ':')
            at++;
        if (!has_only_uri_chars((struct str){text.ptr + host, at - host}, "", wide, false))
            return false;
    }
    if (at < text.len && text.ptr[at++] != ':')
        return false;
    while (at < text.len && wt__is_digit(text.ptr[at]))
        at++;
    return at == text.len;
}

static bool fits_uri_grammar(struct str text, bool wide, bool absolute)
{
    struct uri uri;
    wt__uri_split(&uri, text);
    if (absolute && !uri.has_scheme)
        return false;
    if (uri.has_authority && !is_authority(uri.authority, wide))
        return false;
    /* RFC 3986 forbids a colon in the first segment of a relative path, because it would look like a scheme. */
    size_t slash = find_any(uri.path, "/");
    if (!uri.has_scheme && !uri.has_authority && slash > 0 && memchr(uri.path.ptr, ':', slash))
        return false;
    return has_only_uri_chars(uri.path, ":@/", wide, false) && has_only_uri_chars(uri.query, ":@/?", wide, true) &&
           has_only_uri_chars(uri.fragment, ":@/?", wide, false);
}

static bool is_uri(struct str text)
{
    return fits_uri_grammar(text, false, true);
}

static bool is_uri_reference(struct str text)
{
    return fits_uri_grammar(text, false, false);
}

static bool is_iri(struct str text)
{
    return fits_uri_grammar(text, true, true);
}

static bool is_iri_reference(struct str text)
{
    return fits_uri_grammar(text, true, false);
}

/* Returns 3 if a percent-encoded byte is at `at`, else 0. */
static size_t percent_length(struct str text, size_t at)
{
    bool byte = at + 2 < text.len && text.ptr[at] == '%' && wt__hex_digit(text.ptr[at + 1]) >= 0 &&
                wt__hex_digit(text.ptr[at + 2]) >= 0;
    return byte ? 3 : 0;
}

/* Parses a variable name and its modifier, and moves *at past both. */
static bool parse_template_variable(struct str text, size_t *at)
{
    size_t begin = *at;
    bool dot = true;
    while (*at < text.len) {
        char c = text.ptr[*at];
        size_t step = wt__is_letter(c) || wt__is_digit(c) || c == '_' ? 1 : percent_length(text, *at);
        if (step == 0 && !(c == '.' && !dot))
            break;
        dot = step == 0;
        *at += step ? step : 1;
    }
    if (*at == begin || dot)
        return false;
    if (*at < text.len && text.ptr[*at] == '*') {
        (*at)++;
    } else if (*at < text.len && text.ptr[*at] == ':') {
        begin = ++*at;
        while (*at < text.len && wt__is_digit(text.ptr[*at]))
            (*at)++;
        return *at > begin && *at <= begin + 4 && text.ptr[begin] != '0';
    }
    return true;
}

static bool parse_template_expression(struct str text, size_t *at)
{
    char c = *at < text.len ? text.ptr[*at] : '\0';
    if (c != '\0' && strchr("+#./;?&", c))
        (*at)++;
    do {
        if (!parse_template_variable(text, at))
            return false;
    } while (*at < text.len && text.ptr[*at] == ',' && ++*at);
    return *at < text.len && text.ptr[(*at)++] == '}';
}

static bool is_uri_template(struct str text)
{
    size_t at = 0;
    while (at < text.len) {
        unsigned char c = (unsigned char)text.ptr[at];
        if (c == '{') {
            at++;
            if (!parse_template_expression(text, &at))
                return false;
        } else if (c == '%') {
            if (!percent_length(text, at))
                return false;
            at += 3;
        } else if (c >= 0x80) {
            const char *next = text.ptr + at;
            if (!is_iri_char(wt__utf8_next(&next, text.ptr + text.len), true))
                return false;
            at = (size_t)(next - text.ptr);
        } else if (c <= ' ' || c == 0x7f || strchr("\"<>\\^`|}", c)) {
            return false;
        } else {
            at++;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- the table of formats */

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
    {"date", "a date such as 2026-03-01", is_date},
    {"time", "a time with its zone such as 14:30:00Z", is_time},
    {"date-time", "a date with time such as 2026-03-01T14:30:00Z", is_date_time},
    {"duration", "a duration such as P1DT12H", is_duration},
    {"email", "an email address such as ann@example.com", is_email},
    {"idn-email", "an email address such as ann@example.com", is_idn_email},
    {"hostname", "a host name such as www.example.com", is_hostname},
    {"ipv4", "an IPv4 address such as 192.0.2.1", is_ipv4},
    {"ipv6", "an IPv6 address such as 2001:db8::1", is_ipv6},
    {"uri", "a URI such as https://example.com/a", is_uri},
    {"uri-reference", "a URI or a relative one such as a/b?c", is_uri_reference},
    {"iri", "an IRI such as https://example.com/a", is_iri},
    {"iri-reference", "an IRI or a relative one such as a/b?c", is_iri_reference},
    {"uri-template", "a URI template such as /users/{id}", is_uri_template},
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

enum pattern_answer wt__format_fits(const struct format *format, struct str text)
{
    if (!format->fits)
        return wt__pattern_is_valid(text);
    return format->fits(text) ? PATTERN_YES : PATTERN_NO;
}
