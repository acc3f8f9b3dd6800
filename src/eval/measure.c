/* measure.c: quality and time are measured apart, because a run of a hundred hits reads a hundred tools from the store
 * where a caller asks for a few; that would be the time of another question. */
#include "eval/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/pool.h"
#include "engine/engine.h"
#include "eval/metrics.h"
#include "eval/trec.h"

enum { TURN = 64 /* queries that are judged between two looks at who listens */ };

static int descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
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

int wt__judge(double *out, const struct plan *plan, const struct query *query, const char *const *ranked, size_t len,
              wt_error *err)
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

static int find(wt_hits **hits, wt_engine *engine, const struct query *query, const char *recipe, size_t k,
                wt_error *err)
{
    wt_find_options options;
    wt_find_options_init(&options);
    options.k = k;
    options.recipe = recipe;
    wt_error why;
    int rc = wt_find(engine, query->text.ptr, query->text.len, &options, hits, &why);
    if (rc < 0)
        return wt__fail(err, rc, "recipe %s, query \"%.80s\": %s", recipe, query->id.ptr, why.message);
    return 0;
}

static int time_queries(struct measurement *out, wt_engine *engine, const struct dataset *dataset,
                        const struct plan *plan, const char *recipe, struct progress *progress, wt_error *err)
{
    wt_hits *hits = NULL;
    int rc = find(&hits, engine, &dataset->queries[0], recipe, plan->latency_k, err);
    if (rc < 0)
        return rc;
    out->ran = wt__copy_string(hits->recipe, strlen(hits->recipe));
    out->notice = hits->notice ? wt__copy_string(hits->notice, strlen(hits->notice)) : NULL;
    out->why = hits->why ? wt__copy_string(hits->why, strlen(hits->why)) : NULL;
    bool copied = out->ran && (out->notice || !hits->notice) && (out->why || !hits->why);
    wt_hits_free(hits);
    if (!copied)
        return wt__fail_nomem(err);
    if (wt__progress_phase(progress, "timing", plan->timed))
        return wt__fail_cancelled(err);
    for (size_t q = 0; q < plan->timed; q++) {
        double begin = wt__now_ms();
        rc = find(&hits, engine, &dataset->queries[q], recipe, plan->latency_k, err);
        out->milliseconds[q] = wt__now_ms() - begin;
        if (rc < 0)
            return rc;
        wt_hits_free(hits);
        if (wt__progress_step(progress, 1))
            return wt__fail_cancelled(err);
    }
    qsort(out->milliseconds, plan->timed, sizeof *out->milliseconds, ascending);
    return 0;
}

static void write_run(struct buffer *out, const struct query *query, const wt_hits *hits, const char *recipe)
{
    float last = INFINITY;
    for (size_t i = 0; i < hits->len; i++) {
        const wt_tool *tool = &hits->items[i].tool;
        const char *id = *tool->source_id ? tool->source_id : tool->id;
        wt__trec_run_line(out, query->id, wt__str(id), i + 1, hits->items[i].score, &last, recipe);
    }
}

size_t wt__relevant(const struct query *query)
{
    size_t count = 0;
    for (size_t j = 0; j < query->judgement_count; j++)
        count += query->judgements[j].gain > 0;
    return count;
}

/* Notes which relevant tools are not among the first MISS_DEPTH. */
static void note_misses(bool *missed, const struct query *query, const char *const *ranked, size_t len)
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
    size_t begin;              /* of the turn */
    size_t missed[TURN];       /* where the misses of each begin */
    struct buffer lines[TURN]; /* of the run; empty when none is wanted */
    bool runs;
    wt_error errors[TURN];
};

static int judge_query(void *context, size_t index, unsigned worker)
{
    struct judging *j = context;
    const struct plan *plan = j->plan;
    size_t q = j->begin + index;
    const struct query *query = &j->dataset->queries[q];
    wt_error *err = &j->errors[index];
    wt_hits *hits = NULL;
    (void)worker;
    const char **ranked = wt__alloc_array(plan->depth, sizeof *ranked);
    int rc = ranked ? find(&hits, j->engine, query, j->recipe, plan->depth, err) : wt__fail_nomem(err);
    if (rc < 0) {
        free(ranked);
        return rc;
    }
    size_t len = hits->len < plan->depth ? hits->len : plan->depth;
    for (size_t i = 0; i < len; i++)
        ranked[i] = hits->items[i].tool.source_id;
    rc = wt__judge(j->out->values + q * wt__plan_metrics(plan), plan, query, ranked, len, err);
    j->out->several[q] = hits->several;
    note_misses(j->out->missed + j->missed[index], query, ranked, len);
    if (j->runs)
        write_run(&j->lines[index], query, hits, j->recipe);
    wt_hits_free(hits);
    free(ranked);
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

int wt__measure(struct measurement *out, wt_engine *engine, const struct dataset *dataset, const struct plan *plan,
                const char *recipe, const char *run_path, struct progress *progress, wt_error *err)
{
    struct replace run = {.fd = -1};
    struct judging judging = {.out = out, .engine = engine, .dataset = dataset, .plan = plan, .recipe = recipe};
    *out = (struct measurement){.values = calloc(plan->queries * wt__plan_metrics(plan), sizeof *out->values),
                                .milliseconds = calloc(plan->timed, sizeof *out->milliseconds),
                                .missed = calloc(plan->relevant, sizeof *out->missed),
                                .several = calloc(plan->queries, sizeof *out->several)};
    int rc = out->values && out->milliseconds && out->missed && out->several ? 0 : wt__fail_nomem(err);
    if (rc == 0 && run_path)
        rc = wt__replace_begin(&run, run_path, err);
    if (rc == 0)
        rc = time_queries(out, engine, dataset, plan, recipe, progress, err);
    if (rc == 0)
        rc = judge_queries(&judging, run_path ? &run : NULL, progress, err);
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
    free(measurement->milliseconds);
    free(measurement->missed);
    free(measurement->several);
    free(measurement->ran);
    free(measurement->notice);
    free(measurement->why);
    *measurement = (struct measurement){0};
}
