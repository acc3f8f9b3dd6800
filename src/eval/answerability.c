#include "eval/answerability.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/pool.h"
#include "engine/chooser_input.h"
#include "eval/measure.h"

const char *const wt__answerability_names[ANSWERABILITY_FIGURES] = {
    "no_answer_false_positives", "no_answer_removed_auroc", "no_answer_removed_recall", "no_answer_ood_auroc",
    "no_answer_ood_recall"};

struct answerability_run {
    wt_engine *engine;
    const struct chooser *chooser;
    bool untrained;
    const struct dataset *dataset, *out_of_domain;
    size_t queries;
    float *fits, *removed, *others; /* no-answer probabilities: [queries], [queries], [out_of_domain's] */
    wt_error *errors;               /* [threads] */
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
    int rc = ids ? wt__find_gold(a->engine, query, ids, &count, err) : wt__fail_nomem(err);
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

/* Returns the area under the ROC curve: the share of pairs of an unanswerable and an answerable request in which the
 * unanswerable one has the higher no-answer probability; ties count half. */
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
    if (!a->fits || !a->removed || !a->others || !a->errors)
        return wt__fail_nomem(err);
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
    const char *unused;
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
