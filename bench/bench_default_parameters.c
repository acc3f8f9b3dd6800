/* bench_default_parameters.c: fits the chooser of stores without usage (src/choose/chooser.c) on several catalogues
 * with labelled requests. Searches use the untrained recipe.
 *
 *   bench_default_parameters FOLDER FOLDER...     BEIR folders with a train split and a suitable licence
 *
 * Prints the fitted parameters as C source. For each catalogue, fits a chooser on the other catalogues, and prints its
 * quality on this catalogue to standard error.
 *
 * Each catalogue contributes at most REQUESTS requests. Unanswerable requests are requests whose tools are removed, and
 * requests of other catalogues. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "choose/set_metrics.h"
#include "query/chooser_input.h"
#include "learn/examples.h"
#include "learn/logistic.h"
#include "support.h"

enum {
    REQUESTS = 300,     /* maximum from a catalogue */
    OUT_OF_DOMAIN = 60, /* maximum from each other catalogue */
    SETS = 16
};

struct chooser_sample {
    struct candidate_features candidates;
    uint64_t gold;                      /* bit t is set if candidate t is needed */
    size_t gold_count;                  /* number of needed tools, including tools that are not candidates */
    float without[ANSWERABLE_FEATURES]; /* features of a search without the needed tools */
};

struct fit_set {
    const char *folder;
    wt_engine *engine;
    struct examples examples;
    uint32_t drawn[REQUESTS];
    size_t count;
    struct chooser_sample *samples;                                 /* [count] */
    float out_of_domain[SETS * OUT_OF_DOMAIN][ANSWERABLE_FEATURES]; /* [out_of_domain_count] */
    size_t out_of_domain_count;
};

static void run_default_search(struct search *search, wt_engine *engine, struct str text, struct arena *arena)
{
    wt_error err;
    search->engine = engine;
    search->request = text;
    search->arena = arena;
    search->k = PICK_HITS;
    search->features = search->untrained = true;
    if (wt__search_run(search, &err) < 0)
        exit_with_wt_error(&err);
}

static void open_fit_store(struct fit_set *c, const char *folder)
{
    struct train_progress progress;
    struct rng rng;
    wt_add_report *report = NULL;
    wt_error err;
    c->folder = folder;
    wt__train_progress_init(&progress, NULL, NULL);
    if (wt_open(&c->engine, ":memory:", NULL, &err) < 0 || wt_add_path(c->engine, folder, NULL, &report, &err) < 0)
        exit_with_wt_error(&err);
    wt_add_report_free(report);
    const struct examples_options options = {.data = folder, .seed = 1};
    if (wt__examples_read(&c->examples, c->engine, &options, &progress, &err) < 0)
        exit_with_wt_error(&err);
    size_t all = c->examples.train.count;
    uint32_t *numbers = calloc(all, sizeof *numbers);
    c->count = all < REQUESTS ? all : REQUESTS;
    c->samples = calloc(c->count, sizeof *c->samples);
    if (!numbers || !c->samples)
        exit(1);
    wt__rng_seed(&rng, 1);
    wt__rng_draw(&rng, numbers, all, c->count);
    memcpy(c->drawn, numbers, c->count * sizeof *numbers);
    free(numbers);
}

static void take_sample(struct fit_set *c, size_t i)
{
    const struct example_set *train = &c->examples.train;
    struct chooser_sample *sample = &c->samples[i];
    uint32_t request = c->drawn[i];
    const uint32_t *gold = train->tools + train->starts[request];
    struct arena arena = {0};
    struct search search = {.multi_provider_probability = 0}, without = {.multi_provider_probability = 0};
    sample->gold_count = train->starts[request + 1] - train->starts[request];
    int64_t *ids = wt__arena_array(&arena, int64_t, sample->gold_count);
    run_default_search(&search, c->engine, train->texts[request], &arena);
    wt__candidate_features_read(&sample->candidates, &search.hits, NULL);
    for (size_t g = 0; g < sample->gold_count; g++) {
        ids[g] = c->examples.ids[gold[g]];
        for (size_t t = 0; t < sample->candidates.tools; t++)
            if (search.index->snapshot->keys[search.hits.items[sample->candidates.hits[t]].row].id == ids[g])
                sample->gold |= (uint64_t)1 << t;
    }
    wt__search_end(&search);
    struct candidate_features gone;
    without.excluded = ids;
    without.excluded_count = sample->gold_count;
    run_default_search(&without, c->engine, train->texts[request], &arena);
    wt__candidate_features_read(&gone, &without.hits, NULL);
    memcpy(sample->without, gone.answerability, sizeof sample->without);
    wt__search_end(&without);
    wt__arena_dispose(&arena);
}

/* True if c has tools with the names of more than a tenth of the tools of `other`. Requests of `other` are then in
 * domain for c. */
static bool is_related(const struct fit_set *c, const struct fit_set *other)
{
    wt_tools *tools = NULL, *same = NULL;
    size_t shared = 0, all = 0;
    wt_error err;
    if (wt_list(other->engine, NULL, &tools, &err) < 0)
        exit_with_wt_error(&err);
    for (all = 0; all < tools->len; all++) {
        shared += wt_get(c->engine, tools->items[all]->name, &same, &err) >= 0;
        wt_tools_free(same);
        same = NULL;
    }
    wt_tools_free(tools);
    return 10 * shared > all;
}

static void ask_out_of_domain(struct fit_set *c, const struct fit_set *other)
{
    for (size_t i = 0; i < OUT_OF_DOMAIN && i < other->count; i++) {
        struct arena arena = {0};
        struct search search = {.multi_provider_probability = 0};
        struct candidate_features candidates;
        run_default_search(&search, c->engine, other->examples.train.texts[other->drawn[i]], &arena);
        wt__candidate_features_read(&candidates, &search.hits, NULL);
        memcpy(c->out_of_domain[c->out_of_domain_count++], candidates.answerability, sizeof candidates.answerability);
        wt__search_end(&search);
        wt__arena_dispose(&arena);
    }
}

/* ---------------------------------------------------------------- fitting */

struct chooser_rows {
    float *values;
    uint8_t *answers;
    size_t count, features;
};

/* Adds a row with the weight `times`, by repeating it. */
static void add_row(struct chooser_rows *rows, const float *values, bool answer, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        memcpy(rows->values + rows->count * rows->features, values, rows->features * sizeof *values);
        rows->answers[rows->count++] = answer;
    }
}

static struct chooser_rows open_rows(size_t most, size_t features)
{
    struct chooser_rows rows = {
        .values = calloc(most * features, sizeof(float)), .answers = calloc(most, 1), .features = features};
    if (!rows.values || !rows.answers)
        exit(1);
    return rows;
}

static void close_rows(struct chooser_rows *rows, double shrinkage, bool balanced, float *weights, float *constant)
{
    const struct logistic_samples samples = {.count = rows->count,
                                             .features = rows->features,
                                             .values = rows->values,
                                             .answers = rows->answers,
                                             .balanced = balanced};
    wt__logistic_fit(&samples, shrinkage, weights, constant);
    free(rows->values);
    free(rows->answers);
}

/* Fits out->sizes on all catalogues except number `without`. shares: of the sizes, with equal weight of each
 * catalogue. */
static void fit_default_sizes(const struct fit_set *c, size_t count, size_t without, const double *shares,
                              struct chooser *out)
{
    double(*given)[CHOOSE_SIZES] = calloc(count * REQUESTS, sizeof *given);
    size_t n = 0;
    if (!given)
        exit(1);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; k != without && i < c[k].count; i++)
            wt__size_distribution(out, &c[k].samples[i].candidates, given[n++]);
    wt__sizes_fit(given, n, shares, out->sizes);
    free(given);
}

/* Fits `out` on all catalogues except number `without`. If without == count, no catalogue is omitted. */
static void fit_default_chooser(const struct fit_set *c, size_t count, size_t without, struct chooser *out)
{
    struct chooser_rows tools = open_rows(count * REQUESTS * CHOOSE_TOOLS, TOOL_FEATURES);
    struct chooser_rows fits = open_rows(count * REQUESTS * 8, ANSWERABLE_FEATURES);
    double sizes[CHOOSE_SIZES] = {0}, all = 0;
    for (size_t n = 0; n < CHOOSE_SIZES; n++)
        sizes[n] = 0.5 / CHOOSE_SIZES;
    for (size_t k = 0; k < count; k++) {
        if (k == without)
            continue;
        for (size_t i = 0; i < c[k].count; i++) {
            const struct chooser_sample *s = &c[k].samples[i];
            for (size_t t = 0; t < s->candidates.tools; t++)
                add_row(&tools, s->candidates.features[t], s->gold >> t & 1, 1);
            size_t size = s->gold_count < CHOOSE_SIZES ? s->gold_count : CHOOSE_SIZES;
            sizes[size - 1] += 1 / (double)c[k].count;
            add_row(&fits, s->candidates.answerability, false, 2);
            add_row(&fits, s->without, true, 1);
        }
        for (size_t i = 0; i < c[k].out_of_domain_count; i++)
            add_row(&fits, c[k].out_of_domain[i], true, 1);
        all++;
    }
    *out = (struct chooser){.size = 1};
    for (size_t n = 0; n < CHOOSE_SIZES; n++)
        sizes[n] /= all + 0.5;
    close_rows(&tools, 1e-4, false, out->tool_weights, &out->tool_constant);
    fit_default_sizes(c, count, without, sizes, out);
    close_rows(&fits, 1e-3, true, out->answerability_weights, &out->answerability_constant);
}

/* ---------------------------------------------------------------- quality */

static float none_of(const struct chooser *chooser, const float *fit)
{
    return wt__logistic(chooser->answerability_weights, chooser->answerability_constant, fit, ANSWERABLE_FEATURES);
}

/* Returns the AUROC: the probability that a value of others is above a value of fits. Ties count as one half. */
static double area(const float *fits, size_t fit_count, const float *others, size_t other_count)
{
    double sum = 0;
    for (size_t i = 0; i < fit_count; i++)
        for (size_t j = 0; j < other_count; j++)
            sum += others[j] > fits[i] ? 1 : others[j] == fits[i] ? 0.5 : 0;
    return sum / (double)(fit_count * other_count);
}

/* Returns the percentage of values above the threshold. */
static double above(const float *values, size_t count, float threshold)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += values[i] > threshold;
    return 100 * (double)n / (double)count;
}

/* calibrated: no-answer probabilities of answerable requests, ascending. The requests are from the catalogues that the
 * chooser was fitted on. */
static void print_chooser_quality(const struct fit_set *c, const struct chooser *chooser,
                                  const struct calibration *calibrated)
{
    float fits[REQUESTS], gone[REQUESTS], out_of_domain[SETS * OUT_OF_DOMAIN];
    double tracc = 0, first = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct chooser_sample *s = &c->samples[i];
        struct chosen chosen;
        wt__choose(chooser, &s->candidates, &chosen);
        struct overlap sets = {s->gold_count, (size_t)__builtin_popcountll(chosen.tools),
                               (size_t)__builtin_popcountll(chosen.tools & s->gold)};
        tracc += wt__tracc(sets) / (double)c->count;
        sets = (struct overlap){s->gold_count, 1, s->gold & 1};
        first += wt__tracc(sets) / (double)c->count;
        fits[i] = none_of(chooser, s->candidates.answerability);
        gone[i] = none_of(chooser, s->without);
    }
    for (size_t i = 0; i < c->out_of_domain_count; i++)
        out_of_domain[i] = none_of(chooser, c->out_of_domain[i]);
    float threshold = wt__no_answer_threshold(calibrated, 0.05);
    fprintf(stderr,
            "%s: TRACC %.1f (first hit alone %.1f); no answer, tools removed: AUROC %.1f, %.0f %% detected; no answer, "
            "out of domain: AUROC %.1f, %.0f %% detected; false alarms %.1f %%\n",
            c->folder, 100 * tracc, 100 * first, 100 * area(fits, c->count, gone, c->count),
            above(gone, c->count, threshold), 100 * area(fits, c->count, out_of_domain, c->out_of_domain_count),
            above(out_of_domain, c->out_of_domain_count, threshold), above(fits, c->count, threshold));
}

static void calibrate(const struct fit_set *c, size_t count, size_t without, const struct chooser *chooser,
                      float *values, struct calibration *out)
{
    size_t n = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; k != without && i < c[k].count; i++)
            values[n++] = none_of(chooser, c[k].samples[i].candidates.answerability);
    qsort(values, n, sizeof *values, compare_floats);
    *out = (struct calibration){values, n};
}

static void print_list(const char *name, const float *values, size_t count)
{
    printf("    .%s = {", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%.4gf", i ? ", " : "", (double)values[i]);
    printf("},\n");
}

int main(int argc, char **argv)
{
    static struct fit_set c[SETS];
    static float values[SETS * REQUESTS], hundredths[99];
    struct calibration none = {values, 0};
    struct chooser chooser;
    size_t count = (size_t)argc - 1;
    if (argc < 3 || count > SETS) {
        fprintf(stderr, "bench_default_parameters FOLDER FOLDER...\n");
        return 2;
    }
    for (size_t k = 0; k < count; k++) {
        open_fit_store(&c[k], argv[1 + k]);
        for (size_t i = 0; i < c[k].count; i++)
            take_sample(&c[k], i);
    }
    for (size_t k = 0; k < count; k++)
        for (size_t other = 0; other < count; other++)
            if (other != k && !is_related(&c[k], &c[other]) && !is_related(&c[other], &c[k]))
                ask_out_of_domain(&c[k], &c[other]);
    for (size_t k = 0; k < count; k++) {
        fit_default_chooser(c, count, k, &chooser);
        calibrate(c, count, k, &chooser, values, &none);
        print_chooser_quality(&c[k], &chooser, &none);
    }
    fit_default_chooser(c, count, count, &chooser);
    calibrate(c, count, count, &chooser, values, &none);
    for (size_t i = 0; i < 99; i++)
        hundredths[i] = none.values[(i + 1) * none.count / 100];
    print_list("tool_weights", chooser.tool_weights, TOOL_FEATURES);
    printf("    .tool_constant = %.4gf,\n", (double)chooser.tool_constant);
    print_list("sizes", chooser.sizes, CHOOSE_SIZES);
    print_list("answerability_weights", chooser.answerability_weights, ANSWERABLE_FEATURES);
    printf("    .answerability_constant = %.4gf,\n", (double)chooser.answerability_constant);
    print_list("no_answer", hundredths, 99);
    return 0;
}
