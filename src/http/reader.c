/* reader.c: strict incremental parser of HTTP/1.1 requests (RFC 9112).
 *
 * The head is collected up to its empty line, and each byte is checked once: lines must end in CR LF, other control
 * characters are invalid, and all lengths are limited. Then the complete head is parsed (head.c), and the body is
 * counted (here) or decoded (chunks.c). Any ambiguity ends the connection: a proxy may have parsed the same bytes
 * differently, and what it takes for a body could be a request here. */
#include "http/reader.h"

#include "base/memory.h"
#include "http/characters.h"
#include "http/head.h"

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
    reader->message = message;
    return wt__grow((void **)&message->head.ptr, &message->head.capacity, HEAD_BYTES, 1) == 0;
}

/* Checks one byte of the head. Sets *whole after the last byte. */
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
    enum http_refusal refusal = wt__http_read_head(&message->request, &reader->framing, head);
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
        enum http_refusal refusal = wt__http_read_chunks(&reader->chunks, input, body, reader->body_max);
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
