/* refiner_samples.c: builds the training data of a refiner by one search per request (trainers.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "learn/trainers.h"

unsigned wt__refiner_fold(size_t request)
{
    return (unsigned)(request % REFINER_FOLDS);
}

/* Lists the training requests outside fold `without` in out. If `without` is REFINER_FOLDS, lists all. Returns their
 * number. */
static size_t list_other_folds(const struct dev_evaluator *evaluator, unsigned without, uint32_t *out)
{
    size_t count = 0;
    for (size_t b = 0; b < evaluator->training->examples.train.count; b++)
        if (wt__refiner_fold(b) != without)
            out[count++] = (uint32_t)b;
    return count;
}

/* Computes the tool vectors of tool2vec from the usages in these requests. which: [count] numbers of the requests.
 * vectors: [M, D] the result. uses [M] and sum [D] are scratch. */
static void average_requests(const struct dev_evaluator *evaluator, const struct tool2vec *tool2vec,
                             const uint32_t *which, size_t count, uint32_t *uses, float *sum, float *vectors)
{
    const struct example_set *train = &evaluator->training->examples.train;
    size_t dim = evaluator->dim;
    memset(uses, 0, evaluator->tools * sizeof *uses);
    memset(vectors, 0, evaluator->tools * dim * sizeof *vectors);
    for (size_t i = 0; i < count; i++)
        for (size_t l = train->starts[which[i]]; l < train->starts[which[i] + 1]; l++) {
            float *to = vectors + train->tools[l] * dim, times = (float)train->times[l];
            uses[train->tools[l]] += train->times[l];
            for (size_t d = 0; d < dim; d++)
                to[d] += times * evaluator->requests[which[i] * dim + d];
        }
    for (size_t m = 0; m < evaluator->tools; m++) {
        memcpy(sum, vectors + m * dim, dim * sizeof *sum);
        wt__tool2vec(tool2vec, dim, evaluator->documents + m * dim, sum, uses[m], vectors + m * dim);
    }
}

int wt__refiner_vectors(struct dev_evaluator *evaluator, const struct first_stage *first, unsigned without,
                        float *vectors, wt_error *err)
{
    struct tool2vec tool2vec;
    bool there;
    const size_t floats = evaluator->tools * evaluator->dim, requests = evaluator->training->examples.train.count;
    WT_TRY(wt__evaluator_tool2vec_weights(evaluator, &tool2vec, err));
    if (without == REFINER_FOLDS) {
        WT_AUTO_FREE float *tools = wt__alloc_array(floats, sizeof *tools);
        WT_CHECK_ALLOC(tools, err);
        wt__evaluator_tool2vec(evaluator, &tool2vec, tools);
        memcpy(vectors, tools, floats * sizeof *vectors);
        return first->classified ? wt__mlc_vectors(evaluator, tools, vectors, &there, err) : 0;
    }
    WT_AUTO_FREE uint32_t *which = wt__alloc_array(requests, sizeof *which);
    WT_AUTO_FREE uint32_t *uses = wt__alloc_array(evaluator->tools, sizeof *uses);
    WT_AUTO_FREE float *sum = wt__alloc_array(evaluator->dim, sizeof *sum);
    WT_CHECK_ALLOC(which && uses && sum, err);
    size_t count = list_other_folds(evaluator, without, which);
    average_requests(evaluator, &tool2vec, which, count, uses, sum, vectors);
    return first->classified ? wt__mlc_fit(evaluator, which, count, vectors, err) : 0;
}

struct sample_search {
    struct dev_evaluator *evaluator;
    const struct first_stage *first;
    struct refiner_data *data;
    struct refiner_samples *samples;
    size_t begin;                     /* first sample of the current block */
    struct refiner_scratch **scratch; /* [threads] for counting tokens */
    double kept;                      /* see wt__refiner_data_open */
    wt_error *errors;                 /* [threads] */
};

static bool is_tool_of_sample(const struct example_set *set, uint32_t request, uint32_t row)
{
    for (size_t l = set->starts[request]; l < set->starts[request + 1]; l++)
        if (set->tools[l] == row)
            return true;
    return false;
}

static void add_sample_hit(struct refiner_samples *samples, size_t at, const struct hit *hit, bool gold)
{
    samples->rows[at] = hit->row;
    samples->gold[at] = gold;
    memcpy(samples->features[at], hit->features, sizeof hit->features);
}

/* Takes the first N hits as candidates. In training samples, each gold tool among the later hits is kept with
 * probability `kept`: it replaces the last candidate that is not gold. */
static void choose_candidates(struct sample_search *s, size_t i, const struct hit_list *hits)
{
    struct refiner_samples *samples = s->samples;
    uint32_t request = samples->requests[i];
    size_t n = samples->candidates, base = i * n, length = hits->len < n ? hits->len : n, last = length;
    struct rng rng;
    wt__rng_seed(&rng, s->evaluator->training->seed + request);
    for (size_t c = 0; c < length; c++)
        add_sample_hit(samples, base + c, &hits->items[c],
                       is_tool_of_sample(samples->set, request, hits->items[c].row));
    for (size_t c = length; samples == &s->data->train && c < hits->len; c++) {
        if (!is_tool_of_sample(samples->set, request, hits->items[c].row) || wt__rng_unit(&rng) >= s->kept)
            continue;
        while (last > 0 && samples->gold[base + last - 1])
            last--;
        if (last > 0)
            add_sample_hit(samples, base + --last, &hits->items[c], true);
    }
    samples->lengths[i] = (uint16_t)length;
}

static int search_sample(void *context, size_t index, unsigned worker)
{
    struct sample_search *s = context;
    size_t i = s->begin + index;
    struct refiner_samples *samples = s->samples;
    struct dev_evaluator *evaluator = s->evaluator;
    struct neighbours past = evaluator->past;
    if (samples->vectors[i] < REFINER_FOLDS)
        past.left_out = s->data->folds[samples->vectors[i]];
    struct view view = {.snapshot = evaluator->index->snapshot,
                        .encoder = evaluator->encoder,
                        .vectors = &s->data->made[samples->vectors[i]].view,
                        .neighbours = &past};
    struct retrieve_request request = {
        .text = samples->set->texts[samples->requests[i]], .k = REFINER_DEPTH, .features = true};
    float **kept = samples == &s->data->dev ? &evaluator->encoded[i] : &evaluator->train_encoded[samples->requests[i]];
    request.encoded = *kept; /* NULL if not cached yet */
    if (samples == &s->data->dev)
        request.votes = evaluator->votes[i];
    struct hit_list hits;
    const float *rows;
    size_t stride;
    WT_TRY(
        wt__retrieve(&s->first->retriever, &view, &request, evaluator->workspaces[worker], &hits, &s->errors[worker]));
    WT_TRY(wt__evaluator_cache(evaluator, kept, &hits, &s->errors[worker]));
    choose_candidates(s, i, &hits);
    samples->tokens[i] =
        (uint16_t)wt__refiner_request(evaluator->encoder, 0, s->scratch[worker], request.text, &rows, &stride);
    return 0;
}

/* Runs the searches of all samples in blocks, and reports progress after each block. */
static int search_all_samples(struct sample_search *s, wt_error *err)
{
    enum { TURN = 256 };
    struct training *training = s->evaluator->training;
    size_t count = s->samples->count;
    if (wt__train_progress_phase(&training->progress, "looking for candidates", count))
        return wt__fail_cancelled(err);
    for (s->begin = 0; s->begin < count; s->begin += TURN) {
        size_t n = count - s->begin < TURN ? count - s->begin : TURN;
        WT_TRY(wt__training_run(training, n, search_sample, s, s->errors, err));
        if (wt__train_progress_step(&training->progress, s->begin + n))
            return wt__fail_cancelled(err);
    }
    return 0;
}

static int open_samples(struct refiner_samples *samples, const struct example_set *set, size_t count, size_t candidates,
                        wt_error *err)
{
    size_t all = count * candidates;
    *samples = (struct refiner_samples){.count = count,
                                        .candidates = candidates,
                                        .set = set,
                                        .requests = wt__alloc_array(count, sizeof *samples->requests),
                                        .lengths = wt__alloc_array(count, sizeof *samples->lengths),
                                        .tokens = wt__alloc_array(count, sizeof *samples->tokens),
                                        .vectors = wt__alloc_array(count, 1),
                                        .rows = wt__alloc_array(all, sizeof *samples->rows),
                                        .gold = calloc(all + 1, 1),
                                        .features = wt__alloc_array(all, sizeof *samples->features)};
    bool whole = samples->requests && samples->lengths && samples->tokens && samples->vectors && samples->rows &&
                 samples->gold && samples->features;
    return whole ? 0 : wt__fail_nomem(err);
}

static void dispose_samples(struct refiner_samples *samples)
{
    free(samples->requests);
    free(samples->lengths);
    free(samples->tokens);
    free(samples->vectors);
    free(samples->rows);
    free(samples->gold);
    free(samples->features);
}

/* Chooses the requests: all dev requests of the evaluator, and all training requests or a seeded sample of them, in
 * order. */
static int choose_requests(struct refiner_data *data, const struct dev_evaluator *evaluator, size_t candidates,
                           wt_error *err)
{
    const struct examples *examples = &evaluator->training->examples;
    size_t all = examples->train.count, wanted = all < REFINER_REQUESTS ? all : REFINER_REQUESTS, taken = 0;
    struct rng rng;
    WT_TRY(open_samples(&data->train, &examples->train, wanted, candidates, err));
    WT_TRY(open_samples(&data->dev, &examples->dev, evaluator->dev_count, candidates, err));
    wt__rng_seed(&rng, evaluator->training->seed);
    for (size_t b = 0; b < all; b++)
        if (wt__rng_below(&rng, all - b) < wanted - taken) {
            data->train.vectors[taken] = (uint8_t)wt__refiner_fold(b);
            data->train.requests[taken++] = (uint32_t)b;
        }
    for (size_t q = 0; q < evaluator->dev_count; q++) {
        data->dev.vectors[q] = REFINER_FOLDS;
        data->dev.requests[q] = evaluator->dev[q];
    }
    return 0;
}

static int make_vectors(struct refiner_data *data, struct dev_evaluator *evaluator, const struct first_stage *first,
                        wt_error *err)
{
    WT_AUTO_FREE float *vectors = wt__alloc_array(evaluator->tools * evaluator->dim, sizeof *vectors);
    WT_CHECK_ALLOC(vectors, err);
    for (unsigned without = 0; without <= REFINER_FOLDS; without++) {
        WT_TRY(wt__refiner_vectors(evaluator, first, without, vectors, err));
        WT_TRY(wt__tool_vectors_open(&data->made[without], vectors, evaluator->tools, evaluator->dim, err));
    }
    return 0;
}

static int mark_folds(struct refiner_data *data, const struct dev_evaluator *evaluator, wt_error *err)
{
    for (unsigned fold = 0; fold < REFINER_FOLDS; fold++)
        if (!(data->folds[fold] = calloc(wt__neighbours_bits(evaluator->past.count) + 1, sizeof(uint64_t))))
            return wt__fail_nomem(err);
    for (size_t i = 0; i < evaluator->past.count; i++)
        data->folds[wt__refiner_fold(i)][i / 64] |= (uint64_t)1 << i % 64;
    return 0;
}

static void dispose_sample_search(struct sample_search *s)
{
    for (unsigned w = 0; s->scratch && w < s->evaluator->training->threads; w++)
        wt__refiner_scratch_free(s->scratch[w]);
    free(s->scratch);
    free(s->errors);
}

static int fill_refiner_data(struct refiner_data *out, struct dev_evaluator *evaluator, const struct first_stage *first,
                             size_t candidates, double kept, wt_error *err)
{
    unsigned threads = evaluator->training->threads;
    WT_CLEANUP(dispose_sample_search)
    struct sample_search s = {.evaluator = evaluator, .first = first, .data = out, .kept = kept};
    WT_TRY(make_vectors(out, evaluator, first, err));
    WT_TRY(mark_folds(out, evaluator, err));
    WT_TRY(choose_requests(out, evaluator, candidates, err));
    s.scratch = wt__alloc_zeros(threads, sizeof(struct refiner_scratch *));
    s.errors = wt__alloc_zeros(threads, sizeof *s.errors);
    WT_CHECK_ALLOC(s.scratch && s.errors, err);
    for (unsigned w = 0; w < threads; w++)
        WT_TRY(wt__refiner_scratch_new(&s.scratch[w], evaluator->encoder, candidates, err));
    s.samples = &out->train;
    WT_TRY(search_all_samples(&s, err));
    s.samples = &out->dev;
    return search_all_samples(&s, err);
}

int wt__refiner_data_open(struct refiner_data *out, struct dev_evaluator *evaluator, const struct first_stage *first,
                          size_t candidates, double kept, wt_error *err)
{
    *out = (struct refiner_data){.tools = evaluator->tools, .dim = evaluator->dim};
    int rc = fill_refiner_data(out, evaluator, first, candidates, kept, err);
    if (rc < 0)
        wt__refiner_data_dispose(out);
    return rc;
}

void wt__refiner_data_dispose(struct refiner_data *data)
{
    for (size_t i = 0; i <= REFINER_FOLDS; i++)
        wt__tool_vectors_dispose(&data->made[i]);
    for (size_t i = 0; i < REFINER_FOLDS; i++)
        free(data->folds[i]);
    dispose_samples(&data->train);
    dispose_samples(&data->dev);
    *data = (struct refiner_data){0};
}

const float *wt__refiner_vector(const struct refiner_data *data, const struct refiner_samples *samples, size_t sample,
                                size_t candidate)
{
    return wt__vectors_of_row(&data->made[samples->vectors[sample]].view,
                              samples->rows[sample * samples->candidates + candidate], NULL);
}
