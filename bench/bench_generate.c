/* bench_generate.c: cost of `generate toolselect`, `toolbank` and `rectools` without a language model. The simulated
 * models of their tests answer immediately, and one answer in ten is nonsense.
 *
 *   bench_generate MODEL                   measures the cost. MODEL: an encoder; "" for none
 *   bench_generate MODEL SAMPLES.jsonl     applies the validation rules to labelled rows, and counts the rejections */
#include <stdio.h>
#include <time.h>

#include "generate/judge.h"
#include "base/file.h"
#include "base/map.h"
#include "generate/internal.h"
#include "generate/requests.h"
#include "generate/toolselect.h"
#include "generate/toolbank.h"

enum { ROUNDS = 3, TOOLS = 1000, ITEMS = 2000, ROUND_TRIP = 10 /* wt_toolbank_options.round_trip */ };
static const double ALIKE = 0.93; /* default of wt_toolselect_options.duplicate */

static int report_failure(const wt_error *err)
{
    fprintf(stderr, "%s\n", err->message);
    return 1;
}

/* Prints the time per question and per row in the fastest round, because other work on the machine slows some
 * rounds. */
static int measure_generators(const char *model, wt_error *err)
{
    wt_open_options open;
    wt_toolselect_options options;
    wt_engine *engine = NULL;
    double least = 0;
    uint64_t questions = 0;
    size_t rows = 0;
    wt_open_options_init(&open);
    open.model = model;
    if (wt_open(&engine, ":memory:", &open, err) < 0)
        return report_failure(err);
    for (int round = 0; round < ROUNDS; round++) {
        char folder[] = "/tmp/bench-generate-XXXXXX";
        struct fake_writer writer = make_writer(0.1);
        wt_generated *made;
        wt_toolselect_options_init(&options);
        options.out = mkdtemp(folder);
        if (!options.out || wt__generate_toolselect(engine, &writer.model, &options, &made, err) < 0) {
            wt_close(engine);
            return options.out ? report_failure(err) : 1;
        }
        least = round == 0 || made->seconds < least ? made->seconds : least;
        questions = made->questions;
        rows = made->rows;
        wt_generated_free(made);
        fprintf(stderr, "output: %s\n", options.out);
    }
    wt_close(engine);
    printf("generate toolselect, a question\twhichtool\t%.3f\tms\n", least * 1000 / (double)questions);
    printf("generate toolselect, a row\twhichtool\t%.3f\tms\n", least * 1000 / (double)rows);
    return 0;
}

/* Adds a thousand tools of fifty providers. brief: short descriptions, ten of which fit into a request. */
static int add_tools(wt_engine *engine, bool brief, wt_error *err)
{
    struct buffer lines = {0};
    struct rng rng;
    wt_add_options options;
    wt_add_report *report = NULL;
    wt__rng_seed(&rng, 1);
    for (size_t i = 0; i < TOOLS; i++) {
        wt__buffer_printf(&lines, "{\"provider\": \"p%zu\", \"name\": \"tool_%zu\", \"description\": \"", i % 50, i);
        if (brief)
            wt__buffer_printf(&lines, "%s %s %zu", writer_pick(&rng, writer_deeds, WRITER_DEEDS),
                              writer_pick(&rng, writer_things, WRITER_THINGS), i);
        else
            writer_sentence(&rng, &lines);
        wt__buffer_text(&lines, "\"}\n");
    }
    wt_add_options_init(&options);
    options.format = "jsonl";
    int rc = wt_add(engine, lines.ptr, lines.len, &options, &report, err);
    wt_add_report_free(report);
    wt__buffer_dispose(&lines);
    return rc;
}

static int measure_toolbank(const char *model, const char *draw, size_t round_trip, wt_error *err)
{
    wt_open_options open;
    wt_toolbank_options options;
    wt_engine *engine = NULL;
    double least = 0, least_cpu = 0; /* seconds; least_cpu: processor time of all threads */
    wt_open_options_init(&open);
    open.model = model;
    int rc = wt_open(&engine, ":memory:", &open, err);
    if (rc == 0)
        rc = add_tools(engine, false, err);
    for (int round = 0; rc >= 0 && round < ROUNDS; round++) {
        char folder[] = "/tmp/bench-generate-XXXXXX";
        struct fake_writer writer = make_writer(0.1);
        wt_generated *made;
        writer.describes = true;
        wt_toolbank_options_init(&options);
        options.out = mkdtemp(folder);
        options.draw = draw;
        options.items = ITEMS;
        options.usages = WT_MAX_GENERATED_USAGES; /* a target that no tool reaches, so that all items are requested */
        options.round_trip = round_trip;
        const clock_t began = clock();
        rc = options.out ? wt__generate_toolbank(engine, &writer.model, &options, &made, err) : WT_EIO;
        if (rc < 0)
            break;
        least = round == 0 || made->seconds < least ? made->seconds : least;
        const double cpu = (double)(clock() - began) / CLOCKS_PER_SEC;
        least_cpu = round == 0 || cpu < least_cpu ? cpu : least_cpu;
        fprintf(stderr, "output: %s\n", options.out);
        wt_generated_free(made);
    }
    wt_close(engine);
    if (rc < 0)
        return report_failure(err);
    printf("generate toolbank, an item, %s%s\twhichtool\t%.3f\tms\n", draw, round_trip ? ", round trip" : "",
           least * 1000 / ITEMS);
    printf("generate toolbank, an item, %s%s, processor time\twhichtool\t%.3f\tms\n", draw,
           round_trip ? ", round trip" : "", least_cpu * 1000 / ITEMS);
    return 0;
}

/* Measures RecTools at the size of its paper: 20 sets of 1 to 10 tools, with 5 requests each. The judge makes some
 * errors. */
static int measure_rectools(const char *model, wt_error *err)
{
    wt_open_options open;
    wt_rectools_options options;
    wt_engine *engine = NULL;
    double least = 0;
    size_t requests = 0;
    wt_open_options_init(&open);
    open.model = model;
    int rc = wt_open(&engine, ":memory:", &open, err);
    if (rc == 0)
        rc = add_tools(engine, true, err);
    for (int round = 0; rc >= 0 && round < ROUNDS; round++) {
        char folder[] = "/tmp/bench-generate-XXXXXX";
        struct fake_judge judge = make_judge();
        wt_generated *made;
        judge.nonsense = 0.1;
        judge.over = judge.partial = 0.2;
        wt_rectools_options_init(&options);
        options.out = mkdtemp(folder);
        options.keep_all = 1;
        options.duplicate = 0.98; /* high, because the simulated requests for a set are similar */
        rc = options.out ? wt__generate_rectools(engine, &judge.model, &options, &made, err) : WT_EIO;
        if (rc < 0)
            break;
        least = round == 0 || made->seconds < least ? made->seconds : least;
        requests = made->rows;
        fprintf(stderr, "output: %s\n", options.out);
        wt_generated_free(made);
    }
    wt_close(engine);
    if (rc < 0)
        return report_failure(err);
    printf("generate rectools, a request of %zu\twhichtool\t%.3f\tms\n", requests, least * 1000 / (double)requests);
    return 0;
}

struct judged {
    size_t tools, refused, alike, same, unnamed;
};

/* Counts the parts of a row that the rules would reject: its instruction, its note, and the names and descriptions of
 * tools that no earlier row has. */
static int count_rejected_rows(const struct choice_sample *sample, struct distinct *queries, struct map *names,
                               struct judged *judged, wt_error *err)
{
    struct arena arena = {0};
    struct str out;
    enum piece_fate fate;
    bool named;
    int rc = wt__distinct_add(queries, sample->query, &fate, err);
    judged->alike += fate == PIECE_ALIKE;
    judged->same += fate == PIECE_SAME_WORDS;
    if (rc == 0)
        rc = wt__piece_mentions_name(sample->thought, sample->choices[sample->right].name, &named, err);
    judged->unnamed += rc == 0 && !named;
    for (size_t i = 0; rc == 0 && i < sample->choice_count; i++) {
        bool added;
        if (!wt__map_insert(names, sample->choices[i].name, 0, &added) || !added)
            continue;
        judged->tools++;
        rc = wt__piece_read(&arena, PIECE_NAME, sample->choices[i].name, &out, &fate, err);
        judged->refused += fate != PIECE_TAKEN;
        if (rc == 0)
            rc = wt__piece_read(&arena, PIECE_DESCRIPTION, sample->choices[i].description, &out, &fate, err);
        judged->refused += fate != PIECE_TAKEN;
    }
    wt__arena_dispose(&arena);
    return rc;
}

static int judge_file(const char *model, const char *path, wt_error *err)
{
    char *bytes;
    size_t len;
    struct choice_samples samples;
    struct encoder *encoder = NULL;
    struct distinct queries;
    struct map names = {0};
    struct judged judged = {0};
    if (wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, err) < 0 ||
        wt__samples_parse(&samples, (struct str){bytes, len}, path, err) < 0 ||
        (model[0] && wt__encoder_open(&encoder, model, err) < 0) ||
        wt__distinct_open(&queries, encoder, ALIKE, err) < 0)
        return report_failure(err);
    for (size_t i = 0; i < samples.count; i++)
        if (count_rejected_rows(&samples.items[i], &queries, &names, &judged, err) < 0)
            return report_failure(err);
    printf("%s: %zu rows, %zu more left out; %zu tools, %zu of their names and descriptions refused; instructions: %zu "
           "similar to an earlier one, %zu with the same words; notes that do not name their tool: %zu\n",
           path, samples.count, samples.left_out, judged.tools, judged.refused, judged.alike, judged.same,
           judged.unnamed);
    wt__distinct_dispose(&queries);
    wt__encoder_close(encoder);
    wt__map_dispose(&names);
    wt__samples_dispose(&samples);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    wt_error err;
    if (argc < 2) {
        fprintf(stderr, "bench_generate MODEL [SAMPLES.jsonl]\n");
        return 2;
    }
    if (argc > 2)
        return judge_file(argv[1], argv[2], &err);
    int failed = measure_generators(argv[1], &err);
    failed |= measure_toolbank(argv[1], "random", 0, &err);
    failed |= measure_toolbank(argv[1], "near", 0, &err);
    failed |= measure_toolbank(argv[1], "random", ROUND_TRIP, &err);
    return failed | measure_rectools(argv[1], &err);
}
