/* queue.c: the request queue and its worker threads. One mutex protects the queue. Handlers take far longer than the
 * mutex is held, so finer locking would not help. All memory is allocated at the start: the places, and a line for each
 * possible holder. */
#include "http/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/shares.h"

enum { WORKERS_MAX = 256 };

/* A request's place in its line: behind the requests whose `due` is not later. `due` is the time of queueing, plus
 * MS_PER_BYTE for each of the first BYTES_COUNTED bytes, about what a find takes. So a short request overtakes a long
 * one that has just arrived, and no request is overtaken by those that arrive over 82 ms after it. */
static const double MS_PER_BYTE = 0.02;
enum { BYTES_COUNTED = 4096 };

/* An entry of the queue. */
struct queue_place {
    struct http_exchange *exchange;
    double due;
    struct queue_place *next, *before; /* neighbours in the line; free places have only `next` */
};

/* The requests of one holder. A line is in use while a request of the holder is queued or running. */
struct queue_line {
    struct queue_line *next, *before; /* neighbours in the ring of lines in use; free lines have only `next` */
    struct queue_place *first, *last; /* queued requests, by `due`; NULL if there are none */
    size_t running;
    char holder[HTTP_HOLDER_BYTES];
};

struct http_queue {
    const struct http_handler *handler;
    struct shares shares; /* shares of the places */
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct queue_place *places, *free_places; /* places [max]; list of free places */
    struct queue_line *lines, *free_lines;    /* lines [max + WORKERS_MAX + 1]; list of free lines */
    struct queue_line *turn;                  /* line whose turn is next; NULL if no line is in use */
    size_t len, running;                      /* queued and running requests */
    bool stopping;
    pthread_t workers[WORKERS_MAX + 1];
    unsigned worker_count, most_each; /* most_each: maximum workers per holder */
};

struct http_queue *wt__http_queue_new(size_t max, const struct http_handler *handler)
{
    struct http_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    size_t line_count = max + WORKERS_MAX + 1;
    queue->handler = handler;
    queue->places = wt__alloc_array(max, sizeof *queue->places);
    queue->lines = wt__alloc_array(line_count, sizeof *queue->lines);
    wt__shares_open(&queue->shares, max);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    if (!queue->places || !queue->lines) {
        wt__http_queue_free(queue);
        return NULL;
    }
    for (size_t i = 0; i < max; i++) {
        queue->places[i].next = queue->free_places;
        queue->free_places = &queue->places[i];
    }
    for (size_t i = 0; i < line_count; i++) {
        queue->lines[i].next = queue->free_lines;
        queue->free_lines = &queue->lines[i];
    }
    return queue;
}

void wt__http_queue_free(struct http_queue *queue)
{
    if (!queue)
        return;
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->lock);
    wt__shares_close(&queue->shares);
    free(queue->places);
    free(queue->lines);
    free(queue);
}

/* Returns the holder's line. A new line is appended at the end of the ring. */
static struct queue_line *find_line(struct http_queue *queue, const char *holder)
{
    const char *name = holder ? holder : "";
    struct queue_line *line = queue->turn;
    do {
        if (line && strcmp(line->holder, name) == 0)
            return line;
        line = line ? line->next : NULL;
    } while (line != queue->turn);
    line = queue->free_lines;
    queue->free_lines = line->next;
    *line = (struct queue_line){.next = line, .before = line};
    snprintf(line->holder, sizeof line->holder, "%s", name);
    if (queue->turn) {
        line->next = queue->turn;
        line->before = queue->turn->before;
        line->before->next = line->next->before = line;
    } else {
        queue->turn = line;
    }
    return line;
}

/* Removes the line from the ring if no request of it is queued or running. */
static void free_idle_line(struct http_queue *queue, struct queue_line *line)
{
    if (line->first || line->running > 0)
        return;
    if (queue->turn == line)
        queue->turn = line->next == line ? NULL : line->next;
    line->before->next = line->next;
    line->next->before = line->before;
    line->next = queue->free_lines;
    queue->free_lines = line;
}

/* Returns the next line with a queued request and fewer than most_each workers, or NULL. */
static struct queue_line *find_ready_line(const struct http_queue *queue)
{
    struct queue_line *line = queue->turn;
    do {
        if (line && line->first && line->running < queue->most_each)
            return line;
        line = line ? line->next : NULL;
    } while (line != queue->turn);
    return NULL;
}

static struct http_exchange *take_from_line(struct http_queue *queue, struct queue_line *line)
{
    struct queue_place *place = line->first;
    struct http_exchange *exchange = place->exchange;
    line->first = place->next;
    *(line->first ? &line->first->before : &line->last) = NULL;
    place->next = queue->free_places;
    queue->free_places = place;
    wt__shares_give(&queue->shares, line->holder, 1);
    line->running++;
    queue->turn = line->next;
    queue->len--;
    queue->running++;
    return exchange;
}

/* Waits for the next exchange and sets *line to its line. Returns NULL if the queue is empty and stopping. */
static struct http_exchange *queue_pop(struct http_queue *queue, struct queue_line **line)
{
    struct http_exchange *exchange = NULL;
    pthread_mutex_lock(&queue->lock);
    while (!(*line = find_ready_line(queue)) && !(queue->stopping && queue->len == 0))
        pthread_cond_wait(&queue->filled, &queue->lock);
    if (*line)
        exchange = take_from_line(queue, *line);
    pthread_mutex_unlock(&queue->lock);
    return exchange;
}

/* Marks a request as done. Wakes no other worker, because this worker takes the next request itself. During the
 * shutdown, all workers are woken to check whether the queue is empty. */
static void end_work(struct http_queue *queue, struct queue_line *line)
{
    pthread_mutex_lock(&queue->lock);
    queue->running--;
    line->running--;
    free_idle_line(queue, line);
    if (queue->stopping)
        pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static void *run_queue_worker(void *argument)
{
    struct http_queue *queue = argument;
    struct http_exchange *exchange;
    struct queue_line *line;
    while ((exchange = queue_pop(queue, &line)) != NULL) {
        pthread_mutex_lock(&exchange->lock);
        exchange->started_ms = wt__now_ms();
        pthread_mutex_unlock(&exchange->lock);
        if (!wt__http_is_gone(exchange))
            queue->handler->answer(queue->handler->context, exchange);
        wt__http_release(exchange);
        end_work(queue, line);
    }
    return NULL;
}

int wt__http_queue_start(struct http_queue *queue, unsigned workers, wt_error *err)
{
    if (workers == 0)
        workers = wt__processor_count();
    if (workers > WORKERS_MAX)
        workers = WORKERS_MAX;
    queue->most_each = workers;
    while (queue->worker_count < workers + 1 &&
           pthread_create(&queue->workers[queue->worker_count], NULL, run_queue_worker, queue) == 0)
        queue->worker_count++;
    return queue->worker_count > 0 ? 0 : wt__fail(err, WT_ENOMEM, "cannot start a thread to answer requests");
}

static double find_due_time(const struct http_exchange *exchange)
{
    size_t bytes = exchange->message->head.len + exchange->message->body.len;
    return exchange->queued_ms + MS_PER_BYTE * (double)(bytes < BYTES_COUNTED ? bytes : BYTES_COUNTED);
}

static void insert_by_due_time(struct queue_line *line, struct queue_place *place)
{
    place->before = line->last;
    while (place->before && place->before->due > place->due)
        place->before = place->before->before;
    place->next = place->before ? place->before->next : line->first;
    *(place->before ? &place->before->next : &line->first) = place;
    *(place->next ? &place->next->before : &line->last) = place;
}

bool wt__http_queue_push(struct http_queue *queue, struct http_exchange *exchange, const char *holder)
{
    pthread_mutex_lock(&queue->lock);
    bool pushed = queue->free_places && wt__shares_take(&queue->shares, holder, 1);
    if (pushed) {
        struct queue_place *place = queue->free_places;
        struct queue_line *line = find_line(queue, holder);
        queue->free_places = place->next;
        atomic_fetch_add(&exchange->references, 1);
        atomic_store(&exchange->holders, 1); /* the worker */
        *place = (struct queue_place){.exchange = exchange, .due = find_due_time(exchange)};
        insert_by_due_time(line, place);
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
