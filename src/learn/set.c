/* set.c: the lesson "set": fits and calibrates the chooser of sets (choose/chooser.h) on the hits of dev requests,
 * found with the trained recipe `auto`.
 *
 * Every dev request is searched three times: normally, deeper (for complete sets), and without its own tools, so that
 * no tool fits. The chooser's parameters are fitted to the results, except the frequencies of set sizes, which are
 * counted in the training requests. For the other parameters, training requests are unsuitable, because the encoder
 * has learned from them.
 *
 * The dev requests are split into folds. Tuning and calibration apply to each request the parameters that were fitted
 * on the other folds. The final parameters are fitted on all dev requests.
 *
 * If new requests are likely to need unused tools (estimate_unused_need), sets are calibrated separately for used and
 * unused tools (Mondrian conformal prediction, Vovk et al. 2005), because an unused tool ranks lower. Few dev requests
 * need an unused tool. Therefore, if a dev request needs only used tools, a fourth search hides the least used one.
 * The hidden tool gets the vector of a tool added after training, and the past requests that used the tool are
 * excluded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/sort.h"
#include "choose/set_metrics.h"
#include "query/chooser_input.h"
#include "learn/dev_evaluator.h"
#include "learn/logistic.h"
#include "learn/trainers.h"
#include "retrieve/document.h"

/* Values that are tried, the preferred value first. Another combination must be clearly better (CLEARLY). */
static const float likelihoods[] = {0.5f, 0, 0.25f, 1}, pasts[] = {1, 0.5f, 2}, sizes[] = {1, 0, 0.5f};

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum {
    VALUES = COUNT(likelihoods) * COUNT(pasts) * COUNT(sizes),
    FOLDS = 5,
    UNUSED_IN = 100, /* tools are hidden only if at least 1 in UNUSED_IN training requests has a tool of its own */
    SET_LEAST = 20,  /* minimum number of dev requests */
    CLEARLY = 2      /* standard errors by which a combination must beat the best so far */
};

/* Result of a search of PICK_COMPLETE hits, and the places of the gold tools of one kind (used or unused) in it. */
struct deep_search {
    struct candidate_features candidates;
    size_t hits;                   /* number of hits */
    size_t wanted;                 /* number of gold tools of the kind */
    uint32_t places[CHOOSE_TOOLS]; /* [found] their places among the hits, ascending */
    size_t found;                  /* less than wanted if the search did not find all */
};

/* Features of the first hits, and whether the request needs each hit. */
struct seen_hits {
    size_t count;
    float features[RELEVANCE_HITS][RELEVANCE_FEATURES];
    bool needed[RELEVANCE_HITS];
};

/* A dev request and the results of its searches. */
struct set_request {
    const uint32_t *gold; /* [gold_count] rows of the examples */
    size_t gold_count;
    struct candidate_features near;     /* features of the first PICK_HITS hits */
    uint64_t found;                     /* bit t is set if candidate t of near is a gold tool */
    struct deep_search used;            /* with the places of used tools */
    struct deep_search unused;          /* with the places of unused tools, or of the hidden tool */
    uint32_t hidden;                    /* row of the hidden tool in the examples, or NOTHING */
    uint64_t *left_out;                 /* bitmap of past requests that used the hidden tool; NULL if there are none */
    float without[ANSWERABLE_FEATURES]; /* answerability in the search without the gold tools */
    struct seen_hits seen, gone;        /* first hits of the normal search, and of the search without the gold tools */
};
#define NOTHING UINT32_MAX /* value of `hidden` if no tool is hidden */

struct set_search {
    struct training *training;
    struct dev_evaluator *evaluator;
    wt_engine *engine; /* the catalogue with the trained models */
    const struct trained *trained;
    struct set_request *asked; /* [count] */
    size_t count;
    bool apart;                  /* true if unused tools are calibrated separately */
    struct index_set set;        /* names the tool vectors that `auto` searches */
    struct tool_vectors hiding;  /* copy of these vectors with those of hidden tools replaced */
    size_t fold;                 /* fold whose tools are hidden now */
    wt_error *errors;            /* [threads] */
    struct chooser chooser;      /* fitted on all dev requests */
    struct chooser folds[FOLDS]; /* fitted on the requests of the other folds */
    float nonconformity[EVALUATOR_DEV], unused[EVALUATOR_DEV], none[EVALUATOR_DEV]; /* for the chooser's calibration */
    float nearest[EVALUATOR_DEV], lengths[EVALUATOR_DEV];
    double figure; /* mean TRACC of the dev requests */
};

/* ---------------------------------------------------------------- searches */

static int64_t get_row_id(const struct set_search *s, uint32_t row)
{
    return s->training->examples.ids[row];
}

static bool is_needed_tool(const struct set_search *s, const struct set_request *asked, const struct search *search,
                           size_t hit)
{
    int64_t id = search->index->snapshot->keys[search->hits.items[hit].row].id;
    for (size_t g = 0; g < asked->gold_count; g++)
        if (get_row_id(s, asked->gold[g]) == id)
            return true;
    return false;
}

/* Records the first hits of a search. asked: the request; NULL if the search excluded its gold tools, so that no hit
 * is needed. */
static void record_seen_hits(const struct set_search *s, const struct set_request *asked, const struct search *search,
                             struct seen_hits *out)
{
    const struct hit_list *hits = &search->hits;
    out->count = hits->len < RELEVANCE_HITS ? hits->len : RELEVANCE_HITS;
    for (size_t h = 0; h < out->count; h++) {
        wt__relevance_read(out->features[h], &search->plan.retriever, hits, &hits->items[h]);
        out->needed[h] = asked && is_needed_tool(s, asked, search, h);
    }
}

static void record_near_hits(const struct set_search *s, struct set_request *asked, const struct search *search)
{
    wt__candidate_features_read(&asked->near, &search->hits, wt__search_neighbours(search));
    for (size_t t = 0; t < asked->near.tools; t++)
        if (is_needed_tool(s, asked, search, asked->near.hits[t]))
            asked->found |= (uint64_t)1 << t;
}

/* Records a deep search. which: [count] rows of the gold tools of one kind. */
static void record_deep_search(const struct set_search *s, struct deep_search *out, const uint32_t *which, size_t count,
                               const struct search *search)
{
    const struct set_request kind = {.gold = which, .gold_count = count};
    wt__candidate_features_read(&out->candidates, &search->hits, wt__search_neighbours(search));
    out->hits = search->hits.len;
    out->wanted = count;
    for (uint32_t h = 0; h < search->hits.len && out->found < CHOOSE_TOOLS; h++)
        if (is_needed_tool(s, &kind, search, h))
            out->places[out->found++] = h;
}

/* True if the tool was used. used: bitmap of the used rows of the snapshot; NULL counts all tools as used. A tool that
 * the snapshot lacks counts as used. */
static bool is_used_tool(const struct set_search *s, const struct search *search, const uint64_t *used, uint32_t tool)
{
    size_t row = wt__snapshot_row(search->index->snapshot, get_row_id(s, tool));
    return !used || row >= search->index->snapshot->rows || used[row / 64] >> row % 64 & 1;
}

/* Splits the gold tools into used and unused ones, and records the deep search for both. If all were used and
 * s->apart is true, chooses the least used tool to hide later. */
static int record_tool_kinds(const struct set_search *s, struct set_request *asked, const struct search *search,
                             wt_error *err)
{
    uint32_t *kinds = wt__arena_array(search->arena, uint32_t, 2 * asked->gold_count);
    const uint64_t *used_rows = NULL;
    size_t used = 0, unused = 0;
    WT_CHECK_ALLOC(kinds, err);
    if (s->apart)
        WT_TRY(wt__used_rows(search, &used_rows, err));
    asked->hidden = asked->gold[0];
    for (size_t g = 0; g < asked->gold_count; g++) {
        uint32_t tool = asked->gold[g];
        if (is_used_tool(s, search, used_rows, tool))
            kinds[used++] = tool;
        else
            kinds[asked->gold_count + unused++] = tool;
        if (s->evaluator->uses[tool] < s->evaluator->uses[asked->hidden])
            asked->hidden = tool;
    }
    if (unused > 0 || !used_rows)
        asked->hidden = NOTHING;
    else
        WT_TRY(wt__past_users(search, (int64_t[]){get_row_id(s, asked->hidden)}, 1, &asked->left_out, err));
    record_deep_search(s, &asked->used, kinds, used, search);
    record_deep_search(s, &asked->unused, kinds + asked->gold_count, unused, search);
    return 0;
}

/* Runs the three searches of a dev request. */
static int search_dev_tools(void *context, size_t index, unsigned worker)
{
    struct set_search *s = context;
    struct set_request *asked = &s->asked[index];
    const struct example_set *dev = &s->training->examples.dev;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct candidate_features gone;
    wt_error *err = &s->errors[worker];
    WT_AUTO_FREE uint64_t *left_out = NULL;
    uint32_t example = s->evaluator->dev[index];
    asked->gold = dev->tools + dev->starts[example];
    asked->gold_count = dev->starts[example + 1] - dev->starts[example];
    int64_t *ids = wt__arena_array(&arena, int64_t, asked->gold_count);
    WT_CHECK_ALLOC(ids, err);
    for (size_t g = 0; g < asked->gold_count; g++)
        ids[g] = get_row_id(s, asked->gold[g]);
    struct search search = {
        .engine = s->engine, .request = dev->texts[example], .arena = &arena, .k = PICK_HITS, .features = true};
    struct search near = search, deep = search, without = search;
    int rc = wt__search_run(&near, err);
    if (rc == 0) {
        record_near_hits(s, asked, &near);
        record_seen_hits(s, asked, &near, &asked->seen);
        if (index % 2 == 0) /* for every second request, also exclude the past requests that used its gold tools */
            rc = wt__past_users(&near, ids, asked->gold_count, &left_out, err);
    }
    wt__search_end(&near);
    deep.k = PICK_COMPLETE;
    if (rc == 0 && (rc = wt__search_run(&deep, err)) == 0)
        rc = record_tool_kinds(s, asked, &deep, err);
    if (index == 0)
        s->set = deep.plan.set;
    wt__search_end(&deep);
    without.excluded = ids;
    without.excluded_count = asked->gold_count;
    without.left_out = left_out;
    if (rc == 0 && (rc = wt__search_run(&without, err)) == 0) {
        wt__candidate_features_read(&gone, &without.hits, wt__search_neighbours(&without));
        memcpy(asked->without, gone.answerability, sizeof asked->without);
        record_seen_hits(s, NULL, &without, &asked->gone);
    }
    wt__search_end(&without);
    if (worker == 0 && rc == 0 && wt__train_progress_step(&s->training->progress, index))
        return wt__fail_cancelled(err);
    return rc;
}

/* ---------------------------------------------------------------- hidden tools */

/* True if new requests are likely to need unused tools: at least one training request in UNUSED_IN has a tool that no
 * other request used. */
static bool estimate_unused_need(const struct set_search *s)
{
    const struct example_set *train = &s->training->examples.train;
    size_t count = 0;
    for (size_t b = 0; b < train->count; b++) {
        bool own = false;
        for (size_t l = train->starts[b]; l < train->starts[b + 1]; l++)
            own |= s->evaluator->uses[train->tools[l]] == train->times[b];
        count += own;
    }
    return count * UNUSED_IN >= train->count;
}

/* Fills s->hiding: copies the searched vectors, and replaces those of the fold's hidden tools by the vectors that the
 * tools would have without usage. */
static int hide_tools(struct set_search *s, wt_error *err)
{
    const struct trained_recipe *recipe = wt__trained_recipe(s->trained, "auto");
    size_t dim = s->evaluator->dim, tools = s->evaluator->tools;
    WT_AUTO_FREE float *vectors = wt__alloc_zeros(tools * dim + 1, sizeof *vectors),
                       *sum = wt__alloc_zeros(dim, sizeof *sum);
    struct index_handle *index = NULL;
    WT_AUTO_FREE float *storage = wt__alloc_array(wt__vectors_padded(dim), sizeof *storage);
    WT_CHECK_ALLOC(vectors && sum && storage, err);
    WT_TRY(wt__engine_index(s->engine, NULL, &s->set, NULL, &index, err));
    const struct vectors *searched = wt__snapshot_vectors(index->snapshot, s->set.model, s->set.kind);
    for (uint32_t row = 0; searched && row < tools; row++) {
        const float *vector = wt__vectors_of_row(searched, row, storage);
        if (vector)
            memcpy(vectors + row * dim, vector, dim * sizeof *vector);
    }
    for (size_t q = s->fold; q < s->count; q += FOLDS) {
        uint32_t tool = s->asked[q].hidden;
        size_t row = tool == NOTHING ? tools : wt__snapshot_row(index->snapshot, get_row_id(s, tool));
        if (row < tools)
            wt__trained_vector(s->trained, recipe, s->evaluator->documents + tool * dim, sum, 0, -1,
                               vectors + row * dim);
    }
    wt__index_release(index);
    return wt__tool_vectors_open(&s->hiding, vectors, tools, dim, err);
}

static int search_hidden_tools(void *context, size_t index, unsigned worker)
{
    struct set_search *s = context;
    struct set_request *asked = &s->asked[index * FOLDS + s->fold];
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    wt_error *err = &s->errors[worker];
    if (asked->hidden == NOTHING)
        return 0;
    struct search search = {.engine = s->engine,
                            .request = s->training->examples.dev.texts[s->evaluator->dev[index * FOLDS + s->fold]],
                            .arena = &arena,
                            .k = PICK_COMPLETE,
                            .features = true,
                            .left_out = asked->left_out,
                            .vectors = s->hiding.chunks ? &s->hiding.view : NULL};
    int rc = wt__search_run(&search, err);
    if (rc == 0)
        record_deep_search(s, &asked->unused, &asked->hidden, 1, &search);
    wt__search_end(&search);
    return rc;
}

/* Searches each fold's requests with their tools hidden. If the searched vectors come from texts alone, they do not
 * depend on usage and need not be replaced. */
static int search_all_hidden(struct set_search *s, wt_error *err)
{
    bool learned = s->set.kind && strcmp(s->set.kind, wt__document_kind) != 0;
    if (wt__train_progress_phase(&s->training->progress, "asking as if unused", FOLDS))
        return wt__fail_cancelled(err);
    int rc = 0;
    for (s->fold = 0; rc == 0 && s->fold < FOLDS; s->fold++) {
        if (wt__train_progress_step(&s->training->progress, s->fold))
            return wt__fail_cancelled(err);
        if (learned)
            rc = hide_tools(s, err);
        if (rc == 0)
            rc = wt__training_run(s->training, (s->count - s->fold + FOLDS - 1) / FOLDS, search_hidden_tools, s,
                                  s->errors, err);
        wt__tool_vectors_dispose(&s->hiding);
    }
    return rc;
}

/* ---------------------------------------------------------------- fits */

/* Fits the model of a tool's probability to the candidates of all requests, except those of fold left_out; FOLDS
 * leaves none out. */
static int fit_tools(const struct set_search *s, struct chooser *out, size_t left_out, wt_error *err)
{
    size_t most = s->count * CHOOSE_TOOLS, n = 0;
    WT_AUTO_FREE float(*values)[TOOL_FEATURES] = wt__alloc_array(most, sizeof *values);
    WT_AUTO_FREE uint8_t *answers = wt__alloc_array(most, 1);
    WT_CHECK_ALLOC(values && answers, err);
    for (size_t q = 0; q < s->count; q++)
        for (size_t t = 0; q % FOLDS != left_out && t < s->asked[q].near.tools; t++) {
            memcpy(values[n], s->asked[q].near.features[t], sizeof *values);
            answers[n++] = s->asked[q].found >> t & 1;
        }
    const struct logistic_samples samples = {
        .count = n, .features = TOOL_FEATURES, .values = &values[0][0], .answers = answers};
    wt__logistic_fit(&samples, 2 / (double)(n + 1), out->tool_weights, &out->tool_constant);
    return 0;
}

/* If all or none of the requests need a past set, the probability is estimated by Laplace's rule of succession. */
static void fit_reuse_samples(const float *values, const uint8_t *answers, size_t n, struct chooser *out)
{
    const struct logistic_samples samples = {
        .count = n, .features = REUSE_FEATURES, .values = values, .answers = answers};
    size_t reused = 0;
    for (size_t i = 0; i < n; i++)
        reused += answers[i];
    wt__logistic_fit(&samples, 2 / (double)(n + 1), out->reuse_weights, &out->reuse_constant);
    if (reused == 0 || reused == n)
        out->reuse_constant = (float)log(((double)reused + 1) / ((double)(n - reused) + 1));
}

/* Fits the probability that the needed set is a past set. */
static int fit_reuse(const struct set_search *s, struct chooser *out, size_t left_out, wt_error *err)
{
    WT_AUTO_FREE float(*values)[REUSE_FEATURES] = wt__alloc_array(s->count, sizeof *values);
    WT_AUTO_FREE uint8_t *answers = wt__alloc_array(s->count, 1);
    size_t n = 0;
    WT_CHECK_ALLOC(values && answers, err);
    for (size_t q = 0; q < s->count; q++) {
        const struct set_request *asked = &s->asked[q];
        if (q % FOLDS == left_out || asked->near.past_count == 0)
            continue;
        bool all = (size_t)__builtin_popcountll(asked->found) == asked->gold_count;
        wt__reuse_features_read(out, &asked->near, values[n]);
        answers[n] = 0;
        for (size_t i = 0; i < asked->near.past_count; i++)
            answers[n] |= all && asked->near.past[i].tools == asked->found;
        n++;
    }
    fit_reuse_samples(&values[0][0], answers, n, out);
    return 0;
}

/* Fits the probability that no tool fits a request, to the searches with and without its gold tools. */
static int fit_no_answer(const struct set_search *s, struct chooser *out, size_t left_out, wt_error *err)
{
    WT_AUTO_FREE float(*values)[ANSWERABLE_FEATURES] = wt__alloc_array(2 * s->count, sizeof *values);
    WT_AUTO_FREE uint8_t *answers = wt__alloc_array(2 * s->count, 1);
    size_t n = 0;
    WT_CHECK_ALLOC(values && answers, err);
    for (size_t q = 0; q < s->count; q++) {
        if (q % FOLDS == left_out)
            continue;
        memcpy(values[n], s->asked[q].near.answerability, sizeof *values);
        answers[n++] = 0;
        memcpy(values[n], s->asked[q].without, sizeof *values);
        answers[n++] = 1;
    }
    const struct logistic_samples samples = {
        .count = n, .features = ANSWERABLE_FEATURES, .values = &values[0][0], .answers = answers};
    wt__logistic_fit(&samples, 1 / (double)(n + 1), out->answerability_weights, &out->answerability_constant);
    return 0;
}

/* Fits the probability that a hit is relevant. The weights assume that no tool fits one request in five, as the
 * default parameters do. */
static int fit_relevance(struct set_search *s, wt_error *err)
{
    static const float shares[] = {0.8f, 0.2f};
    size_t most = 2 * s->count * RELEVANCE_HITS, n = 0;
    WT_AUTO_FREE float(*values)[RELEVANCE_FEATURES] = wt__alloc_array(most, sizeof *values);
    WT_AUTO_FREE float *counts = wt__alloc_array(most, sizeof *counts);
    WT_AUTO_FREE uint8_t *answers = wt__alloc_array(most, 1);
    WT_CHECK_ALLOC(values && counts && answers, err);
    for (size_t q = 0; q < s->count; q++) {
        const struct seen_hits *kinds[] = {&s->asked[q].seen, &s->asked[q].gone};
        for (size_t kind = 0; kind < COUNT(kinds); kind++)
            for (size_t h = 0; h < kinds[kind]->count; h++) {
                memcpy(values[n], kinds[kind]->features[h], sizeof *values);
                counts[n] = shares[kind];
                answers[n++] = kinds[kind]->needed[h];
            }
    }
    const struct logistic_samples samples = {
        .count = n, .features = RELEVANCE_FEATURES, .values = &values[0][0], .counts = counts, .answers = answers};
    wt__logistic_fit(&samples, 2 / (double)(n + 1), s->chooser.relevance.weights, &s->chooser.relevance.constant);
    s->chooser.has_relevance = true;
    return 0;
}

/* Counts the training requests with 1, 2, ... tools, shares [CHOOSE_SIZES]. The last size includes all larger ones.
 * Half a request is added to each size, so that every share is positive. */
static void count_sizes(const struct set_search *s, double *shares)
{
    const struct example_set *train = &s->training->examples.train;
    for (size_t n = 0; n < CHOOSE_SIZES; n++)
        shares[n] = 0.5;
    for (size_t i = 0; i < train->count; i++) {
        size_t size = train->starts[i + 1] - train->starts[i];
        shares[(size < CHOOSE_SIZES ? size : CHOOSE_SIZES) - 1]++;
    }
    for (size_t n = 0; n < CHOOSE_SIZES; n++)
        shares[n] /= (double)train->count + 0.5 * CHOOSE_SIZES;
}

/* Fits the factors of the sizes to the dev requests, except those of fold left_out. shares: of the training requests.
 */
static int fit_sizes(const struct set_search *s, const double *shares, struct chooser *out, size_t left_out,
                     wt_error *err)
{
    WT_AUTO_FREE double(*given)[CHOOSE_SIZES] = wt__alloc_array(s->count, sizeof *given);
    size_t count = 0;
    WT_CHECK_ALLOC(given, err);
    for (size_t q = 0; q < s->count; q++)
        if (q % FOLDS != left_out && s->asked[q].near.tools > 0)
            wt__size_distribution(out, &s->asked[q].near, given[count++]);
    wt__sizes_fit(given, count, shares, out->sizes);
    return 0;
}

static int fit_folds(struct set_search *s, wt_error *err)
{
    double shares[CHOOSE_SIZES];
    count_sizes(s, shares);
    for (size_t fold = 0; fold <= FOLDS; fold++) {
        struct chooser *chooser = fold < FOLDS ? &s->folds[fold] : &s->chooser;
        WT_TRY(fit_tools(s, chooser, fold, err));
        WT_TRY(fit_reuse(s, chooser, fold, err));
        WT_TRY(fit_sizes(s, shares, chooser, fold, err));
        WT_TRY(fit_no_answer(s, chooser, fold, err));
    }
    return fit_relevance(s, err);
}

/* ---------------------------------------------------------------- tuning and calibration */

/* Sets the combination of likelihood, past and size with this number, 0 .. VALUES - 1. */
static void set_chooser_values(struct chooser *chooser, size_t value)
{
    chooser->likelihood = likelihoods[value % COUNT(likelihoods)];
    chooser->past = pasts[value / COUNT(likelihoods) % COUNT(pasts)];
    chooser->size = sizes[value / COUNT(likelihoods) / COUNT(pasts)];
}

static double measure_tracc(const struct set_request *asked, const struct chosen *chosen)
{
    return wt__tracc((struct overlap){.gold = asked->gold_count,
                                      .picked = (size_t)__builtin_popcountll(chosen->tools),
                                      .common = (size_t)__builtin_popcountll(chosen->tools & asked->found)});
}

struct value_measurement {
    const struct set_search *s;
    size_t value;
    double *each; /* [count] */
};

static int measure_value(void *context, size_t q, unsigned worker)
{
    struct value_measurement *j = context;
    struct chooser chooser = j->s->folds[q % FOLDS];
    struct chosen chosen;
    (void)worker;
    set_chooser_values(&chooser, j->value);
    wt__choose(&chooser, &j->s->asked[q].near, &chosen);
    j->each[q] = measure_tracc(&j->s->asked[q], &chosen);
    return 0;
}

static int choose_set_values(struct set_search *s, wt_error *err)
{
    WT_AUTO_FREE double *best = wt__alloc_array(s->count, sizeof *best);
    WT_AUTO_FREE double *each = wt__alloc_array(s->count, sizeof *each);
    double sum = 0;
    size_t chosen = 0;
    WT_CHECK_ALLOC(best && each, err);
    for (size_t value = 0; value < VALUES; value++) {
        struct value_measurement measuring = {s, value, each};
        wt__pool_run(s->training->threads, s->count, measure_value, &measuring);
        if (value > 0 && !wt__evaluator_is_better(s->evaluator, best, each, CLEARLY))
            continue;
        memcpy(best, each, s->count * sizeof *best);
        chosen = value;
    }
    for (size_t q = 0; q < s->count; q++)
        sum += best[q];
    s->figure = sum / (double)s->count;
    set_chooser_values(&s->chooser, chosen);
    for (size_t fold = 0; fold < FOLDS; fold++)
        set_chooser_values(&s->folds[fold], chosen);
    return 0;
}

/* Computes the nonconformity score at which the complete set of a deep search contains all its gold tools;
 * CHOOSE_NEVER if some were not found. */
static int compute_nonconformity(const struct chooser *chooser, const struct deep_search *deep, float *out,
                                 wt_error *err)
{
    WT_AUTO_FREE uint32_t *order = wt__alloc_array(deep->hits, sizeof *order);
    WT_AUTO_FREE float *nonconformity = wt__alloc_array(deep->hits, sizeof *nonconformity);
    size_t wanted = deep->wanted;
    WT_CHECK_ALLOC(order && nonconformity, err);
    *out = CHOOSE_NEVER;
    if (deep->found < wanted)
        return 0;
    wt__set_order(chooser, &deep->candidates, deep->hits, order, nonconformity);
    for (size_t i = 0; i < deep->hits && wanted > 0; i++)
        for (size_t g = 0; g < deep->found; g++)
            if (deep->places[g] == order[i]) {
                wanted--;
                *out = nonconformity[i];
            }
    return 0;
}

static int calibrate_chooser(struct set_search *s, wt_error *err)
{
    size_t used = 0, unused = 0;
    for (size_t q = 0; q < s->count; q++) {
        const struct chooser *chooser = &s->folds[q % FOLDS];
        const struct set_request *asked = &s->asked[q];
        if (asked->used.wanted > 0)
            WT_TRY(compute_nonconformity(chooser, &asked->used, &s->nonconformity[used++], err));
        if (asked->unused.wanted > 0)
            WT_TRY(compute_nonconformity(chooser, &asked->unused, &s->unused[unused++], err));
        s->none[q] = wt__no_answer_probability(chooser, &asked->near);
    }
    wt__sort_floats(s->nonconformity, used);
    wt__sort_floats(s->unused, unused);
    wt__sort_floats(s->none, s->count);
    s->chooser.nonconformity = (struct calibration){s->nonconformity, used};
    s->chooser.unused = (struct calibration){s->unused, unused};
    s->chooser.no_answer = (struct calibration){s->none, s->count};
    return 0;
}

/* Records the best cosine and the length of each dev request. Queries detect an unfamiliar request by comparison. */
static void calibrate_familiarity(struct set_search *s)
{
    for (size_t q = 0; q < s->count; q++) {
        s->nearest[q] = s->asked[q].near.answerability[ANSWERABLE_NEAREST];
        s->lengths[q] = (float)s->training->examples.dev.texts[s->evaluator->dev[q]].len;
    }
    wt__sort_floats(s->nearest, s->count);
    wt__sort_floats(s->lengths, s->count);
    s->chooser.nearest = (struct calibration){s->nearest, s->count};
    s->chooser.lengths = (struct calibration){s->lengths, s->count};
}

/* ---------------------------------------------------------------- lesson */

static int open_trained_recipes(struct set_search *s, const char **identity, wt_error *err)
{
    wt_engine *engine = s->training->engine;
    const struct trained *trained = NULL;
    wt_open_options options;
    wt_open_options_init(&options);
    options.model = engine->model_folder;
    options.trained = s->training->out;
    options.threads = s->training->threads;
    WT_TRY(wt_open(&s->engine, engine->location, &options, err));
    WT_TRY(wt__engine_trained(s->engine, &trained, err));
    const struct trained_recipe *found_by = wt__trained_recipe(trained, "auto");
    if (!found_by)
        return wt__fail(err, WT_ERECIPE,
                        "sets are chosen from the hits of auto, which is not trained in %s; run `whichtool train auto` "
                        "first, or `whichtool train all` for both",
                        s->training->out);
    *identity = found_by->identity;
    s->trained = trained;
    return 0;
}

static int search_all_dev(struct set_search *s, wt_error *err)
{
    unsigned threads = s->training->threads;
    s->asked = calloc(s->count, sizeof *s->asked);
    s->errors = calloc(threads, sizeof *s->errors);
    WT_CHECK_ALLOC(s->asked && s->errors, err);
    if (wt__train_progress_phase(&s->training->progress, "asking", s->count))
        return wt__fail_cancelled(err);
    s->apart = estimate_unused_need(s);
    WT_TRY(wt__training_run(s->training, s->count, search_dev_tools, s, s->errors, err));
    return s->apart ? search_all_hidden(s, err) : 0;
}

static int learn_chooser(struct set_search *s, const char **identity, wt_error *err)
{
    WT_TRY(open_trained_recipes(s, identity, err));
    WT_TRY(search_all_dev(s, err));
    WT_TRY(fit_folds(s, err));
    WT_TRY(choose_set_values(s, err));
    WT_TRY(calibrate_chooser(s, err));
    calibrate_familiarity(s);
    return 0;
}

static int save_chooser(struct set_search *s, const json_t *about, const char *identity, wt_trained *out, wt_error *err)
{
    json_t *config = wt__chooser_write(&s->chooser);
    out->after = s->figure;
    if (config && json_object_set_new(config, "auto", json_string(identity)) == 0)
        return wt__evaluator_finish(s->evaluator, about, config, out, err);
    json_decref(config);
    return wt__fail_nomem(err);
}

int wt__lesson_set(struct training *training, wt_trained *out, wt_error *err)
{
    struct set_search *s = calloc(1, sizeof *s);
    const char *identity = NULL;
    json_auto_t *about = NULL;
    WT_CHECK_ALLOC(s, err);
    s->training = training;
    int rc = wt__evaluator_begin(&s->evaluator, training, &about, err);
    s->count = rc == 0 ? s->evaluator->dev_count : 0;
    if (rc == 0 && s->count < SET_LEAST) {
        out->path = "";
        out->notice = "too few dev requests to calibrate a chooser of sets: the built-in parameters remain in use";
    } else if (rc == 0) {
        rc = learn_chooser(s, &identity, err);
        if (rc == 0)
            rc = save_chooser(s, about, identity, out, err);
    }
    wt_close(s->engine);
    for (size_t q = 0; s->asked && q < s->count; q++)
        free(s->asked[q].left_out);
    free(s->asked);
    free(s->errors);
    free(s);
    return rc;
}
