/* bench_sizes.c: cost of a find by the number of tools, from the text of the request to the hits.
 *
 *   bench_sizes TEXTS REQUESTS FOLDER [SIZE...]      sizes: 1k 16k 100k 1M; default: all
 *
 * TEXTS and REQUESTS have one text a line, and TEXTS.vectors the vectors of TEXTS by the default encoder
 * (`bench_encode MODEL --serve`). A tool has the text of a real tool or, after the last of these, the text of one tool
 * and half of another's, with a mixture of their vectors. So no text of the million is encoded, which would take hours.
 * The store FOLDER/sizes-SIZE.wt is kept for later runs.
 *
 * Requests have 15 to 25 words. Prints for each size:
 *
 *   - the processor time of a find by words (bm25), by vectors (dense), by both (hybrid, the default), and with the
 *     joint scorer
 *   - the time to open the store and its index
 *   - the bytes of the index on disk, for each tool
 *   - the resident memory of the open store after these finds */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "encoder/encoder.h"
#include "engine/engine.h"
#include "support.h"

enum {
    DIM = 384,
    K = 10,
    ROUNDS = 5,
    REQUESTS_MAX = 60,
    LEAST_WORDS = 15,
    MOST_WORDS = 25,
    REQUEST_BYTES = 1024,
    TEXT_BYTES = 400, /* of a tool's text; the rest is left out */
    IMPORT = 100000,  /* tools of one import */
    STORED = 2048     /* vectors of one transaction */
};

static const struct catalogue_size {
    const char *name;
    size_t tools;
} sizes[] = {{"1k", 1000}, {"16k", 16000}, {"100k", 100000}, {"1M", 1000000}};

struct sizes_bench {
    char **texts; /* [text_count] */
    size_t text_count;
    float *vectors; /* [text_count, DIM] */
    char *requests[REQUESTS_MAX];
    size_t request_count;
};

/* The real tools of which a tool is made. */
struct mixture {
    size_t first, second;
    float share; /* of the first */
};

/* ---------------------------------------------------------------- texts */

static char **read_text_lines(const char *path, size_t *count)
{
    char *bytes, **out = NULL;
    size_t len, room = 0;
    wt_error err;
    *count = 0;
    if (wt__file_read(&bytes, &len, path, (size_t)1 << 30, &err) < 0)
        exit_with_wt_error(&err);
    for (char *line = bytes, *stop; (stop = strchr(line, '\n')); line = stop + 1) {
        *stop = '\0';
        if (wt__grow((void **)&out, &room, *count + 1, sizeof *out) < 0)
            exit_with_message("out of memory");
        out[(*count)++] = line;
    }
    if (*count == 0)
        exit_with_message("a file of texts is empty");
    return out;
}

static void read_tool_vectors(struct sizes_bench *b, const char *texts)
{
    char path[4200], *bytes;
    size_t len;
    wt_error err;
    snprintf(path, sizeof path, "%s.vectors", texts);
    if (wt__file_read(&bytes, &len, path, (size_t)1 << 32, &err) < 0)
        exit_with_wt_error(&err);
    if (len != b->text_count * DIM * sizeof(float))
        exit_with_message("the vectors are not those of the texts");
    b->vectors = (float *)(void *)bytes;
}

static size_t count_words(const char *text)
{
    size_t words = 0;
    for (const char *at = text; *at; at++)
        words += *at != ' ' && (at == text || at[-1] == ' ');
    return words;
}

static void read_requests(struct sizes_bench *b, const char *path)
{
    size_t count;
    char **lines = read_text_lines(path, &count);
    for (size_t i = 0; i < count && b->request_count < REQUESTS_MAX; i++) {
        size_t words = count_words(lines[i]);
        if (words >= LEAST_WORDS && words <= MOST_WORDS)
            b->requests[b->request_count++] = lines[i];
    }
    if (b->request_count == 0)
        exit_with_message("no request has 15 to 25 words");
    free(lines);
}

/* ---------------------------------------------------------------- catalogues */

static struct mixture mixture_of(const struct sizes_bench *b, size_t tool)
{
    struct rng rng;
    if (tool < b->text_count)
        return (struct mixture){tool, tool, 1};
    wt__rng_seed(&rng, tool);
    struct mixture of = {.first = wt__rng_below(&rng, b->text_count), .second = wt__rng_below(&rng, b->text_count)};
    of.share = (float)(.5 + wt__rng_unit(&rng) / 2);
    return of;
}

static void add_tools(const struct sizes_bench *b, wt_engine *engine, size_t begin, size_t end)
{
    struct buffer lines = {0}, text = {0};
    wt_add_options options;
    wt_add_report *report;
    wt_error err;
    for (size_t i = begin; i < end; i++) {
        struct mixture of = mixture_of(b, i);
        const char *second = b->texts[of.second];
        wt__buffer_clear(&text);
        wt__buffer_printf(&text, "%.*s", TEXT_BYTES, b->texts[of.first]);
        if (of.share < 1)
            wt__buffer_printf(&text, " %.*s", TEXT_BYTES / 2, second + strlen(second) / 2);
        wt__buffer_printf(&lines, "{\"provider\": \"p%zu\", \"name\": \"tool_%zu\", \"description\": ", i / 20, i);
        wt__buffer_json(&lines, wt__str(text.ptr));
        wt__buffer_text(&lines, "}\n");
    }
    wt_add_options_init(&options);
    options.no_vectors = 1;
    options.format = "jsonl";
    if (text.failed || lines.failed || wt_add(engine, lines.ptr, lines.len, &options, &report, &err) < 0)
        exit_with_message(lines.failed || text.failed ? "out of memory" : err.message);
    wt_add_report_free(report);
    wt__buffer_dispose(&lines);
    wt__buffer_dispose(&text);
}

static void mix_vector(const struct sizes_bench *b, size_t tool, float *x)
{
    struct mixture of = mixture_of(b, tool);
    const float *first = b->vectors + of.first * DIM, *second = b->vectors + of.second * DIM;
    float squares = 0;
    for (size_t i = 0; i < DIM; i++) {
        x[i] = of.share * first[i] + (1 - of.share) * second[i];
        squares += x[i] * x[i];
    }
    for (size_t i = 0; i < DIM; i++)
        x[i] /= sqrtf(squares);
}

/* Tools were imported in order, so that the number of a tool is its id - 1. */
static void store_vectors(const struct sizes_bench *b, wt_engine *engine)
{
    static struct store_key keys[STORED];
    static float vectors[STORED * DIM];
    const struct encoder *encoder;
    wt_error err;
    if (wt__engine_encoder(engine, &encoder, &err) < 0)
        exit_with_wt_error(&err);
    struct vector_set set = wt__engine_vectors(encoder, engine);
    if (set.dim != DIM)
        exit_with_message("the default encoder has another dimension");
    for (int64_t after = 0;;) {
        int count = wt__store_missing_vectors(engine->store, &set, after, keys, STORED, &err);
        for (int i = 0; i < count; i++)
            mix_vector(b, (size_t)keys[i].id - 1, vectors + (size_t)i * DIM);
        if (count > 0)
            after = keys[count - 1].id;
        if (count < 0 || wt__store_put_vectors(engine->store, &set, keys, vectors, (size_t)count, &err) < 0)
            exit_with_wt_error(&err);
        if (count == 0)
            break;
    }
    wt__engine_changed(engine);
}

static wt_engine *open_catalogue(const char *path)
{
    wt_open_options options;
    wt_engine *engine;
    wt_error err;
    wt_open_options_init(&options);
    if (wt_open(&engine, path, &options, &err) < 0)
        exit_with_wt_error(&err);
    return engine;
}

static void make_catalogue(const struct sizes_bench *b, const char *path, size_t tools)
{
    wt_engine *engine = open_catalogue(path);
    wt_catalog_info info;
    wt_error err;
    wt_catalog_info_init(&info);
    if (wt_info(engine, &info, &err) < 0)
        exit_with_wt_error(&err);
    for (size_t begin = info.tools; begin < tools; begin += IMPORT)
        add_tools(b, engine, begin, begin + IMPORT < tools ? begin + IMPORT : tools);
    store_vectors(b, engine);
    wt_close(engine);
}

/* ---------------------------------------------------------------- times */

static double time_find(wt_engine *engine, const char *request, const char *recipe)
{
    wt_find_options options;
    wt_hits *hits;
    wt_error err;
    wt_find_options_init(&options);
    options.k = K;
    options.recipe = recipe;
    double begun = processor_ms();
    if (wt_find(engine, request, strlen(request), &options, &hits, &err) < 0)
        exit_with_wt_error(&err);
    double took = processor_ms() - begun;
    wt_hits_free(hits);
    return took;
}

/* A number after the request makes it a new one, whose vector no cache has. */
static void measure_finds(const struct sizes_bench *b, wt_engine *engine, const char *size, const char *recipe)
{
    static int number;
    double times[REQUESTS_MAX * ROUNDS];
    size_t count = 0;
    int rounds = strcmp(recipe, "joint") == 0 ? 1 : ROUNDS;
    for (int round = -1; round < rounds; round++)
        for (size_t r = 0; r < b->request_count; r++) {
            char request[REQUEST_BYTES];
            snprintf(request, sizeof request, "%.*s (%d)", REQUEST_BYTES - 20, b->requests[r], ++number);
            double took = time_find(engine, request, recipe);
            if (round >= 0)
                times[count++] = took;
        }
    print_result(times, count, "ms", "whichtool", "find by %s over %s tools", recipe, size);
}

static double index_bytes(const char *store)
{
    char command[4300];
    double bytes = 0;
    snprintf(command, sizeof command, "du -s -B1 '%s-index'", store);
    FILE *sizes_of = popen(command, "r");
    if (!sizes_of || fscanf(sizes_of, "%lf", &bytes) != 1)
        exit_with_message("the index has no size");
    pclose(sizes_of);
    return bytes;
}

static double resident_mb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        exit_with_message("the memory cannot be read");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static void measure_size(const struct sizes_bench *b, const struct catalogue_size *size, const char *store)
{
    double before = resident_mb();
    wt_engine *engine = open_catalogue(store);
    time_find(engine, b->requests[0], "hybrid"); /* builds the index if it is old */
    wt_close(engine);
    double opening[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double begun = processor_ms();
        engine = open_catalogue(store);
        time_find(engine, b->requests[0], "bm25");
        opening[round] = processor_ms() - begun;
        if (round + 1 < ROUNDS)
            wt_close(engine);
    }
    print_result(opening, ROUNDS, "ms", "whichtool", "open a store of %s tools, and find by bm25", size->name);
    static const char *const recipes[] = {"bm25", "dense", "hybrid", "joint"};
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++)
        measure_finds(b, engine, size->name, recipes[r]);
    printf("index of %s tools, a tool\twhichtool\t%.0f\tbytes\n", size->name, index_bytes(store) / (double)size->tools);
    printf("find over %s tools, memory\twhichtool\t%.0f\tMB\n", size->name, (resident_mb() - before));
    fflush(stdout);
    wt_close(engine);
}

/* Measures in a process of its own, whose memory is that of this size alone. */
static void bench_catalogue(const struct sizes_bench *b, const struct catalogue_size *size, const char *folder)
{
    char store[4200];
    int status;
    snprintf(store, sizeof store, "%s/sizes-%s.wt", folder, size->name);
    make_catalogue(b, store, size->tools);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure_size(b, size, store);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit_with_message("a size could not be measured");
}

static bool is_wanted(int argc, char **argv, const char *size)
{
    for (int i = 4; i < argc; i++)
        if (strcmp(argv[i], size) == 0)
            return true;
    return argc <= 4;
}

int main(int argc, char **argv)
{
    static struct sizes_bench b;
    if (argc < 4) {
        fprintf(stderr, "usage: bench_sizes TEXTS REQUESTS FOLDER [SIZE...]\n");
        return 2;
    }
    b.texts = read_text_lines(argv[1], &b.text_count);
    read_tool_vectors(&b, argv[1]);
    read_requests(&b, argv[2]);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        if (is_wanted(argc, argv, sizes[s].name))
            bench_catalogue(&b, &sizes[s], argv[3]);
    free(b.texts);
    free(b.vectors);
    return 0;
}
