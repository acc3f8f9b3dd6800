/* measure.c: quality and time are measured apart, because a run of a hundred hits reads a hundred tools from the store
 * where a caller asks for a few; that would be the time of another question. */
#include "eval/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/sort.h"
#include "engine/engine.h"
#include "query/search.h"
#include "query/selector.h"
#include "recipe/recipes.h"
#include "eval/metrics.h"
#include "eval/trec.h"

enum { TURN = 64 /* queries that are judged between two looks at who listens */ };

static int descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

/* The gain of the tool at index; one that was ranked before counts there only. */
static int gain_of(const struct query *query, const char *const *ranked, size_t index)
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

int wt__judge_ranking(double *out, const struct plan *plan, const struct query *query, const char *const *ranked,
                      size_t len, wt_error *err)
{
    size_t judged = query->judgement_count, relevant = 0, cutoffs = plan->cutoff_count;
    int *ideal = wt__alloc_array(judged + len, sizeof *ideal); /* [judged], then gains [len] */
    if (!ideal)
        return wt__fail_nomem(err);
    int *gains = ideal + judged;
    for (size_t j = 0; j < judged; j++) {
        ideal[j] = query->judgements[j].gain;
        relevant += ideal[j] > 0;
    }
    qsort(ideal, judged, sizeof *ideal, descending);
    for (size_t i = 0; i < len; i++)
        gains[i] = gain_of(query, ranked, i);
    for (size_t c = 0; c < cutoffs; c++) {
        out[c] = wt__recall_at(gains, len, relevant, plan->cutoffs[c]);
        out[cutoffs + c] = wt__ndcg_at(gains, len, ideal, judged, plan->cutoffs[c]);
        out[2 * cutoffs + c] = wt__complete_at(gains, len, relevant, plan->cutoffs[c]);
    }
    out[3 * cutoffs] = wt__reciprocal_rank(gains, len);
    free(ideal);
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
        gains[i] = gain_of(query, picked, i);
        sets.common += gains[i] > 0;
    }
    for (size_t m = 0; m < SET_METRICS; m++)
        out[m] = wt__set_metrics[m].of(sets);
    qsort(ideal, judged, sizeof *ideal, descending);
    out[PICK_RECALL] = wt__recall_at(gains, len, sets.gold, sets.gold);
    out[PICK_NDCG] = wt__ndcg_at(gains, len, ideal, judged, sets.gold);
    size_t hits = sets.common;
    out[PICK_PUBLISHED_NDCG] = hits > 0 ? wt__ndcg_at(gains, len, ideal, hits, sets.gold) : 0;
}

/* What a recipe says of a query. */
struct answer {
    wt_hits *hits;     /* of one that ranks */
    wt_picked *picked; /* of one that picks */
    const wt_hit *const *items;
    size_t len;
    const char *recipe, *notice, *why;
    double multi_provider_probability;
};

static void free_answer(struct answer *answer)
{
    wt_hits_free(answer->hits);
    wt_picked_free(answer->picked);
}

int wt__find_gold(wt_engine *engine, const struct query *query, int64_t *ids, size_t *count, wt_error *err)
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

/* A query hears whether the whole evaluation shall stop, and has no phases of its own. */
static int hear(void *progress, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase, (void)done, (void)total;
    return wt__progress_step(progress, 0);
}

/* A set is picked in any case: whether there is a tool at all is another question. */
bool wt__has_base_retriever(const char *recipe)
{
    return wt__recipe_selector(recipe) == SELECTOR_PTR || wt__recipe_selector(recipe) == SELECTOR_BUNDLE;
}

static int pick(struct answer *out, wt_engine *engine, const struct query *query, const char *recipe,
                const struct plan *plan, struct progress *progress, wt_error *err)
{
    const struct ptr_plan *ptr = &plan->ptr;
    wt_pick_options options;
    wt_pick_options_init(&options);
    options.recipe = recipe;
    options.abstain = -1;
    options.as_typed = plan->as_typed;
    options.progress = hear;
    options.progress_context = progress;
    int64_t *gold = wt__alloc_array(query->judgement_count, sizeof *gold);
    struct pick_evaluation evaluation = {.oracle = ptr->oracle, .gold = gold};
    int rc = gold ? 0 : wt__fail_nomem(err);
    if (wt__has_base_retriever(recipe))
        options.base_retriever = ptr->base_retriever;
    if (wt__recipe_selector(recipe) == SELECTOR_PTR)
        options.ablate = ptr->ablate;
    if (rc == 0 && ptr->oracle)
        rc = wt__find_gold(engine, query, gold, &evaluation.gold_count, err);
    if (rc == 0)
        rc = wt__pick(engine, query->text, &options, &evaluation, &out->picked, err);
    free(gold);
    if (rc == 0)
        *out = (struct answer){.picked = out->picked,
                               .items = out->picked->items,
                               .len = out->picked->len,
                               .recipe = out->picked->recipe,
                               .notice = out->picked->notice,
                               .multi_provider_probability = NAN};
    return rc;
}

static int rank(struct answer *out, wt_engine *engine, const struct query *query, const char *recipe,
                const struct plan *plan, size_t k, struct progress *progress, wt_error *err)
{
    wt_find_options options;
    wt_find_options_init(&options);
    options.k = k;
    options.recipe = recipe;
    options.max_per_provider = plan->max_per_provider;
    options.copies = plan->copies;
    options.as_typed = plan->as_typed;
    options.progress = hear;
    options.progress_context = progress;
    int rc = wt__find_by_id(engine, query->text, &options, &out->hits, err);
    if (rc == 0)
        *out = (struct answer){.hits = out->hits,
                               .items = out->hits->items,
                               .len = out->hits->len,
                               .recipe = out->hits->recipe,
                               .notice = out->hits->notice,
                               .why = out->hits->why,
                               .multi_provider_probability = out->hits->multi_provider_probability};
    return rc;
}

/* The caller frees the answer, whether it worked or not. */
static int find(struct answer *out, wt_engine *engine, const struct query *query, const char *recipe,
                const struct plan *plan, size_t k, struct progress *progress, wt_error *err)
{
    wt_error why;
    *out = (struct answer){.multi_provider_probability = NAN};
    int rc = wt__recipe_selector(recipe) == SELECTOR_NONE ? rank(out, engine, query, recipe, plan, k, progress, &why)
                                                          : pick(out, engine, query, recipe, plan, progress, &why);
    if (rc == WT_ECANCELLED)
        return wt__fail_cancelled(err);
    return rc < 0 ? wt__fail(err, rc, "recipe %s, query \"%.80s\": %s", recipe, query->id.ptr, why.message) : 0;
}

static bool judged_once(const char *recipe, const struct plan *plan)
{
    return plan->ptr.once && wt__recipe_selector(recipe) == SELECTOR_PTR;
}

static int time_queries(struct measurement *out, wt_engine *engine, const struct dataset *dataset,
                        const struct plan *plan, const char *recipe, struct progress *progress, wt_error *err)
{
    struct answer answer;
    if (wt__progress_phase(progress, "timing", plan->timed))
        return wt__fail_cancelled(err);
    int rc = find(&answer, engine, &dataset->queries[0], recipe, plan, plan->latency_k, progress, err);
    if (rc == 0) {
        out->ran = wt__copy_string(answer.recipe, strlen(answer.recipe));
        out->notice = answer.notice ? wt__copy_string(answer.notice, strlen(answer.notice)) : NULL;
        out->why = answer.why ? wt__copy_string(answer.why, strlen(answer.why)) : NULL;
        if (!out->ran || (!out->notice && answer.notice) || (!out->why && answer.why))
            rc = wt__fail_nomem(err);
    }
    free_answer(&answer);
    if (rc < 0 || judged_once(recipe, plan))
        return rc;
    for (size_t q = 0; q < plan->timed; q++) {
        double begin = wt__now_ms();
        rc = find(&answer, engine, &dataset->queries[q], recipe, plan, plan->latency_k, progress, err);
        out->milliseconds[q] = wt__now_ms() - begin;
        free_answer(&answer);
        if (rc < 0)
            return rc;
        if (wt__progress_step(progress, 1))
            return wt__fail_cancelled(err);
    }
    out->timed = plan->timed;
    return 0;
}

static void write_run(struct buffer *out, const struct query *query, const struct answer *answer, const char *recipe)
{
    float last = INFINITY;
    for (size_t i = 0; i < answer->len; i++) {
        const wt_tool *tool = answer->items[i]->tool;
        const char *id = *tool->source_id ? tool->source_id : tool->id;
        wt__trec_run_line(out, query->id, wt__str(id), i + 1, answer->items[i]->score, &last, recipe);
    }
}

size_t wt__relevant(const struct query *query)
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

/* A turn of queries, judged by several threads. */
struct judging {
    struct measurement *out;
    wt_engine *engine;
    const struct dataset *dataset;
    const struct plan *plan;
    const char *recipe;
    struct progress *progress;
    size_t begin;              /* of the turn */
    size_t missed[TURN];       /* where the misses of each begin */
    struct buffer lines[TURN]; /* of the run; empty when none is wanted */
    bool runs;
    wt_error errors[TURN];
};

static int judge_answer(struct judging *j, size_t index, const struct answer *answer, wt_error *err)
{
    const struct plan *plan = j->plan;
    size_t q = j->begin + index, len = answer->len;
    const struct query *query = &j->dataset->queries[q];
    const char **ranked = wt__alloc_array(len, sizeof *ranked);
    int *ideal = wt__alloc_array(query->judgement_count + len, sizeof *ideal);
    int rc = ranked && ideal ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < len; i++)
        ranked[i] = answer->items[i]->tool->source_id;
    if (rc == 0)
        rc = wt__judge_ranking(j->out->values + q * wt__plan_metrics(plan), plan, query, ranked,
                               len < plan->depth ? len : plan->depth, err);
    if (rc == 0 && j->out->picks)
        judge_pick(j->out->picks + q * PICK_METRICS, query, ranked, len, ideal);
    if (rc == 0)
        wt__note_misses(j->out->missed + j->missed[index], query, ranked, len);
    free(ranked);
    free(ideal);
    return rc;
}

static int judge_query(void *context, size_t index, unsigned worker)
{
    struct judging *j = context;
    size_t q = j->begin + index;
    const struct query *query = &j->dataset->queries[q];
    wt_error *err = &j->errors[index];
    struct answer answer;
    (void)worker;
    int rc = find(&answer, j->engine, query, j->recipe, j->plan, j->plan->depth, j->progress, err);
    if (rc == 0)
        rc = judge_answer(j, index, &answer, err);
    j->out->multi_provider_probability[q] = answer.multi_provider_probability;
    if (answer.picked) {
        if (judged_once(j->recipe, j->plan))
            j->out->milliseconds[q] = answer.picked->total_ms;
        j->out->questions[q] = (double)answer.picked->questions;
        j->out->tokens[q] = (double)(answer.picked->prompt_tokens + answer.picked->completion_tokens);
    }
    if (rc == 0 && j->runs)
        write_run(&j->lines[index], query, &answer, j->recipe);
    free_answer(&answer);
    return rc == 0 && j->lines[index].failed ? wt__fail_nomem(err) : rc;
}

/* Judges `count` queries, and writes their lines in order. */
static int judge_turn(struct judging *j, size_t count, struct replace *run, wt_error *err)
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

/* run: NULL when none is wanted. */
static int judge_queries(struct judging *j, struct replace *run, struct progress *progress, wt_error *err)
{
    const struct plan *plan = j->plan;
    size_t noted = 0;
    int rc = wt__progress_phase(progress, "judging", plan->queries) ? wt__fail_cancelled(err) : 0;
    j->runs = run != NULL;
    for (j->begin = 0; rc == 0 && j->begin < plan->queries; j->begin += TURN) {
        size_t left = plan->queries - j->begin, count = left < TURN ? left : TURN;
        for (size_t i = 0; i < count; i++) {
            j->missed[i] = noted;
            noted += wt__relevant(&j->dataset->queries[j->begin + i]);
        }
        rc = judge_turn(j, count, run, err);
        if (rc == 0 && wt__progress_step(progress, count))
            rc = wt__fail_cancelled(err);
    }
    for (size_t i = 0; i < TURN; i++)
        wt__buffer_dispose(&j->lines[i]);
    return rc;
}

int wt__measurement_open(struct measurement *out, const struct plan *plan, wt_error *err)
{
    *out = (struct measurement){.values = calloc(plan->queries * wt__plan_metrics(plan), sizeof *out->values),
                                .milliseconds = calloc(plan->timed + plan->queries, sizeof *out->milliseconds),
                                .missed = calloc(plan->relevant, sizeof *out->missed),
                                .multi_provider_probability =
                                    calloc(plan->queries, sizeof *out->multi_provider_probability),
                                .questions = calloc(plan->queries, sizeof *out->questions),
                                .tokens = calloc(plan->queries, sizeof *out->tokens)};
    return out->values && out->milliseconds && out->missed && out->multi_provider_probability && out->questions &&
                   out->tokens
               ? 0
               : wt__fail_nomem(err);
}

int wt__measure(struct measurement *out, wt_engine *engine, const struct dataset *dataset, const struct plan *plan,
                const char *recipe, const char *run_path, struct progress *progress, wt_error *err)
{
    struct replace run = {.fd = -1};
    struct judging judging = {
        .out = out, .engine = engine, .dataset = dataset, .plan = plan, .recipe = recipe, .progress = progress};
    int rc = wt__measurement_open(out, plan, err);
    if (rc == 0 && wt__recipe_selector(recipe) != SELECTOR_NONE &&
        !(out->picks = calloc(plan->queries * PICK_METRICS, sizeof *out->picks)))
        rc = wt__fail_nomem(err);
    if (rc == 0 && run_path)
        rc = wt__replace_begin(&run, run_path, err);
    if (rc == 0)
        rc = time_queries(out, engine, dataset, plan, recipe, progress, err);
    if (rc == 0)
        rc = judge_queries(&judging, run_path ? &run : NULL, progress, err);
    if (judged_once(recipe, plan))
        out->timed = plan->queries;
    if (rc == 0)
        wt__sort_doubles(out->milliseconds, out->timed);
    if (rc == 0 && run_path)
        rc = wt__replace_commit(&run, err);
    wt__replace_abort(&run);
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
