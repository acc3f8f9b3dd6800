/* bench_find.c: finds per second of the library alone, and the cost of a find, for comparison with the server in
 * bench/serving_api.py.
 *
 *   bench_find STORE QUERIES.jsonl THREADS SECONDS [RECIPE]
 *
 * Each thread runs all queries in turn, starting with a different query, and discards the results. Prints a JSON object
 * with the number of finds, and with the wall and processor seconds from the first to the last find. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <whichtool.h>

#include "base/clock.h"
#include "base/json.h"

enum { QUERIES_MAX = 10000, THREADS_MAX = 64, LINE_MAX_BYTES = 1 << 20 };

struct find_bench {
    wt_engine *engine;
    const char *recipe;
    char *queries[QUERIES_MAX];
    size_t query_count;
    double until_ms;
    atomic_size_t finds, failed;
};

struct query_thread {
    struct find_bench *bench;
    size_t first;
    pthread_t thread;
};

static void read_queries(struct find_bench *b, const char *path)
{
    static char line[LINE_MAX_BYTES];
    FILE *file = fopen(path, "r");
    while (file && b->query_count < QUERIES_MAX && fgets(line, sizeof line, file)) {
        json_t *row = json_loads(line, 0, NULL);
        const char *text = json_string_value(json_object_get(row, "text"));
        if (text)
            b->queries[b->query_count++] = strdup(text);
        json_decref(row);
    }
    if (file)
        fclose(file);
}

static void run_bench_query(struct find_bench *b, size_t query)
{
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = b->recipe;
    if (wt_find(b->engine, b->queries[query], strlen(b->queries[query]), &options, &hits, NULL) < 0)
        atomic_fetch_add(&b->failed, 1);
    wt_hits_free(hits);
    atomic_fetch_add(&b->finds, 1);
}

static void *ask_on(void *context)
{
    struct query_thread *asker = context;
    for (size_t i = asker->first; wt__now_ms() < asker->bench->until_ms; i++)
        run_bench_query(asker->bench, i % asker->bench->query_count);
    return NULL;
}

static double processor_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
    static struct find_bench b;
    static struct query_thread askers[THREADS_MAX];
    size_t threads = argc > 4 ? strtoul(argv[3], NULL, 10) : 0;
    wt_open_options open;
    wt_error err;
    wt_open_options_init(&open);
    if (argc < 5 || threads == 0 || threads > THREADS_MAX) {
        fprintf(stderr, "bench_find: STORE QUERIES.jsonl THREADS SECONDS [RECIPE]\n");
        return 2;
    }
    b.recipe = argc > 5 ? argv[5] : NULL;
    open.model = b.recipe && strcmp(b.recipe, "bm25") == 0 ? "" : NULL;
    read_queries(&b, argv[2]);
    if (b.query_count == 0 || wt_open(&b.engine, argv[1], &open, &err) < 0) {
        fprintf(stderr, "bench_find: cannot open STORE, or QUERIES.jsonl has no queries\n");
        return 1;
    }
    run_bench_query(&b, 0);
    atomic_store(&b.finds, 0);
    double begun = wt__now_ms(), used = processor_seconds();
    b.until_ms = begun + 1000 * strtod(argv[4], NULL);
    for (size_t t = 0; t < threads; t++) {
        askers[t] = (struct query_thread){.bench = &b, .first = t * b.query_count / threads};
        pthread_create(&askers[t].thread, NULL, ask_on, &askers[t]);
    }
    for (size_t t = 0; t < threads; t++)
        pthread_join(askers[t].thread, NULL);
    printf("{\"threads\": %zu, \"finds\": %zu, \"failed\": %zu, \"seconds\": %.3f, \"processor_seconds\": %.3f}\n",
           threads, (size_t)b.finds, (size_t)b.failed, (wt__now_ms() - begun) / 1000, processor_seconds() - used);
    wt_close(b.engine);
    for (size_t i = 0; i < b.query_count; i++)
        free(b.queries[i]);
    return b.failed > 0;
}
