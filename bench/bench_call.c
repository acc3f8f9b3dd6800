/* bench_call.c: effect of verification on a language model with a known error rate, over real requests. The model is
 * simulated from the labels (tests/call/call_oracle.h), so the figures say nothing about a real model.
 *
 *   python3 bench/calls.py WHICHTOOL DATA --sets toolverifier --write FILE
 *   build-bench/bench_call FILE
 *
 * FILE has a line {"candidates": [{"name", "description"}, ...]}. Each further line is a request: {"request", "task",
 * "gold", "nearest", "schema", "arguments", "wrong"}.
 *
 * A setting is a combination of error rates. In each setting, several methods select the tool, and several methods
 * generate the gold tool's arguments. Each method prints one JSON line with two lists, "right" and "extra". A list has
 * one number for each request, and a number has one bit for each seed. A bit of "right" is set if the result is
 * correct. A bit of "extra" is set if the result has an argument that the labels do not have. bench/call_tables.py
 * formats the lines as tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "call/call_oracle.h"
#include "call/language_model.h"

enum { REQUESTS_MOST = 4096, SEEDS = 60 /* at most 64, the bits of a number in struct measured */ };

static struct selection_candidate candidates[SELECTION_MOST_CANDIDATES];
static size_t candidate_count;
static json_t *rows[REQUESTS_MOST];
static size_t row_count;

/* ---------------------------------------------------------------- the requests */

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

/* ---------------------------------------------------------------- one setting */

struct measured {
    uint64_t right[REQUESTS_MOST], extra[REQUESTS_MOST]; /* one bit for each seed */
    size_t questions;
};

static struct call_request request_of(const json_t *row, struct call_labels *labels)
{
    int64_t nearest = wt__json_int(row, "nearest", -1);
    *labels = (struct call_labels){.tool = (size_t)wt__json_int(row, "gold", 0),
                                   .nearest = nearest < 0 ? CALL_NO_CANDIDATE : (size_t)nearest,
                                   .arguments = wt__json_object(row, "arguments"),
                                   .wrong = wt__json_object(row, "wrong")};
    return (struct call_request){.text = wt__json_str(row, "request"), .labels = labels};
}

/* Opens two models with the same error rates and independent errors. */
static int open_oracles(struct call_oracle oracles[2], struct call_oracle_options rates, unsigned seed, wt_error *err)
{
    rates.seed = seed;
    int rc = init_call_oracle(&oracles[0], &rates, err);
    rates.seed = SEEDS + seed;
    return rc < 0 ? rc : init_call_oracle(&oracles[1], &rates, err);
}

static int select_all(struct call_oracle *oracle, enum selection_method method, unsigned seed, struct measured *out,
                      wt_error *err)
{
    const struct selection_options options = {.method = method};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < row_count; i++) {
        struct arena arena = {0};
        struct call_labels labels;
        struct selection_trace trace;
        const struct call_request request = request_of(rows[i], &labels);
        rc = wt__select_tool(&options, candidates, candidate_count, &oracle->model, &request, &arena, &trace, err);
        out->right[i] |= (uint64_t)(trace.chosen == labels.tool) << seed;
        out->questions += trace.cost.questions;
        wt__arena_dispose(&arena);
    }
    return rc;
}

static bool has_extra(const json_t *arguments, const json_t *labels)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)arguments, name, value)
    {
        if (!json_object_get(labels, name))
            return true;
    }
    return false;
}

static int generate_all(struct call_oracle oracles[2], struct generation_options options, unsigned seed,
                        struct measured *out, wt_error *err)
{
    int rc = 0;
    options.other = &oracles[1].model;
    for (size_t i = 0; rc == 0 && i < row_count; i++) {
        struct arena arena = {0};
        struct call_labels labels;
        struct generation_trace trace;
        const struct call_request request = request_of(rows[i], &labels);
        const struct generation_tool tool = {.name = candidates[labels.tool].name,
                                             .description = candidates[labels.tool].description,
                                             .schema = wt__json_object(rows[i], "schema")};
        rc = wt__generate_arguments(&options, &tool, &oracles[0].model, &request, &arena, &trace, err);
        out->right[i] |= (uint64_t)(json_equal(trace.arguments, labels.arguments) != 0) << seed;
        out->extra[i] |= (uint64_t)has_extra(trace.arguments, labels.arguments) << seed;
        out->questions += trace.cost.questions;
        wt__generation_dispose(&trace);
        wt__arena_dispose(&arena);
    }
    return rc;
}

/* ---------------------------------------------------------------- output */

static void print_bits(const char *key, const uint64_t *bits)
{
    printf(",\"%s\":[", key);
    for (size_t i = 0; i < row_count; i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", bits[i]);
    printf("]");
}

static void print_measured(const struct call_oracle_options *rates, const char *step, const char *way,
                           const struct measured *m)
{
    printf("{\"error\":%g,\"last\":%g,\"repeat\":%g,\"%s\":\"%s\",\"questions\":%.2f", rates->pick, rates->decision,
           rates->repeat, step, way, (double)m->questions / (double)(SEEDS * row_count));
    print_bits("right", m->right);
    print_bits("extra", m->extra);
    printf("}\n");
}

/* True if the method lets the model decide between two candidates. Only such a method depends on the error rate of the
 * decision. */
static bool looks_again(enum selection_method method)
{
    return method == SELECTION_VERIFIED || method == SELECTION_DIRECT || method == SELECTION_CONDITIONED;
}

/* Runs a setting with every method of selection and of generation. In a setting whose decisions have a lower error rate
 * than the picks, runs only the selection methods with a decision, and the generation method "react". */
static int measure_setting(const struct call_oracle_options *rates, wt_error *err)
{
    static const struct {
        const char *name;
        struct generation_options options;
    } ways[] = {{"alone", {.second = GENERATION_ALONE}},
                {"react", {.second = GENERATION_REACT}},
                {"second-model", {.second = GENERATION_OTHER_MODEL}},
                {"sampled", {.second = GENERATION_SAMPLED}},
                {"written", {.second = GENERATION_SAMPLED, .build = GENERATION_WRITTEN}}};
    static struct measured m;
    struct call_oracle oracles[2];
    bool better = rates->decision < rates->pick;
    int rc = 0;
    for (enum selection_method method = 0; rc == 0 && method < SELECTION_METHODS; method++) {
        if (better && !looks_again(method))
            continue;
        m = (struct measured){0};
        for (unsigned seed = 0; rc == 0 && seed < SEEDS; seed++)
            if ((rc = open_oracles(oracles, *rates, seed, err)) == 0)
                rc = select_all(&oracles[0], method, seed, &m, err);
        print_measured(rates, "select", method_labels[method], &m);
    }
    for (size_t way = 0; rc == 0 && way < sizeof ways / sizeof *ways; way++) {
        if (better && ways[way].options.second != GENERATION_REACT)
            continue;
        m = (struct measured){0};
        for (unsigned seed = 0; rc == 0 && seed < SEEDS; seed++)
            if ((rc = open_oracles(oracles, *rates, seed, err)) == 0)
                rc = generate_all(oracles, ways[way].options, seed, &m, err);
        print_measured(rates, "generate", ways[way].name, &m);
    }
    return rc;
}

int main(int argc, char **argv)
{
    static const double errors[] = {0, .1, .2}, repeats[] = {0, .5, 1},
                        better[] = {1, .2}; /* factors of the error rates of answer, decision and choice */
    wt_error err;
    int rc = 0;
    if (argc != 2 || read_file(argv[1]) < 0)
        return fprintf(stderr, "usage: bench_call FILE; bench/calls.py --write creates FILE\n"), 2;
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        for (size_t r = 0; r < sizeof repeats / sizeof *repeats; r++)
            for (size_t b = 0; rc == 0 && b < sizeof better / sizeof *better; b++) {
                struct call_oracle_options rates = set_oracle_rates(errors[e], 0);
                if (errors[e] == 0 && r + b > 0)
                    continue; /* without errors, `repeats` and `better` have no effect */
                rates.nearest = true;
                rates.repeat = repeats[r];
                rates.answer = rates.decision = rates.choice = errors[e] * better[b];
                rc = measure_setting(&rates, &err);
            }
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    for (size_t i = 0; i < row_count; i++)
        json_decref(rows[i]);
    return rc < 0;
}
