/* head.c: parses a complete head of a request (RFC 9112, sections 3 and 5). Deviations that the RFC permits servers to
 * accept are rejected: several blanks, folded lines, a blank before the colon, duplicates of single-valued fields. */
#include "http/head.h"

#include <strings.h>

#include "http/characters.h"
#include "http/target.h"

/* Single-valued fields. With duplicates, two programs may use different values. MCP's fields are single-valued, too. */
static const char *const single_valued[] = {
    "Host",
    "Content-Length",
    "Transfer-Encoding",
    "Content-Type",
    "Content-Encoding",
    "Content-Range",
    "Authorization",
    "Proxy-Authorization",
    "Origin",
    "Referer",
    "User-Agent",
    "Date",
    "Expect",
    "From",
    "Cookie",
    "Last-Event-ID",
    "If-Range",
    "If-Modified-Since",
    "Max-Forwards",
    "X-API-Key",
    "Range",
    "Upgrade",
    "If-Unmodified-Since",
    "Traceparent",
    "Idempotency-Key",
};
static const struct str mcp = {"Mcp-", 4};

static struct str take_head_line(struct str *head)
{
    const char *end = memchr(head->ptr, '\r', head->len);
    struct str line = {head->ptr, (size_t)(end - head->ptr)};
    head->ptr += line.len + 2;
    head->len -= line.len + 2;
    return line;
}

/* Returns the word before the next space, or the whole rest, and removes it from *line. */
static struct str take_target_word(struct str *line)
{
    const char *space = memchr(line->ptr, ' ', line->len);
    struct str word = {line->ptr, space ? (size_t)(space - line->ptr) : line->len};
    size_t taken = word.len + (space ? 1 : 0);
    *line = (struct str){line->ptr + taken, line->len - taken};
    return word;
}

static enum http_refusal read_http_version(struct http_framing *framing, struct str version)
{
    framing->http_1_0 = wt__str_equal(version, STR("HTTP/1.0"));
    if (framing->http_1_0 || wt__str_equal(version, STR("HTTP/1.1")))
        return HTTP_FINE;
    bool is_version = version.len == 8 && wt__str_starts(version, STR("HTTP/")) && version.ptr[6] == '.' &&
                      wt__is_digit(version.ptr[5]) && wt__is_digit(version.ptr[7]);
    return is_version ? HTTP_VERSION : HTTP_REQUEST_LINE;
}

static enum http_refusal read_request_line(struct http_request *request, struct http_framing *framing, struct str line,
                                           struct str *authority)
{
    request->method = take_target_word(&line);
    struct str target = take_target_word(&line);
    enum http_refusal refusal = read_http_version(framing, line);
    if (refusal)
        return refusal;
    if (target.len == 0)
        return HTTP_REQUEST_LINE;
    if (!wt__http_is_token(request->method))
        return HTTP_METHOD;
    return wt__http_read_target(request, target, authority);
}

static enum http_refusal read_header_field(struct http_request *request, struct str line)
{
    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return HTTP_FOLDED;
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon)
        return HTTP_FIELD_COLON;
    struct str name = {line.ptr, (size_t)(colon - line.ptr)};
    if (name.len > 0 && (name.ptr[name.len - 1] == ' ' || name.ptr[name.len - 1] == '\t'))
        return HTTP_FIELD_BLANK;
    if (!wt__http_is_token(name))
        return HTTP_FIELD_NAME;
    if (request->field_count == HTTP_FIELDS_MAX)
        return HTTP_TOO_MANY_FIELDS;
    struct str value = wt__str_trim((struct str){colon + 1, line.len - name.len - 1});
    request->fields[request->field_count++] = (struct http_field){name, value};
    return HTTP_FINE;
}

static bool is_single_valued(struct str name)
{
    return (name.len >= mcp.len && strncasecmp(name.ptr, mcp.ptr, mcp.len) == 0) ||
           wt__str_among(name, single_valued, sizeof single_valued / sizeof *single_valued);
}

static enum http_refusal check_single_valued(const struct http_request *request)
{
    for (size_t i = 1; i < request->field_count; i++) {
        struct str name = request->fields[i].name;
        if (!is_single_valued(name))
            continue;
        for (size_t before = 0; before < i; before++) {
            struct str other = request->fields[before].name;
            if (other.len == name.len && strncasecmp(other.ptr, name.ptr, name.len) == 0)
                return HTTP_FIELD_TWICE;
        }
    }
    return HTTP_FINE;
}

/* Checks Host. HTTP/1.0 may omit it, but an invalid Host is still an error. */
static enum http_refusal check_host(const struct http_request *request, const struct http_framing *framing,
                                    struct str authority)
{
    const struct http_field *host = wt__http_find_field(request, "Host");
    if (!host)
        return framing->http_1_0 ? HTTP_FINE : HTTP_HOST_MISSING;
    if (!wt__http_is_host(host->value))
        return HTTP_HOST;
    bool agree = authority.len == 0 ||
                 (authority.len == host->value.len && strncasecmp(authority.ptr, host->value.ptr, authority.len) == 0);
    return agree ? HTTP_FINE : HTTP_TARGET_HOST;
}

enum http_refusal wt__http_read_head(struct http_request *request, struct http_framing *framing, struct str head)
{
    struct str authority;
    request->field_count = 0;
    request->body = STR("");
    *framing = (struct http_framing){0};
    enum http_refusal refusal = read_request_line(request, framing, take_head_line(&head), &authority);
    while (!refusal && head.len > 0)
        refusal = read_header_field(request, take_head_line(&head));
    if (!refusal)
        refusal = check_single_valued(request);
    if (!refusal)
        refusal = check_host(request, framing, authority);
    return refusal ? refusal : wt__http_read_framing(framing, request);
}
