/* measure.c: metrics of a ranking, trec_eval's text formats, the measurement of a recipe, and answerability.
 *
 * Quality and time are measured in separate passes. Quality needs a hundred hits, and reading a hundred tools from the
 * store takes longer than reading the few that a caller requests. */
#include "eval/internal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/sort.h"
#include "query/chooser_input.h"
#include "engine/engine.h"
#include "query/search.h"
#include "query/selector.h"
#include "recipe/recipes.h"

/* ---------------------------------------------------------------- metrics */

static size_t hits_within(const int *gains, size_t ranked, size_t k)
{
    size_t hits = 0;
    for (size_t i = 0; i < ranked && i < k; i++)
        hits += gains[i] > 0;
    return hits;
}

double wt__recall_at(const int *gains, size_t ranked, size_t relevant, size_t k)
{
    return relevant ? (double)hits_within(gains, ranked, k) / (double)relevant : 0;
}

double wt__complete_at(const int *gains, size_t ranked, size_t relevant, size_t k)
{
    return relevant && hits_within(gains, ranked, k) == relevant ? 1 : 0;
}

double wt__reciprocal_rank(const int *gains, size_t ranked)
{
    for (size_t i = 0; i < ranked; i++)
        if (gains[i] > 0)
            return 1.0 / (double)(i + 1);
    return 0;
}

static double dcg(const int *gains, size_t count, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < count && i < k; i++)
        if (gains[i] > 0)
            sum += gains[i] / log2((double)i + 2);
    return sum;
}

double wt__ndcg_at(const int *gains, size_t ranked, const int *ideal, size_t judged, size_t k)
{
    double best = dcg(ideal, judged, k);
    return best > 0 ? dcg(gains, ranked, k) / best : 0;
}

/* ---------------------------------------------------------------- TREC files */

void wt__trec_escape(struct buffer *out, struct str id)
{
    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = (unsigned char)id.ptr[i];
        if (c <= ' ' || c == '%' || c == 0x7f)
            wt__buffer_printf(out, "%%%02X", c);
        else
            wt__buffer_char(out, (char)c);
    }
}

void wt__trec_unescape(char *field)
{
    char *out = field;
    while (*field) {
        int high = *field == '%' ? wt__hex_digit(field[1]) : -1, low = high >= 0 ? wt__hex_digit(field[2]) : -1;
        bool escaped = low >= 0 && 16 * high + low > 0;
        *out++ = escaped ? (char)(16 * high + low) : *field;
        field += escaped ? 3 : 1;
    }
    *out = '\0';
}

void wt__trec_run_line(struct buffer *out, struct str query, struct str tool, size_t rank, double score, float *last,
                       const char *recipe)
{
    float written = (float)score;
    if (!(written < *last))
        written = nextafterf(*last, -INFINITY);
    *last = written;
    wt__trec_escape(out, query);
    wt__buffer_text(out, " Q0 ");
    wt__trec_escape(out, tool);
    wt__buffer_printf(out, " %zu %.9g ", rank, (double)written);
    wt__trec_escape(out, wt__str(recipe));
    wt__buffer_char(out, '\n');
}

void wt__trec_qrels_line(struct buffer *out, struct str query, const struct judgement *judgement)
{
    wt__trec_escape(out, query);
    wt__buffer_text(out, " 0 ");
    wt__trec_escape(out, judgement->tool);
    wt__buffer_printf(out, " %d\n", judgement->gain);
}

/* ---------------------------------------------------------------- measurement */

enum { JUDGE_BATCH = 64 /* queries judged between two progress reports */ };

static int compare_gains_descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

/* Returns the gain of the tool at index; 0 for a repeated tool and for a tool without a judgement. */
static int gain_at(const struct query *query, const char *const *ranked, size_t index)
{
    struct str tool = wt__str(ranked[index]);
    int gain = 0;
    for (size_t j = 0; j < query->judgement_count && gain == 0; j++)
        if (wt__str_equal(query->judgements[j].tool, tool))
            gain = query->judgements[j].gain;
    for (size_t i = 0; i < index && gain > 0; i++)
        if (strcmp(ranked[i], ranked[index]) == 0)
            gain = 0;
    return gain;
}

int wt__judge_ranking(double *out, const struct eval_plan *plan, const struct query *query, const char *const *ranked,
                      size_t len, wt_error *err)
{
    size_t judged = query->judgement_count, relevant = 0, cutoffs = plan->cutoff_count;
    WT_AUTO_FREE int *ideal = wt__alloc_array(judged + len, sizeof *ideal); /* [judged], then gains [len] */
    WT_CHECK_ALLOC(ideal, err);
    int *gains = ideal + judged;
    for (size_t j = 0; j < judged; j++) {
        ideal[j] = query->judgements[j].gain;
        relevant += ideal[j] > 0;
    }
    qsort(ideal, judged, sizeof *ideal, compare_gains_descending);
    for (size_t i = 0; i < len; i++)
        gains[i] = gain_at(query, ranked, i);
    for (size_t c = 0; c < cutoffs; c++) {
        out[c] = wt__recall_at(gains, len, relevant, plan->cutoffs[c]);
        out[cutoffs + c] = wt__ndcg_at(gains, len, ideal, judged, plan->cutoffs[c]);
        out[2 * cutoffs + c] = wt__complete_at(gains, len, relevant, plan->cutoffs[c]);
    }
    out[3 * cutoffs] = wt__reciprocal_rank(gains, len);
    return 0;
}

const char *const wt__pick_metrics[PICK_METRICS - SET_METRICS] = {"recall@gold", "ndcg@gold", "ptr_ndcg"};

static void judge_pick(double *out, const struct query *query, const char *const *picked, size_t len, int *ideal)
{
    struct overlap sets = {.picked = len};
    size_t judged = query->judgement_count;
    int *gains = ideal + judged;
    for (size_t j = 0; j < judged; j++) {
        ideal[j] = query->judgements[j].gain;
        sets.gold += ideal[j] > 0;
    }
    for (size_t i = 0; i < len; i++) {
        gains[i] = gain_at(query, picked, i);
        sets.common += gains[i] > 0;
    }
    for (size_t m = 0; m < SET_METRICS; m++)
        out[m] = wt__set_metrics[m].of(sets);
    qsort(ideal, judged, sizeof *ideal, compare_gains_descending);
    out[PICK_RECALL] = wt__recall_at(gains, len, sets.gold, sets.gold);
    out[PICK_NDCG] = wt__ndcg_at(gains, len, ideal, judged, sets.gold);
    size_t hits = sets.common;
    out[PICK_PUBLISHED_NDCG] = hits > 0 ? wt__ndcg_at(gains, len, ideal, hits, sets.gold) : 0;
}

/* A recipe's answer to a query. */
struct recipe_answer {
    wt_hits *hits;     /* NULL if the recipe picks */
    wt_picked *picked; /* NULL if the recipe ranks */
    const wt_hit *const *items;
    size_t len;
    const char *recipe, *notice, *why;
    double multi_provider_probability;
};

static void free_recipe_answer(struct recipe_answer *answer)
{
    wt_hits_free(answer->hits);
    wt_picked_free(answer->picked);
}

/* Appends the store's ids of the query's relevant tools to ids [*count]. Skips tools that are missing in the store. ids
 * needs room for one id per judgement. */
static int find_gold_ids(wt_engine *engine, const struct query *query, int64_t *ids, size_t *count, wt_error *err)
{
    int rc = 0;
    pthread_mutex_lock(&engine->store_lock);
    for (size_t j = 0; rc >= 0 && j < query->judgement_count; j++) {
        if (query->judgements[j].gain <= 0)
            continue;
        rc = wt__store_find_source_id(engine->store, query->judgements[j].tool, &ids[*count], 1, err);
        *count += rc > 0;
    }
    pthread_mutex_unlock(&engine->store_lock);
    return rc < 0 ? rc : 0;
}

/* Progress callback of one query: cancels the query if the evaluation is cancelled, and reports no progress of its
 * own. */
static int poll_cancellation(void *progress, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase, (void)done, (void)total;
    return wt__progress_step(progress, 0);
}

bool wt__has_base_retriever(const char *recipe)
{
    return wt__recipe_selector(recipe) == SELECTOR_PTR || wt__recipe_selector(recipe) == SELECTOR_BUNDLE;
}

static int pick_for_query(struct recipe_answer *out, wt_engine *engine, const struct query *query, const char *recipe,
                          const struct eval_plan *plan, struct progress *progress, wt_error *err)
{
    const struct ptr_plan *ptr = &plan->ptr;
    wt_pick_options options;
    wt_pick_options_init(&options);
    options.recipe = recipe;
    options.abstain = WT_OFF; /* never abstain; answerability is measured separately */
    options.as_typed = plan->as_typed;
    options.progress = poll_cancellation;
    options.progress_context = progress;
    if (wt__has_base_retriever(recipe))
        options.base_retriever = ptr->base_retriever;
    if (wt__recipe_selector(recipe) == SELECTOR_PTR)
        options.experiment = ptr->experiment;
    WT_AUTO_FREE int64_t *gold = wt__alloc_array(query->judgement_count, sizeof *gold);
    WT_CHECK_ALLOC(gold, err);
    struct pick_evaluation evaluation = {.oracle = ptr->oracle, .gold = gold};
    if (ptr->oracle)
        WT_TRY(find_gold_ids(engine, query, gold, &evaluation.gold_count, err));
    WT_TRY(wt__pick(engine, query->text, &options, &evaluation, &out->picked, err));
    *out = (struct recipe_answer){.picked = out->picked,
                                  .items = out->picked->items,
                                  .len = out->picked->len,
                                  .recipe = out->picked->recipe,
                                  .notice = out->picked->notice,
                                  .multi_provider_probability = NAN};
    return 0;
}

static int rank_for_query(struct recipe_answer *out, wt_engine *engine, const struct query *query, const char *recipe,
                          const struct eval_plan *plan, size_t k, struct progress *progress, wt_error *err)
{
    wt_find_options options;
    wt_find_options_init(&options);
    options.k = k;
    options.recipe = recipe;
    options.max_per_provider = plan->max_per_provider;
    options.copies = plan->copies;
    options.as_typed = plan->as_typed;
    options.progress = poll_cancellation;
    options.progress_context = progress;
    WT_TRY(wt__find_by_id(engine, query->text, &options, &out->hits, err));
    *out = (struct recipe_answer){.hits = out->hits,
                                  .items = out->hits->items,
                                  .len = out->hits->len,
                                  .recipe = out->hits->recipe,
                                  .notice = out->hits->notice,
                                  .why = out->hits->why,
                                  .multi_provider_probability = out->hits->multi_provider_probability};
    return 0;
}

/* Ranks or picks for one query. The caller frees the answer, even on failure. */
static int answer_query(struct recipe_answer *out, wt_engine *engine, const struct query *query, const char *recipe,
                        const struct eval_plan *plan, size_t k, struct progress *progress, wt_error *err)
{
    wt_error why;
    *out = (struct recipe_answer){.multi_provider_probability = NAN};
    int rc = wt__recipe_selector(recipe) == SELECTOR_NONE
                 ? rank_for_query(out, engine, query, recipe, plan, k, progress, &why)
                 : pick_for_query(out, engine, query, recipe, plan, progress, &why);
    if (rc == WT_ECANCELLED)
        return wt__fail_cancelled(err);
    return rc < 0 ? wt__fail(err, rc, "recipe %s, query \"%.80s\": %s", recipe, query->id.ptr, why.message) : 0;
}

static bool is_judged_once(const char *recipe, const struct eval_plan *plan)
{
    return plan->ptr.once && wt__recipe_selector(recipe) == SELECTOR_PTR;
}

/* Answers the first query without timing it, and keeps the texts of the answer for the report. */
static int warm_up_recipe(struct measurement *out, wt_engine *engine, const struct query *query,
                          const struct eval_plan *plan, const char *recipe, struct progress *progress, wt_error *err)
{
    WT_CLEANUP(free_recipe_answer) struct recipe_answer answer = {0};
    WT_TRY(answer_query(&answer, engine, query, recipe, plan, plan->latency_k, progress, err));
    out->ran = wt__copy_string(answer.recipe, strlen(answer.recipe));
    out->notice = answer.notice ? wt__copy_string(answer.notice, strlen(answer.notice)) : NULL;
    out->why = answer.why ? wt__copy_string(answer.why, strlen(answer.why)) : NULL;
    WT_CHECK_ALLOC(out->ran && (out->notice || !answer.notice) && (out->why || !answer.why), err);
    return 0;
}

static int time_queries(struct measurement *out, wt_engine *engine, const struct dataset *dataset,
                        const struct eval_plan *plan, const char *recipe, struct progress *progress, wt_error *err)
{
    if (wt__progress_phase(progress, "timing", plan->timed))
        return wt__fail_cancelled(err);
    WT_TRY(warm_up_recipe(out, engine, &dataset->queries[0], plan, recipe, progress, err));
    if (is_judged_once(recipe, plan))
        return 0;
    for (size_t q = 0; q < plan->timed; q++) {
        WT_CLEANUP(free_recipe_answer) struct recipe_answer answer = {0};
        double begin = wt__now_ms();
        int rc = answer_query(&answer, engine, &dataset->queries[q], recipe, plan, plan->latency_k, progress, err);
        out->milliseconds[q] = wt__now_ms() - begin;
        WT_TRY(rc);
        if (wt__progress_step(progress, 1))
            return wt__fail_cancelled(err);
    }
    out->timed = plan->timed;
    return 0;
}

static void append_run_lines(struct buffer *out, const struct query *query, const struct recipe_answer *answer,
                             const char *recipe)
{
    float last = INFINITY;
    for (size_t i = 0; i < answer->len; i++) {
        const wt_tool *tool = answer->items[i]->tool;
        const char *id = *tool->source_id ? tool->source_id : tool->id;
        wt__trec_run_line(out, query->id, wt__str(id), i + 1, answer->items[i]->score, &last, recipe);
    }
}

size_t wt__count_relevant(const struct query *query)
{
    size_t count = 0;
    for (size_t j = 0; j < query->judgement_count; j++)
        count += query->judgements[j].gain > 0;
    return count;
}

void wt__note_misses(bool *missed, const struct query *query, const char *const *ranked, size_t len)
{
    size_t relevant = 0;
    for (size_t j = 0; j < query->judgement_count; j++) {
        bool found = false;
        if (query->judgements[j].gain <= 0)
            continue;
        for (size_t i = 0; i < len && i < MISS_DEPTH; i++)
            found |= wt__str_equal(query->judgements[j].tool, wt__str(ranked[i]));
        missed[relevant++] = !found;
    }
}

/* A batch of queries judged by several threads. */
struct judge_batch {
    struct measurement *out;
    wt_engine *engine;
    const struct dataset *dataset;
    const struct eval_plan *plan;
    const char *recipe;
    struct progress *progress;
    size_t begin;                     /* first query of the batch */
    size_t missed[JUDGE_BATCH];       /* start of each query's part of measurement.missed */
    struct buffer lines[JUDGE_BATCH]; /* lines of the TREC run */
    bool runs;                        /* true if a TREC run is written */
    wt_error errors[JUDGE_BATCH];
};

static int judge_answer(struct judge_batch *j, size_t index, const struct recipe_answer *answer, wt_error *err)
{
    const struct eval_plan *plan = j->plan;
    size_t q = j->begin + index, len = answer->len;
    const struct query *query = &j->dataset->queries[q];
    WT_AUTO_FREE const char **ranked = wt__alloc_array(len, sizeof *ranked);
    WT_AUTO_FREE int *ideal = wt__alloc_array(query->judgement_count + len, sizeof *ideal);
    WT_CHECK_ALLOC(ranked && ideal, err);
    for (size_t i = 0; i < len; i++)
        ranked[i] = answer->items[i]->tool->source_id;
    WT_TRY(wt__judge_ranking(j->out->values + q * wt__metric_count(plan), plan, query, ranked,
                             len < plan->depth ? len : plan->depth, err));
    if (j->out->picks)
        judge_pick(j->out->picks + q * PICK_METRICS, query, ranked, len, ideal);
    wt__note_misses(j->out->missed + j->missed[index], query, ranked, len);
    return 0;
}

static int judge_query(void *context, size_t index, unsigned worker)
{
    struct judge_batch *j = context;
    size_t q = j->begin + index;
    const struct query *query = &j->dataset->queries[q];
    wt_error *err = &j->errors[index];
    struct recipe_answer answer;
    (void)worker;
    int rc = answer_query(&answer, j->engine, query, j->recipe, j->plan, j->plan->depth, j->progress, err);
    if (rc == 0)
        rc = judge_answer(j, index, &answer, err);
    j->out->multi_provider_probability[q] = answer.multi_provider_probability;
    if (answer.picked) {
        if (is_judged_once(j->recipe, j->plan))
            j->out->milliseconds[q] = answer.picked->total_ms;
        j->out->questions[q] = (double)answer.picked->questions;
        j->out->tokens[q] = (double)(answer.picked->prompt_tokens + answer.picked->completion_tokens);
    }
    if (rc == 0 && j->runs)
        append_run_lines(&j->lines[index], query, &answer, j->recipe);
    free_recipe_answer(&answer);
    return rc == 0 && j->lines[index].failed ? wt__fail_nomem(err) : rc;
}

/* Judges `count` queries, and writes their lines to `run` in order. run: NULL to write no TREC run. */
static int judge_queries_parallel(struct judge_batch *j, size_t count, struct replace *run, wt_error *err)
{
    int rc = wt__pool_run(j->engine->threads, count, judge_query, j);
    for (size_t i = 0; i < count; i++) {
        if (rc < 0 && j->errors[i].code) {
            if (err)
                *err = j->errors[i];
            return rc;
        }
        if (rc == 0 && run)
            rc = wt__replace_write(run, j->lines[i].ptr, j->lines[i].len, err);
        wt__buffer_clear(&j->lines[i]);
    }
    return rc;
}

/* Judges all queries, batch by batch. run: NULL to write no TREC run. */
static int judge_queries(struct judge_batch *j, struct replace *run, struct progress *progress, wt_error *err)
{
    const struct eval_plan *plan = j->plan;
    size_t noted = 0;
    int rc = wt__progress_phase(progress, "judging", plan->queries) ? wt__fail_cancelled(err) : 0;
    j->runs = run != NULL;
    for (j->begin = 0; rc == 0 && j->begin < plan->queries; j->begin += JUDGE_BATCH) {
        size_t left = plan->queries - j->begin, count = left < JUDGE_BATCH ? left : JUDGE_BATCH;
        for (size_t i = 0; i < count; i++) {
            j->missed[i] = noted;
            noted += wt__count_relevant(&j->dataset->queries[j->begin + i]);
        }
        rc = judge_queries_parallel(j, count, run, err);
        if (rc == 0 && wt__progress_step(progress, count))
            rc = wt__fail_cancelled(err);
    }
    for (size_t i = 0; i < JUDGE_BATCH; i++)
        wt__buffer_dispose(&j->lines[i]);
    return rc;
}

int wt__measurement_open(struct measurement *out, const struct eval_plan *plan, wt_error *err)
{
    *out = (struct measurement){.values = calloc(plan->queries * wt__metric_count(plan), sizeof *out->values),
                                .milliseconds = calloc(plan->timed + plan->queries, sizeof *out->milliseconds),
                                .missed = calloc(plan->relevant, sizeof *out->missed),
                                .multi_provider_probability =
                                    calloc(plan->queries, sizeof *out->multi_provider_probability),
                                .questions = calloc(plan->queries, sizeof *out->questions),
                                .tokens = calloc(plan->queries, sizeof *out->tokens)};
    WT_CHECK_ALLOC(out->values && out->milliseconds && out->missed && out->multi_provider_probability &&
                       out->questions && out->tokens,
                   err);
    return 0;
}

static int run_passes(struct judge_batch *batch, const char *run_path, wt_error *err)
{
    struct measurement *out = batch->out;
    const struct eval_plan *plan = batch->plan;
    WT_CLEANUP(wt__replace_abort) struct replace run = {.fd = -1};
    WT_TRY(wt__measurement_open(out, plan, err));
    if (wt__recipe_selector(batch->recipe) != SELECTOR_NONE) {
        out->picks = calloc(plan->queries * PICK_METRICS, sizeof *out->picks);
        WT_CHECK_ALLOC(out->picks, err);
    }
    if (run_path)
        WT_TRY(wt__replace_begin(&run, run_path, err));
    WT_TRY(time_queries(out, batch->engine, batch->dataset, plan, batch->recipe, batch->progress, err));
    WT_TRY(judge_queries(batch, run_path ? &run : NULL, batch->progress, err));
    if (is_judged_once(batch->recipe, plan))
        out->timed = plan->queries;
    wt__sort_doubles(out->milliseconds, out->timed);
    return run_path ? wt__replace_commit(&run, err) : 0;
}

int wt__measure(struct measurement *out, wt_engine *engine, const struct dataset *dataset, const struct eval_plan *plan,
                const char *recipe, const char *run_path, struct progress *progress, wt_error *err)
{
    struct judge_batch batch = {
        .out = out, .engine = engine, .dataset = dataset, .plan = plan, .recipe = recipe, .progress = progress};
    int rc = run_passes(&batch, run_path, err);
    if (rc < 0)
        wt__measurement_dispose(out);
    return rc;
}

void wt__measurement_dispose(struct measurement *measurement)
{
    free(measurement->values);
    free(measurement->picks);
    free(measurement->milliseconds);
    free(measurement->missed);
    free(measurement->multi_provider_probability);
    free(measurement->questions);
    free(measurement->tokens);
    free(measurement->ran);
    free(measurement->notice);
    free(measurement->why);
    *measurement = (struct measurement){0};
}

/* ---------------------------------------------------------------- answerability */

const char *const wt__answerability_names[ANSWERABILITY_FIGURES] = {
    "no_answer_false_positives", "no_answer_removed_auroc", "no_answer_removed_recall", "no_answer_ood_auroc",
    "no_answer_ood_recall"};

struct answerability_run {
    wt_engine *engine;
    const struct chooser *chooser;
    bool untrained;
    const struct dataset *dataset, *out_of_domain;
    size_t queries;
    /* No-answer probabilities. fits: [queries] with all tools. removed: [queries] with the relevant tools removed.
     * others: for the requests of out_of_domain. */
    float *fits, *removed, *others;
    wt_error *errors; /* [threads] */
};

static float no_answer_probability(const struct answerability_run *a, const struct search *search)
{
    struct candidate_features candidates;
    return (float)wt__read_candidates(search, a->chooser, &candidates);
}

static struct search make_search(const struct answerability_run *a, struct str text, struct arena *arena)
{
    return (struct search){.engine = a->engine,
                           .request = text,
                           .arena = arena,
                           .untrained = a->untrained,
                           .k = PICK_HITS,
                           .features = true};
}

static int score_query(void *context, size_t q, unsigned worker)
{
    struct answerability_run *a = context;
    wt_error *err = &a->errors[worker];
    const struct query *query = &a->dataset->queries[q];
    struct arena arena = {0};
    struct search search = make_search(a, query->text, &arena), without = search;
    uint64_t *left_out = NULL;
    int64_t *ids = wt__arena_array(&arena, int64_t, query->judgement_count);
    size_t count = 0;
    int rc = ids ? find_gold_ids(a->engine, query, ids, &count, err) : wt__fail_nomem(err);
    if (rc == 0 && (rc = wt__search_run(&search, err)) == 0)
        a->fits[q] = no_answer_probability(a, &search);
    if (rc == 0)
        rc = wt__past_users(&search, ids, count, &left_out, err);
    wt__search_end(&search);
    without.excluded = ids;
    without.excluded_count = count;
    without.left_out = left_out;
    if (rc == 0 && (rc = wt__search_run(&without, err)) == 0)
        a->removed[q] = no_answer_probability(a, &without);
    wt__search_end(&without);
    free(left_out);
    wt__arena_dispose(&arena);
    return rc;
}

static int score_out_of_domain(void *context, size_t q, unsigned worker)
{
    struct answerability_run *a = context;
    struct arena arena = {0};
    struct search search = make_search(a, a->out_of_domain->queries[q].text, &arena);
    int rc = wt__search_run(&search, &a->errors[worker]);
    if (rc == 0)
        a->others[q] = no_answer_probability(a, &search);
    wt__search_end(&search);
    wt__arena_dispose(&arena);
    return rc;
}

static double share_above(const float *values, size_t count, float threshold)
{
    size_t above = 0;
    for (size_t i = 0; i < count; i++)
        above += values[i] > threshold;
    return (double)above / (double)count;
}

/* Returns the area under the ROC curve. with, without: no-answer probabilities of the answerable and of the
 * unanswerable requests. The area is the share of pairs (one request of each kind) in which the unanswerable request
 * has the higher probability. Ties count half. */
static double roc_area(const float *with, size_t with_count, const float *without, size_t without_count)
{
    double sum = 0;
    for (size_t i = 0; i < with_count; i++)
        for (size_t j = 0; j < without_count; j++)
            sum += without[j] > with[i] ? 1 : without[j] == with[i] ? 0.5 : 0;
    return sum / ((double)with_count * (double)without_count);
}

static int score_requests(struct answerability_run *a, size_t others, struct progress *progress, wt_error *err)
{
    unsigned threads = a->engine->threads ? a->engine->threads : wt__processor_count();
    a->fits = wt__alloc_array(a->queries, sizeof *a->fits);
    a->removed = wt__alloc_array(a->queries, sizeof *a->removed);
    a->others = wt__alloc_array(others, sizeof *a->others);
    a->errors = calloc(threads, sizeof *a->errors);
    WT_CHECK_ALLOC(a->fits && a->removed && a->others && a->errors, err);
    if (wt__progress_phase(progress, "measuring unanswerable requests", 2))
        return wt__fail_cancelled(err);
    int rc = wt__pool_run(threads, a->queries, score_query, a);
    if (rc == 0 && wt__progress_step(progress, 1))
        return wt__fail_cancelled(err);
    if (rc == 0)
        rc = wt__pool_run(threads, others, score_out_of_domain, a);
    for (unsigned w = 0; rc < 0 && w < threads; w++)
        if (a->errors[w].code && err)
            *err = a->errors[w];
    return rc;
}

int wt__measure_answerability(double out[ANSWERABILITY_FIGURES], size_t *count, wt_engine *engine,
                              const struct dataset *dataset, size_t queries, const struct dataset *out_of_domain,
                              struct progress *progress, wt_error *err)
{
    struct answerability_run a = {
        .engine = engine, .dataset = dataset, .out_of_domain = out_of_domain, .queries = queries};
    size_t others = out_of_domain ? out_of_domain->len < queries ? out_of_domain->len : queries : 0;
    struct notice unused;
    a.chooser = wt__engine_chooser(engine, progress, &a.untrained, &unused);
    int rc = a.chooser ? score_requests(&a, others, progress, err) : wt__fail_nomem(err);
    if (rc == 0) {
        float threshold = wt__no_answer_threshold(&a.chooser->no_answer, PICK_ABSTAIN_PERCENT / 100.0);
        out[ANSWERABILITY_FALSE_POSITIVES] = share_above(a.fits, queries, threshold);
        out[ANSWERABILITY_REMOVED_AUROC] = roc_area(a.fits, queries, a.removed, queries);
        out[ANSWERABILITY_REMOVED_RECALL] = share_above(a.removed, queries, threshold);
        if (others > 0) {
            out[ANSWERABILITY_OUT_OF_DOMAIN_AUROC] = roc_area(a.fits, queries, a.others, others);
            out[ANSWERABILITY_OUT_OF_DOMAIN_RECALL] = share_above(a.others, others, threshold);
        }
        *count = others > 0 ? ANSWERABILITY_FIGURES : ANSWERABILITY_OUT_OF_DOMAIN_AUROC;
    }
    free(a.fits);
    free(a.removed);
    free(a.others);
    free(a.errors);
    return rc;
}
