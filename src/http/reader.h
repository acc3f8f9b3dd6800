/* reader.h: an incremental parser of requests. The result does not depend on how the input is split. */
#ifndef WT_HTTP_READER_H
#define WT_HTTP_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "http/exchange.h"

/* The reasons for rejecting a request. A row has the name, the status of the answer (RFC 9110, section 15), and a
 * sentence for the client. The status is 400 if the RFC has no more specific one. */
#define HTTP_REFUSAL_ROWS(ROW)                                                                                         \
    ROW(HTTP_LINE_FEED, 400, "A line ends in a line feed without a carriage return.")                                  \
    ROW(HTTP_CARRIAGE_RETURN, 400, "A carriage return is not followed by a line feed.")                                \
    ROW(HTTP_CONTROL, 400, "The head contains a control character.")                                                   \
    ROW(HTTP_EMPTY_LINE, 400, "The request begins with an empty line.")                                                \
    ROW(HTTP_REQUEST_LINE, 400, "The first line must be a method, a target and HTTP/1.1, separated by single spaces.") \
    ROW(HTTP_METHOD, 400, "The method is not supported.")                                                              \
    ROW(HTTP_TARGET_BYTE, 400, "The target contains a character that must be percent-encoded.")                        \
    ROW(HTTP_TARGET_PERCENT, 400, "A % in the target is not followed by two hexadecimal digits, or encodes a NUL.")    \
    ROW(HTTP_TARGET_FORM, 400, "The target is neither a path nor http://HOST/PATH.")                                   \
    ROW(HTTP_TARGET_HOST, 400, "The target and the Host field name different hosts.")                                  \
    ROW(HTTP_FOLDED, 400, "A field continues on the next line.")                                                       \
    ROW(HTTP_FIELD_COLON, 400, "A line of the head has no colon.")                                                     \
    ROW(HTTP_FIELD_NAME, 400, "The name of a field is empty or contains an invalid character.")                        \
    ROW(HTTP_FIELD_BLANK, 400, "There is a blank before the colon of a field.")                                        \
    ROW(HTTP_FIELD_TWICE, 400, "A field that must be unique occurs twice.")                                            \
    ROW(HTTP_HOST_MISSING, 400, "The Host field is missing.")                                                          \
    ROW(HTTP_HOST, 400, "The Host field is not a host with an optional port.")                                         \
    ROW(HTTP_CONNECTION, 400, "The Connection field is not a list of words.")                                          \
    ROW(HTTP_LENGTH, 400, "The Content-Length field is not a plain number.")                                           \
    ROW(HTTP_LENGTH_AND_CODING, 400, "Content-Length and Transfer-Encoding exclude each other.")                       \
    ROW(HTTP_CODING, 400, "The Transfer-Encoding field is not `chunked`.")                                             \
    ROW(HTTP_CODING_1_0, 400, "HTTP/1.0 has no Transfer-Encoding.")                                                    \
    ROW(HTTP_CHUNK_SIZE, 400, "The size of a chunk is not a plain hexadecimal number of at most 8 digits.")            \
    ROW(HTTP_CHUNK_EXTENSION, 400, "Chunk extensions are not supported.")                                              \
    ROW(HTTP_CHUNK_END, 400, "A chunk is longer than its size says.")                                                  \
    ROW(HTTP_TRAILER, 400, "Trailer fields are not supported.")                                                        \
    ROW(HTTP_BODY_TOO_LARGE, 413, "The body is too large.")                                                            \
    ROW(HTTP_TARGET_TOO_LONG, 414, "The first line is too long.")                                                      \
    ROW(HTTP_EXPECTATION, 417, "Only the expectation 100-continue is supported.")                                      \
    ROW(HTTP_HEAD_TOO_LARGE, 431, "The head is too large.")                                                            \
    ROW(HTTP_TOO_MANY_FIELDS, 431, "The head has too many fields.")                                                    \
    ROW(HTTP_NO_MEMORY, 503, "Out of memory; try again later.")                                                        \
    ROW(HTTP_VERSION, 505, "Only HTTP/1.1 and HTTP/1.0 are supported.")

#define HTTP_REFUSAL_NAME(name, status, message) name,
enum http_refusal { HTTP_FINE, HTTP_REFUSAL_ROWS(HTTP_REFUSAL_NAME) HTTP_REFUSALS }; /* HTTP_FINE: no error */

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
    HTTP_CHUNK_RETURN, /* CR and LF after the bytes */
    HTTP_CHUNK_LINE_FEED,
    HTTP_CHUNK_LAST_RETURN, /* CR and LF of the empty line after the last chunk, which has size 0 */
    HTTP_CHUNK_LAST_LINE_FEED,
    HTTP_CHUNK_DONE
};

/* State of the decoder of a chunked body. A zeroed struct is the start of a body. */
struct http_chunks {
    enum http_chunk_part part; /* next part */
    unsigned digits;           /* number of digits of the size read so far */
    uint32_t left;             /* remaining bytes of this chunk */
};

/* A request, the bytes that it views, and the handler's note (exchange.h). */
struct http_message {
    struct http_request request;
    struct buffer head, body;
    union {
        max_align_t align;
        char bytes[HTTP_NOTE_BYTES];
    } note;
};

/* Frees a message. Ignores NULL. */
void wt__http_message_free(struct http_message *message);

/* State of the reader. */
enum http_part { HTTP_PART_HEAD, HTTP_PART_ACCEPT, HTTP_PART_BODY, HTTP_PART_DONE, HTTP_PART_REFUSED };

/* A zeroed struct is ready for a request. Between requests it holds no memory. */
struct http_reader {
    enum http_part part;
    enum http_refusal refusal;    /* for HTTP_PART_REFUSED */
    struct http_message *message; /* NULL before the first byte */
    struct http_framing framing;  /* valid once the head is complete */
    struct http_chunks chunks;
    size_t body_max;            /* maximum bytes of the body */
    uint32_t lines, line_bytes; /* complete lines of the head so far; bytes of the current line */
    bool after_return;          /* the last byte was a CR */
};

/* Consumes input up to the end of the head or of the request, and moves *input to the rest. Returns the new state:
 *   HTTP_PART_HEAD, HTTP_PART_BODY  all input was consumed; more is needed
 *   HTTP_PART_ACCEPT                the head is complete; message->request is valid except for its body
 *   HTTP_PART_DONE                  the request is complete
 *   HTTP_PART_REFUSED               the request is rejected; later input must not be parsed */
enum http_part wt__http_reader_feed(struct http_reader *reader, struct str *input);
/* Continues after HTTP_PART_ACCEPT with a body of at most body_max bytes. Returns HTTP_PART_BODY, HTTP_PART_DONE (no
 * body) or HTTP_PART_REFUSED (body too large). */
enum http_part wt__http_reader_accept(struct http_reader *reader, size_t body_max);
/* Returns the request after HTTP_PART_DONE. The caller owns it, and the reader is ready for the next request. */
struct http_message *wt__http_reader_take(struct http_reader *reader);
/* Resets the reader and drops an unfinished request. */
void wt__http_reader_dispose(struct http_reader *reader);

#endif
