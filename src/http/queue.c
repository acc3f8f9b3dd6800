/* queue.c: a ring of exchanges under a mutex, and threads that wait for it. The longest stay here is a handler's; so
 * nothing finer pays. */
#include "http/queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/pool.h"

enum { WORKERS_MAX = 256 };

struct http_queue {
    const struct http_handler *handler;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct http_exchange **ring;
    size_t max, first, len, running;
    bool stopping;
    pthread_t workers[WORKERS_MAX];
    unsigned worker_count;
};

struct http_queue *wt__http_queue_new(size_t max, const struct http_handler *handler)
{
    struct http_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    queue->ring = wt__alloc_array(max, sizeof(struct http_exchange *));
    if (!queue->ring) {
        free(queue);
        return NULL;
    }
    queue->handler = handler;
    queue->max = max;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    return queue;
}

void wt__http_queue_free(struct http_queue *queue)
{
    if (!queue)
        return;
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->lock);
    free(queue->ring);
    free(queue);
}

/* The oldest one; NULL when the queue is empty and ends. */
static struct http_exchange *pop(struct http_queue *queue)
{
    struct http_exchange *exchange = NULL;
    pthread_mutex_lock(&queue->lock);
    while (queue->len == 0 && !queue->stopping)
        pthread_cond_wait(&queue->filled, &queue->lock);
    if (queue->len > 0) {
        exchange = queue->ring[queue->first];
        queue->first = (queue->first + 1) % queue->max;
        queue->len--;
        queue->running++;
    }
    pthread_mutex_unlock(&queue->lock);
    return exchange;
}

static void *work(void *argument)
{
    struct http_queue *queue = argument;
    struct http_exchange *exchange;
    while ((exchange = pop(queue)) != NULL) {
        wt__exchange_start(exchange);
        if (!wt__http_is_gone(exchange))
            queue->handler->answer(queue->handler->context, exchange);
        wt__http_release(exchange);
        pthread_mutex_lock(&queue->lock);
        queue->running--;
        pthread_mutex_unlock(&queue->lock);
    }
    return NULL;
}

int wt__http_queue_start(struct http_queue *queue, unsigned workers, wt_error *err)
{
    if (workers == 0)
        workers = wt__processor_count();
    if (workers > WORKERS_MAX)
        workers = WORKERS_MAX;
    while (queue->worker_count < workers &&
           pthread_create(&queue->workers[queue->worker_count], NULL, work, queue) == 0)
        queue->worker_count++;
    return queue->worker_count > 0 ? 0 : wt__fail(err, WT_ENOMEM, "no thread can be started to answer requests");
}

bool wt__http_queue_push(struct http_queue *queue, struct http_exchange *exchange)
{
    pthread_mutex_lock(&queue->lock);
    bool pushed = queue->len < queue->max;
    if (pushed) {
        wt__exchange_hand_over(exchange);
        queue->ring[(queue->first + queue->len) % queue->max] = exchange;
        queue->len++;
        pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&queue->lock);
    return pushed;
}

void wt__http_queue_stop(struct http_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->stopping = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
    while (queue->worker_count > 0)
        pthread_join(queue->workers[--queue->worker_count], NULL);
}

void wt__http_queue_count(struct http_queue *queue, uint64_t *waiting, uint64_t *running)
{
    pthread_mutex_lock(&queue->lock);
    *waiting = queue->len;
    *running = queue->running;
    pthread_mutex_unlock(&queue->lock);
}
