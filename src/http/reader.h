/* reader.h: bytes in, requests out. What comes out does not depend on how the bytes were cut into pieces. */
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

/* NULL is a no-op. */
void wt__http_message_free(struct http_message *message);

enum http_part { HTTP_PART_HEAD, HTTP_PART_ACCEPT, HTTP_PART_BODY, HTTP_PART_DONE, HTTP_PART_REFUSED };

/* All zero is ready for a request; between requests it holds no memory. */
struct http_reader {
    enum http_part part;
    enum http_refusal refusal;    /* of HTTP_PART_REFUSED */
    struct http_message *message; /* NULL until its first byte has come */
    struct http_framing framing;  /* once the head is whole */
    struct http_chunks chunks;
    size_t body_max;
    uint32_t lines, line_bytes; /* of the head that have come; of its last line */
    bool after_return;          /* the last byte was a CR */
};

/* Takes from *input what belongs to the request, and stops where somebody must look:
 *   HTTP_PART_HEAD, HTTP_PART_BODY   all of it was taken, and more must come;
 *   HTTP_PART_ACCEPT                 the head is whole: message->request is complete but for its body;
 *   HTTP_PART_DONE                   the request is whole;
 *   HTTP_PART_REFUSED                nothing more may be read from the connection. */
enum http_part wt__http_reader_feed(struct http_reader *reader, struct str *input);
/* After HTTP_PART_ACCEPT: goes on, for a body of at most so many bytes. */
enum http_part wt__http_reader_accept(struct http_reader *reader, size_t body_max);
/* After HTTP_PART_DONE: the request becomes the caller's, and the reader ready for the next one. */
struct http_message *wt__http_reader_take(struct http_reader *reader);
/* Ready for a request again; what was begun is dropped. */
void wt__http_reader_dispose(struct http_reader *reader);

#endif
