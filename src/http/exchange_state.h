/* exchange_state.h: the loop's side of an exchange; exchange.h is the handler's side.
 *
 * The loop, a posted letter, and holders each keep an exchange alive. Holders are the worker and callers of
 * wt__http_keep; the last release ends an unfinished answer. Output is collected in the exchange until the loop takes
 * it, so a stream of small pieces needs one letter for all pieces not yet taken. */
#ifndef WT_HTTP_EXCHANGE_STATE_H
#define WT_HTTP_EXCHANGE_STATE_H

#include "http/answer.h"
#include "http/exchange.h"
#include "http/mailbox.h"
#include "http/reader.h"

enum { HTTP_PEER_BYTES = 56 }; /* "[IPv6 address]:port" with its NUL */

struct connection;

/* Fields used only by the loop after creation. */
struct exchange_loop_state {
    struct connection *connection; /* NULL after the connection has left the exchange */
    double queued_ms;              /* time of queueing */
};

/* Changes since the loop last took them. */
struct exchange_output {
    struct buffer bytes; /* output; owned by the taker */
    bool begun;          /* the answer has a status */
    bool ended;          /* no more output follows */
    bool broken;         /* close the connection after the bytes, or immediately if too many bytes are unread */
    bool closes;         /* the answer announced that the connection closes */
};

/* Result for the record. */
struct exchange_outcome {
    int status; /* 0 without an answer */
    uint64_t bytes;
    double started_ms; /* time when a worker started; 0 if never */
};

/* Creates an exchange, which owns the message. Returns NULL, without taking the message, if out of memory. common:
 * fields of every answer. The exchange has one reference, the loop's, and no holder. */
struct http_exchange *wt__exchange_new(struct mailbox *mailbox, struct http_message *message, bool http_1_0,
                                       const char *peer, const struct http_fields *common);
void wt__exchange_drop(struct http_exchange *exchange);
struct exchange_loop_state *wt__exchange_loop_state(struct http_exchange *exchange);
/* Returns the exchange of a letter, with the letter's reference. From now on the exchange may post again. */
struct http_exchange *wt__exchange_from_letter(struct letter *letter);

/* Makes the worker the first holder. Call before queueing. */
void wt__exchange_add_worker(struct http_exchange *exchange);
/* Records that a worker has started. */
void wt__exchange_start(struct http_exchange *exchange);

void wt__exchange_take_output(struct http_exchange *exchange, struct exchange_output *news);
/* Reports the number of bytes taken but not yet written. */
void wt__exchange_set_unsent(struct http_exchange *exchange, size_t unsent);
/* Handles a client that is gone: calls on_gone unless the answer has ended. */
void wt__exchange_client_gone(struct http_exchange *exchange);
/* Works like wt__exchange_client_gone for an answer that takes too long. Returns false, without effect, if the answer
 * has begun. */
bool wt__exchange_time_out(struct http_exchange *exchange);
/* Answers 503 with Retry-After instead of a handler, which must not have answered. */
void wt__exchange_answer_overload(struct http_exchange *exchange, const char *message);
void wt__exchange_outcome(struct http_exchange *exchange, struct exchange_outcome *out);

#endif
