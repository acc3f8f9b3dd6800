/* reader.h: parses requests from bytes. The result does not depend on how the bytes are split. */
#ifndef WT_HTTP_READER_H
#define WT_HTTP_READER_H

#include "base/buffer.h"
#include "http/chunks.h"
#include "http/framing.h"

/* A request and the bytes that it views. */
struct http_message {
    struct http_request request;
    struct buffer head, body;
};

/* Ignores NULL. */
void wt__http_message_free(struct http_message *message);

enum http_part { HTTP_PART_HEAD, HTTP_PART_ACCEPT, HTTP_PART_BODY, HTTP_PART_DONE, HTTP_PART_REFUSED };

/* A zeroed struct is ready for a request. Between requests it holds no memory. */
struct http_reader {
    enum http_part part;
    enum http_refusal refusal;    /* for HTTP_PART_REFUSED */
    struct http_message *message; /* NULL before the first byte */
    struct http_framing framing;  /* valid once the head is complete */
    struct http_chunks chunks;
    size_t body_max;
    uint32_t lines, line_bytes; /* received lines of the head; bytes of the last one */
    bool after_return;          /* the last byte was a CR */
};

/* Consumes the request's part of *input and stops when the caller must act:
 *   HTTP_PART_HEAD, HTTP_PART_BODY all input was consumed, and more is needed;
 *   HTTP_PART_ACCEPT the head is complete: message->request is valid except for its body;
 *   HTTP_PART_DONE the request is complete;
 *   HTTP_PART_REFUSED the connection must not be read further. */
enum http_part wt__http_reader_feed(struct http_reader *reader, struct str *input);
/* Continues after HTTP_PART_ACCEPT, with a body of at most body_max bytes. */
enum http_part wt__http_reader_accept(struct http_reader *reader, size_t body_max);
/* Returns the request after HTTP_PART_DONE. The caller owns it, and the reader is ready for the next request. */
struct http_message *wt__http_reader_take(struct http_reader *reader);
/* Resets the reader and drops an unfinished request. */
void wt__http_reader_dispose(struct http_reader *reader);

#endif
