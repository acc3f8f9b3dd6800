/* exchange.h: a request, and the functions with which a handler answers it. */
#ifndef WT_HTTP_EXCHANGE_H
#define WT_HTTP_EXCHANGE_H

#include <stdbool.h>

#include "base/str.h"

/* The character sets are those of RFC 9110 (section 5.6) and RFC 3986 (section 2). No set contains bytes above 127. */

/* True for C0 controls, including tab, and DEL. */
static inline bool wt__http_is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* True for a tchar. */
static inline bool wt__http_is_token_char(char c)
{
    return wt__is_letter(c) || wt__is_digit(c) || (c && strchr("-_.!#$%&'*+^`|~", c));
}

static inline bool wt__http_is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!wt__http_is_token_char(s.ptr[i]))
            return false;
    return s.len > 0;
}

/* True for characters that may be unencoded in a path or query: '/', '?', and every pchar except '%'. */
static inline bool wt__http_is_target_char(char c)
{
    return wt__is_letter(c) || wt__is_digit(c) || (c && strchr("/-._~?&=!$'()*+,;:@", c));
}

enum {
    HTTP_TARGET_BYTES_MAX = 8 << 10, /* maximum bytes of the request line */
    HTTP_HEAD_BYTES_MAX = 16 << 10,  /* maximum bytes of the request line and all fields */
    HTTP_FIELDS_MAX = 64,            /* maximum fields of a request */
};

struct http_field {
    struct str name, value; /* value without surrounding blanks */
};

/* An HTTP/1.1 request (RFC 9112). The views are of bytes owned by the exchange. Ambiguous requests were rejected, so
 * that this server and a proxy never disagree about the end of a request. */
struct http_request {
    struct str method; /* token, case preserved */
    struct str path;   /* target before '?', percent-encoded as received */
    struct str query;  /* target after '?'; may be empty */
    struct http_field fields[HTTP_FIELDS_MAX];
    size_t field_count;
    struct str body; /* complete and decoded */
    bool keep_alive; /* the connection stays open for another request */
};

/* Returns the value of the first field with the name, ignoring case. Returns an empty string if the field is
 * missing. */
struct str wt__http_field(const struct http_request *request, const char *name);
/* Returns the field, or NULL if the request does not have it. A field with an empty value is found. */
const struct http_field *wt__http_find_field(const struct http_request *request, const char *name);

/* The functions below are for handlers.
 *
 * A handler runs on a worker thread, never on the loop (server.h). It sends a complete answer with wt__http_answer. Or
 * it starts a stream, sends pieces and finishes the stream. To answer after the handler returns, keep the exchange and
 * release it later. If the handler returns without an answer and has not kept the exchange, the server answers 500. All
 * functions are thread-safe.
 *
 * A disconnect is detected immediately, even while the answer is being prepared. Then wt__http_is_gone is true, the
 * callback of wt__http_on_gone runs, and further output is discarded. */

enum {
    HTTP_BACKLOG_BYTES_MAX = 4 << 20, /* maximum unsent bytes of a stream */
};

struct http_exchange;

const struct http_request *wt__http_request(const struct http_exchange *exchange);

/* A note is memory of the handler for a request, HTTP_NOTE_BYTES, aligned for any type and zeroed at first. It lives as
 * long as the request. The functions below leave its content to the handler. */
enum { HTTP_NOTE_BYTES = 640 };
void *wt__http_note(const struct http_exchange *exchange);

/* Sends the complete answer. Does nothing if an answer has begun. type: Content-Type; NULL without a body. Fields with
 * an invalid name or with control characters in the value are omitted. body is copied. */
void wt__http_answer(struct http_exchange *exchange, int status, const char *type, const struct http_field *fields,
                     size_t field_count, struct str body);

/* Starts an answer in pieces. The body is chunked; for HTTP/1.0 it ends when the connection closes. Use a stream for
 * events over time. Send known content with wt__http_answer, because wt__http_send disconnects slow readers. */
void wt__http_stream(struct http_exchange *exchange, int status, const char *type, const struct http_field *fields,
                     size_t field_count);
/* Sends a piece. Disconnects the client if more than HTTP_BACKLOG_BYTES_MAX are unsent. Returns false if the client is
 * gone or no stream is open. */
bool wt__http_send(struct http_exchange *exchange, struct str piece);
/* Ends the stream. */
void wt__http_finish(struct http_exchange *exchange);

/* True if the client has disconnected, or the shutdown no longer waits for the answer. */
bool wt__http_is_gone(const struct http_exchange *exchange);
/* Sets a callback that runs once if wt__http_is_gone becomes true before the answer ends. The callback runs on the
 * loop, or immediately if the client is already gone. The callback must not block. Set it before the handler returns;
 * NULL removes it.
 *
 * wt__http_answer, _finish, the last _release and this function wait for a running callback to return. Afterwards the
 * callback is not called again, and its context may be freed. Do not call these functions while holding a lock that
 * `gone` takes. They do not wait when `gone` itself calls them. */
void wt__http_on_gone(struct http_exchange *exchange, void (*gone)(void *context), void *context);

/* Keeps the exchange alive until a call of wt__http_release. */
void wt__http_keep(struct http_exchange *exchange);
/* Releases the exchange. The last release answers 500 if no answer has begun, and cuts off an unfinished stream. Do not
 * use the exchange after that. */
void wt__http_release(struct http_exchange *exchange);

#endif
