/* bench_needs.c: fits the parameters of src/choose/relevance.c that pick tools in stores without recorded use.
 *
 *   bench_needs STORE REQUESTS.jsonl [MODEL [joint]]     prints C source
 *
 * STORE and REQUESTS.jsonl: the store of bench/real, and its dev requests. Some requests need no tool. MODEL: an
 * encoder, or "" to search by words only. joint: with the joint scorer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "query/chooser_input.h"
#include "choose/relevance.h"
#include "query/search.h"
#include "learn/logistic.h"
#include "support.h"

enum { MOST = 1 << 16 };

static float values[MOST][NEED_FEATURES];
static uint8_t answers[MOST];
static size_t rows;

static bool is_needed(const json_t *needs, const char *id)
{
    size_t n, i;
    json_t *need, *tool;
    json_array_foreach(needs, n, need)
        json_array_foreach(need, i, tool) if (strcmp(json_string_value(tool), id) == 0) return true;
    return false;
}

static void collect_request_rows(wt_engine *engine, const json_t *request, bool joint)
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
                            .joint = joint,
                            .k = 100};
    if (wt__search_run(&search, &err) < 0)
        exit_with_message(err.message);
    wt__set_probabilities(&search, NAN);
    size_t count = wt__need_hits(&search.hits, hits);
    for (size_t i = 0; i < count; i++)
        which[i] = hits[i].hit;
    if (wt__materialise_hits(&search, which, count, false, &items, &len, &err) < 0 || len != count)
        exit_with_message("a hit is no longer in the store");
    for (size_t i = 0; i < count && rows < MOST; i++, rows++) {
        memcpy(values[rows], hits[i].values, sizeof values[rows]);
        answers[rows] = is_needed(json_object_get(request, "needs"), items[i]->tool->id);
    }
    wt__search_end(&search);
    wt__arena_dispose(&arena);
}

int main(int argc, char **argv)
{
    wt_open_options options;
    wt_engine *engine;
    wt_error err;
    static char line[1 << 20];
    FILE *file = argc > 2 ? fopen(argv[2], "r") : NULL;
    if (!file)
        exit_with_message("usage: bench_needs STORE REQUESTS.jsonl [MODEL [joint]]");
    bool joint = argc > 4 && strcmp(argv[4], "joint") == 0;
    wt_open_options_init(&options);
    options.model = argc > 3 ? argv[3] : NULL;
    if (wt_open(&engine, argv[1], &options, &err) < 0)
        exit_with_message(err.message);
    while (fgets(line, sizeof line, file)) {
        json_t *request = json_loads(line, 0, NULL);
        if (!request)
            exit_with_message("a line is not valid JSON");
        collect_request_rows(engine, request, joint);
        json_decref(request);
    }
    float weights[NEED_FEATURES], constant;
    const struct logistic_samples samples = {
        .count = rows, .features = NEED_FEATURES, .values = &values[0][0], .answers = answers};
    wt__logistic_fit(&samples, 1e-3, weights, &constant);
    for (size_t f = 0; f < NEED_FEATURES; f++)
        printf("%s%.4gf", f ? ", " : "{{", (double)weights[f]);
    printf("}, %.4gf}\n", (double)constant);
    fclose(file);
    wt_close(engine);
    return 0;
}
