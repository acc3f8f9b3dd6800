/* reader.c: strict incremental parser of HTTP/1.1 requests (RFC 9112).
 *
 * The head is collected up to its empty line, and each byte is checked once. Lines must end in CR LF, control
 * characters other than tabs are invalid, and all lengths are limited. Then the complete head is parsed. The body is
 * counted, or decoded if it is chunked.
 *
 * Any ambiguity ends the connection, because a proxy may have parsed the same bytes differently. Otherwise the server
 * could mistake a part of a forwarded body for another request. */
#include "http/reader.h"

#include <stddef.h>
#include <strings.h>

#include "base/memory.h"

#define STATUS_AND_MESSAGE(name, status, message) [name] = {status, message},

static const struct {
    int status;
    const char *message;
} refusals[HTTP_REFUSALS] = {HTTP_REFUSAL_ROWS(STATUS_AND_MESSAGE)};

int wt__http_refusal_status(enum http_refusal refusal)
{
    return refusals[refusal].status;
}

const char *wt__http_refusal_message(enum http_refusal refusal)
{
    return refusals[refusal].message;
}

const struct http_field *wt__http_find_field(const struct http_request *request, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < request->field_count; i++) {
        const struct http_field *field = &request->fields[i];
        if (field->name.len == len && strncasecmp(field->name.ptr, name, len) == 0)
            return field;
    }
    return NULL;
}

struct str wt__http_field(const struct http_request *request, const char *name)
{
    const struct http_field *field = wt__http_find_field(request, name);
    return field ? field->value : STR("");
}

/* ---------------------------------------------------------------- chunks */

/* Extensions and trailers are rejected. Common clients do not send them, implementations disagree about their line
 * ends, and a trailer merged into the head would be an unchecked field. */

enum { DIGITS_MAX = 8 };

static enum http_refusal read_size(struct http_chunks *chunks, char c)
{
    int digit = wt__hex_digit(c);
    if (digit >= 0 && chunks->digits < DIGITS_MAX) {
        chunks->left = chunks->left << 4 | (uint32_t)digit;
        chunks->digits++;
        return HTTP_FINE;
    }
    if (chunks->digits > 0 && (c == ';' || c == ' ' || c == '\t'))
        return HTTP_CHUNK_EXTENSION;
    if (chunks->digits == 0 || c != '\r')
        return HTTP_CHUNK_SIZE;
    chunks->part = HTTP_CHUNK_DIGITS_END;
    return HTTP_FINE;
}

/* Reads one character between chunks. */
static enum http_refusal read_chunk_mark(struct http_chunks *chunks, char c)
{
    switch (chunks->part) {
    case HTTP_CHUNK_DIGITS:
        return read_size(chunks, c);
    case HTTP_CHUNK_DIGITS_END:
        chunks->part = chunks->left > 0 ? HTTP_CHUNK_BYTES : HTTP_CHUNK_LAST_RETURN;
        return c == '\n' ? HTTP_FINE : HTTP_CHUNK_SIZE;
    case HTTP_CHUNK_RETURN:
        chunks->part = HTTP_CHUNK_LINE_FEED;
        return c == '\r' ? HTTP_FINE : HTTP_CHUNK_END;
    case HTTP_CHUNK_LINE_FEED:
        *chunks = (struct http_chunks){.part = HTTP_CHUNK_DIGITS};
        return c == '\n' ? HTTP_FINE : HTTP_CHUNK_END;
    case HTTP_CHUNK_LAST_RETURN:
        chunks->part = HTTP_CHUNK_LAST_LINE_FEED;
        return c == '\r' ? HTTP_FINE : HTTP_TRAILER;
    default:
        chunks->part = HTTP_CHUNK_DONE;
        return c == '\n' ? HTTP_FINE : HTTP_TRAILER;
    }
}

static enum http_refusal read_bytes(struct http_chunks *chunks, struct str *input, struct buffer *body, size_t body_max)
{
    if (chunks->left > body_max - body->len)
        return HTTP_BODY_TOO_LARGE;
    size_t len = input->len < chunks->left ? input->len : chunks->left;
    wt__buffer_append(body, input->ptr, len);
    *input = (struct str){input->ptr + len, input->len - len};
    chunks->left -= (uint32_t)len;
    if (chunks->left == 0)
        chunks->part = HTTP_CHUNK_RETURN;
    return body->failed ? HTTP_NO_MEMORY : HTTP_FINE;
}

/* Consumes the body's part of *input and appends its bytes to `body`, at most body_max in total. The body is complete
 * when part is HTTP_CHUNK_DONE. */
static enum http_refusal decode_chunks(struct http_chunks *chunks, struct str *input, struct buffer *body,
                                       size_t body_max)
{
    while (input->len > 0 && chunks->part != HTTP_CHUNK_DONE) {
        if (chunks->part == HTTP_CHUNK_BYTES) {
            WT_TRY(read_bytes(chunks, input, body, body_max));
        } else {
            WT_TRY(read_chunk_mark(chunks, input->ptr[0]));
            *input = (struct str){input->ptr + 1, input->len - 1};
        }
    }
    return HTTP_FINE;
}

/* ---------------------------------------------------------------- target */

/* Three of the four forms of targets are accepted: a path, http://HOST/PATH, and `*` for OPTIONS. RFC 9112, section
 * 3.2.2, requires servers to accept the second form. CONNECT, with the fourth form, is only for proxies.
 *
 * Percent-encoding is checked but not decoded, so paths are compared as sent. Later decoding cannot produce a NUL. */

enum { PORT_MAX = 65535 };

static bool is_port(struct str port)
{
    unsigned value = 0;
    for (size_t i = 0; i < port.len; i++) {
        if (!wt__is_digit(port.ptr[i]))
            return false;
        value = value * 10 + (unsigned)(port.ptr[i] - '0');
        if (value > PORT_MAX)
            return false;
    }
    return port.len > 0;
}

/* True for the text in brackets of an IPv6 host. Checks only its characters, because the address is not used. */
static bool is_ip_address(struct str address)
{
    for (size_t i = 0; i < address.len; i++)
        if (wt__hex_digit(address.ptr[i]) < 0 && address.ptr[i] != ':' && address.ptr[i] != '.')
            return false;
    return address.len > 0;
}

static bool is_host_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!wt__is_letter(c) && !wt__is_digit(c) && c != '-' && c != '.' && c != '_')
            return false;
    }
    return name.len > 0;
}

/* True for HOST[:PORT] with a name, an IPv4 address, or an IPv6 address in brackets (RFC 9110, section 7.2). */
static bool has_host_form(struct str host)
{
    struct str name = host;
    if (host.len > 0 && host.ptr[0] == '[') {
        const char *end = memchr(host.ptr, ']', host.len);
        if (!end || !is_ip_address((struct str){host.ptr + 1, (size_t)(end - host.ptr) - 1}))
            return false;
        name.len = (size_t)(end - host.ptr) + 1;
    } else {
        const char *colon = memchr(host.ptr, ':', host.len);
        name.len = colon ? (size_t)(colon - host.ptr) : host.len;
        if (!is_host_name(name))
            return false;
    }
    if (name.len == host.len)
        return true;
    return host.ptr[name.len] == ':' && is_port((struct str){host.ptr + name.len + 1, host.len - name.len - 1});
}

static enum http_refusal check_target(struct str target)
{
    for (size_t i = 0; i < target.len; i++) {
        if (target.ptr[i] == '%') {
            int high = i + 1 < target.len ? wt__hex_digit(target.ptr[i + 1]) : -1;
            int low = i + 2 < target.len ? wt__hex_digit(target.ptr[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return HTTP_TARGET_PERCENT;
            i += 2;
        } else if (!wt__http_is_target_char(target.ptr[i])) {
            return HTTP_TARGET_BYTE;
        }
    }
    return HTTP_FINE;
}

/* Removes http://HOST from the target and sets *authority to HOST. */
static enum http_refusal take_authority(struct str *target, struct str *authority)
{
    static const struct str scheme = {"http://", 7};
    if (target->len < scheme.len || strncasecmp(target->ptr, scheme.ptr, scheme.len) != 0)
        return HTTP_TARGET_FORM;
    target->ptr += scheme.len;
    target->len -= scheme.len;
    size_t len = 0;
    while (len < target->len && target->ptr[len] != '/' && target->ptr[len] != '?')
        len++;
    *authority = (struct str){target->ptr, len};
    target->ptr += len;
    target->len -= len;
    return has_host_form(*authority) ? HTTP_FINE : HTTP_TARGET_FORM;
}

/* Sets the path and query of a request. The method must already be set. Sets *authority to the host in the target, or
 * to "" if the target is a path. */
static enum http_refusal parse_target(struct http_request *request, struct str target, struct str *authority)
{
    *authority = STR("");
    request->query = STR("");
    if (wt__str_equal(request->method, STR("CONNECT")))
        return HTTP_METHOD;
    if (wt__str_equal(target, STR("*")) && wt__str_equal(request->method, STR("OPTIONS"))) {
        request->path = target;
        return HTTP_FINE;
    }
    if (target.len == 0 || target.ptr[0] != '/')
        WT_TRY(take_authority(&target, authority));
    WT_TRY(check_target(target));
    const char *mark = memchr(target.ptr, '?', target.len);
    request->path = (struct str){target.ptr, mark ? (size_t)(mark - target.ptr) : target.len};
    if (mark)
        request->query = (struct str){mark + 1, target.len - request->path.len - 1};
    if (request->path.len == 0)
        request->path = STR("/");
    return HTTP_FINE;
}

/* ---------------------------------------------------------------- framing */

/* The rules of RFC 9112, section 6, without their tolerance. If two programs find different ends of a body, a request
 * can be smuggled inside the body. So a length must be a plain number, and the only coding is `chunked`. A request with
 * both is rejected. check_single_valued rejects duplicates of these fields.
 *
 * Connections persist only in HTTP/1.1. HTTP/1.0 got persistence later, and proxies implemented it wrongly. */

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
        WT_TRY(read_connection(request, request->fields[i].value));
    }
    return HTTP_FINE;
}

/* Reads the framing from the fields and sets request->keep_alive. framing->http_1_0 must be set. */
static enum http_refusal parse_framing(struct http_framing *framing, struct http_request *request)
{
    static const char *const continue_word[] = {"100-continue"};
    WT_TRY(read_connections(framing, request));
    WT_TRY(read_body(framing, request));
    const struct http_field *expect = wt__http_find_field(request, "Expect");
    if (!expect || framing->http_1_0) /* RFC 9110, section 10.1.1: ignored from HTTP/1.0 clients */
        return HTTP_FINE;
    if (!wt__str_among(expect->value, continue_word, 1))
        return HTTP_EXPECTATION;
    framing->expects_continue = framing->chunked || framing->length > 0;
    return HTTP_FINE;
}

/* ---------------------------------------------------------------- head */

/* Single-valued fields. With duplicates, two programs may use different values. MCP's fields are single-valued, too. */
static const char *const single_valued[] = {
    "User-Agent",    "Date",          "Traceparent",         "Host",           "Content-Encoding",
    "X-API-Key",     "Max-Forwards",  "Transfer-Encoding",   "Content-Length", "If-Modified-Since",
    "Range",         "Last-Event-ID", "Idempotency-Key",     "Cookie",         "Content-Range",
    "Authorization", "If-Range",      "Proxy-Authorization", "From",           "If-Unmodified-Since",
    "Referer",       "Upgrade",       "Content-Type",        "Expect",         "Origin"};

static struct str take_head_line(struct str *head)
{
    const char *end = memchr(head->ptr, '\r', head->len);
    struct str line = {head->ptr, (size_t)(end - head->ptr)};
    head->ptr += line.len + 2;
    head->len -= line.len + 2;
    return line;
}

/* Removes the word before the next space from *line, with the space, and returns it. Without a space, takes the whole
 * line. */
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
    WT_TRY(read_http_version(framing, line));
    if (target.len == 0)
        return HTTP_REQUEST_LINE;
    if (!wt__http_is_token(request->method))
        return HTTP_METHOD;
    return parse_target(request, target, authority);
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
    return (name.len >= 4 && strncasecmp(name.ptr, "Mcp-", 4) == 0) ||
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
    if (!has_host_form(host->value))
        return HTTP_HOST;
    bool agree = authority.len == 0 ||
                 (authority.len == host->value.len && strncasecmp(authority.ptr, host->value.ptr, authority.len) == 0);
    return agree ? HTTP_FINE : HTTP_TARGET_HOST;
}

/* Parses a complete head (RFC 9112, sections 3 and 5) into *request and *framing. *request gets views of head. Rejects
 * deviations that the RFC permits servers to accept: several blanks, folded lines, a blank before the colon, and
 * duplicates of single-valued fields. head: lines that end in CR LF, without the empty last line. check_head_byte has
 * already rejected control characters except tabs. */
static enum http_refusal parse_head(struct http_request *request, struct http_framing *framing, struct str head)
{
    struct str authority;
    request->field_count = 0;
    request->body = STR("");
    *framing = (struct http_framing){0};
    WT_TRY(read_request_line(request, framing, take_head_line(&head), &authority));
    while (head.len > 0)
        WT_TRY(read_header_field(request, take_head_line(&head)));
    WT_TRY(check_single_valued(request));
    WT_TRY(check_host(request, framing, authority));
    return parse_framing(framing, request);
}

/* ---------------------------------------------------------------- reader */

enum { HEAD_BYTES = 512 }; /* initial capacity; enough for typical clients */

void wt__http_message_free(struct http_message *message)
{
    if (!message)
        return;
    wt__buffer_dispose(&message->head);
    wt__buffer_dispose(&message->body);
    free(message);
}

static enum http_part refuse_input(struct http_reader *reader, enum http_refusal refusal)
{
    reader->refusal = refusal;
    return reader->part = HTTP_PART_REFUSED;
}

static bool begin_message(struct http_reader *reader)
{
    struct http_message *message = malloc(sizeof *message);
    if (!message)
        return false;
    message->head = message->body = (struct buffer){0};
    memset(&message->note, 0, sizeof message->note);
    reader->message = message;
    return wt__grow((void **)&message->head.ptr, &message->head.capacity, HEAD_BYTES, 1) == 0;
}

/* Checks one byte of the head. Sets *whole to true after the head's last byte. */
static enum http_refusal check_head_byte(struct http_reader *reader, char c, bool *whole)
{
    if (reader->after_return) {
        if (c != '\n')
            return HTTP_CARRIAGE_RETURN;
        *whole = reader->line_bytes == 0;
        reader->after_return = false;
        reader->line_bytes = 0;
        return reader->lines++ == 0 && *whole ? HTTP_EMPTY_LINE : HTTP_FINE;
    }
    if (c == '\r') {
        reader->after_return = true;
        return HTTP_FINE;
    }
    if (wt__http_is_control(c) && c != '\t')
        return c == '\n' ? HTTP_LINE_FEED : HTTP_CONTROL;
    reader->line_bytes++;
    return reader->lines == 0 && reader->line_bytes > HTTP_TARGET_BYTES_MAX ? HTTP_TARGET_TOO_LONG : HTTP_FINE;
}

static enum http_part read_whole_head(struct http_reader *reader)
{
    struct http_message *message = reader->message;
    struct str head = {message->head.ptr, message->head.len - 2};
    enum http_refusal refusal = parse_head(&message->request, &reader->framing, head);
    return refusal ? refuse_input(reader, refusal) : (reader->part = HTTP_PART_ACCEPT);
}

static enum http_part feed_head(struct http_reader *reader, struct str *input)
{
    if (input->len == 0)
        return HTTP_PART_HEAD;
    if (!reader->message && !begin_message(reader))
        return refuse_input(reader, HTTP_NO_MEMORY);
    struct buffer *head = &reader->message->head;
    bool whole = false;
    size_t len = 0;
    while (len < input->len && !whole) {
        enum http_refusal refusal = check_head_byte(reader, input->ptr[len], &whole);
        len++;
        if (!refusal && head->len + len > HTTP_HEAD_BYTES_MAX)
            refusal = HTTP_HEAD_TOO_LARGE;
        if (refusal)
            return refuse_input(reader, refusal);
    }
    wt__buffer_append(head, input->ptr, len);
    *input = (struct str){input->ptr + len, input->len - len};
    if (head->failed)
        return refuse_input(reader, HTTP_NO_MEMORY);
    return whole ? read_whole_head(reader) : HTTP_PART_HEAD;
}

static enum http_part finish_request(struct http_reader *reader)
{
    struct http_message *message = reader->message;
    message->request.body = wt__buffer_view(&message->body);
    return reader->part = HTTP_PART_DONE;
}

static enum http_part feed_body(struct http_reader *reader, struct str *input)
{
    struct buffer *body = &reader->message->body;
    if (reader->framing.chunked) {
        enum http_refusal refusal = decode_chunks(&reader->chunks, input, body, reader->body_max);
        if (refusal)
            return refuse_input(reader, refusal);
        return reader->chunks.part == HTTP_CHUNK_DONE ? finish_request(reader) : HTTP_PART_BODY;
    }
    size_t left = (size_t)reader->framing.length - body->len;
    size_t len = input->len < left ? input->len : left;
    wt__buffer_append(body, input->ptr, len);
    *input = (struct str){input->ptr + len, input->len - len};
    if (body->failed)
        return refuse_input(reader, HTTP_NO_MEMORY);
    return len == left ? finish_request(reader) : HTTP_PART_BODY;
}

enum http_part wt__http_reader_feed(struct http_reader *reader, struct str *input)
{
    switch (reader->part) {
    case HTTP_PART_HEAD:
        return feed_head(reader, input);
    case HTTP_PART_BODY:
        return feed_body(reader, input);
    default:
        return reader->part;
    }
}

enum http_part wt__http_reader_accept(struct http_reader *reader, size_t body_max)
{
    const struct http_framing *framing = &reader->framing;
    if (framing->length > body_max)
        return refuse_input(reader, HTTP_BODY_TOO_LARGE);
    reader->body_max = body_max;
    reader->part = HTTP_PART_BODY;
    return framing->chunked || framing->length > 0 ? HTTP_PART_BODY : finish_request(reader);
}

struct http_message *wt__http_reader_take(struct http_reader *reader)
{
    struct http_message *message = reader->message;
    *reader = (struct http_reader){0};
    return message;
}

void wt__http_reader_dispose(struct http_reader *reader)
{
    wt__http_message_free(wt__http_reader_take(reader));
}
