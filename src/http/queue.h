/* queue.h: the requests that wait for a worker, and the workers.
 *
 * Each client (a holder, by the name that the handler gives it) waits in a line of its own, and the lines take turns: a
 * client that sends a thousand requests delays another client's request by one of them. Places in the queue are shared
 * by base/shares.h. One worker more than is asked for is kept, and no client may have more than what was asked for: so
 * a client whose requests take long leaves a worker for the others. */
#ifndef WT_HTTP_QUEUE_H
#define WT_HTTP_QUEUE_H

#include "http/exchange_state.h"
#include "http/server.h"

struct http_queue;

/* For at most max requests; nobody works yet. NULL: memory is out. */
struct http_queue *wt__http_queue_new(size_t max, const struct http_handler *handler);
/* Starts up to so many workers (0: one a processor), and one more. WT_ENOMEM when none can be started. */
int wt__http_queue_start(struct http_queue *queue, unsigned workers, wt_error *err);
/* Takes the exchange over, which the worker lets go of when it is done. holder: of HTTP_HOLDER_BYTES at most, or NULL.
 * False: the queue is full, or the holder has its share of it. */
bool wt__http_queue_push(struct http_queue *queue, struct http_exchange *exchange, const char *holder);
/* Waits until all that is in it is done and the workers have ended. */
void wt__http_queue_stop(struct http_queue *queue);
/* How many wait, and how many are worked on. */
void wt__http_queue_count(struct http_queue *queue, uint64_t *waiting, uint64_t *running);
/* NULL is a no-op. */
void wt__http_queue_free(struct http_queue *queue);

#endif
