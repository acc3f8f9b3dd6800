/* headers.c: compares a modern request's HTTP headers with its body. A proxy routing by headers and a server acting on
 * the body must see the same request. */
#include <stdlib.h>

#include "base/base64.h"
#include "serve/mcp/inside.h"

#define SENTINEL "=?base64?"

/* Decodes a header value with the base64 marker, copies others. Returns false if it contains bytes forbidden in
 * headers. */
static bool decode_header(struct str header, struct buffer *out)
{
    static const struct str begin = {SENTINEL, sizeof SENTINEL - 1}, end = {"?=", 2};
    for (size_t i = 0; i < header.len; i++)
        if (((unsigned char)header.ptr[i] < 0x20 && header.ptr[i] != '\t') || (unsigned char)header.ptr[i] > 0x7e)
            return false;
    if (header.len >= begin.len + end.len && wt__str_starts(header, begin) &&
        memcmp(header.ptr + header.len - end.len, end.ptr, end.len) == 0)
        return wt__base64_decode(out, (struct str){header.ptr + begin.len, header.len - begin.len - end.len});
    wt__buffer_str(out, header);
    return true;
}

/* True if the header is the number; 42.0 equals 42. */
static bool is_header_number(struct str header, double value)
{
    char text[64], *end;
    if (header.len == 0 || header.len >= sizeof text || wt__is_blank(header.ptr[0]))
        return false;
    memcpy(text, header.ptr, header.len);
    text[header.len] = '\0';
    double number = strtod(text, &end);
    return *end == '\0' && number - value == 0;
}

bool wt__mcp_header_equals(struct str header, const json_t *value)
{
    struct buffer decoded = {0};
    bool same = decode_header(header, &decoded) && !decoded.failed;
    struct str text = wt__buffer_view(&decoded);
    if (json_is_string(value))
        same = same && wt__str_equal(text, (struct str){json_string_value(value), json_string_length(value)});
    else if (json_is_number(value))
        same = same && is_header_number(text, json_number_value(value));
    else
        same = same && json_is_boolean(value) && wt__str_equal(text, json_is_true(value) ? STR("true") : STR("false"));
    wt__buffer_dispose(&decoded);
    return same;
}

bool wt__mcp_headers_match(const struct mcp_headers *headers, struct str method, const json_t *name,
                           struct buffer *words)
{
    const char *wrong = NULL;
    if (headers->method.len == 0)
        wrong = "the header Mcp-Method is missing";
    else if (!wt__str_equal(headers->method, method))
        wrong = "the header Mcp-Method differs from the method of the message";
    else if (name && headers->name.len == 0)
        wrong = "the header Mcp-Name is missing";
    else if (name && !wt__mcp_header_equals(headers->name, name))
        wrong = "the header Mcp-Name differs from the name in the message";
    if (wrong)
        wt__buffer_text(words, wrong);
    return !wrong;
}
