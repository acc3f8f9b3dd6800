/* bench_joint.c: fits the constants of src/rerank/joint.c on dev: the weight of a logit in the order of hits, and the
 * probabilities of a hit and that any tool fits.
 *
 *   bench_joint UNSERVED STORE SET [STORE SET...]     prints a table of weights, and C source
 *
 * SET: a data set in BEIR layout with a dev split; STORE: a store with its tools and vectors of the default encoder.
 * Each request is searched twice: as it is, and without the tools that it needs, as if no tool fitted. UNSERVED: a file
 * of requests that no tool serves (tools/join-requests: all/none/queries.jsonl). The tenth of them on which the learned
 * scorer was not trained is searched in each store, and counts as often as the requests without their tools. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "catalog/dataset.h"
#include "choose/chooser.h"
#include "learn/logistic.h"
#include "query/search.h"
#include "rerank/reranker.h"
#include "store/store.h"
#include "support.h"

enum { READS = 14, REQUESTS_MAX = 1 << 13, NEEDED_MAX = 32, WEIGHTS = 16, PERCENTILES = 100, DEV_IN = 10 };
static const float WEIGHT_STEP = .1f;

/* The first hits of a request in the order of hybrid. */
struct joint_request {
    size_t count, needed;
    float score[READS], odds[READS], logit[READS]; /* score: its logarithm */
    uint8_t right[READS];
    float fits, best_logit, quantile; /* fits: log odds that a tool fits; quantile: their percentile, 0 to 1 */
    size_t set;
    bool gone;     /* the needed tools are left out */
    bool unserved; /* no tool of any catalogue serves the request */
};

static struct joint_request requests[2 * REQUESTS_MAX];
static size_t request_count;

static float odds_of(float probability)
{
    float p = fminf(fmaxf(probability, 1e-6f), 1 - 1e-6f);
    return logf(p / (1 - p));
}

static void run_search(struct search *search, const char *recipe)
{
    wt_error err;
    search->recipe = recipe;
    if (wt__search_run(search, &err) < 0)
        exit_with_message(err.message);
}

static void read_first_stage(const struct search *search, struct joint_request *out, uint32_t rows[READS])
{
    const struct hit_list *hits = &search->hits;
    out->fits = isnan(hits->fits) ? NAN : odds_of(hits->fits);
    out->quantile = hits->fits_quantile;
    for (size_t i = 0; i < hits->len && out->count < READS; i++) {
        rows[out->count] = hits->items[i].row;
        out->score[out->count] = logf(fmaxf(hits->items[i].score, 1e-30f));
        out->odds[out->count++] = odds_of(hits->items[i].estimate);
    }
}

static void read_logits(const struct search *search, const uint32_t rows[READS], struct joint_request *out)
{
    const struct hit_list *hits = &search->hits;
    out->best_logit = -INFINITY;
    for (size_t i = 0; i < out->count; i++)
        for (size_t h = 0; h < hits->len; h++)
            for (size_t s = 0; s < HIT_STAGES && hits->items[h].stages[s].name; s++)
                if (hits->items[h].row == rows[i] && strcmp(hits->items[h].stages[s].name, CROSS_STAGE) == 0)
                    out->logit[i] = hits->items[h].stages[s].score;
    for (size_t i = 0; i < out->count; i++)
        out->best_logit = fmaxf(out->best_logit, out->logit[i]);
}

static void search_dev_request(wt_engine *engine, struct str text, const int64_t *needed, size_t count, bool gone,
                               size_t set)
{
    struct arena arena = {0};
    uint32_t rows[READS];
    struct joint_request *out = &requests[request_count];
    struct search search = {.engine = engine,
                            .request = text,
                            .arena = &arena,
                            .k = READS,
                            .excluded = needed,
                            .excluded_count = gone ? count : 0,
                            .copies = COPIES_BY_ID};
    *out = (struct joint_request){.needed = count, .set = set, .gone = gone};
    run_search(&search, "hybrid");
    read_first_stage(&search, out, rows);
    for (size_t i = 0; i < out->count; i++)
        for (size_t n = 0; n < count; n++)
            out->right[i] |= search.index->snapshot->keys[rows[i]].id == needed[n];
    wt__search_end(&search);
    run_search(&search, "joint");
    read_logits(&search, rows, out);
    request_count += out->count > 0 && !isnan(out->fits);
    wt__search_end(&search);
    wt__arena_dispose(&arena);
}

/* Searches the dev part of the unserved requests, which tools/scorer_lists.c draws in the same way. */
static void collect_unserved(wt_engine *engine, const char *path, size_t set)
{
    char line[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file)
        exit_with_message("the file of unserved requests cannot be read");
    while (fgets(line, sizeof line, file) && request_count < 2 * REQUESTS_MAX) {
        json_auto_t *row = json_loads(line, 0, NULL);
        const char *text = json_string_value(json_object_get(row, "text"));
        size_t at = request_count;
        if (text && wt__checksum(text, strlen(text), 0) % DEV_IN == 0)
            search_dev_request(engine, wt__str(text), NULL, 0, true, set);
        if (request_count > at)
            requests[at].unserved = true;
    }
    fclose(file);
}

static void collect_set(const char *store, const char *folder, const char *unserved, size_t set)
{
    wt_engine *engine;
    wt_error err;
    struct dataset data;
    if (wt_open(&engine, store, NULL, &err) < 0 || wt__dataset_read(&data, folder, "dev", &err) < 0)
        exit_with_wt_error(&err);
    collect_unserved(engine, unserved, set);
    for (size_t q = 0; q < data.len && request_count + 2 < 2 * REQUESTS_MAX; q++) {
        const struct query *query = &data.queries[q];
        int64_t needed[NEEDED_MAX];
        size_t count = 0;
        for (size_t j = 0; j < query->judgement_count && count < NEEDED_MAX; j++)
            if (query->judgements[j].gain > 0 &&
                wt__store_find_source_id(engine->store, query->judgements[j].tool, &needed[count], 1, &err) == 1)
                count++;
        if (count == 0)
            continue;
        search_dev_request(engine, query->text, needed, count, false, set);
        search_dev_request(engine, query->text, needed, count, true, set);
    }
    wt__dataset_dispose(&data);
    wt_close(engine);
}

/* Returns the recall of a request at k if a logit has this weight. */
static double recall_at(const struct joint_request *request, float weight, size_t k)
{
    size_t found = 0;
    for (size_t i = 0; i < request->count; i++) {
        size_t better = 0;
        for (size_t j = 0; request->right[i] && j < request->count; j++) {
            float mine = request->score[i] + weight * request->logit[i];
            float other = request->score[j] + weight * request->logit[j];
            better += other > mine || (other == mine && j < i);
        }
        found += request->right[i] && better < k;
    }
    return (double)found / (double)(request->needed < k ? request->needed : k);
}

static void print_weights(size_t sets, char **names)
{
    printf("| weight |");
    for (size_t s = 0; s < sets; s++)
        printf(" %s |", names[2 * s + 1]);
    printf(" mean |\n");
    for (size_t w = 0; w < WEIGHTS; w++) {
        double first = 0, five = 0;
        printf("| %.1f |", (double)((float)w * WEIGHT_STEP));
        for (size_t s = 0; s < sets; s++) {
            double sum1 = 0, sum5 = 0;
            size_t count = 0;
            for (size_t r = 0; r < request_count; r++) {
                if (requests[r].set != s || requests[r].gone)
                    continue;
                sum1 += recall_at(&requests[r], (float)w * WEIGHT_STEP, 1);
                sum5 += recall_at(&requests[r], (float)w * WEIGHT_STEP, 5);
                count++;
            }
            first += 100 * sum1 / (double)count / (double)sets;
            five += 100 * sum5 / (double)count / (double)sets;
            printf(" %.1f / %.1f |", 100 * sum1 / (double)count, 100 * sum5 / (double)count);
        }
        printf(" %.1f / %.1f |\n", first, five);
    }
}

static void print_logistic(const char *name, const struct logistic_samples *samples)
{
    float weights[2], constant;
    wt__logistic_fit(samples, 1e-3, weights, &constant);
    printf("%s = {%.4gf, %.4gf, %.4gf}\n", name, (double)weights[0], (double)weights[1], (double)constant);
}

static void print_hit_odds(void)
{
    static float values[2 * REQUESTS_MAX * READS][2];
    static uint8_t answers[2 * REQUESTS_MAX * READS];
    size_t count = 0;
    for (size_t r = 0; r < request_count; r++)
        for (size_t i = 0; i < requests[r].count && !requests[r].unserved; i++, count++) {
            values[count][0] = requests[r].odds[i];
            values[count][1] = requests[r].logit[i];
            answers[count] = requests[r].right[i];
        }
    print_logistic("hit",
                   &(struct logistic_samples){.count = count, .features = 2, .values = values[0], .answers = answers});
}

/* Sorts the values and prints their percentiles. */
static void print_percentiles(float *values, size_t count, float out[PERCENTILES])
{
    qsort(values, count, sizeof *values, compare_floats);
    for (size_t p = 0; p < PERCENTILES; p++) {
        out[p] = values[p * count / PERCENTILES];
        printf("%#.4gf%s", (double)out[p], p + 1 < PERCENTILES ? ", " : "\n");
    }
}

static float percentile_of_value(const float percentiles[PERCENTILES], float value)
{
    size_t below = 0;
    while (below < PERCENTILES && percentiles[below] < value)
        below++;
    return (float)below / PERCENTILES;
}

/* Prints the log odds that a tool fits, their percentiles for requests with a tool, and the percentiles of the lesser
 * of both stages' percentiles. Prints, too, how many requests of each kind are below the fifth percentile. */
static void print_fits(void)
{
    static float values[4 * REQUESTS_MAX][2], fits[2 * REQUESTS_MAX], lesser[2 * REQUESTS_MAX];
    static uint8_t answers[4 * REQUESTS_MAX];
    float weights[2], constant, of_fits[PERCENTILES], of_lesser[PERCENTILES];
    size_t rows = 0, count = 0, gone = 0, unserved = 0, below[3] = {0};
    for (size_t r = 0; r < request_count; r++) {
        unserved += requests[r].unserved;
        gone += requests[r].gone && !requests[r].unserved;
    }
    for (size_t r = 0; r < request_count; r++)
        for (size_t i = 0; i < (requests[r].unserved ? gone / unserved : 1); i++, rows++) {
            values[rows][0] = requests[r].fits;
            values[rows][1] = requests[r].best_logit;
            answers[rows] = !requests[r].gone;
        }
    const struct logistic_samples samples = {.count = rows, .features = 2, .values = values[0], .answers = answers};
    print_logistic("fits", &samples);
    wt__logistic_fit(&samples, 1e-3, weights, &constant);
    for (size_t r = 0; r < request_count; r++)
        if (!requests[r].gone)
            fits[count++] = wt__logistic(weights, constant, (float[]){requests[r].fits, requests[r].best_logit}, 2);
    print_percentiles(fits, count, of_fits);
    for (size_t r = 0, i = 0; r < request_count; r++) {
        float here = wt__logistic(weights, constant, (float[]){requests[r].fits, requests[r].best_logit}, 2);
        requests[r].quantile = fminf(requests[r].quantile, percentile_of_value(of_fits, here));
        if (!requests[r].gone)
            lesser[i++] = requests[r].quantile;
    }
    print_percentiles(lesser, count, of_lesser);
    for (size_t r = 0; r < request_count; r++)
        below[requests[r].unserved ? 2 : requests[r].gone] +=
            percentile_of_value(of_lesser, requests[r].quantile) < .05f;
    printf("below the fifth percentile: %zu of %zu with a tool, %zu of %zu without their tools, %zu of %zu unserved\n",
           below[0], count, below[1], gone, below[2], unserved);
}

int main(int argc, char **argv)
{
    size_t sets = argc > 3 ? (size_t)(argc - 2) / 2 : 0;
    if (sets == 0 || argc % 2 != 0)
        exit_with_message("usage: bench_joint UNSERVED STORE SET [STORE SET...]");
    for (size_t s = 0; s < sets; s++)
        collect_set(argv[2 + 2 * (int)s], argv[3 + 2 * (int)s], argv[1], s);
    print_weights(sets, argv + 2);
    print_hit_odds();
    print_fits();
    return 0;
}
