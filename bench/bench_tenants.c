/* bench_tenants.c: the cost of many tenants over one catalogue. bench/tenants.py writes the file of tenants.
 *
 *   bench_tenants STORE TENANTS.jsonl QUERIES.jsonl RECIPE FINDS
 *
 * Opens the tenants, and searches with three engines in turn: that of the first tenant (warm), that of another tenant
 * at each find (first, whose engine is opened and whose index is built), and a store that has only the tools of the
 * first tenant (alone). Then it takes the other tenants once more (again): those with stores of their own have been
 * closed meanwhile, except for the last ones. Prints a JSON object: processor time of the finds in ms, memory in MB,
 * and seconds for loading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <whichtool.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/sort.h"

enum { QUERIES_MAX = 10000, FINDS_MAX = 10000, LINE_BYTES = 1 << 20, NAME_BYTES = 24 };

static char *queries[QUERIES_MAX];
static size_t query_count;

static void read_queries(const char *path)
{
    static char line[LINE_BYTES];
    FILE *file = fopen(path, "r");
    while (file && query_count < QUERIES_MAX && fgets(line, sizeof line, file)) {
        json_t *row = json_loads(line, 0, NULL);
        const char *text = json_string_value(json_object_get(row, "text"));
        if (text)
            queries[query_count++] = strdup(text);
        json_decref(row);
    }
    if (file)
        fclose(file);
}

static void stop_bench(const char *what, const wt_error *err)
{
    fprintf(stderr, "bench_tenants: %s: %s\n", what, err->message);
    exit(1);
}

/* Returns a member of /proc/self/status in MB: VmRSS or VmHWM. */
static double read_memory(const char *member)
{
    char line[256];
    double mb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, member, strlen(member)) == 0)
            mb = strtod(line + strlen(member) + 1, NULL) / 1024;
    if (file)
        fclose(file);
    return mb;
}

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Returns the processor time of a find. */
static double time_find(wt_engine *engine, const char *recipe, size_t query)
{
    wt_find_options options;
    wt_hits *hits = NULL;
    wt_error err;
    wt_find_options_init(&options);
    options.recipe = recipe;
    const char *text = queries[query % query_count];
    double begun = processor_ms();
    if (wt_find(engine, text, strlen(text), &options, &hits, &err) < 0)
        stop_bench("find", &err);
    double taken = processor_ms() - begun;
    wt_hits_free(hits);
    return taken;
}

static wt_engine *take_tenant(wt_tenants *tenants, size_t number)
{
    char name[NAME_BYTES];
    wt_engine *engine;
    wt_error err;
    snprintf(name, sizeof name, "t%zu", number);
    if (wt_tenants_engine(tenants, name, &engine, &err) < 0)
        stop_bench("tenant", &err);
    return engine;
}

/* Returns the processor time of taking a tenant's engine and of a find. */
static double time_taken_find(wt_tenants *tenants, size_t number, const char *recipe, size_t query)
{
    double begun = processor_ms();
    wt_engine *engine = take_tenant(tenants, number);
    double taken = processor_ms() - begun + time_find(engine, recipe, query);
    wt_tenants_release(tenants, engine);
    return taken;
}

/* Opens a store in memory with the tools of a tenant. */
static wt_engine *open_alone(wt_engine *tenant, const wt_open_options *open)
{
    struct buffer lines = {0};
    wt_engine *engine;
    wt_tools *tools;
    wt_add_report *report;
    wt_add_options options;
    wt_error err;
    wt_add_options_init(&options);
    if (wt_list(tenant, NULL, &tools, &err) < 0)
        stop_bench("list", &err);
    for (size_t i = 0; i < tools->len; i++)
        wt__buffer_printf(&lines, "%s\n", tools->items[i]->definition);
    options.format = tools->items[0]->format;
    options.no_vectors = open->model != NULL;
    if (wt_open(&engine, ":memory:", open, &err) < 0 ||
        wt_add(engine, lines.ptr, lines.len, &options, &report, &err) < 0)
        stop_bench("store of one tenant", &err);
    fprintf(stderr, "%zu tools of a tenant, %zu in a store of their own\n", tools->len, (size_t)report->added);
    wt_add_report_free(report);
    wt_tools_free(tools);
    wt__buffer_dispose(&lines);
    return engine;
}

static void put_percentiles(const char *name, double *times, size_t count)
{
    wt__sort_doubles(times, count);
    printf("\"%s_p50_ms\": %.3f, \"%s_p95_ms\": %.3f, ", name, wt__percentile(times, count, 50), name,
           wt__percentile(times, count, 95));
}

int main(int argc, char **argv)
{
    static double warm[FINDS_MAX], first[FINDS_MAX], again[FINDS_MAX], alone[FINDS_MAX];
    size_t finds = argc == 6 ? strtoul(argv[5], NULL, 10) : 0;
    wt_open_options open;
    wt_tenants *tenants;
    wt_tenants_info info;
    wt_engine *shared, *own, *tenant;
    wt_error err;
    wt_open_options_init(&open);
    wt_tenants_info_init(&info);
    if (finds == 0 || finds > FINDS_MAX) {
        fprintf(stderr, "bench_tenants: STORE TENANTS.jsonl QUERIES.jsonl RECIPE FINDS\n");
        return 2;
    }
    const char *recipe = argv[4];
    open.model = strcmp(recipe, "bm25") == 0 ? "" : NULL;
    open.threads = 1;
    open.request_cache = -1; /* engines of tenants have none, or a small one */
    read_queries(argv[3]);
    if (query_count == 0 || wt_open(&shared, argv[1], &open, &err) < 0)
        stop_bench("open", &err);
    time_find(shared, recipe, 0);
    double before = read_memory("VmRSS"), begun = wt__now_ms(), used = processor_ms();
    if (wt_tenants_open(&tenants, shared, argv[2], NULL, &err) < 0)
        stop_bench("tenants", &err);
    double loaded = wt__now_ms() - begun, loading = processor_ms() - used, table = read_memory("VmRSS");
    wt_tenants_get_info(tenants, &info, NULL);
    if (finds >= info.tenants)
        finds = info.tenants - 1;
    tenant = take_tenant(tenants, 0);
    used = processor_ms();
    time_find(tenant, recipe, 0);
    double pool = processor_ms() - used;
    own = open_alone(tenant, &open);
    time_find(own, recipe, 0);
    for (size_t i = 0; i < finds; i++) {
        alone[i] = time_find(own, recipe, i);
        warm[i] = time_find(tenant, recipe, i);
        first[i] = time_taken_find(tenants, 1 + i, recipe, i);
    }
    for (size_t i = 0; i < finds; i++)
        again[i] = time_taken_find(tenants, 1 + i, recipe, i);
    wt_tenants_get_info(tenants, &info, NULL);
    printf("{\"recipe\": \"%s\", \"tenants\": %llu, \"selections\": %llu, ", recipe, (unsigned long long)info.tenants,
           (unsigned long long)info.selections);
    put_percentiles("alone", alone, finds);
    put_percentiles("warm", warm, finds);
    put_percentiles("first", first, finds);
    put_percentiles("again", again, finds);
    printf("\"load_s\": %.2f, \"load_cpu_s\": %.2f, \"pool_cpu_s\": %.2f, \"before_mb\": %.0f, \"loaded_mb\": %.0f, "
           "\"table_mb\": %.0f, \"views\": %llu, \"views_mb\": %.0f, \"end_mb\": %.0f, \"peak_mb\": %.0f}\n",
           loaded / 1e3, loading / 1e3, pool / 1e3, before, table, (double)info.table_bytes / 1e6,
           (unsigned long long)info.open_views, (double)info.view_bytes / 1e6, read_memory("VmRSS"),
           read_memory("VmHWM"));
    wt_tenants_release(tenants, tenant);
    wt_tenants_close(tenants);
    wt_close(own);
    wt_close(shared);
    return 0;
}
