/* bench_filter.c: cost of a filter for queries on a million tools (engine/filter.h).
 *
 *   bench_filter [WORK_FOLDER [TOOLS [CORPUS]]]
 *
 * WORK_FOLDER defaults to build-bench/work, and TOOLS to 1,000,000. Descriptions come from CORPUS, a corpus.jsonl, and
 * repeat. Without CORPUS, they consist of random words, of which few are frequent and most are rare. Each provider has
 * a thousand tools. One name in ten begins with "delete_", and the others begin with "get_". The tools are imported
 * once, without vectors, into WORK_FOLDER/filter-TOOLS.wt.
 *
 * Filters are measured with bm25, the fastest recipe, where a filter costs relatively most. For each filter, prints:
 *   - the time of the first query, which builds the mask
 *   - the median time of ROUNDS x REQUESTS later queries
 *   - the ratio of this median to the median of the same queries without a filter
 * Queries with and without a filter alternate. Times are processor times, since machines are shared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <whichtool.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/sort.h"
#include "support.h"

enum {
    OF_PROVIDER = 1000, /* tools of a provider */
    IMPORT = 100000,    /* tools of one import */
    REQUESTS = 50,
    ROUNDS = 8,
    WORDS = 60000, /* vocabulary of synthetic tools */
    TEXTS_MAX = 40000,
    LEAST_BYTES = 20, /* descriptions of CORPUS with at most this many bytes are skipped */
    K = 10
};

struct filter_bench {
    char *texts[TEXTS_MAX]; /* descriptions */
    size_t text_count;
    struct rng rng;
    wt_engine *engine;
};

static void zipf_text(struct filter_bench *b, struct buffer *out)
{
    for (int w = 0; w < 20; w++) {
        double u = wt__rng_unit(&b->rng);
        wt__buffer_printf(out, "%sw%u", w ? " " : "", (unsigned)(WORDS * u * u * u * u * u * u));
    }
}

static void read_texts(struct filter_bench *b, const char *corpus)
{
    FILE *file = corpus ? fopen(corpus, "r") : NULL;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    if (corpus && !file)
        exit_with_message("the corpus cannot be read");
    while (file && b->text_count < TEXTS_MAX && (len = getline(&line, &capacity, file)) > 0) {
        json_t *tool = NULL;
        const char *text = wt__json_parse(&tool, line, (size_t)len, NULL) == 0
                               ? json_string_value(json_object_get(tool, "text"))
                               : NULL;
        if (text && strlen(text) > LEAST_BYTES)
            b->texts[b->text_count++] = strdup(text);
        json_decref(tool);
    }
    free(line);
    if (file)
        fclose(file);
    while (!file && b->text_count < TEXTS_MAX) {
        struct buffer text = {0};
        zipf_text(b, &text);
        b->texts[b->text_count++] = wt__buffer_take(&text);
    }
}

static void import_filter_store(struct filter_bench *b, size_t tools)
{
    for (size_t begin = 0; begin < tools; begin += IMPORT) {
        struct buffer lines = {0};
        wt_add_options options;
        wt_add_report *report;
        wt_error err;
        for (size_t i = begin; i < tools && i < begin + IMPORT; i++) {
            const char *text = b->texts[i % b->text_count];
            wt__buffer_printf(&lines,
                              "{\"provider\": \"p%zu\", \"name\": \"%s_thing_%zu\", \"description\": ", i / OF_PROVIDER,
                              i % 10 ? "get" : "delete", i);
            wt__buffer_json(&lines, wt__str(text));
            wt__buffer_text(&lines, "}\n");
        }
        wt_add_options_init(&options);
        options.no_vectors = 1;
        options.format = "jsonl";
        if (lines.failed || wt_add(b->engine, lines.ptr, lines.len, &options, &report, &err) < 0)
            exit_with_message(lines.failed ? "out of memory" : err.message);
        wt_add_report_free(report);
        wt__buffer_dispose(&lines);
    }
}

static double run_filtered_find(struct filter_bench *b, size_t request, const wt_filter *filter, size_t *hits)
{
    const char *text = b->texts[request * 7919 % b->text_count];
    size_t len = strlen(text) < 60 ? strlen(text) : 60;
    wt_find_options options;
    wt_hits *found;
    wt_error err;
    wt_find_options_init(&options);
    options.k = K;
    options.recipe = "bm25";
    options.copies = 1;
    options.filter = filter;
    double begun = processor_ms();
    if (wt_find(b->engine, text, len, &options, &found, &err) < 0)
        exit_with_message(err.message);
    double took = processor_ms() - begun;
    *hits += found->len;
    wt_hits_free(found);
    return took;
}

static void measure_filter(struct filter_bench *b, const char *name, const wt_filter *filter)
{
    static double with[ROUNDS * REQUESTS], without[ROUNDS * REQUESTS];
    size_t hits = 0, all = 0, n = 0;
    double first = run_filtered_find(b, 0, filter, &hits);
    hits = 0;
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < REQUESTS; i++, n++) {
            /* The order alternates, because the second query finds its postings in caches. */
            if (round % 2)
                with[n] = run_filtered_find(b, i, filter, &hits);
            without[n] = run_filtered_find(b, i, NULL, &all);
            if (round % 2 == 0)
                with[n] = run_filtered_find(b, i, filter, &hits);
        }
    wt__sort_doubles(with, n);
    wt__sort_doubles(without, n);
    printf("%s, bm25 of 1M tools: first query\twhichtool\t%.1f\tms\n", name, first);
    printf("%s, bm25 of 1M tools: later queries\twhichtool\t%.2f\tms\n", name, with[n / 2]);
    printf("%s, bm25 of 1M tools: later queries / queries without a filter\twhichtool\t%.2f\t\n", name,
           with[n / 2] / without[n / 2]);
    fprintf(stderr, "%s: %.1f hits a request, %.1f without; p95 %.2f ms, %.2f ms without\n", name,
            (double)hits / (double)n, (double)all / (double)n, with[n * 95 / 100], without[n * 95 / 100]);
}

static const char *const one[] = {"p500"}, *const ten[] = {"p0",   "p111", "p222", "p333", "p444",
                                                           "p555", "p666", "p777", "p888", "p999"},
                         *const deletes[] = {"delete_*"}, *const of_whole[] = {"*/delete_*"},
                         *const some[] = {"p5*/get_*"}, *const few[] = {"*00"};

static const struct {
    const char *name;
    wt_filter filter;
} filters[] = {
    {"no filter", {.size = sizeof(wt_filter)}},
    {"one provider left out", {.size = sizeof(wt_filter), .excluded_providers = one, .excluded_provider_count = 1}},
    {"delete_* left out", {.size = sizeof(wt_filter), .excluded = deletes, .excluded_count = 1}},
    {"*/delete_* left out", {.size = sizeof(wt_filter), .excluded = of_whole, .excluded_count = 1}},
    {"p5*/get_* only", {.size = sizeof(wt_filter), .only = some, .only_count = 1}},
    {"*00 only", {.size = sizeof(wt_filter), .only = few, .only_count = 1}},
    {"ten providers only", {.size = sizeof(wt_filter), .providers = ten, .provider_count = 10}},
    {"one provider only", {.size = sizeof(wt_filter), .providers = one, .provider_count = 1}},
};

int main(int argc, char **argv)
{
    static struct filter_bench b;
    const char *folder = argc > 1 ? argv[1] : "build-bench/work";
    size_t tools = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
    struct buffer path = {0};
    wt_open_options options;
    wt_catalog_info info;
    wt_error err;
    wt__rng_seed(&b.rng, 1);
    read_texts(&b, argc > 3 ? argv[3] : NULL);
    wt__buffer_printf(&path, "%s/filter-%zu.wt", folder, tools);
    wt_open_options_init(&options);
    options.model = "";
    wt_catalog_info_init(&info);
    if (path.failed || wt_open(&b.engine, path.ptr, &options, &err) < 0 || wt_info(b.engine, &info, &err) < 0)
        exit_with_message(path.failed ? "out of memory" : err.message);
    if (info.tools == 0)
        import_filter_store(&b, tools);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        measure_filter(&b, filters[i].name, &filters[i].filter);
    wt_close(b.engine);
    wt__buffer_dispose(&path);
    for (size_t i = 0; i < b.text_count; i++)
        free(b.texts[i]);
    return 0;
}
