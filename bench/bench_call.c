/* bench_call: what verification makes of a language model that errs at a known rate, over real requests: the tables of
 * docs/verified-calls.md. It asks a stand-in that knows the labels (call/call_oracle.h), so its figures are no claim
 * about any model.
 *
 *   python3 bench/calls.py WHICHTOOL DATA --sets toolverifier --write FILE
 *   build-bench/bench_call FILE
 *
 * FILE: a line {"candidates": [{"name", "description"}, ...]}, then one a request: {"request", "task", "gold",
 * "nearest", "schema", "arguments", "wrong"}. Out comes one line of JSON a row: rates, method, and the shares of tools,
 * of arguments with the gold tool, and of whole calls that are right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "call/call_oracle.h"
#include "call/generation.h"
#include "call/selection.h"

enum { REQUESTS_MOST = 4096, SEEDS = 5 };

static struct selection_candidate candidates[SELECTION_MOST_CANDIDATES];
static size_t candidate_count;
static json_t *rows[REQUESTS_MOST];
static size_t row_count;

static int read_file(const char *path)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    while ((len = getline(&line, &capacity, file)) > 0 && row_count < REQUESTS_MOST) {
        json_t *row = NULL;
        if (wt__json_parse(&row, line, (size_t)len, NULL) < 0)
            continue;
        const json_t *list = wt__json_array(row, "candidates");
        for (size_t i = 0; i < json_array_size(list) && i < SELECTION_MOST_CANDIDATES; i++) {
            const json_t *one = json_array_get(list, i);
            candidates[candidate_count++] = (struct selection_candidate){
                .name = wt__json_str(one, "name"), .description = wt__json_str(one, "description")};
        }
        if (!list)
            rows[row_count++] = row;
    }
    free(line);
    fclose(file);
    return row_count > 0 && candidate_count > 0 ? 0 : -1;
}

struct measured {
    size_t tools, arguments, calls, asked, questions;
};

static struct call_request request_of(const json_t *row, struct call_labels *labels)
{
    int64_t nearest = wt__json_int(row, "nearest", -1);
    *labels = (struct call_labels){.tool = (size_t)wt__json_int(row, "gold", 0),
                                   .nearest = nearest < 0 ? CALL_NOBODY : (size_t)nearest,
                                   .arguments = wt__json_object(row, "arguments"),
                                   .wrong = wt__json_object(row, "wrong")};
    return (struct call_request){.text = wt__json_str(row, "request"), .labels = labels};
}

static int measure(const struct call_oracle_options *rates, enum selection_method method, enum generation_source source,
                   struct measured *out)
{
    struct call_oracle oracle;
    wt_error err;
    if (wt__call_oracle_init(&oracle, rates, &err) < 0)
        return fprintf(stderr, "%s\n", err.message), -1;
    for (size_t i = 0; i < row_count; i++) {
        struct arena arena = {0};
        struct call_labels labels;
        const struct call_request request = request_of(rows[i], &labels);
        const struct selection_options selecting = {.method = method};
        const struct generation_options generating = {.second = source};
        const struct generation_tool tool = {.name = candidates[labels.tool].name,
                                             .description = candidates[labels.tool].description,
                                             .schema = wt__json_object(rows[i], "schema")};
        struct selection_trace selection;
        struct generation_trace generation;
        if (wt__select_tool(&selecting, candidates, candidate_count, &oracle.model, &request, &arena, &selection,
                            &err) < 0 ||
            wt__generate_arguments(&generating, &tool, &oracle.model, &request, &arena, &generation, &err) < 0)
            return fprintf(stderr, "%s\n", err.message), -1;
        bool tool_right = selection.chosen == labels.tool;
        bool arguments_right = json_equal(generation.arguments, labels.arguments) != 0;
        out->tools += tool_right;
        out->arguments += arguments_right;
        out->calls += tool_right && arguments_right;
        out->questions += selection.cost.questions + generation.cost.questions;
        out->asked++;
        wt__generation_dispose(&generation);
        wt__arena_dispose(&arena);
    }
    return 0;
}

static int print_row(struct call_oracle_options rates, enum selection_method method, enum generation_source source)
{
    static const char *const sources[] = {
        [GENERATION_REACT] = "react", [GENERATION_SAMPLED] = "sampled", [GENERATION_ALONE] = "alone"};
    struct measured m = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        rates.seed = seed;
        if (measure(&rates, method, source, &m) < 0)
            return -1;
    }
    double share = 100.0 / (double)m.asked;
    printf("{\"error\":%g,\"decision\":%g,\"nearest\":%s,\"repeat\":%g,\"selection\":\"%s\",\"generation\":\"%s\","
           "\"tool\":%.1f,\"arguments\":%.1f,\"call\":%.1f,\"questions\":%.2f}\n",
           rates.pick, rates.decision, rates.nearest ? "true" : "false", rates.repeat,
           wt__selection_method_name(method), sources[source], share * (double)m.tools, share * (double)m.arguments,
           share * (double)m.calls, (double)m.questions / (double)m.asked);
    return fflush(stdout);
}

int main(int argc, char **argv)
{
    static const double errors[] = {0, .1, .2}, repeats[] = {0, .5, 1};
    static const enum selection_method methods[] = {SELECTION_ONCE, SELECTION_CONSISTENT, SELECTION_DIRECT,
                                                    SELECTION_VERIFIED};
    if (argc != 2 || read_file(argv[1]) < 0)
        return fprintf(stderr, "usage: bench_call FILE, as bench/calls.py --write makes it\n"), 2;
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        for (size_t r = 0; r <= sizeof repeats / sizeof *repeats; r++)
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
                struct call_oracle_options rates = wt__call_oracle_rate(errors[e], 1);
                rates.nearest = r > 0;
                rates.repeat = r > 0 ? repeats[r - 1] : 0;
                enum generation_source sources[] = {GENERATION_ALONE, GENERATION_SAMPLED};
                for (size_t s = 0; s < sizeof sources / sizeof *sources; s++)
                    if (print_row(rates, methods[m], sources[s]) < 0)
                        return 1;
                if (errors[e] > 0 && methods[m] == SELECTION_VERIFIED) {
                    rates.answer = rates.decision = rates.choice = errors[e] / 5; /* a last look that is much better */
                    if (print_row(rates, methods[m], GENERATION_SAMPLED) < 0)
                        return 1;
                }
            }
    for (size_t i = 0; i < row_count; i++)
        json_decref(rows[i]);
    return 0;
}
