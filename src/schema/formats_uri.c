/* formats_uri.c: URIs and IRIs (RFC 3986, RFC 3987) and URI templates (RFC 6570). */
#include "schema/formats_inside.h"
#include "schema/uri.h"
#include "text/unicode.h"

static bool is_uri_unreserved(char c)
{
    return wt__is_letter(c) || wt__is_digit(c) || (c != '\0' && strchr("-._~", c));
}

/* True if an IRI may contain the character: ucschar. With `private`, also true for iprivate, which is allowed in a
 * query. */
static bool is_iri_char(uint32_t c, bool private)
{
    if (c < 0xA0 || (c & 0xFFFE) == 0xFFFE || (c >= 0xD800 && c <= 0xDFFF) || (c >= 0xFDD0 && c <= 0xFDEF))
        return false;
    if ((c >= 0xE000 && c <= 0xF8FF) || c >= 0xF0000)
        return private;
    return !(c >= 0xFFF0 && c <= 0xFFFF) && !(c >= 0xE0000 && c < 0xE1000);
}

/* True if the text consists of unreserved characters, sub-delims, percent-encoded bytes and characters of `more`. wide:
 * also allow the additional characters of an IRI. */
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
        } else if (is_uri_unreserved(c) || (c != '\0' && (strchr("!$&'()*+,;=", c) || strchr(more, c)))) {
            at++;
        } else {
            return false;
        }
    }
    return true;
}

/* True for an IPvFuture address: vHEX.anything. */
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
    size_t at = 0, host;
    while (at < text.len && text.ptr[at] != '@')
        at++;
    if (at < text.len && !has_only_uri_chars((struct str){text.ptr, at}, ":", wide, false))
        return false;
    host = at < text.len ? at + 1 : 0;
    at = host;
    if (at < text.len && text.ptr[at] == '[') {
        const char *close = memchr(text.ptr + at, ']', text.len - at);
        if (!close)
            return false;
        struct str address = {text.ptr + at + 1, (size_t)(close - text.ptr) - at - 1};
        if (!wt__is_ipv6(address) && !is_future_address(address))
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

static bool is_uri_reference(struct str text, bool wide, bool absolute)
{
    struct uri uri;
    wt__uri_split(&uri, text);
    if (absolute && !uri.has_scheme)
        return false;
    if (uri.has_authority && !is_authority(uri.authority, wide))
        return false;
    /* RFC 3986 forbids a colon in the first segment of a relative path, because it would look like a scheme. */
    size_t slash = 0;
    while (slash < uri.path.len && uri.path.ptr[slash] != '/')
        slash++;
    if (!uri.has_scheme && !uri.has_authority && slash > 0 && memchr(uri.path.ptr, ':', slash))
        return false;
    return has_only_uri_chars(uri.path, ":@/", wide, false) && has_only_uri_chars(uri.query, ":@/?", wide, true) &&
           has_only_uri_chars(uri.fragment, ":@/?", wide, false);
}

bool wt__is_uri(struct str text)
{
    return is_uri_reference(text, false, true);
}

bool wt__is_uri_reference(struct str text)
{
    return is_uri_reference(text, false, false);
}

bool wt__is_iri(struct str text)
{
    return is_uri_reference(text, true, true);
}

bool wt__is_iri_reference(struct str text)
{
    return is_uri_reference(text, true, false);
}

static size_t percent_length(struct str text, size_t at)
{
    bool byte = at + 2 < text.len && text.ptr[at] == '%' && wt__hex_digit(text.ptr[at + 1]) >= 0 &&
                wt__hex_digit(text.ptr[at + 2]) >= 0;
    return byte ? 3 : 0;
}

/* Parses a variable name with its modifier and moves *at behind it. */
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

bool wt__is_uri_template(struct str text)
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
