/* reader.h: parses requests from bytes. The result does not depend on how the bytes are split. */
#ifndef WT_HTTP_READER_H
#define WT_HTTP_READER_H

#include <stdint.h>

#include "base/buffer.h"
#include "http/exchange.h"

/* The complete list of reasons for rejecting a request. */
enum http_refusal {
    HTTP_FINE, /* no error */
    HTTP_LINE_FEED,
    HTTP_CARRIAGE_RETURN,
    HTTP_CONTROL,
    HTTP_EMPTY_LINE,
    HTTP_REQUEST_LINE,
    HTTP_METHOD,
    HTTP_TARGET_BYTE,
    HTTP_TARGET_PERCENT,
    HTTP_TARGET_FORM,
    HTTP_TARGET_HOST,
    HTTP_FOLDED,
    HTTP_FIELD_COLON,
    HTTP_FIELD_NAME,
    HTTP_FIELD_BLANK,
    HTTP_FIELD_TWICE,
    HTTP_HOST_MISSING,
    HTTP_HOST,
    HTTP_CONNECTION,
    HTTP_LENGTH,
    HTTP_LENGTH_AND_CODING,
    HTTP_CODING,
    HTTP_CODING_1_0,
    HTTP_CHUNK_SIZE,
    HTTP_CHUNK_EXTENSION,
    HTTP_CHUNK_END,
    HTTP_TRAILER,
    HTTP_BODY_TOO_LARGE,
    HTTP_TARGET_TOO_LONG,
    HTTP_EXPECTATION,
    HTTP_HEAD_TOO_LARGE,
    HTTP_TOO_MANY_FIELDS,
    HTTP_NO_MEMORY,
    HTTP_VERSION,
    HTTP_REFUSALS
};

/* Returns the status of the answer. */
int wt__http_refusal_status(enum http_refusal refusal);
/* Returns a sentence for the client about the error. */
const char *wt__http_refusal_message(enum http_refusal refusal);

/* How the end of a request's body is found. */
struct http_framing {
    bool http_1_0;
    bool chunked;
    bool expects_continue; /* the client waits for 100 Continue before it sends the body */
    uint64_t length;       /* length of an unchunked body; 0 without a body */
};

/* Parts of a chunked body (RFC 9112, section 7.1). */
enum http_chunk_part {
    HTTP_CHUNK_DIGITS,
    HTTP_CHUNK_DIGITS_END,
    HTTP_CHUNK_BYTES,
    HTTP_CHUNK_RETURN,
    HTTP_CHUNK_LINE_FEED,
    HTTP_CHUNK_LAST_RETURN,
    HTTP_CHUNK_LAST_LINE_FEED,
    HTTP_CHUNK_DONE
};

/* State of the decoder of a chunked body. A zeroed struct is the start of a body. */
struct http_chunks {
    enum http_chunk_part part; /* next part */
    unsigned digits;           /* digits of the size read so far */
    uint32_t left;             /* remaining bytes of this chunk */
};

/* A request and the bytes that it views. */
struct http_message {
    struct http_request request;
    struct buffer head, body;
};

/* Frees a message. Ignores NULL. */
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
