/* exchange_state.h: the loop's side of an exchange (exchange.h is that of who answers).
 *
 * An exchange lives while the loop, a letter on its way, or a holder refers to it. Holders are the worker and who keeps
 * it; when the last one lets go, an unfinished answer is ended. Bytes gather in it until the loop takes them, so a
 * stream of small pieces costs one letter for all that the loop has not yet seen. */
#ifndef WT_HTTP_EXCHANGE_STATE_H
#define WT_HTTP_EXCHANGE_STATE_H

#include "http/answer.h"
#include "http/exchange.h"
#include "http/mailbox.h"
#include "http/reader.h"

enum { HTTP_PEER_BYTES = 56 }; /* of "[IPv6 address]:port", with a NUL */

struct connection;

/* What the loop alone touches once the exchange is made. */
struct http_course {
    struct connection *connection; /* NULL when they have parted */
    double queued_ms;              /* when it was put into the queue */
};

/* What happened since the loop last looked. */
struct http_news {
    struct buffer bytes; /* to be written; the taker's */
    bool begun;          /* the answer has a status */
    bool ended;          /* nothing more will come */
    bool broken;         /* and the connection ends where the bytes end, or at once when too many are unread */
    bool closes;         /* the answer has said that the connection ends with it */
};

/* For records. */
struct http_outcome {
    int status; /* 0: none */
    uint64_t bytes;
    double started_ms; /* when a worker took it; 0: none did */
};

/* Takes over the message, unless it is NULL because memory is out. common: of every answer. One reference, the loop's;
 * no holder. */
struct http_exchange *wt__exchange_new(struct mailbox *mailbox, struct http_message *message, bool http_1_0,
                                       const char *peer, const struct http_fields *common);
void wt__exchange_drop(struct http_exchange *exchange);
struct http_course *wt__exchange_course(struct http_exchange *exchange);
/* Whose letter it is; it may post another from now on. The reference is the caller's. */
struct http_exchange *wt__exchange_receive(struct letter *letter);

/* Before it is queued: the worker becomes its first holder. */
void wt__exchange_hand_over(struct http_exchange *exchange);
/* A worker begins with it. */
void wt__exchange_start(struct http_exchange *exchange);

void wt__exchange_take_news(struct http_exchange *exchange, struct http_news *news);
/* How many bytes the loop has taken and not yet written. */
void wt__exchange_tell_unsent(struct http_exchange *exchange, size_t unsent);
/* The client is gone, or nobody waits any more: calls the function of on_gone, unless the answer has ended. */
void wt__exchange_lose(struct http_exchange *exchange);
/* The same when its answer has taken too long. False: it has begun after all, and nothing is lost. */
bool wt__exchange_give_up(struct http_exchange *exchange);
/* The server's own answer, in place of one by a handler, which has none yet: a 503 that says when to come again. */
void wt__exchange_answer_overload(struct http_exchange *exchange, const char *message);
void wt__exchange_outcome(struct http_exchange *exchange, struct http_outcome *out);

#endif
