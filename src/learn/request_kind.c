/* request_kind.c: fits the classifier that tells requests for one provider from requests for several (trainers.h). The
 * classifier has one feature (wt__request_lack). Both kinds have equal total weight, because their frequency differs
 * between catalogues. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "learn/logistic.h"
#include "learn/trainers.h"
#include "retrieve/compose.h"
#include "retrieve/segment.h"

enum {
    HOLD_OUT = 5, /* 1 in HOLD_OUT requests is held out to measure the accuracy */
    SCARCE = 4    /* synthetic requests are added to a kind with fewer than 1 in SCARCE requests */
};
#define SHRINKAGE 1e-3

struct kind_sample {
    uint32_t request;        /* number of the training request */
    uint32_t other;          /* number of the request that it is joined with; NO_OTHER if it is not joined */
    bool several, synthetic; /* several: needs several providers; synthetic: is joined, or cut out of a request */
    bool there;              /* true if the sample is used: it has a text and, if synthetic, sub-queries */
};
#define NO_OTHER UINT32_MAX

struct kind_sampling {
    const struct first_ranking *ranking;
    struct kind_sample *samples; /* [count] */
    float *lacks;                /* [count] feature of each sample (wt__request_lack) */
    size_t count;
    wt_error *errors; /* [threads] */
};

int wt__kind_rank(const struct first_ranking *ranking, struct str request, size_t k, unsigned worker,
                  struct hit_list *hits, struct request_texts *texts, wt_error *err)
{
    const struct dev_evaluator *evaluator = ranking->evaluator;
    const struct view view = {
        .snapshot = evaluator->index->snapshot, .encoder = evaluator->encoder, .vectors = &ranking->documents.view};
    const struct retrieve_request wanted = {.text = request, .k = k};
    WT_TRY(wt__retrieve(&ranking->retriever, &view, &wanted, evaluator->workspaces[worker], hits, err));
    *texts = (struct request_texts){.texts = hits->texts,
                                    .nearest = hits->nearest,
                                    .counts = hits->nearest_counts,
                                    .most = hits->nearest_most,
                                    .keys = evaluator->index->snapshot->keys,
                                    .no_provider = ranking->no_provider};
    return 0;
}

bool wt__kind_has_several(const struct first_ranking *ranking, const uint32_t *tools, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (ranking->providers[tools[i]] != ranking->providers[tools[0]] ||
            ranking->providers[tools[i]] == HIERARCHY_NO_PROVIDER)
            return true;
    return false;
}

/* Returns the provider that has the most of a request's tools, the first one at a tie. HIERARCHY_NO_PROVIDER if no
 * provider has two of them. */
static uint32_t find_main_provider(const struct first_ranking *ranking, const uint32_t *tools, size_t count)
{
    uint32_t best = HIERARCHY_NO_PROVIDER;
    size_t most = 1;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += ranking->providers[tools[j]] == ranking->providers[tools[i]];
        if (ranking->providers[tools[i]] != HIERARCHY_NO_PROVIDER && same > most) {
            most = same;
            best = ranking->providers[tools[i]];
        }
    }
    return best;
}

/* Finds the provider of the `allowed` tool that best matches a sub-query's words; HIERARCHY_NO_PROVIDER if no tool
 * matches or that tool has no provider. */
static int find_subquery_provider(const struct first_ranking *ranking, struct str subquery, const uint64_t *allowed,
                                  unsigned worker, uint32_t *out, wt_error *err)
{
    static const struct retriever words = {.weights = {[SOURCE_BM25] = 1}};
    const struct dev_evaluator *evaluator = ranking->evaluator;
    const struct view view = {.snapshot = evaluator->index->snapshot};
    const struct retrieve_request wanted = {.text = subquery, .k = 1, .allowed = allowed};
    struct hit_list hits;
    int rc = wt__retrieve(&words, &view, &wanted, evaluator->workspaces[worker], &hits, err);
    *out = rc >= 0 && hits.len > 0 ? ranking->providers[hits.items[0].row] : HIERARCHY_NO_PROVIDER;
    return rc < 0 ? rc : 0;
}

int wt__kind_cut_down(const struct first_ranking *ranking, struct str request, const uint32_t *tools, size_t count,
                      unsigned worker, struct buffer *out, uint32_t *provider, wt_error *err)
{
    struct str subqueries[SUBQUERIES_MAX];
    uint32_t of_subquery[SUBQUERIES_MAX];
    size_t n = wt__segment(request, subqueries), kept = 0;
    *provider = find_main_provider(ranking, tools, count);
    if (*provider == HIERARCHY_NO_PROVIDER)
        return 0;
    WT_AUTO_FREE uint64_t *allowed = wt__alloc_zeros(ranking->evaluator->tools / 64 + 1, sizeof *allowed);
    WT_CHECK_ALLOC(allowed, err);
    for (size_t i = 0; i < count; i++)
        allowed[tools[i] / 64] |= UINT64_C(1) << tools[i] % 64;
    for (size_t p = 0; p < n; p++) {
        WT_TRY(find_subquery_provider(ranking, subqueries[p], allowed, worker, &of_subquery[p], err));
        kept += of_subquery[p] == *provider;
    }
    for (size_t p = 0; kept < n && p < n; p++)
        if (of_subquery[p] == *provider) {
            wt__buffer_text(out, out->len ? ". " : "");
            wt__buffer_str(out, subqueries[p]);
        }
    return out->failed ? wt__fail_nomem(err) : 0;
}

bool wt__kind_is_scarce(size_t of_kind, size_t all)
{
    return of_kind * SCARCE < all;
}

static int join_sample_requests(const struct kind_sampling *s, const struct kind_sample *sample, struct buffer *out,
                                wt_error *err)
{
    const struct example_set *train = &s->ranking->evaluator->training->examples.train;
    wt__buffer_str(out, train->texts[sample->request]);
    wt__buffer_text(out, ". ");
    wt__buffer_str(out, train->texts[sample->other]);
    return out->failed ? wt__fail_nomem(err) : 0;
}

static int cut_sample(const struct kind_sampling *s, const struct kind_sample *sample, unsigned worker,
                      struct buffer *out, wt_error *err)
{
    const struct example_set *train = &s->ranking->evaluator->training->examples.train;
    size_t first = train->starts[sample->request];
    uint32_t provider;
    return wt__kind_cut_down(s->ranking, train->texts[sample->request], train->tools + first,
                             train->starts[sample->request + 1] - first, worker, out, &provider, err);
}

static int search_kind_sample(void *context, size_t index, unsigned worker)
{
    struct kind_sampling *s = context;
    struct kind_sample *sample = &s->samples[index];
    struct training *training = s->ranking->evaluator->training;
    struct request_texts texts;
    struct hit_list hits;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt_error *err = &s->errors[worker];
    struct str request = training->examples.train.texts[sample->request];
    if (sample->synthetic) {
        WT_TRY(sample->several ? join_sample_requests(s, sample, &text, err)
                               : cut_sample(s, sample, worker, &text, err));
        request = wt__buffer_view(&text);
    }
    if (request.len > 0) {
        WT_TRY(wt__kind_rank(s->ranking, request, 1, worker, &hits, &texts, err));
        sample->there = !(sample->synthetic && texts.texts == 1);
        if (sample->there)
            s->lacks[index] = wt__request_lack(&texts, NULL, 0);
    }
    return worker == 0 && wt__train_progress_step(&training->progress, index + 1) ? wt__fail_cancelled(err) : 0;
}

/* Lists the drawn requests and, if one kind is scarce, synthetic requests of that kind. */
static void list_samples(struct kind_sampling *s, const uint32_t *drawn, size_t count)
{
    const struct example_set *train = &s->ranking->evaluator->training->examples.train;
    size_t several = 0, single = 0;
    for (size_t i = 0; i < count; i++) {
        size_t first = train->starts[drawn[i]];
        bool more = wt__kind_has_several(s->ranking, train->tools + first, train->starts[drawn[i] + 1] - first);
        s->samples[i] = (struct kind_sample){.request = drawn[i], .other = NO_OTHER, .several = more};
        several += more;
    }
    single = count - several;
    s->count = count;
    if (wt__kind_is_scarce(single, count)) {
        for (size_t i = 0; i < count; i++)
            if (s->samples[i].several)
                s->samples[s->count++] = (struct kind_sample){s->samples[i].request, NO_OTHER, false, true, false};
    } else if (wt__kind_is_scarce(several, count)) {
        const struct kind_sample *last = NULL;
        for (size_t i = 0; i < count; i++) {
            const struct kind_sample *here = &s->samples[i];
            if (here->several)
                continue;
            if (last && s->ranking->providers[train->tools[train->starts[last->request]]] !=
                            s->ranking->providers[train->tools[train->starts[here->request]]])
                s->samples[s->count++] = (struct kind_sample){here->request, last->request, true, true, false};
            last = here;
        }
    }
}

static int draw_samples(struct kind_sampling *s, wt_error *err)
{
    struct training *training = s->ranking->evaluator->training;
    size_t all = training->examples.train.count, count = all < KIND_SAMPLES ? all : KIND_SAMPLES;
    WT_AUTO_FREE uint32_t *drawn = wt__alloc_array(all, sizeof *drawn);
    struct rng rng;
    s->samples = wt__alloc_array(2 * count, sizeof *s->samples);
    s->lacks = wt__alloc_array(2 * count, sizeof *s->lacks);
    s->errors = wt__alloc_zeros(training->threads, sizeof *s->errors);
    WT_CHECK_ALLOC(drawn && s->samples && s->lacks && s->errors, err);
    wt__rng_seed(&rng, training->seed);
    wt__rng_draw(&rng, drawn, all, count);
    list_samples(s, drawn, count);
    if (wt__train_progress_phase(&training->progress, "looking at requests", s->count))
        return wt__fail_cancelled(err);
    return wt__training_run(training, s->count, search_kind_sample, s, s->errors, err);
}

void wt__kind_weigh(const float *lacks, const uint8_t *several, size_t count, struct request_classifier *out)
{
    const struct logistic_samples all = {
        .count = count, .features = 1, .values = lacks, .answers = several, .balanced = true};
    *out = (struct request_classifier){.constant = 0};
    wt__logistic_fit(&all, SHRINKAGE, &out->weight, &out->constant);
}

/* Returns the share of samples classified correctly, as the mean over both kinds; NaN if one kind has no samples. */
static double measure_accuracy(const struct request_classifier *c, const float *lacks, const uint8_t *several,
                               size_t count)
{
    double right[2] = {0, 0}, kinds[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        kinds[several[i]]++;
        right[several[i]] += (wt__request_probability(c, lacks[i]) > 0.5f) == (several[i] == 1);
    }
    return kinds[0] > 0 && kinds[1] > 0 ? (right[0] / kinds[0] + right[1] / kinds[1]) / 2 : NAN;
}

/* Lists the used samples (`there`), the held-out samples last, and counts the kinds in out. A synthetic sample is
 * held out if its `request` is. Returns the number of samples; *held is the number of held-out samples. */
static size_t sort_samples(const struct kind_sampling *s, float *lacks, uint8_t *several, size_t *held,
                           struct kind_fit *out)
{
    size_t n = 0;
    *held = 0;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < s->count; i++) {
            const struct kind_sample *sample = &s->samples[i];
            if (!sample->there || (sample->request % HOLD_OUT == 0) != (side == 1))
                continue;
            lacks[n] = s->lacks[i];
            several[n++] = sample->several;
            *held += side == 1;
            out->several += sample->several;
            out->single += !sample->several;
            out->synthetic += sample->synthetic;
        }
    return n;
}

static void dispose_kind_sampling(struct kind_sampling *s)
{
    free(s->samples);
    free(s->lacks);
    free(s->errors);
}

int wt__kind_fit(const struct first_ranking *ranking, struct kind_fit *out, wt_error *err)
{
    WT_CLEANUP(dispose_kind_sampling) struct kind_sampling s = {.ranking = ranking};
    size_t held;
    *out = (struct kind_fit){.accuracy = NAN};
    WT_TRY(draw_samples(&s, err));
    WT_AUTO_FREE float *lacks = wt__alloc_array(s.count, sizeof *lacks);
    WT_AUTO_FREE uint8_t *several = wt__alloc_array(s.count, sizeof *several);
    WT_CHECK_ALLOC(lacks && several, err);
    size_t n = sort_samples(&s, lacks, several, &held, out);
    wt__kind_weigh(lacks, several, n - held, &out->classifier);
    out->accuracy = measure_accuracy(&out->classifier, lacks + n - held, several + n - held, held);
    wt__kind_weigh(lacks, several, n, &out->classifier);
    return 0;
}
