/* bench_usage_log.c: a server's usage log without the server, for bench/poison_online.py.
 *
 *   bench_usage_log STORE [PLACES]      PLACES: number of hits, default 5
 *
 * Reads one JSON object a line, and answers with one line:
 *
 *   {"request": ..., "tools": [...], "client": ..., "key": ...}   reports a usage. Answer: "told KEY FATE", once
 *                                                                 stored on disk, or "failed KEY REASON"
 *   {"key": ..., "client": ..., "outcome": ...}                   reports an outcome. Same answers
 *   {"learn": true}                                               learns from reported usages. Answer: "learned N"
 *   {"find": "..."}                                               Answer: "found" and the ids of the first PLACES hits,
 *                                                                 separated by tabs
 *   {"find": "...", "of": "ID"}                                   Answer: "ranked", the rank of that tool (0 if it is
 *                                                                 not among the first PLACES), and its probability
 *
 * "learn" and "find" wait until all earlier reports are on disk. The number of reports of a client is not limited. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <whichtool.h>

#include "base/json.h"
#include "serve/usage_log.h"
#include "support.h"

struct usage_log_bench {
    wt_engine *engine;
    struct usage_log *log;
    size_t places;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t waiting;
};

struct reported {
    struct usage_log_bench *bench;
    char *key;
};

static void print_fate(void *context, int rc, const char *why, struct reported_usage *const *usages, size_t count)
{
    static const char *const fates[] = {"added", "repeated", "changed", "missing"};
    struct reported *reported = context;
    struct usage_log_bench *b = reported->bench;
    pthread_mutex_lock(&b->lock);
    if (rc < 0 || count == 0 || usages[0]->code < 0)
        printf("failed %s %s\n", reported->key, rc < 0 || count == 0 ? why : usages[0]->message);
    else
        printf("told %s %s\n", reported->key, fates[usages[0]->fate]);
    fflush(stdout);
    b->waiting--;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    free(reported->key);
    free(reported);
}

static void report_line(struct usage_log_bench *b, const json_t *object, struct str line)
{
    struct reported *reported = malloc(sizeof *reported);
    struct usage_batch batch = {.client = wt__json_str(object, "client"), .lines = line};
    wt_error err;
    unsigned retry_ms;
    if (!reported || !(reported->key = strdup(wt__json_str(object, "key").ptr)))
        exit_with_message("out of memory");
    reported->bench = b;
    if (batch.client.len == 0)
        batch.client = STR("bench");
    pthread_mutex_lock(&b->lock);
    b->waiting++;
    while (b->waiting == USAGE_LOG_QUEUED_MAX)
        pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
    if (wt__usage_log_report(b->log, &batch, print_fate, reported, &retry_ms, &err) < 0)
        exit_with_message(err.message);
}

static void wait_for_disk(struct usage_log_bench *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->waiting > 0)
        pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

static void print_ids(const wt_hits *hits)
{
    printf("found");
    for (size_t i = 0; i < hits->len; i++)
        printf("\t%s", hits->items[i]->tool->id);
    printf("\n");
}

static void print_place(const wt_hits *hits, struct str id)
{
    size_t i = 0;
    while (i < hits->len && strcmp(hits->items[i]->tool->id, id.ptr) != 0)
        i++;
    printf("ranked\t%zu\t%.3f\n", i < hits->len ? i + 1 : 0, i < hits->len ? hits->items[i]->probability : 0);
}

/* Prints the rank of the tool `of`, or the ids of all hits if `of` is empty. */
static void print_rank(struct usage_log_bench *b, struct str request, struct str of)
{
    wt_find_options options;
    wt_error err;
    wt_hits *hits;
    wt_find_options_init(&options);
    options.k = b->places;
    if (wt_find(b->engine, request.ptr, request.len, &options, &hits, &err) < 0)
        exit_with_message(err.message);
    if (of.len > 0)
        print_place(hits, of);
    else
        print_ids(hits);
    wt_hits_free(hits);
}

static void obey(struct usage_log_bench *b, struct str line)
{
    json_t *object;
    wt_error err;
    if (wt__json_parse(&object, line.ptr, line.len, &err) < 0)
        exit_with_message(err.message);
    struct str request = wt__json_str(object, "find");
    bool learns = json_is_true(json_object_get(object, "learn"));
    if (request.len > 0 || learns)
        wait_for_disk(b);
    if (request.len > 0)
        print_rank(b, request, wt__json_str(object, "of"));
    else if (learns)
        printf("learned %lld\n", (long long)wt_learn_usage(b->engine, NULL, NULL, &err));
    else
        report_line(b, object, line);
    json_decref(object);
}

int main(int argc, char **argv)
{
    struct usage_log_bench b = {.places = argc > 2 ? strtoul(argv[2], NULL, 10) : 5};
    struct usage_log_options options = {.client_a_minute = UINT_MAX, .client_burst = UINT_MAX, .no_learning = true};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    wt_error err;
    if (argc < 2)
        exit_with_message("usage: bench_usage_log STORE [PLACES]");
    pthread_mutex_init(&b.lock, NULL);
    pthread_cond_init(&b.changed, NULL);
    if (wt_open(&b.engine, argv[1], NULL, &err) < 0 || wt__usage_log_open(&b.log, b.engine, &options, &err) < 0)
        exit_with_message(err.message);
    while ((len = getline(&line, &capacity, stdin)) > 0)
        obey(&b, (struct str){line, (size_t)len});
    wt__usage_log_close(b.log);
    wt_close(b.engine);
    free(line);
    return 0;
}
