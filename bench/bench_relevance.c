/* bench_relevance.c: fits the default parameters of src/choose/relevance.c, and measures the calibration of
 * probabilities.
 *
 *   bench_relevance WORK fit FOLDER...          BEIR folders with a train split and a suitable licence; prints C source
 *   bench_relevance WORK tell SPLIT FOLDER...   prints the calibration for each folder and recipe; for hybrid and joint
 *                                               also the shares of requests that get no tool with --abstain 0.1
 *
 * WORK is a folder that caches a store for each FOLDER. All catalogues have the same weight in the fit. The weight of a
 * catalogue is divided as follows:
 *   - 80 %: its own requests
 *   - 10 %: its own requests with their tools removed, so that they need no tool
 *   - 5 %: requests of other catalogues
 *   - 5 %: small talk */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "catalog/dataset.h"
#include "choose/relevance.h"
#include "query/search.h"
#include "learn/logistic.h"
#include "support.h"

enum {
    REQUESTS = 300 /* maximum from a catalogue */,
    OUT_OF_DOMAIN = 40 /* maximum from each other catalogue */,
    TOLD = 5,  /* number of hits that find shows */
    FITTED = 2 /* the first recipes have parameters; hybrid has the learned scorer */
};
#define ABSTAIN 0.1

static const char *const recipes[] = {"bm25", "dense", "hybrid", "joint"};
static const char *const small_talk[] = {"hi there",
                                         "thanks!",
                                         "hello",
                                         "how are you?",
                                         "good morning",
                                         "ok",
                                         "what is the meaning of life?",
                                         "tell me a joke",
                                         "asdf qwer zxcv",
                                         "you are great",
                                         "bye",
                                         "lorem ipsum dolor sit amet",
                                         "who are you?",
                                         "yes please",
                                         "no",
                                         "what can you do?",
                                         "I am bored",
                                         "nevermind",
                                         "blorp fizzle wug",
                                         "why is the sky blue?"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Kinds of requests: the catalogue's own, its own with their tools removed, those of other catalogues, small talk. */
enum kind { OWN, GONE, OTHERS, TALK, KINDS };
static const float shares[KINDS] = {0.8f, 0.1f, 0.05f, 0.05f};

struct relevance_rows {
    float (*values)[RELEVANCE_FEATURES];
    float *counts, *scores, *said; /* counts: weight of each row; scores and said: score and relevance of its hit */
    /* answers: 1 if the request needs the tool. kinds: enum kind of the request. first: 1 if the hit is among the first
     * TOLD. */
    uint8_t *answers, *kinds, *first;
    size_t requests[KINDS], empty[KINDS]; /* empty: requests that get no tool with ABSTAIN */
    size_t count, begin;                  /* begin: first row of the current catalogue */
};

struct relevance_set {
    const char *folder, *name;
    wt_engine *engine;
    struct dataset data;
    uint32_t drawn[REQUESTS];
    size_t count;
};

static void open_relevance_store(struct relevance_set *c, const char *work, const char *folder, const char *split)
{
    struct rng rng;
    wt_add_report *report = NULL;
    wt_error err;
    char path[4096];
    const char *slash = strrchr(folder, '/');
    *c = (struct relevance_set){.folder = folder, .name = slash ? slash + 1 : folder};
    snprintf(path, sizeof path, "%s/%s.wt", work, c->name);
    if (wt_open(&c->engine, path, NULL, &err) < 0 || wt_add_path(c->engine, folder, NULL, &report, &err) < 0 ||
        wt__dataset_read(&c->data, folder, split, &err) < 0)
        exit_with_wt_error(&err);
    wt_add_report_free(report);
    c->count = c->data.len < REQUESTS ? c->data.len : REQUESTS;
    uint32_t *numbers = calloc(c->data.len, sizeof *numbers);
    if (!numbers)
        exit(1);
    wt__rng_seed(&rng, 1);
    wt__rng_draw(&rng, numbers, c->data.len, c->count);
    memcpy(c->drawn, numbers, c->count * sizeof *numbers);
    free(numbers);
}

static struct relevance_rows open_rows(size_t most)
{
    struct relevance_rows rows = {.values = calloc(most, sizeof *rows.values),
                                  .counts = calloc(most, sizeof *rows.counts),
                                  .scores = calloc(most, sizeof *rows.scores),
                                  .said = calloc(most, sizeof *rows.said),
                                  .answers = calloc(most, 1),
                                  .kinds = calloc(most, 1),
                                  .first = calloc(most, 1)};
    if (!rows.values || !rows.counts || !rows.scores || !rows.said || !rows.answers || !rows.kinds || !rows.first)
        exit(1);
    return rows;
}

static void close_rows(struct relevance_rows *rows)
{
    free(rows->values);
    free(rows->counts);
    free(rows->scores);
    free(rows->said);
    free(rows->answers);
    free(rows->kinds);
    free(rows->first);
}

/* Adds a row for each hit of a request. gold: NULL for small talk and for requests of other catalogues. */
static void collect_hit_rows(struct relevance_rows *rows, const struct relevance_set *c, const char *recipe,
                             struct str text, const struct query *gold, enum kind kind)
{
    struct arena arena = {0};
    struct search search = {.engine = c->engine,
                            .request = text,
                            .arena = &arena,
                            .recipe = recipe,
                            .untrained = true,
                            .k = RELEVANCE_HITS};
    size_t wanted = 0;
    int64_t *ids = wt__arena_array(&arena, int64_t, gold ? gold->judgement_count : 0);
    wt_error err;
    for (size_t j = 0; gold && j < gold->judgement_count; j++)
        if (gold->judgements[j].gain > 0)
            wanted += wt__store_find_source_id(c->engine->store, gold->judgements[j].tool, &ids[wanted], 1, &err) > 0;
    search.excluded = ids;
    search.excluded_count = kind == GONE ? wanted : 0;
    if (wt__search_run(&search, &err) < 0)
        exit_with_wt_error(&err);
    rows->requests[kind]++;
    rows->empty[kind] += wt__nothing_fits(&search.hits, ABSTAIN);
    for (size_t h = 0; h < search.hits.len; h++) {
        const struct hit *hit = &search.hits.items[h];
        size_t row = rows->count++;
        wt__relevance_read(rows->values[row], &search.plan.retriever, &search.hits, hit);
        for (size_t g = 0; g < wanted && kind == OWN; g++)
            rows->answers[row] |= search.index->snapshot->keys[hit->row].id == ids[g];
        rows->kinds[row] = (uint8_t)kind;
        rows->first[row] = h < TOLD;
        rows->scores[row] = hit->score;
        rows->said[row] = wt__relevance(NULL, &search.plan.retriever, &search.hits, hit);
    }
    wt__search_end(&search);
    wt__arena_dispose(&arena);
}

/* True if the names are equal up to their first dash: such sets share tools. */
static bool is_related(const struct relevance_set *a, const struct relevance_set *b)
{
    size_t x = strcspn(a->name, "-"), y = strcspn(b->name, "-");
    return x == y && strncmp(a->name, b->name, x) == 0;
}

/* Sets the weights of the current catalogue's rows, so that the weights of each kind add up to its share. */
static void count_kinds(struct relevance_rows *rows)
{
    double all[KINDS] = {0};
    for (size_t i = rows->begin; i < rows->count; i++)
        all[rows->kinds[i]]++;
    for (size_t i = rows->begin; i < rows->count; i++)
        rows->counts[i] = shares[rows->kinds[i]] / (float)all[rows->kinds[i]];
    rows->begin = rows->count;
}

static void ask_all(struct relevance_rows *rows, const struct relevance_set *all, size_t count,
                    const struct relevance_set *c, const char *recipe)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct query *query = &c->data.queries[c->drawn[i]];
        collect_hit_rows(rows, c, recipe, query->text, query, OWN);
        collect_hit_rows(rows, c, recipe, query->text, query, GONE);
    }
    for (size_t o = 0; o < count; o++)
        for (size_t i = 0; !is_related(c, &all[o]) && i < OUT_OF_DOMAIN && i < all[o].count; i++)
            collect_hit_rows(rows, c, recipe, all[o].data.queries[all[o].drawn[i]].text, NULL, OTHERS);
    for (size_t i = 0; i < COUNT(small_talk); i++)
        collect_hit_rows(rows, c, recipe, wt__str(small_talk[i]), NULL, TALK);
    count_kinds(rows);
}

static size_t most_rows(size_t count)
{
    return RELEVANCE_HITS * (2 * REQUESTS + count * OUT_OF_DOMAIN + COUNT(small_talk));
}

static void fit_and_print(const struct relevance_set *c, size_t count)
{
    for (size_t r = 0; r < FITTED; r++) {
        struct relevance_rows rows = open_rows(count * most_rows(count));
        struct relevance_model relevance;
        for (size_t k = 0; k < count; k++)
            ask_all(&rows, c, count, &c[k], recipes[r]);
        const struct logistic_samples samples = {.count = rows.count,
                                                 .features = RELEVANCE_FEATURES,
                                                 .values = &rows.values[0][0],
                                                 .answers = rows.answers,
                                                 .counts = rows.counts};
        wt__logistic_fit(&samples, 1e-3, relevance.weights, &relevance.constant);
        printf("    /* %s */ {{", recipes[r]);
        for (size_t f = 0; f < RELEVANCE_FEATURES; f++)
            printf("%s%.4gf", f ? ", " : "", (double)relevance.weights[f]);
        printf("}, %.4gf},\n", (double)relevance.constant);
        close_rows(&rows);
    }
}

/* ---------------------------------------------------------------- calibration */

enum { BINS = 10 };

struct calibration_error {
    double error, brier, loss;
};

/* Measures the calibration of the probabilities `said`, on the shown hits of the catalogue's own requests. */
static struct calibration_error calibration_of(const struct relevance_rows *rows, const float *said)
{
    struct calibration_error out = {0};
    double counts[BINS] = {0}, sums[BINS] = {0}, right[BINS] = {0}, all = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->kinds[i] != OWN || !rows->first[i])
            continue;
        double p = fmin(fmax((double)said[i], 1e-4), 1 - 1e-4);
        size_t bin = (size_t)(p * BINS);
        counts[bin]++;
        sums[bin] += p;
        right[bin] += rows->answers[i];
        out.brier += (p - rows->answers[i]) * (p - rows->answers[i]);
        out.loss -= log(rows->answers[i] ? p : 1 - p);
        all++;
    }
    for (size_t b = 0; b < BINS; b++)
        out.error += fabs(sums[b] - right[b]) / all;
    out.brier /= all;
    out.loss /= all;
    return out;
}

/* Returns the mean probability of the shown hits of a kind of requests. needed: true for hits that are needed, false
 * for hits that are not. */
static double mean_of(const struct relevance_rows *rows, const float *said, enum kind kind, bool needed)
{
    double sum = 0, all = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->kinds[i] == kind && rows->first[i] && rows->answers[i] == needed) {
            sum += (double)said[i];
            all++;
        }
    return sum / all;
}

static double empty_share(const struct relevance_rows *rows, enum kind kind)
{
    return 100.0 * (double)rows->empty[kind] / (double)rows->requests[kind];
}

static void print_relevance_quality(const struct relevance_set *c, const char *recipe)
{
    struct relevance_rows rows = open_rows(most_rows(1));
    ask_all(&rows, c, 1, c, recipe);
    struct calibration_error e = calibration_of(&rows, rows.said), score = calibration_of(&rows, rows.scores);
    printf("%-16s %-7s %.3f %.3f %.3f   %.3f %.3f   %.2f %.2f %.2f %.2f   %.1f %.1f\n", c->name, recipe, e.error,
           e.brier, e.loss, score.error, score.brier, mean_of(&rows, rows.said, OWN, true),
           mean_of(&rows, rows.said, OWN, false), mean_of(&rows, rows.said, GONE, false),
           mean_of(&rows, rows.said, TALK, false), empty_share(&rows, OWN), empty_share(&rows, GONE));
    close_rows(&rows);
}

int main(int argc, char **argv)
{
    bool fits = argc > 3 && strcmp(argv[2], "fit") == 0, tells = argc > 4 && strcmp(argv[2], "tell") == 0;
    int first = fits ? 3 : 4;
    if (!fits && !tells) {
        fprintf(stderr, "bench_relevance WORK fit FOLDER... | WORK tell SPLIT FOLDER...\n");
        return 2;
    }
    size_t count = (size_t)(argc - first);
    struct relevance_set *c = calloc(count, sizeof *c);
    if (!c)
        return 1;
    for (size_t k = 0; k < count; k++)
        open_relevance_store(&c[k], argv[1], argv[first + (int)k], fits ? "train" : argv[3]);
    if (fits)
        fit_and_print(c, count);
    else
        printf("set              recipe  error brier loss    of the score  needed other gone talk   empty: own gone\n");
    for (size_t k = 0; tells && k < count; k++)
        for (size_t r = 0; r < COUNT(recipes); r++)
            print_relevance_quality(&c[k], recipes[r]);
    for (size_t k = 0; k < count; k++) {
        wt__dataset_dispose(&c[k].data);
        wt_close(c[k].engine);
    }
    free(c);
    return 0;
}
