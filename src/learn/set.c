/* set.c: every dev request is put to the trained engine three times: as it is, deeper (for sets that shall be
 * complete), and with its tools taken away, so that no tool fits. All numbers of the chooser come from what is found.
 *
 * Training requests would not do: the encoder has learned from them, and their tools are nearer than those of a new
 * request. Dev requests are few, so they are dealt to folds: the weights that a request is judged with, when values are
 * chosen and calibrations made, come from the other folds, and those that stay come from all. */
#include "learn/set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "choose/set_metrics.h"
#include "engine/pick.h"
#include "learn/logistic.h"
#include "learn/study.h"

/* Values in order of preference: the first stay unless others are clearly better. */
static const float likelihoods[] = {0.75f, 0.5f, 1}, pasts[] = {0.25f, 0, 0.1f, 0.5f, 1, 2}, sizes[] = {0.5f, 0, 1};

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum {
    VALUES = COUNT(likelihoods) * COUNT(pasts) * COUNT(sizes),
    FOLDS = 5,
    SET_LEAST = 20, /* dev requests: of fewer nothing is learned */
    CLEARLY = 2     /* standard errors: of so many values one is better than the first by chance */
};

/* A dev request. */
struct asked {
    const uint32_t *gold; /* [gold_count] rows of the examples */
    size_t gold_count;
    struct situation near, deep; /* of PICK_HITS and of PICK_COMPLETE hits */
    uint64_t found;              /* the gold tools of near */
    size_t hits;                 /* of deep */
    uint32_t last[CHOOSE_TOOLS]; /* [gold_count, or fewer] places of gold tools among the hits of deep */
    size_t last_count;           /* less than gold_count: not all were found */
    float without[FIT_FEATURES]; /* its fit once its tools are gone */
};

struct search_for_set {
    struct training *training;
    struct study *study;
    wt_engine *engine;   /* the catalogue with what was trained */
    struct asked *asked; /* [count] */
    size_t count;
    wt_error *errors;            /* [threads] */
    struct chooser chooser;      /* of all dev requests */
    struct chooser folds[FOLDS]; /* of those of the other folds */
    float levels[STUDY_DEV], none[STUDY_DEV];
    double figure;
};

/* ---------------------------------------------------------------- what a query would find */

static int64_t id_of(const struct search_for_set *s, uint32_t row)
{
    return s->training->examples.ids[row];
}

static bool is_gold(const struct search_for_set *s, const struct asked *asked, const struct search *search, size_t hit)
{
    int64_t id = search->shelf->snapshot->keys[search->hits.items[hit].row].id;
    for (size_t g = 0; g < asked->gold_count; g++)
        if (id_of(s, asked->gold[g]) == id)
            return true;
    return false;
}

static void note_near(const struct search_for_set *s, struct asked *asked, const struct search *search)
{
    wt__situation_read(&asked->near, &search->hits, wt__search_neighbours(search));
    for (size_t t = 0; t < asked->near.tools; t++)
        if (is_gold(s, asked, search, asked->near.hits[t]))
            asked->found |= (uint64_t)1 << t;
}

static void note_deep(const struct search_for_set *s, struct asked *asked, const struct search *search)
{
    wt__situation_read(&asked->deep, &search->hits, wt__search_neighbours(search));
    asked->hits = search->hits.len;
    for (uint32_t h = 0; h < search->hits.len && asked->last_count < CHOOSE_TOOLS; h++)
        if (is_gold(s, asked, search, h))
            asked->last[asked->last_count++] = h;
}

static int ask(void *context, size_t index, unsigned worker)
{
    struct search_for_set *s = context;
    struct asked *asked = &s->asked[index];
    const struct example_set *dev = &s->training->examples.dev;
    struct arena arena = {0};
    struct situation gone;
    wt_error *err = &s->errors[worker];
    uint64_t *left_out = NULL;
    uint32_t example = s->study->dev[index];
    asked->gold = dev->tools + dev->starts[example];
    asked->gold_count = dev->starts[example + 1] - dev->starts[example];
    int64_t *ids = wt__arena_array(&arena, int64_t, asked->gold_count);
    int rc = ids ? 0 : wt__fail_nomem(err);
    for (size_t g = 0; rc == 0 && g < asked->gold_count; g++)
        ids[g] = id_of(s, asked->gold[g]);
    struct search search = {
        .engine = s->engine, .request = dev->texts[example], .arena = &arena, .k = PICK_HITS, .features = true};
    struct search near = search, deep = search, without = search;
    if (rc == 0)
        rc = wt__search_run(&near, err);
    if (rc == 0) {
        note_near(s, asked, &near);
        if (index % 2 == 0) /* nobody has ever used what is not there; or else it was taken away later */
            rc = wt__past_users(&near, ids, asked->gold_count, &left_out, err);
    }
    wt__search_end(&near);
    deep.k = PICK_COMPLETE;
    if (rc == 0 && (rc = wt__search_run(&deep, err)) == 0)
        note_deep(s, asked, &deep);
    wt__search_end(&deep);
    without.without = ids;
    without.without_count = asked->gold_count;
    without.left_out = left_out;
    if (rc == 0 && (rc = wt__search_run(&without, err)) == 0) {
        wt__situation_read(&gone, &without.hits, wt__search_neighbours(&without));
        memcpy(asked->without, gone.fit, sizeof asked->without);
    }
    wt__search_end(&without);
    free(left_out);
    wt__arena_dispose(&arena);
    if (worker == 0 && rc == 0 && wt__listener_step(&s->training->listener, index))
        return wt__fail_cancelled(err);
    return rc;
}

/* ---------------------------------------------------------------- fits */

/* left_out: a fold, or FOLDS for none. */
static int fit_tools(const struct search_for_set *s, struct chooser *out, size_t left_out, wt_error *err)
{
    size_t most = s->count * CHOOSE_TOOLS, n = 0;
    float(*values)[TOOL_FEATURES] = wt__alloc_array(most, sizeof *values);
    uint8_t *answers = wt__alloc_array(most, 1);
    for (size_t q = 0; values && answers && q < s->count; q++)
        for (size_t t = 0; q % FOLDS != left_out && t < s->asked[q].near.tools; t++) {
            memcpy(values[n], s->asked[q].near.features[t], sizeof *values);
            answers[n++] = s->asked[q].found >> t & 1;
        }
    if (values && answers) {
        const struct logistic_samples samples = {
            .count = n, .features = TOOL_FEATURES, .values = &values[0][0], .answers = answers};
        wt__logistic_fit(&samples, 2 / (double)(n + 1), out->tool_weights, &out->tool_constant);
    }
    bool failed = !values || !answers;
    free(values);
    free(answers);
    return failed ? wt__fail_nomem(err) : 0;
}

static int fit_fit(const struct search_for_set *s, struct chooser *out, size_t left_out, wt_error *err)
{
    float(*values)[FIT_FEATURES] = wt__alloc_array(2 * s->count, sizeof *values);
    uint8_t *answers = wt__alloc_array(2 * s->count, 1);
    size_t n = 0;
    for (size_t q = 0; values && answers && q < s->count; q++) {
        if (q % FOLDS == left_out)
            continue;
        memcpy(values[n], s->asked[q].near.fit, sizeof *values);
        answers[n++] = 0;
        memcpy(values[n], s->asked[q].without, sizeof *values);
        answers[n++] = 1;
    }
    if (values && answers) {
        const struct logistic_samples samples = {
            .count = n, .features = FIT_FEATURES, .values = &values[0][0], .answers = answers};
        wt__logistic_fit(&samples, 1 / (double)(n + 1), out->fit_weights, &out->fit_constant);
    }
    bool failed = !values || !answers;
    free(values);
    free(answers);
    return failed ? wt__fail_nomem(err) : 0;
}

/* How many tools the training requests needed; every size is thought possible. */
static void count_sizes(const struct search_for_set *s, float *out)
{
    const struct example_set *train = &s->training->examples.train;
    double counts[CHOOSE_SIZES];
    for (size_t n = 0; n < CHOOSE_SIZES; n++)
        counts[n] = 0.5;
    for (size_t i = 0; i < train->count; i++) {
        size_t size = train->starts[i + 1] - train->starts[i];
        counts[(size < CHOOSE_SIZES ? size : CHOOSE_SIZES) - 1]++;
    }
    for (size_t n = 0; n < CHOOSE_SIZES; n++)
        out[n] = (float)log(counts[n] / ((double)train->count + 0.5 * CHOOSE_SIZES));
}

static int fit_all(struct search_for_set *s, wt_error *err)
{
    int rc = 0;
    count_sizes(s, s->chooser.sizes);
    for (size_t fold = 0; rc == 0 && fold <= FOLDS; fold++) {
        struct chooser *chooser = fold < FOLDS ? &s->folds[fold] : &s->chooser;
        memcpy(chooser->sizes, s->chooser.sizes, sizeof chooser->sizes);
        rc = fit_tools(s, chooser, fold, err);
        if (rc == 0)
            rc = fit_fit(s, chooser, fold, err);
    }
    return rc;
}

/* ---------------------------------------------------------------- values and calibrations */

static void set_values(struct chooser *chooser, size_t value)
{
    chooser->likelihood = likelihoods[value % COUNT(likelihoods)];
    chooser->past = pasts[value / COUNT(likelihoods) % COUNT(pasts)];
    chooser->size = sizes[value / COUNT(likelihoods) / COUNT(pasts)];
}

static double tracc_of(const struct asked *asked, const struct chosen *chosen)
{
    return wt__tracc((struct overlap){.gold = asked->gold_count,
                                      .picked = (size_t)__builtin_popcountll(chosen->tools),
                                      .common = (size_t)__builtin_popcountll(chosen->tools & asked->found)});
}

struct judging {
    const struct search_for_set *s;
    size_t value;
    double *each; /* [count] */
};

static int judge(void *context, size_t q, unsigned worker)
{
    struct judging *j = context;
    struct chooser chooser = j->s->folds[q % FOLDS];
    struct chosen chosen;
    (void)worker;
    set_values(&chooser, j->value);
    wt__choose(&chooser, &j->s->asked[q].near, &chosen);
    j->each[q] = tracc_of(&j->s->asked[q], &chosen);
    return 0;
}

static int choose_values(struct search_for_set *s, wt_error *err)
{
    double *best = wt__alloc_array(s->count, sizeof *best), *each = wt__alloc_array(s->count, sizeof *each), sum = 0;
    size_t chosen = 0;
    int rc = best && each ? 0 : wt__fail_nomem(err);
    for (size_t value = 0; rc == 0 && value < VALUES; value++) {
        struct judging judging = {s, value, each};
        wt__pool_run(s->training->threads, s->count, judge, &judging);
        if (value > 0 && !wt__study_better(s->study, best, each, CLEARLY))
            continue;
        memcpy(best, each, s->count * sizeof *best);
        chosen = value;
    }
    for (size_t q = 0; rc == 0 && q < s->count; q++)
        sum += best[q];
    s->figure = sum / (double)s->count;
    set_values(&s->chooser, chosen);
    for (size_t fold = 0; fold < FOLDS; fold++)
        set_values(&s->folds[fold], chosen);
    free(best);
    free(each);
    return rc;
}

/* The level before the last of its tools joined. */
static int level_of(const struct search_for_set *s, size_t q, float *out, wt_error *err)
{
    const struct asked *asked = &s->asked[q];
    uint32_t *order = wt__alloc_array(asked->hits, sizeof *order);
    float *levels = wt__alloc_array(asked->hits, sizeof *levels);
    bool failed = !order || !levels;
    size_t wanted = asked->gold_count;
    *out = CHOOSE_NEVER;
    if (!failed && asked->last_count == wanted) {
        wt__set_order(&s->folds[q % FOLDS], &asked->deep, asked->hits, order, levels);
        for (size_t i = 0; i < asked->hits && wanted > 0; i++)
            for (size_t g = 0; g < asked->last_count; g++)
                if (asked->last[g] == order[i]) {
                    wanted--;
                    *out = levels[i];
                }
    }
    free(order);
    free(levels);
    return failed ? wt__fail_nomem(err) : 0;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int calibrate(struct search_for_set *s, wt_error *err)
{
    int rc = 0;
    for (size_t q = 0; rc == 0 && q < s->count; q++) {
        rc = level_of(s, q, &s->levels[q], err);
        s->none[q] = wt__none_probability(&s->folds[q % FOLDS], &s->asked[q].near);
    }
    qsort(s->levels, s->count, sizeof *s->levels, compare_floats);
    qsort(s->none, s->count, sizeof *s->none, compare_floats);
    s->chooser.levels = (struct calibration){s->levels, s->count};
    s->chooser.none = (struct calibration){s->none, s->count};
    return rc;
}

/* ---------------------------------------------------------------- the lesson */

static int open_trained(struct search_for_set *s, const char **identity, wt_error *err)
{
    wt_engine *engine = s->training->engine;
    const struct trained *trained = NULL;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = engine->model_folder;
    options.trained = s->training->out;
    options.threads = s->training->threads;
    int rc = wt_open(&s->engine, engine->path, &options, err);
    if (rc == 0)
        rc = wt__engine_trained(s->engine, &trained, err);
    const struct trained_recipe *found_by = wt__trained_recipe(trained, "auto");
    if (rc == 0 && !found_by)
        rc = wt__fail(err, WT_ERECIPE,
                      "sets are chosen from the hits of auto, which %s was not trained for; "
                      "`whichtool train auto` does that",
                      s->training->out);
    *identity = found_by ? found_by->identity : NULL;
    return rc;
}

static int ask_all(struct search_for_set *s, wt_error *err)
{
    unsigned threads = s->training->threads;
    s->asked = calloc(s->count, sizeof *s->asked);
    s->errors = calloc(threads, sizeof *s->errors);
    if (!s->asked || !s->errors)
        return wt__fail_nomem(err);
    if (wt__listener_phase(&s->training->listener, "asking", s->count))
        return wt__fail_cancelled(err);
    int rc = wt__pool_run(threads, s->count, ask, s);
    for (unsigned w = 0; rc < 0 && w < threads; w++)
        if (s->errors[w].code && err)
            *err = s->errors[w];
    return rc;
}

static int learn(struct search_for_set *s, const char **identity, wt_error *err)
{
    int rc = open_trained(s, identity, err);
    if (rc == 0)
        rc = ask_all(s, err);
    if (rc == 0)
        rc = fit_all(s, err);
    if (rc == 0)
        rc = choose_values(s, err);
    return rc < 0 ? rc : calibrate(s, err);
}

static int leave(struct search_for_set *s, const json_t *about, const char *identity, wt_trained *out, wt_error *err)
{
    struct loop_state state = {.before = NAN, .best = s->figure};
    json_t *config = wt__chooser_write(&s->chooser);
    json_t *members = wt__training_outcome(about, s->training->lesson->figure, &state);
    int rc;
    out->after = s->figure;
    if (config && members && json_object_set_new(config, "auto", json_string(identity)) == 0) {
        rc = wt__study_save(s->study, out->path, members, config, err);
    } else {
        json_decref(config);
        rc = wt__fail_nomem(err);
    }
    json_decref(members);
    return rc;
}

int wt__lesson_set(struct training *training, wt_trained *out, wt_error *err)
{
    const struct lesson_plan plan = {.most = 1}; /* each request once */
    struct search_for_set *s = calloc(1, sizeof *s);
    struct loop_options unused;
    const char *identity = NULL;
    json_t *about = NULL;
    if (!s)
        return wt__fail_nomem(err);
    s->training = training;
    int rc = wt__study_open(&s->study, training, err);
    if (rc == 0)
        rc = wt__training_plan(training, &plan, &s->study->base, &unused, &about, err);
    s->count = rc == 0 ? s->study->dev_count : 0;
    if (rc == 0 && s->count < SET_LEAST) {
        out->notice =
            "too few dev requests to calibrate a chooser of sets: picking goes on with that of other catalogues";
    } else if (rc == 0) {
        rc = learn(s, &identity, err);
        if (rc == 0)
            rc = leave(s, about, identity, out, err);
    }
    json_decref(about);
    wt_close(s->engine);
    free(s->asked);
    free(s->errors);
    free(s);
    return rc;
}
