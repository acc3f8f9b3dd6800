/* framing.c: the rules of RFC 9112, section 6, without their tolerance. Two programs must find the same end of a body,
 * or a request can be smuggled inside it. So a length is a plain number, the only coding is `chunked`, and both
 * together are rejected. head.c rejects duplicates of these fields.
 *
 * Connections persist only in HTTP/1.1. In HTTP/1.0, persistence was added later and proxies implemented it wrongly. */
#include "http/framing.h"

#include "http/characters.h"

enum { LENGTH_DIGITS_MAX = 18 }; /* numbers of this many digits fit in 64 bits */

static enum http_refusal read_length(struct http_framing *framing, struct str text)
{
    if (text.len == 0 || text.len > LENGTH_DIGITS_MAX || (text.len > 1 && text.ptr[0] == '0'))
        return HTTP_LENGTH;
    for (size_t i = 0; i < text.len; i++) {
        if (!wt__is_digit(text.ptr[i]))
            return HTTP_LENGTH;
        framing->length = framing->length * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return HTTP_FINE;
}

static enum http_refusal read_body(struct http_framing *framing, const struct http_request *request)
{
    const struct http_field *length = wt__http_find_field(request, "Content-Length");
    const struct http_field *coding = wt__http_find_field(request, "Transfer-Encoding");
    if (length && coding)
        return HTTP_LENGTH_AND_CODING;
    if (coding) {
        framing->chunked = true;
        return framing->http_1_0                              ? HTTP_CODING_1_0
               : wt__str_equal(coding->value, STR("chunked")) ? HTTP_FINE
                                                              : HTTP_CODING;
    }
    return length ? read_length(framing, length->value) : HTTP_FINE;
}

/* Reads one Connection field, a comma-separated list of words. */
static enum http_refusal read_connection(struct http_request *request, struct str list)
{
    static const char *const close_word[] = {"close"};
    for (bool more = true; more;) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.ptr) : list.len;
        struct str word = wt__str_trim((struct str){list.ptr, len});
        if (!wt__http_is_token(word))
            return HTTP_CONNECTION;
        if (wt__str_among(word, close_word, 1))
            request->keep_alive = false;
        more = comma != NULL;
        len += more ? 1 : 0;
        list = (struct str){list.ptr + len, list.len - len};
    }
    return HTTP_FINE;
}

static enum http_refusal read_connections(const struct http_framing *framing, struct http_request *request)
{
    static const char *const name[] = {"Connection"};
    request->keep_alive = !framing->http_1_0;
    for (size_t i = 0; i < request->field_count; i++) {
        if (!wt__str_among(request->fields[i].name, name, 1))
            continue;
        enum http_refusal refusal = read_connection(request, request->fields[i].value);
        if (refusal)
            return refusal;
    }
    return HTTP_FINE;
}

enum http_refusal wt__http_read_framing(struct http_framing *framing, struct http_request *request)
{
    static const char *const continue_word[] = {"100-continue"};
    enum http_refusal refusal = read_connections(framing, request);
    if (!refusal)
        refusal = read_body(framing, request);
    if (refusal)
        return refusal;
    const struct http_field *expect = wt__http_find_field(request, "Expect");
    if (!expect || framing->http_1_0) /* RFC 9110, section 10.1.1: ignored from HTTP/1.0 clients */
        return HTTP_FINE;
    if (!wt__str_among(expect->value, continue_word, 1))
        return HTTP_EXPECTATION;
    framing->expects_continue = framing->chunked || framing->length > 0;
    return HTTP_FINE;
}
