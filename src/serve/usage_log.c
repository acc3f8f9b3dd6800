#include "serve/usage_log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"

enum { KEY_BYTES = USAGE_LOG_BATCH_ID_BYTES_MAX + 16 };
_Static_assert(KEY_BYTES <= (int)WT_MAX_USAGE_KEY_BYTES, "each usage of a batch has a valid key");

/* A queued batch. The usages are allocated in the arena. */
struct queued_batch {
    struct queued_batch *next;
    struct arena arena;
    struct reported_usage **usages; /* [count] */
    size_t count, bytes;
    usage_log_told told;
    void *context;
};

/* Token bucket of a client: one token per usage. */
struct token_bucket {
    struct str name;      /* name of the client */
    double tokens, at_ms; /* tokens at the time at_ms */
};

struct usage_log {
    wt_engine *engine;
    struct usage_log_options options;
    pthread_t writer, learner;
    bool learns;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t wake;
    atomic_bool closing; /* also read by the learning thread without the lock */
    struct queued_batch *first, **last;
    size_t queued, queued_bytes; /* usages and bytes in the queue, including the group being written */
    bool unlearned;              /* the learner may not have seen all recorded usages */
    struct usage_log_counts counts;
    struct token_bucket *buckets; /* [USAGE_LOG_CLIENTS_MAX] */
    size_t bucket_count;
    struct map by_name;
    double swept_ms; /* time when full buckets were last removed */
};

/* ---------------------------------------------------------------- rate limit of a client */

static void refill_bucket(const struct usage_log *log, struct token_bucket *bucket, double now)
{
    double burst = log->options.client_burst;
    bucket->tokens += (now - bucket->at_ms) / 60000 * log->options.client_a_minute;
    bucket->tokens = bucket->tokens < burst ? bucket->tokens : burst;
    bucket->at_ms = now;
}

/* Removes full buckets. No limit changes: a client without a bucket gets a new bucket, which is full too. */
static int drop_full_buckets(struct usage_log *log, double now, wt_error *err)
{
    size_t kept = 0;
    log->swept_ms = now;
    wt__map_dispose(&log->by_name);
    for (size_t i = 0; i < log->bucket_count; i++) {
        struct token_bucket *bucket = &log->buckets[i];
        refill_bucket(log, bucket, now);
        if (bucket->tokens < log->options.client_burst)
            log->buckets[kept++] = *bucket;
        else
            free((char *)bucket->name.ptr);
    }
    log->bucket_count = kept;
    for (size_t i = 0; i < kept; i++)
        if (!wt__map_insert(&log->by_name, log->buckets[i].name, (uint32_t)i, NULL))
            return wt__fail_nomem(err);
    return 0;
}

static int find_bucket(struct usage_log *log, struct str client, double now, struct token_bucket **out, wt_error *err)
{
    const uint32_t *known = wt__map_get(&log->by_name, client);
    if (known) {
        *out = &log->buckets[*known];
        return 0;
    }
    if (log->bucket_count == USAGE_LOG_CLIENTS_MAX && now - log->swept_ms >= USAGE_LOG_SWEEP_MS)
        WT_TRY(drop_full_buckets(log, now, err));
    if (log->bucket_count == USAGE_LOG_CLIENTS_MAX)
        return wt__fail(err, WT_EBUSY, "more than %d clients are reporting usages; try again later",
                        USAGE_LOG_CLIENTS_MAX);
    WT_AUTO_FREE char *name = wt__copy_string(client.ptr, client.len);
    WT_CHECK_ALLOC(name, err);
    struct token_bucket *bucket = &log->buckets[log->bucket_count];
    *bucket = (struct token_bucket){{name, client.len}, log->options.client_burst, now};
    WT_CHECK_ALLOC(wt__map_insert(&log->by_name, bucket->name, (uint32_t)log->bucket_count, NULL), err);
    name = NULL; /* the bucket owns it */
    log->bucket_count++;
    *out = bucket;
    return 0;
}

/* Takes one token per usage from the client's bucket. If the bucket has too few tokens, returns WT_EBUSY and sets
 * *retry_ms to the time until the bucket has enough. */
static int charge_client(struct usage_log *log, struct str client, size_t usages, unsigned *retry_ms, wt_error *err)
{
    double now = wt__now_ms();
    struct token_bucket *bucket = NULL;
    int rc = find_bucket(log, client, now, &bucket, err);
    if (rc == WT_EBUSY) {
        *retry_ms = USAGE_LOG_SWEEP_MS;
        log->counts.refused_client += usages;
    }
    if (rc < 0)
        return rc;
    refill_bucket(log, bucket, now);
    if (bucket->tokens < (double)usages) {
        *retry_ms = (unsigned)(((double)usages - bucket->tokens) * 60000 / log->options.client_a_minute) + 1;
        log->counts.refused_client += usages;
        return wt__fail(err, WT_EBUSY, "the client reports more than %u usages a minute; try again in %u s",
                        log->options.client_a_minute, *retry_ms / 1000 + 1);
    }
    bucket->tokens -= (double)usages;
    return 0;
}

/* ---------------------------------------------------------------- reporting */

static int check_batch(const struct usage_batch *batch, wt_error *err)
{
    WT_TRY(wt__usage_check_client(batch->client, err));
    WT_TRY(wt__usage_check_key(batch->id, err));
    if (batch->client.len == 0)
        return wt__fail(err, WT_EINVAL, "the batch has no client name");
    if (batch->id.len > USAGE_LOG_BATCH_ID_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the batch id has %zu bytes; at most %d are allowed", batch->id.len,
                        USAGE_LOG_BATCH_ID_BYTES_MAX);
    if (batch->lines.len > USAGE_LOG_BATCH_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the batch has %zu bytes; at most %d are allowed", batch->lines.len,
                        USAGE_LOG_BATCH_BYTES_MAX);
    return 0;
}

/* Removes the next non-blank line from *lines and stores it in *line. Returns false at the end. */
static bool take_usage_line(struct str *lines, struct str *line)
{
    while (lines->len > 0) {
        const char *end = memchr(lines->ptr, '\n', lines->len);
        size_t len = end ? (size_t)(end - lines->ptr) : lines->len, taken = len + (end != NULL);
        *line = wt__str_trim((struct str){lines->ptr, len});
        *lines = (struct str){lines->ptr + taken, lines->len - taken};
        if (line->len > 0)
            return true;
    }
    return false;
}

static int set_usage_key(struct queued_batch *w, struct str id, struct reported_usage *usage, wt_error *err)
{
    char key[KEY_BYTES];
    if (id.len == 0)
        return 0;
    int len = snprintf(key, sizeof key, "%.*s/%zu", (int)id.len, id.ptr, w->count);
    usage->key = (struct str){wt__arena_copy(&w->arena, (struct str){key, (size_t)len}), (size_t)len};
    return usage->key.ptr ? 0 : wt__fail_nomem(err);
}

static int split_batch(struct queued_batch *w, const struct usage_batch *batch, wt_error *err)
{
    struct str client = {wt__arena_copy(&w->arena, batch->client), batch->client.len};
    struct str lines = {wt__arena_copy(&w->arena, batch->lines), batch->lines.len}, rest = lines, line;
    size_t count = 0;
    if (!client.ptr || !lines.ptr)
        return wt__fail_nomem(err);
    while (take_usage_line(&rest, &line))
        count++;
    if (count == 0)
        return wt__fail(err, WT_EINVAL, "the batch is empty; send JSON Lines, one usage per line");
    if (count > USAGE_LOG_BATCH_USAGES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the batch has %zu usages; at most %d are allowed", count,
                        USAGE_LOG_BATCH_USAGES_MAX);
    struct reported_usage *usages = wt__arena_array(&w->arena, struct reported_usage, count);
    w->usages = wt__arena_array(&w->arena, struct reported_usage *, count);
    if (!usages || !w->usages)
        return wt__fail_nomem(err);
    w->bytes = batch->lines.len;
    while (take_usage_line(&lines, &line)) {
        struct reported_usage *usage = w->usages[w->count] = &usages[w->count];
        *usage = (struct reported_usage){.line = line, .client = client};
        w->count++;
        WT_TRY(set_usage_key(w, batch->id, usage, err));
    }
    return 0;
}

static void free_batch(struct queued_batch *w)
{
    wt__arena_dispose(&w->arena);
    free(w);
}

static int check_burst(const struct usage_log *log, const struct queued_batch *w, wt_error *err)
{
    if (w->count <= log->options.client_burst)
        return 0;
    return wt__fail(err, WT_ETOOLONG, "the batch has %zu usages; a client may report %u at once", w->count,
                    log->options.client_burst);
}

/* Appends the batch to the queue. Call with the lock held. */
static int queue_batch(struct usage_log *log, struct queued_batch *w, struct str client, unsigned *retry_ms,
                       wt_error *err)
{
    WT_TRY(check_burst(log, w, err));
    if (log->queued + w->count > USAGE_LOG_QUEUED_MAX || log->queued_bytes + w->bytes > USAGE_LOG_QUEUED_BYTES_MAX) {
        log->counts.refused_full += w->count;
        *retry_ms = log->options.commit_ms;
        return wt__fail(err, WT_EBUSY, "%zu usages are waiting to be written; try again later", log->queued);
    }
    WT_TRY(charge_client(log, client, w->count, retry_ms, err));
    log->queued += w->count;
    log->queued_bytes += w->bytes;
    *log->last = w;
    log->last = &w->next;
    pthread_cond_broadcast(&log->wake);
    return 0;
}

int wt__usage_log_report(struct usage_log *log, const struct usage_batch *batch, usage_log_told told, void *context,
                         unsigned *retry_ms, wt_error *err)
{
    *retry_ms = 0;
    WT_TRY(check_batch(batch, err));
    struct queued_batch *w = calloc(1, sizeof *w);
    WT_CHECK_ALLOC(w, err);
    w->told = told;
    w->context = context;
    int rc = split_batch(w, batch, err);
    if (rc == 0) {
        pthread_mutex_lock(&log->lock);
        rc = queue_batch(log, w, batch->client, retry_ms, err);
        pthread_mutex_unlock(&log->lock);
    }
    if (rc < 0)
        free_batch(w);
    return rc;
}

static void count_usage(struct usage_log_counts *counts, const struct reported_usage *usage)
{
    uint64_t *by_fate[] = {[USAGE_ADDED] = &counts->added,
                           [USAGE_REPEATED] = &counts->repeated,
                           [USAGE_CHANGED] = &counts->outcomes,
                           [USAGE_MISSING] = &counts->missing};
    *(usage->code < 0 ? &counts->bad : by_fate[usage->fate]) += 1;
}

/* Records a batch of a tenant, and counts its usages. */
static int record_batch(struct usage_log *log, wt_engine *tenant, struct queued_batch *w, struct str client,
                        unsigned *retry_ms, wt_error *err)
{
    pthread_mutex_lock(&log->lock);
    int rc = check_burst(log, w, err);
    if (rc == 0)
        rc = charge_client(log, client, w->count, retry_ms, err);
    pthread_mutex_unlock(&log->lock);
    if (rc == 0)
        rc = wt__record_reported_usages(tenant, w->usages, w->count, err);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < w->count; i++)
        count_usage(&log->counts, w->usages[i]);
    log->counts.commits++;
    pthread_mutex_unlock(&log->lock);
    return 0;
}

int wt__usage_log_record(struct usage_log *log, wt_engine *tenant, const struct usage_batch *batch, usage_log_told told,
                         void *context, unsigned *retry_ms, wt_error *err)
{
    *retry_ms = 0;
    WT_TRY(check_batch(batch, err));
    struct queued_batch *w = calloc(1, sizeof *w);
    WT_CHECK_ALLOC(w, err);
    int rc = split_batch(w, batch, err);
    if (rc == 0)
        rc = record_batch(log, tenant, w, batch->client, retry_ms, err);
    if (rc == 0)
        told(context, 0, NULL, w->usages, w->count);
    free_batch(w);
    if (rc == 0 && log->learns)
        wt__usage_learn_in_background(tenant, NULL, NULL, NULL); /* a later report learns what fails now */
    return rc;
}

void wt__usage_log_count(struct usage_log *log, struct usage_log_counts *out)
{
    pthread_mutex_lock(&log->lock);
    *out = log->counts;
    out->queued = log->queued;
    pthread_mutex_unlock(&log->lock);
}

/* ---------------------------------------------------------------- writing */

static int record_group(struct usage_log *log, const struct queued_batch *group, wt_error *err)
{
    size_t count = 0;
    for (const struct queued_batch *w = group; w; w = w->next)
        count += w->count;
    WT_AUTO_FREE struct reported_usage **usages = wt__alloc_array(count, sizeof *usages);
    WT_CHECK_ALLOC(usages, err);
    count = 0;
    for (const struct queued_batch *w = group; w; w = w->next)
        for (size_t i = 0; i < w->count; i++)
            usages[count++] = w->usages[i];
    return wt__record_reported_usages(log->engine, usages, count, err);
}

/* Updates the counters after a transaction with the result rc. Call with the lock held. */
static void count_group(struct usage_log *log, const struct queued_batch *group, int rc)
{
    log->counts.commits += rc == 0;
    for (const struct queued_batch *w = group; w; w = w->next) {
        log->queued -= w->count;
        log->queued_bytes -= w->bytes;
        if (rc < 0)
            log->counts.failed += w->count;
        for (size_t i = 0; rc == 0 && i < w->count; i++)
            count_usage(&log->counts, w->usages[i]);
    }
    log->unlearned |= rc == 0;
}

static void write_usage_group(struct usage_log *log, struct queued_batch *group)
{
    wt_error err = {0};
    int rc = record_group(log, group, &err);
    pthread_mutex_lock(&log->lock);
    count_group(log, group, rc);
    pthread_cond_broadcast(&log->wake);
    pthread_mutex_unlock(&log->lock);
    while (group) {
        struct queued_batch *next = group->next;
        group->told(group->context, rc, err.message, group->usages, rc == 0 ? group->count : 0);
        free_batch(group);
        group = next;
    }
}

static void *run_writer(void *context)
{
    struct usage_log *log = context;
    double next_ms = 0;
    pthread_mutex_lock(&log->lock);
    while (log->first || !atomic_load(&log->closing)) {
        if (!log->first) {
            pthread_cond_wait(&log->wake, &log->lock);
        } else if (!atomic_load(&log->closing) && wt__now_ms() < next_ms) {
            wt__steady_wait(&log->wake, &log->lock, next_ms);
        } else {
            struct queued_batch *group = log->first;
            next_ms = wt__now_ms() + log->options.commit_ms;
            log->first = NULL;
            log->last = &log->first;
            pthread_mutex_unlock(&log->lock);
            write_usage_group(log, group);
            pthread_mutex_lock(&log->lock);
        }
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

static int stop_learning(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct usage_log *log = context;
    (void)phase, (void)done, (void)total;
    return atomic_load(&log->closing);
}

/* Learns from new usages in the background. If the store has no model, usages are still recorded, and each failed
 * attempt to learn is counted. */
static void *run_learner(void *context)
{
    struct usage_log *log = context;
    double next_ms = 0;
    unsigned segments = atomic_load(&log->engine->segments);
    pthread_mutex_lock(&log->lock);
    while (!atomic_load(&log->closing)) {
        if (!log->unlearned) {
            wt__steady_wait(&log->wake, &log->lock, wt__now_ms() + log->options.learn_ms);
            log->unlearned |= atomic_load(&log->engine->segments) != segments;
            segments = atomic_load(&log->engine->segments);
        } else if (wt__now_ms() < next_ms) {
            wt__steady_wait(&log->wake, &log->lock, next_ms);
        } else {
            log->unlearned = false;
            pthread_mutex_unlock(&log->lock);
            int64_t learned = wt__usage_learn_in_background(log->engine, stop_learning, log, NULL);
            pthread_mutex_lock(&log->lock);
            log->counts.failed_learnings += learned < 0 && !atomic_load(&log->closing);
            log->counts.learned += learned > 0 ? (uint64_t)learned : 0;
            next_ms = wt__now_ms() + log->options.learn_ms;
        }
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* ---------------------------------------------------------------- opening */

static struct usage_log_options fill_usage_options(const struct usage_log_options *given)
{
    struct usage_log_options options = given ? *given : (struct usage_log_options){0};
    options.commit_ms = options.commit_ms ? options.commit_ms : USAGE_LOG_COMMIT_MS;
    options.learn_ms = options.learn_ms ? options.learn_ms : USAGE_LOG_LEARN_MS;
    options.client_a_minute = options.client_a_minute ? options.client_a_minute : USAGE_LOG_CLIENT_A_MINUTE;
    options.client_burst = options.client_burst ? options.client_burst : USAGE_LOG_CLIENT_BURST;
    return options;
}

static void free_log(struct usage_log *log)
{
    for (size_t i = 0; i < log->bucket_count; i++)
        free((char *)log->buckets[i].name.ptr);
    wt__map_dispose(&log->by_name);
    pthread_cond_destroy(&log->wake);
    pthread_mutex_destroy(&log->lock);
    free(log->buckets);
    free(log);
}

static void stop_threads(struct usage_log *log)
{
    pthread_mutex_lock(&log->lock);
    atomic_store(&log->closing, true);
    pthread_cond_broadcast(&log->wake);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->writer, NULL);
    if (log->learns)
        pthread_join(log->learner, NULL);
}

static int start_threads(struct usage_log *log, wt_error *err)
{
    if (pthread_create(&log->writer, NULL, run_writer, log) != 0)
        return wt__fail(err, WT_ENOMEM, "cannot start a thread to write usages");
    if (log->options.no_learning)
        return 0;
    log->learns = pthread_create(&log->learner, NULL, run_learner, log) == 0;
    if (log->learns)
        return 0;
    stop_threads(log);
    return wt__fail(err, WT_ENOMEM, "cannot start a thread to learn from usages");
}

int wt__usage_log_open(struct usage_log **out, wt_engine *engine, const struct usage_log_options *options,
                       wt_error *err)
{
    *out = NULL;
    if (!engine->spool_usages)
        WT_TRY(wt__engine_refuse_read_only(engine, "usages cannot be recorded", err));
    struct usage_log *log = calloc(1, sizeof *log);
    WT_CHECK_ALLOC(log, err);
    log->engine = engine;
    log->options = fill_usage_options(options);
    log->options.no_learning |= engine->spool_usages != NULL; /* the writer learns */
    log->last = &log->first;
    log->unlearned = true; /* an earlier process may have left usages to learn from */
    log->buckets = wt__alloc_array(USAGE_LOG_CLIENTS_MAX, sizeof *log->buckets);
    pthread_mutex_init(&log->lock, NULL);
    wt__steady_open(&log->wake);
    int rc = log->buckets ? start_threads(log, err) : wt__fail_nomem(err);
    if (rc < 0)
        free_log(log);
    else
        *out = log;
    return rc;
}

void wt__usage_log_close(struct usage_log *log)
{
    if (!log)
        return;
    stop_threads(log);
    free_log(log);
}
