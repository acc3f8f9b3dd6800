/* queue.h: the queue of requests, and the workers.
 *
 * Each client (a holder, named by the handler) has its own line, and the lines take turns. So a client that sends a
 * thousand requests delays another client's request by only one of them. base/shares.h limits each client's places in
 * the queue. The queue starts one worker more than requested, and no client may use more than the requested number, so
 * slow requests of one client always leave a worker for others. */
#ifndef WT_HTTP_QUEUE_H
#define WT_HTTP_QUEUE_H

#include "http/exchange_state.h"
#include "http/server.h"

struct http_queue;

/* Creates a queue of at most max requests, without workers. Returns NULL if out of memory. */
struct http_queue *wt__http_queue_new(size_t max, const struct http_handler *handler);
/* Starts up to `workers` workers (0: one per processor) and one more. Fails with WT_ENOMEM if none can be started. */
int wt__http_queue_start(struct http_queue *queue, unsigned workers, wt_error *err);
/* Queues an exchange, which the worker releases. holder: at most HTTP_HOLDER_BYTES, or NULL. Returns false if the queue
 * is full or the holder has its share. */
bool wt__http_queue_push(struct http_queue *queue, struct http_exchange *exchange, const char *holder);
/* Waits until all queued requests are done and the workers have ended. */
void wt__http_queue_stop(struct http_queue *queue);
/* Returns the number of queued and of running requests. */
void wt__http_queue_count(struct http_queue *queue, uint64_t *waiting, uint64_t *running);
/* Ignores NULL. */
void wt__http_queue_free(struct http_queue *queue);

#endif
