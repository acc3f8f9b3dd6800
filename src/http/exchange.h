/* exchange.h: a request and its answer, as the one who answers holds them.
 *
 * A handler runs on a worker, never on the loop. It answers whole (wt__http_answer), or begins a stream, sends pieces
 * and finishes it. Who answers later than the handler returns keeps the exchange and releases it in the end; all
 * functions may be called from any thread. An exchange that the handler neither answered nor kept is answered 500.
 *
 * A client that goes away is noticed at once, also while its answer is being made: then is_gone is true, the function
 * of on_gone is called, and what is sent goes nowhere. */
#ifndef WT_HTTP_EXCHANGE_H
#define WT_HTTP_EXCHANGE_H

#include "http/request.h"

enum {
    HTTP_BACKLOG_BYTES_MAX = 4 << 20, /* of a stream that its client does not read */
};

struct http_exchange;

const struct http_request *wt__http_request(const struct http_exchange *exchange);
/* Who asks: "127.0.0.1:51234", "unix". */
const char *wt__http_peer(const struct http_exchange *exchange);

/* The whole answer, once; a second one is passed over. type: Content-Type, NULL when there is no body. fields are sent
 * as they are: names and values without control characters, or the field is left out. body is copied. */
void wt__http_answer(struct http_exchange *exchange, int status, const char *type, const struct http_field *fields,
                     size_t field_count, struct str body);

/* Begins an answer in pieces (chunked; to an HTTP/1.0 client the connection's end is its end). For events as they
 * happen: what is known at once is better answered whole, since nothing here waits for a client that reads slowly. */
void wt__http_stream(struct http_exchange *exchange, int status, const char *type, const struct http_field *fields,
                     size_t field_count);
/* False when the client is gone, or did not read HTTP_BACKLOG_BYTES_MAX: then it is dropped. */
bool wt__http_send(struct http_exchange *exchange, struct str piece);
void wt__http_finish(struct http_exchange *exchange);

/* The client has closed the connection, its time is up, or the server is ending and waits no longer. */
bool wt__http_is_gone(const struct http_exchange *exchange);
/* Called once, from the loop, when that happens before the answer's end; at once when it has happened. It must not
 * wait. Set it before the handler returns; NULL takes it back.
 *
 * wt__http_answer, _finish, the last _release and this function wait until a call that has begun has returned; after
 * them there is none, and the context may go. So call them without a lock that `gone` takes. From inside of `gone` they
 * do not wait. */
void wt__http_on_gone(struct http_exchange *exchange, void (*gone)(void *context), void *context);

void wt__http_keep(struct http_exchange *exchange);
/* After the last release nothing of it may be touched. What was neither answered nor finished is ended now: 500, or
 * the stream is cut off. */
void wt__http_release(struct http_exchange *exchange);

#endif
