/* bench_waiting.c: waiting time of queries while the catalogue changes.
 *
 *   bench_waiting CORPUS [WORK_FOLDER]      CORPUS: a corpus.jsonl; WORK_FOLDER: default build-bench/work
 *
 * One engine has the tools of CORPUS. They have no vectors, because encoding takes long and does not block queries. One
 * thread queries without a pause. The thread is measured alone, and then together with each of these loads on a second
 * thread:
 *   - computation that does not touch the store, as a baseline
 *   - imports of all tools at once, with changed descriptions
 *   - imports of all tools, BATCH at a time, with changed descriptions
 * The size of the catalogue is constant, so that every query has the same work. hybrid also encodes its request.
 *
 * Other work on the machine causes outliers. The maximum is therefore printed twice. The second maximum ("when served")
 * excludes the time in which the query was ready but had no processor (schedstat of Linux). Work, and waiting for locks
 * and files, are included. If a query never gave up its processor, its processor time is used instead, because
 * schedstat does not include time taken by a hypervisor. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <whichtool.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "support.h"

enum { TOOLS_MAX = 20000, BATCH = 500, QUERIES = 2000, QUERIES_MAX = 100000, REQUEST_BYTES = 100, ROUNDS = 3 };

enum load { IDLE, COMPUTING, WHOLE, BATCHES, LOADS };

static const char *const load_names[LOADS] = {"alone", "beside computing", "beside an import",
                                              "beside imports of 500 tools"};

struct waiting_bench {
    wt_engine *engine;
    json_t *tools[TOOLS_MAX];
    char *requests[TOOLS_MAX];
    size_t tool_count;
    enum load load;
    atomic_bool ended;                                 /* the load has finished or should stop */
    unsigned edition;                                  /* number of the last import of all tools */
    int schedstat;                                     /* file of the querying thread; -1 if not available */
    double times[QUERIES_MAX], own_times[QUERIES_MAX]; /* milliseconds; own_times: excluding the wait for a processor */
};

struct wait_spread {
    double median, p99, worst, own_p99, own_worst;
};

static void read_bench_tools(struct waiting_bench *b, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    while (file && (len = getline(&line, &capacity, file)) > 0 && b->tool_count < TOOLS_MAX) {
        json_t *tool = NULL;
        if (wt__json_parse(&tool, line, (size_t)len, NULL) < 0)
            continue;
        struct buffer request = {0};
        struct str text = wt__json_str(tool, "text");
        wt__buffer_str(&request, wt__json_str(tool, "title"));
        wt__buffer_char(&request, ' ');
        wt__buffer_str(&request, (struct str){text.ptr, text.len < REQUEST_BYTES ? text.len : REQUEST_BYTES});
        b->requests[b->tool_count] = wt__buffer_take(&request);
        b->tools[b->tool_count++] = tool;
    }
    free(line);
    if (file)
        fclose(file);
    if (b->tool_count == 0)
        exit_with_message("the corpus has no tools");
}

/* Imports the tools [from, upto), with the number of the edition in their descriptions. */
static void import_edition(struct waiting_bench *b, size_t from, size_t upto)
{
    struct buffer bytes = {0};
    wt_add_options options;
    wt_add_report *report;
    wt_error err;
    for (size_t i = from; i < upto; i++) {
        struct buffer text = {0};
        wt__buffer_str(&text, wt__json_str(b->tools[i], "text"));
        wt__buffer_printf(&text, " edition%u", b->edition);
        json_t *tool = json_copy(b->tools[i]);
        json_object_set_new(tool, "text", json_stringn(text.ptr, text.len));
        char *line = json_dumps(tool, JSON_COMPACT);
        wt__buffer_text(&bytes, line);
        wt__buffer_char(&bytes, '\n');
        free(line);
        json_decref(tool);
        wt__buffer_dispose(&text);
    }
    wt_add_options_init(&options);
    options.format = "beir";
    options.no_vectors = 1;
    if (wt_add(b->engine, bytes.ptr, bytes.len, &options, &report, &err) < 0)
        exit_with_message(err.message);
    wt_add_report_free(report);
    wt__buffer_dispose(&bytes);
}

static void *run_load(void *context)
{
    struct waiting_bench *b = context;
    if (b->load == COMPUTING) {
        volatile double sum = 0;
        while (!atomic_load(&b->ended))
            for (int i = 0; i < 1000; i++)
                sum = sum * 0.5 + i;
        return NULL;
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t step = b->load == WHOLE ? b->tool_count : BATCH;
        b->edition++;
        for (size_t i = 0; i < b->tool_count; i += step)
            import_edition(b, i, i + step < b->tool_count ? i + step : b->tool_count);
    }
    atomic_store(&b->ended, true);
    return NULL;
}

/* Returns the milliseconds in which this thread was ready but had no processor. */
static double unserved_ms(const struct waiting_bench *b)
{
    char text[128];
    unsigned long long ran = 0, waited = 0;
    ssize_t len = b->schedstat >= 0 ? pread(b->schedstat, text, sizeof text - 1, 0) : 0;
    text[len > 0 ? len : 0] = '\0';
    return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? (double)waited / 1e6 : 0;
}

/* Returns how often this thread gave up its processor to wait for a lock or a file. */
static long sleeps(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static double query(struct waiting_bench *b, const char *recipe, size_t number, double *own)
{
    const char *request = b->requests[number * 7919 % b->tool_count];
    wt_find_options options;
    wt_hits *hits;
    wt_error err;
    wt_find_options_init(&options);
    options.recipe = recipe;
    long slept = sleeps();
    double unserved = unserved_ms(b), ran = processor_ms(), began = wt__now_ms();
    if (wt_find(b->engine, request, strlen(request), &options, &hits, &err) < 0)
        exit_with_message(err.message);
    double took = wt__now_ms() - began;
    ran = processor_ms() - ran;
    *own = sleeps() == slept ? ran : took - (unserved_ms(b) - unserved);
    wt_hits_free(hits);
    return took;
}

static struct wait_spread measure_waiting(struct waiting_bench *b, const char *recipe, enum load load)
{
    pthread_t thread;
    size_t count = 0;
    bool imports = load == WHOLE || load == BATCHES;
    b->load = load;
    atomic_store(&b->ended, false);
    if (load != IDLE && pthread_create(&thread, NULL, run_load, b) != 0)
        exit_with_message("no thread");
    while (count < QUERIES_MAX && (imports ? !atomic_load(&b->ended) : count < QUERIES)) {
        b->times[count] = query(b, recipe, count, &b->own_times[count]);
        count++;
    }
    if (!imports)
        atomic_store(&b->ended, true);
    if (load != IDLE)
        pthread_join(thread, NULL);
    qsort(b->times, count, sizeof *b->times, compare_doubles);
    qsort(b->own_times, count, sizeof *b->own_times, compare_doubles);
    struct wait_spread spread = {b->times[count / 2], b->times[count * 99 / 100], b->times[count - 1],
                                 b->own_times[count * 99 / 100], b->own_times[count - 1]};
    const char *name = load_names[load];
    fprintf(stderr, "waiting: %s %s: %zu queries\n", recipe, name, count);
    printf("find by %s %s, median\twhichtool\t%.2f\tms\n", recipe, name, spread.median);
    printf("find by %s %s, p99\twhichtool\t%.2f\tms\n", recipe, name, spread.p99);
    printf("find by %s %s, worst\twhichtool\t%.2f\tms\n", recipe, name, spread.worst);
    printf("find by %s %s, worst when served\twhichtool\t%.2f\tms\n", recipe, name, spread.own_worst);
    fflush(stdout);
    return spread;
}

static void measure_recipe(struct waiting_bench *b, const char *recipe)
{
    struct wait_spread spreads[LOADS];
    double own;
    for (size_t i = 0; i < 100; i++)
        query(b, recipe, i, &own);
    for (enum load load = IDLE; load < LOADS; load++) {
        spreads[load] = measure_waiting(b, recipe, load);
        if (load < WHOLE)
            continue;
        printf("find by %s %s, worst / p99 alone\twhichtool\t%.2f\t\n", recipe, load_names[load],
               spreads[load].worst / spreads[IDLE].p99);
        printf("find by %s %s, worst when served / p99 alone\twhichtool\t%.2f\t\n", recipe, load_names[load],
               spreads[load].own_worst / spreads[IDLE].own_p99);
        printf("find by %s %s, p99 / p99 beside computing\twhichtool\t%.2f\t\n", recipe, load_names[load],
               spreads[load].p99 / spreads[COMPUTING].p99);
    }
}

int main(int argc, char **argv)
{
    static struct waiting_bench bench;
    const char *folder = argc > 2 ? argv[2] : "build-bench/work";
    char path[1024];
    wt_error err;
    if (argc < 2 || wt__make_folders(folder, NULL) < 0)
        exit_with_message("usage: bench_waiting CORPUS [WORK_FOLDER]");
    snprintf(path, sizeof path, "%s/waiting.wt", folder);
    remove(path);
    if (wt_open(&bench.engine, path, NULL, &err) < 0)
        exit_with_message(err.message);
    bench.schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    read_bench_tools(&bench, argv[1]);
    import_edition(&bench, 0, bench.tool_count);
    measure_recipe(&bench, "bm25");
    measure_recipe(&bench, "hybrid");
    wt_close(bench.engine);
    for (size_t i = 0; i < bench.tool_count; i++) {
        json_decref(bench.tools[i]);
        free(bench.requests[i]);
    }
    return 0;
}
