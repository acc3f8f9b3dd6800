/* queue.h: the requests that wait for a worker, and the workers. */
#ifndef WT_HTTP_QUEUE_H
#define WT_HTTP_QUEUE_H

#include "http/exchange_state.h"
#include "http/server.h"

struct http_queue;

/* For at most max requests; nobody works yet. NULL: memory is out. */
struct http_queue *wt__http_queue_new(size_t max, const struct http_handler *handler);
/* Starts up to so many workers (0: one a processor). WT_ENOMEM when none can be started. */
int wt__http_queue_start(struct http_queue *queue, unsigned workers, wt_error *err);
/* Takes the exchange over, which the worker lets go of when it is done. False: the queue is full. */
bool wt__http_queue_push(struct http_queue *queue, struct http_exchange *exchange);
/* Waits until all that is in it is done and the workers have ended. */
void wt__http_queue_stop(struct http_queue *queue);
/* How many wait, and how many are worked on. */
void wt__http_queue_count(struct http_queue *queue, uint64_t *waiting, uint64_t *running);
/* NULL is a no-op. */
void wt__http_queue_free(struct http_queue *queue);

#endif
