/* chunks.c: see chunks.h. Extensions and trailers are rejected. Common clients do not send them, implementations
 * disagree about their line ends, and a trailer merged into the head would be an unchecked field. */
#include "http/chunks.h"

#include "http/characters.h"

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

enum http_refusal wt__http_read_chunks(struct http_chunks *chunks, struct str *input, struct buffer *body,
                                       size_t body_max)
{
    enum http_refusal refusal = HTTP_FINE;
    while (!refusal && input->len > 0 && chunks->part != HTTP_CHUNK_DONE) {
        if (chunks->part == HTTP_CHUNK_BYTES) {
            refusal = read_bytes(chunks, input, body, body_max);
        } else {
            refusal = read_chunk_mark(chunks, input->ptr[0]);
            *input = (struct str){input->ptr + 1, input->len - 1};
        }
    }
    return refusal;
}
