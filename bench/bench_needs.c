/* bench_needs.c: fits the parameters of src/choose/relevance.c that pick tools in stores without recorded use.
 *
 *   bench_needs STORE REQUESTS.jsonl [MODEL]     prints C source
 *
 * STORE and REQUESTS.jsonl: the store of bench/real, and its dev requests. Some requests need no tool. MODEL: an
 * encoder, or "" to search by words only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "query/chooser_input.h"
#include "choose/relevance.h"
#include "query/search.h"
#include "learn/logistic.h"
#include "support.h"

enum { MOST = 1 << 16, SHARES = 99 };

static float values[MOST][NEED_FEATURES];
static uint8_t answers[MOST];
static size_t rows, begins[MOST], requests; /* begins: first row of each request */
static bool needs_any[MOST];

static bool is_needed(const json_t *needs, const char *id)
{
    size_t n, i;
    json_t *need, *tool;
    json_array_foreach(needs, n, need)
        json_array_foreach(need, i, tool) if (strcmp(json_string_value(tool), id) == 0) return true;
    return false;
}

static void collect_request_rows(wt_engine *engine, const json_t *request)
{
    struct arena arena = {0};
    wt_error err;
    struct need_hit hits[NEED_HITS];
    const wt_hit *const *items;
    size_t len;
    uint32_t which[NEED_HITS];
    struct search search = {.engine = engine,
                            .request = wt__str(json_string_value(json_object_get(request, "text"))),
                            .arena = &arena,
                            .untrained = true,
                            .features = true,
                            .k = 100};
    if (wt__search_run(&search, &err) < 0)
        exit_with_message(err.message);
    wt__set_probabilities(&search, NAN);
    size_t count = wt__need_hits(&search.hits, hits);
    for (size_t i = 0; i < count; i++)
        which[i] = hits[i].hit;
    if (wt__materialise_hits(&search, which, count, false, &items, &len, &err) < 0 || len != count)
        exit_with_message("a hit is no longer in the store");
    begins[requests] = rows;
    needs_any[requests++] = json_array_size(json_object_get(request, "needs")) > 0;
    for (size_t i = 0; i < count && rows < MOST; i++, rows++) {
        memcpy(values[rows], hits[i].values, sizeof values[rows]);
        answers[rows] = is_needed(json_object_get(request, "needs"), items[i]->tool->id);
    }
    wt__search_end(&search);
    wt__arena_dispose(&arena);
}

/* Prints the percentiles of the best tool's probability over answerable requests. */
static void print_shares(const float *weights, float constant)
{
    static float best[MOST];
    size_t count = 0;
    begins[requests] = rows;
    for (size_t r = 0; r < requests; r++) {
        float most = 0;
        for (size_t i = begins[r]; i < begins[r + 1]; i++)
            most = fmaxf(most, wt__logistic(weights, constant, values[i], NEED_FEATURES));
        if (needs_any[r])
            best[count++] = most;
    }
    qsort(best, count, sizeof *best, compare_floats);
    for (size_t s = 0; s <= SHARES; s++)
        printf("%.4gf%s", (double)best[s * count / 100], s < SHARES ? ", " : "\n");
}

int main(int argc, char **argv)
{
    wt_open_options options;
    wt_engine *engine;
    wt_error err;
    static char line[1 << 20];
    FILE *file = argc > 2 ? fopen(argv[2], "r") : NULL;
    if (!file)
        exit_with_message("usage: bench_needs STORE REQUESTS.jsonl [MODEL]");
    wt_open_options_init(&options);
    options.model = argc > 3 ? argv[3] : NULL;
    if (wt_open(&engine, argv[1], &options, &err) < 0)
        exit_with_message(err.message);
    while (fgets(line, sizeof line, file)) {
        json_t *request = json_loads(line, 0, NULL);
        if (!request)
            exit_with_message("a line is not valid JSON");
        collect_request_rows(engine, request);
        json_decref(request);
    }
    float weights[NEED_FEATURES], constant;
    const struct logistic_samples samples = {
        .count = rows, .features = NEED_FEATURES, .values = &values[0][0], .answers = answers};
    wt__logistic_fit(&samples, 1e-3, weights, &constant);
    for (size_t f = 0; f < NEED_FEATURES; f++)
        printf("%s%.4gf", f ? ", " : "{{", (double)weights[f]);
    printf("}, %.4gf}\n", (double)constant);
    print_shares(weights, constant);
    fclose(file);
    wt_close(engine);
    return 0;
}
