#include "replica/usage_spool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "net/http_client.h"

enum {
    SEGMENTS_MAX = 100000,   /* maximum waiting segments */
    SEGMENT_BYTES = 8 << 20, /* a segment of so many bytes or usages is full; well below the limits of the writer */
    SEGMENT_USAGES = 10000,
    SEGMENT_DIGITS = 32,
    CONNECT_MS = 5000,
    STATUS_INVALID = 400, /* statuses that another attempt cannot change */
    STATUS_TOO_LARGE = 413,
};

#define SEGMENT_ENDING ".jsonl"
#define REFUSED_ENDING ".refused"

struct usage_spool {
    wt_engine *engine;
    char *folder, *url, *bearer;
    struct usage_spool_options options;
    struct http_session *session; /* NULL before the first delivery */
    struct progress progress;
    pthread_t thread;
    bool has_thread;
    atomic_bool closing;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t wake;
    uint64_t bytes; /* bytes of waiting segments */
    struct usage_spool_counts counts;
    char error[sizeof((wt_error *)0)->message]; /* last error said; "" after a success */
};

/* ---------------------------------------------------------------- waiting segments */

static bool is_segment_path(const char *path)
{
    size_t len = strlen(path), ending = strlen(SEGMENT_ENDING);
    return len > ending && strcmp(path + len - ending, SEGMENT_ENDING) == 0;
}

static int list_segments(const struct usage_spool *spool, struct arena *arena, char ***paths, size_t *count,
                         wt_error *err)
{
    size_t all = 0;
    *count = 0;
    WT_TRY(wt__list_own_files(arena, spool->folder, 2 * SEGMENTS_MAX, paths, &all, err));
    for (size_t i = 0; i < all; i++)
        if (is_segment_path((*paths)[i]))
            (*paths)[(*count)++] = (*paths)[i];
    return 0;
}

/* Counts the segments in the folder. */
static int count_waiting_segments(struct usage_spool *spool, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char **paths;
    size_t count;
    uint64_t bytes = 0;
    WT_TRY(list_segments(spool, &arena, &paths, &count, err));
    for (size_t i = 0; i < count; i++)
        bytes += wt__file_size(paths[i]);
    pthread_mutex_lock(&spool->lock);
    spool->counts.waiting = count;
    spool->bytes = bytes;
    pthread_mutex_unlock(&spool->lock);
    return 0;
}

/* ---------------------------------------------------------------- writing */

static void put_segment_line(struct buffer *out, const struct reported_usage *usage, int64_t now)
{
    wt__buffer_text(out, "{\"client\":");
    wt__buffer_json(out, usage->client);
    wt__buffer_text(out, ",\"key\":");
    wt__buffer_json(out, usage->key);
    wt__buffer_printf(out, ",\"time\":%lld,\"usage\":", (long long)now);
    wt__buffer_str(out, usage->line);
    wt__buffer_text(out, "}\n");
}

/* Writes a segment file: name TIME-ID.jsonl, so that the oldest come first. */
static int write_segment(struct usage_spool *spool, const struct buffer *text, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0};
    char id[SEGMENT_DIGITS + 1];
    if (!wt__random_digits(id, SEGMENT_DIGITS))
        return wt__fail(err, WT_EIO, "cannot get random numbers");
    wt__buffer_printf(&path, "%s/%012lld-%s" SEGMENT_ENDING, spool->folder, (long long)time(NULL), id);
    WT_CHECK_ALLOC(!path.failed && !text->failed, err);
    return wt__file_replace(path.ptr, text->ptr, text->len, err);
}

/* Counts a segment before it is written, so that its delivery cannot be counted first. Returns false if it does not
 * fit. */
static bool reserve_segment(struct usage_spool *spool, size_t bytes)
{
    pthread_mutex_lock(&spool->lock);
    bool fits = spool->bytes + bytes <= SPOOL_BYTES_MAX && spool->counts.waiting < SEGMENTS_MAX;
    spool->bytes += fits ? bytes : 0;
    spool->counts.waiting += fits;
    pthread_mutex_unlock(&spool->lock);
    return fits;
}

/* Ends the count of a segment that is no longer there. */
static void release_segment(struct usage_spool *spool, size_t bytes)
{
    pthread_mutex_lock(&spool->lock);
    spool->counts.waiting -= spool->counts.waiting > 0;
    spool->bytes -= bytes < spool->bytes ? bytes : spool->bytes;
    pthread_mutex_unlock(&spool->lock);
}

static int spool_segment(struct usage_spool *spool, const struct buffer *text, wt_error *err)
{
    WT_CHECK_ALLOC(!text->failed, err);
    if (!reserve_segment(spool, text->len)) {
        WT_TRY(count_waiting_segments(spool, err)); /* other processes may have removed some */
        if (!reserve_segment(spool, text->len))
            return wt__fail(err, WT_EFULL, "the spool %s is full, because the writer did not take the usage in it",
                            spool->folder);
    }
    int rc = write_segment(spool, text, err);
    if (rc < 0) {
        release_segment(spool, text->len);
        return rc;
    }
    pthread_mutex_lock(&spool->lock);
    spool->counts.written++;
    pthread_cond_signal(&spool->wake);
    pthread_mutex_unlock(&spool->lock);
    return 0;
}

static int spool_usages(void *context, struct reported_usage *const *usages, size_t count, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    int64_t now = (int64_t)time(NULL);
    size_t begun = 0;
    for (size_t i = 0; i < count; i++) {
        put_segment_line(&text, usages[i], now);
        if (i + 1 < count && text.len < SEGMENT_BYTES && i + 1 - begun < SEGMENT_USAGES)
            continue;
        WT_TRY(spool_segment(context, &text, err));
        wt__buffer_clear(&text);
        begun = i + 1;
    }
    return 0;
}

/* ---------------------------------------------------------------- delivering */

static void say_delivery(struct usage_spool *spool, const wt_error *why)
{
    char line[sizeof((wt_error *)0)->message + 64];
    bool is_new = strcmp(spool->error, why ? why->message : "") != 0;
    snprintf(spool->error, sizeof spool->error, "%s", why ? why->message : "");
    if (!is_new || !spool->options.say)
        return;
    snprintf(line, sizeof line, why ? "cannot deliver usage to the writer: %s" : "delivers usage again%s",
             why ? why->message : "");
    spool->options.say(spool->options.say_context, line);
}

/* Sends a segment. Returns 0 if the writer has applied it, 1 if it can never apply it, or an error. */
static int send_segment(struct usage_spool *spool, const char *id, struct str text, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer url = {0};
    const struct http_header header = {"Authorization", spool->bearer};
    struct http_answer answer = {.status = 0};
    wt__buffer_printf(&url, "%s/v1/usage/segments?id=%s", spool->url, id);
    WT_CHECK_ALLOC(!url.failed, err);
    const struct http_post post = {.url = url.ptr,
                                   .headers = &header,
                                   .header_count = 1,
                                   .body = text,
                                   .connect_ms = CONNECT_MS,
                                   .total_ms = SPOOL_TOTAL_MS,
                                   .stall_ms = SPOOL_TOTAL_MS,
                                   .progress = &spool->progress};
    if (!spool->session)
        WT_TRY(wt__http_session_open(&spool->session, err));
    int rc = wt__http_post(spool->session, &post, &answer, err), status = answer.status;
    struct str body = wt__buffer_view(&answer.body);
    if (rc == 0 && status / 100 != 2)
        rc = wt__fail(err, WT_ENETWORK, "%s answered %d: %.*s", spool->url, status,
                      (int)(body.len < 200 ? body.len : 200), body.len ? body.ptr : "");
    wt__buffer_dispose(&answer.body);
    return rc < 0 && (status == STATUS_INVALID || status == STATUS_TOO_LARGE) ? 1 : rc;
}

/* Delivers one file, unless another process with this cache has. Renames a refused segment, for inspection. */
static int deliver_segment(struct usage_spool *spool, const char *path, wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer refused = {0};
    char id[SEGMENT_DIGITS + 1];
    size_t len = 0, end = strlen(path) - strlen(SEGMENT_ENDING);
    if (end < SEGMENT_DIGITS)
        return 0;
    snprintf(id, sizeof id, "%.*s", SEGMENT_DIGITS, path + end - SEGMENT_DIGITS);
    int rc = wt__file_read(&text, &len, path, SPOOL_BYTES_MAX, err);
    if (rc < 0)
        return rc == WT_ENOTFOUND ? 0 : rc;
    rc = send_segment(spool, id, (struct str){text, len}, err);
    if (rc < 0)
        return rc;
    wt__buffer_printf(&refused, "%s" REFUSED_ENDING, path);
    WT_CHECK_ALLOC(!refused.failed, err);
    if ((rc == 0 ? unlink(path) : rename(path, refused.ptr)) < 0 && errno != ENOENT)
        return wt__fail_errno(err, "remove", path);
    release_segment(spool, len);
    pthread_mutex_lock(&spool->lock);
    *(rc == 0 ? &spool->counts.delivered : &spool->counts.refused) += 1;
    pthread_mutex_unlock(&spool->lock);
    if (rc > 0)
        say_delivery(spool, err);
    return 0;
}

/* Other processes with this cache, and `usage import-segments`, remove segments as well. */
static int deliver_waiting(struct usage_spool *spool, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char **paths;
    size_t count;
    WT_TRY(count_waiting_segments(spool, err));
    WT_TRY(list_segments(spool, &arena, &paths, &count, err));
    for (size_t i = 0; i < count && !atomic_load(&spool->closing); i++)
        WT_TRY(deliver_segment(spool, paths[i], err));
    return 0;
}

static void *run_delivery(void *context)
{
    struct usage_spool *spool = context;
    double wait_ms = SPOOL_POLL_MS;
    while (!atomic_load(&spool->closing)) {
        wt_error why = {0};
        int rc = deliver_waiting(spool, &why);
        if (rc != WT_ECANCELLED)
            say_delivery(spool, rc < 0 ? &why : NULL);
        wait_ms = rc == 0 ? SPOOL_POLL_MS : 2 * wait_ms < SPOOL_RETRY_MAX_MS ? 2 * wait_ms : SPOOL_RETRY_MAX_MS;
        double until = wt__now_ms() + wait_ms;
        pthread_mutex_lock(&spool->lock);
        while (!atomic_load(&spool->closing) && wt__steady_wait(&spool->wake, &spool->lock, until) && rc < 0)
            continue; /* after an error, a new segment does not end the wait */
        pthread_mutex_unlock(&spool->lock);
    }
    return NULL;
}

/* ---------------------------------------------------------------- opening and closing */

static int stop_delivery(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct usage_spool *spool = context;
    (void)phase, (void)done, (void)total;
    return atomic_load(&spool->closing);
}

int wt__usage_spool_open(struct usage_spool **out, wt_engine *engine, const struct usage_spool_options *options,
                         wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer folder = {0}, bearer = {0};
    *out = NULL;
    struct usage_spool *spool = wt__alloc_zeros(1, sizeof *spool);
    WT_CHECK_ALLOC(spool, err);
    size_t len = strlen(options->writer);
    while (len > 0 && options->writer[len - 1] == '/')
        len--;
    wt__buffer_printf(&folder, "%s/usage", options->cache);
    if (options->key)
        wt__buffer_printf(&bearer, "Bearer %s", options->key);
    spool->engine = engine;
    spool->options = *options;
    spool->folder = wt__buffer_take(&folder);
    spool->bearer = wt__buffer_take(&bearer);
    spool->url = wt__copy_string(options->writer, len);
    pthread_mutex_init(&spool->lock, NULL);
    wt__steady_open(&spool->wake);
    wt__progress_init(&spool->progress, stop_delivery, spool);
    int rc = spool->folder && spool->bearer && spool->url ? wt__make_folders(spool->folder, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = count_waiting_segments(spool, err);
    if (rc == 0 && len > 0) {
        spool->has_thread = pthread_create(&spool->thread, NULL, run_delivery, spool) == 0;
        if (!spool->has_thread)
            rc = wt__fail(err, WT_ENOMEM, "cannot start a thread to deliver usage");
    }
    if (rc < 0) {
        wt__usage_spool_close(spool);
        return rc;
    }
    engine->spool_usages = spool_usages;
    engine->spool = spool;
    *out = spool;
    return 0;
}

void wt__usage_spool_close(struct usage_spool *spool)
{
    if (!spool)
        return;
    if (spool->engine->spool == spool)
        spool->engine->spool_usages = NULL;
    pthread_mutex_lock(&spool->lock);
    atomic_store(&spool->closing, true);
    pthread_cond_broadcast(&spool->wake);
    pthread_mutex_unlock(&spool->lock);
    if (spool->has_thread)
        pthread_join(spool->thread, NULL);
    wt__http_session_close(spool->session);
    wt__progress_dispose(&spool->progress);
    pthread_cond_destroy(&spool->wake);
    pthread_mutex_destroy(&spool->lock);
    free(spool->folder);
    free(spool->bearer);
    free(spool->url);
    free(spool);
}

void wt__usage_spool_count(struct usage_spool *spool, struct usage_spool_counts *out)
{
    pthread_mutex_lock(&spool->lock);
    *out = spool->counts;
    pthread_mutex_unlock(&spool->lock);
}
