/* analysis.c: reads the vectors of requests and tools, and analyses them. Quantiles are computed from sorted values.
 * They are exact, unless the cosines are a sample (COSINE_PAIRS). */
#include "eval/report.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/topk.h"
#include "engine/engine.h"
#include "changes/recorded_use.h"
#include "eval/internal.h"
#include "nn/kernels/kernels.h"

/* ---------------------------------------------------------------- input */

struct input_reader {
    struct analysis_input *out;
    wt_engine *engine;
    const struct encoder *encoder;
    int64_t *ids; /* [M] */
    size_t id_capacity, name_capacity;
    struct map by_name;
    wt_error *err;
};

static int add_input_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    struct input_reader *r = context;
    struct analysis_input *m = r->out;
    struct str name = tool->source_id.len ? tool->source_id : tool->name;
    char *copy = wt__arena_copy(&m->arena, name);
    if (!copy || wt__grow((void **)&r->ids, &r->id_capacity, m->tool_count + 1, sizeof *r->ids) < 0 ||
        wt__grow((void **)&m->names, &r->name_capacity, m->tool_count + 1, sizeof *m->names) < 0)
        return wt__fail_nomem(r->err);
    r->ids[m->tool_count] = key->id;
    m->names[m->tool_count] = (struct str){copy, name.len};
    WT_CHECK_ALLOC(wt__map_insert(&r->by_name, m->names[m->tool_count], (uint32_t)m->tool_count, NULL), r->err);
    m->tool_count++;
    return 0;
}

static int read_input_vectors(struct input_reader *r)
{
    struct analysis_input *m = r->out;
    struct store *store = r->engine->store;
    struct vector_set texts = wt__engine_vectors(r->encoder, r->engine);
    struct vector_set usage = wt__engine_usage_vectors(r->encoder, r->engine);
    WT_AUTO_FREE bool *there = wt__alloc_array(m->tool_count, sizeof *there);
    m->descriptions = wt__alloc_array(m->tool_count * m->dim, sizeof *m->descriptions);
    m->uses = wt__alloc_array(m->tool_count * m->dim, sizeof *m->uses);
    m->use_counts = wt__alloc_array(m->tool_count, sizeof *m->use_counts);
    WT_CHECK_ALLOC(there && m->descriptions && m->uses && m->use_counts, r->err);
    int64_t rc = wt__store_get_vectors(store, &texts, r->ids, m->tool_count, m->descriptions, there, r->err);
    if (rc >= 0)
        rc = wt__store_get_usage_sums(store, &usage, r->ids, m->tool_count, m->uses, m->use_counts, r->err);
    for (size_t i = 0; rc >= 0 && i < m->tool_count; i++) {
        float *use = m->uses + i * m->dim;
        double square = 0;
        for (size_t d = 0; d < m->dim; d++)
            square += (double)use[d] * use[d];
        for (size_t d = 0; d < m->dim && square > 0; d++)
            use[d] /= (float)sqrt(square);
    }
    return rc < 0 ? (int)rc : 0;
}

static int read_input_tools(struct input_reader *r, struct progress *progress)
{
    size_t made;
    WT_TRY(wt__embed_missing(r->engine, r->encoder, progress, &made, r->err));
    WT_TRY(wt__usage_learn(r->engine, r->encoder, progress, &made, r->err));
    pthread_mutex_lock(&r->engine->store_lock);
    int rc = wt__store_each(r->engine->store, 0, add_input_tool, r, r->err);
    if (rc >= 0)
        rc = read_input_vectors(r);
    pthread_mutex_unlock(&r->engine->store_lock);
    return rc < 0 ? rc : 0;
}

static int read_input_requests(struct input_reader *r, const struct dataset *dataset, struct progress *progress)
{
    struct analysis_input *m = r->out;
    size_t count = m->request_count, gold = 0;
    WT_AUTO_FREE struct str *texts = wt__alloc_array(count, sizeof *texts);
    for (size_t q = 0; q < count; q++)
        gold += dataset->queries[q].judgement_count;
    m->requests = wt__alloc_aligned(count * m->dim, sizeof *m->requests);
    m->gold_starts = wt__alloc_array(count + 1, sizeof *m->gold_starts);
    m->gold = wt__alloc_array(gold, sizeof *m->gold);
    WT_CHECK_ALLOC(texts && m->requests && m->gold_starts && m->gold, r->err);
    gold = 0;
    for (size_t q = 0; q < count; q++) {
        const struct query *query = &dataset->queries[q];
        texts[q] = query->text;
        m->gold_starts[q] = gold;
        for (size_t j = 0; j < query->judgement_count; j++) {
            const uint32_t *row = wt__map_get(&r->by_name, query->judgements[j].tool);
            if (query->judgements[j].gain > 0)
                m->gold[gold++] = row ? *row : UINT32_MAX;
        }
        m->gold_starts[q + 1] = gold;
    }
    if (wt__progress_phase(progress, "encoding", count))
        return wt__fail_cancelled(r->err);
    return wt__encode_many(r->encoder, TEXT_REQUEST, texts, count, r->engine->threads, m->requests, progress, r->err);
}

int wt__analysis_input_read(struct analysis_input *out, wt_engine *engine, const struct encoder *encoder,
                            const struct dataset *dataset, size_t count, struct progress *progress, wt_error *err)
{
    *out = (struct analysis_input){.encoder = wt__encoder_name(encoder),
                                   .dim = wt__encoder_dim(encoder),
                                   .request_count = count,
                                   .queries = dataset->queries};
    struct input_reader r = {.out = out, .engine = engine, .encoder = encoder, .err = err};
    int rc = read_input_tools(&r, progress);
    if (rc == 0)
        rc = read_input_requests(&r, dataset, progress);
    wt__map_dispose(&r.by_name);
    free(r.ids);
    if (rc < 0)
        wt__analysis_input_dispose(out);
    return rc;
}

void wt__analysis_input_dispose(struct analysis_input *input)
{
    free(input->requests);
    free(input->gold_starts);
    free(input->gold);
    free(input->names);
    free(input->descriptions);
    free(input->uses);
    free(input->use_counts);
    wt__arena_dispose(&input->arena);
    *input = (struct analysis_input){0};
}

/* Maximum pairs of a request and a tool. Above this number, the pairs with tools that the request does not need are
 * sampled. */
enum { COSINE_PAIRS = 1000000 };

static const size_t vector_cutoffs[VECTOR_CUTOFFS] = {3, 5, 7};

/* ---------------------------------------------------------------- distributions */

struct mean_deviation wt__mean_deviation(const double *values, size_t count)
{
    struct mean_deviation spread = {.count = count};
    double square = 0;
    for (size_t i = 0; i < count; i++)
        spread.mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        square += (values[i] - spread.mean) * (values[i] - spread.mean);
    spread.deviation = count ? sqrt(square / (double)count) : 0;
    return spread;
}

double wt__quantile(const double *sorted, size_t count, double share)
{
    if (count == 0)
        return 0;
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct box_stats wt__box_stats(double *values, size_t count)
{
    struct box_stats box = {.count = count};
    size_t below = 0, above = 0;
    if (count == 0)
        return box;
    wt__sort_doubles(values, count);
    box.first = wt__quantile(values, count, .25);
    box.median = wt__quantile(values, count, .5);
    box.third = wt__quantile(values, count, .75);
    double reach = 1.5 * (box.third - box.first);
    while (below + 1 < count && values[below] < box.first - reach)
        below++;
    while (above + 1 < count && values[count - 1 - above] > box.third + reach)
        above++;
    box.low = values[below];
    box.high = values[count - 1 - above];
    box.outliers = below + above;
    return box;
}

/* ---------------------------------------------------------------- failures */

static size_t failure_bin(const struct tool_failures *tool)
{
    /* Bin 0 is for tools without a miss, bin 1 for up to 10 % missed, bin 2 for up to 20 %, and so on. Uses integer
     * arithmetic, since 0.1 is inexact in floating point. */
    return (tool->missed * (FAILURE_BINS - 1) + tool->wanted - 1) / tool->wanted;
}

/* Counts the misses of every tool and marks the requests with a missed tool. */
static int tally_failures(struct failures *out, const struct dataset *dataset, size_t queries, const bool *missed,
                          struct map *by_name, wt_error *err)
{
    size_t at = 0;
    for (size_t q = 0; q < queries; q++)
        for (size_t j = 0; j < dataset->queries[q].judgement_count; j++) {
            const struct judgement *judgement = &dataset->queries[q].judgements[j];
            bool added;
            if (judgement->gain <= 0)
                continue;
            const uint32_t *row = wt__map_insert(by_name, judgement->tool, (uint32_t)out->tool_count, &added);
            WT_CHECK_ALLOC(row, err);
            if (added)
                out->tools[out->tool_count++] = (struct tool_failures){.tool = judgement->tool};
            out->tools[*row].wanted++;
            out->tools[*row].missed += missed[at];
            out->failed[q] |= missed[at];
            at++;
        }
    return 0;
}

/* Computes the means and the histogram. lengths: [queries]. values: scratch [max(tools, queries)]. */
static void summarise_failures(struct failures *out, size_t queries, const double *lengths, double *values)
{
    for (size_t i = 0; i < out->tool_count; i++) {
        values[i] = (double)out->tools[i].missed / (double)out->tools[i].wanted;
        out->bins[failure_bin(&out->tools[i])]++;
    }
    out->share = wt__mean_deviation(values, out->tool_count);
    for (unsigned failed = 0; failed < 2; failed++) {
        size_t count = 0;
        for (size_t q = 0; q < queries; q++)
            if (out->failed[q] == (failed == 1))
                values[count++] = lengths[q];
        *(failed ? &out->failed_length : &out->found_length) = wt__mean_deviation(values, count);
    }
}

int wt__count_failures(struct failures *out, const struct dataset *dataset, size_t queries, const bool *missed,
                       const double *lengths, struct arena *arena, wt_error *err)
{
    WT_CLEANUP(wt__map_dispose) struct map by_name = {0};
    size_t most = 0;
    for (size_t q = 0; q < queries; q++)
        most += dataset->queries[q].judgement_count;
    *out = (struct failures){.tools = wt__arena_array(arena, struct tool_failures, most),
                             .failed = wt__arena_array(arena, bool, queries)};
    WT_AUTO_FREE double *values = wt__alloc_array(most > queries ? most : queries, sizeof *values);
    WT_CHECK_ALLOC(out->tools && out->failed && values, err);
    WT_TRY(tally_failures(out, dataset, queries, missed, &by_name, err));
    summarise_failures(out, queries, lengths, values);
    return 0;
}

/* ---------------------------------------------------------------- descriptions against use */

/* Returns the tools' vectors [M, D], or NULL if out of memory. For a tool without recorded use, the vector is zero
 * (BY_USE) or the vector of the description (BY_BOTH). */
static float *combine_vectors(const struct analysis_input *m, enum tool_vector kind)
{
    float *vectors = wt__alloc_aligned(m->tool_count * m->dim, sizeof *vectors);
    for (size_t i = 0; vectors && i < m->tool_count; i++) {
        float *vector = vectors + i * m->dim, by_description = kind != BY_USE, by_use = kind != BY_DESCRIPTION;
        double square = 0;
        for (size_t d = 0; d < m->dim; d++) {
            vector[d] = by_description * m->descriptions[i * m->dim + d] + by_use * m->uses[i * m->dim + d];
            square += (double)vector[d] * vector[d];
        }
        for (size_t d = 0; d < m->dim && square > 0; d++)
            vector[d] /= (float)sqrt(square);
    }
    return vectors;
}

static bool is_relevant_row(const struct analysis_input *m, size_t request, uint32_t row)
{
    for (size_t g = m->gold_starts[request]; g < m->gold_starts[request + 1]; g++)
        if (m->gold[g] == row)
            return true;
    return false;
}

/* Cosines of pairs of a request and a tool. Pairs beyond the capacity are dropped. */
struct cosines {
    double *values;
    size_t count, capacity;
};

struct vector_judge {
    const struct analysis_input *input;
    const float *vectors;        /* [M, D] */
    float *scores;               /* [M] cosines of one request with the tools */
    bool *has_vector;            /* [M] true if the tool's vector is not zero */
    struct cosines used, unused; /* used: pairs whose tool is relevant to the request */
    double share;                /* share of the unused pairs to sample, 0 to 1 */
    struct rng rng;
    struct vector_quality *out;
};

/* Adds recall and nDCG of one request's ranking by score to the means. Every relevant tool has gain 1. */
static void judge_vector_ranking(struct vector_judge *l, size_t request)
{
    const struct analysis_input *m = l->input;
    size_t deepest = vector_cutoffs[VECTOR_CUTOFFS - 1];
    size_t relevant = m->gold_starts[request + 1] - m->gold_starts[request];
    struct scored items[16];
    struct topk top = {.items = items, .k = deepest};
    int gains[16] = {0}, ideal[16];
    for (size_t i = 0; i < m->tool_count; i++)
        if (l->has_vector[i])
            wt__topk_push(&top, (struct scored){l->scores[i], (uint32_t)i});
    wt__topk_sort(&top);
    for (size_t i = 0; i < top.len; i++)
        gains[i] = is_relevant_row(m, request, top.items[i].row);
    for (size_t i = 0; i < deepest; i++)
        ideal[i] = i < relevant;
    for (size_t c = 0; c < VECTOR_CUTOFFS; c++) {
        size_t k = vector_cutoffs[c];
        l->out->recall[c] += wt__recall_at(gains, top.len, relevant, k) / (double)m->request_count;
        l->out->ndcg[c] += wt__ndcg_at(gains, top.len, ideal, deepest, k) / (double)m->request_count;
    }
}

static void collect_cosines(struct vector_judge *l, size_t request)
{
    for (size_t i = 0; i < l->input->tool_count; i++) {
        bool used = is_relevant_row(l->input, request, (uint32_t)i);
        struct cosines *to = used ? &l->used : &l->unused;
        if (l->has_vector[i] && to->count < to->capacity && (used || wt__rng_unit(&l->rng) < l->share))
            to->values[to->count++] = l->scores[i];
    }
}

static int judge_request_cosines(struct vector_judge *l, wt_error *err)
{
    const struct analysis_input *m = l->input;
    double pairs = (double)m->tool_count * (double)m->request_count;
    l->share = fmin(COSINE_PAIRS / fmax(pairs, 1), 1);
    l->used.capacity = m->gold_starts[m->request_count];
    l->unused.capacity = pairs < COSINE_PAIRS ? (size_t)pairs : COSINE_PAIRS;
    l->used.values = wt__alloc_array(l->used.capacity, sizeof(double));
    l->unused.values = wt__alloc_array(l->unused.capacity, sizeof(double));
    WT_CHECK_ALLOC(l->used.values && l->unused.values, err);
    for (size_t q = 0; q < m->request_count; q++) {
        wt__kernels()->dots_f32(m->requests + q * m->dim, l->vectors, m->tool_count, m->dim, l->scores);
        judge_vector_ranking(l, q);
        collect_cosines(l, q);
    }
    l->out->used = wt__box_stats(l->used.values, l->used.count);
    l->out->unused = wt__box_stats(l->unused.values, l->unused.count);
    return 0;
}

int wt__judge_tool_vectors(struct vector_quality *out, const struct analysis_input *input, enum tool_vector kind,
                           uint64_t seed, wt_error *err)
{
    WT_AUTO_FREE float *vectors = combine_vectors(input, kind);
    WT_AUTO_FREE float *scores = wt__alloc_aligned(input->tool_count, sizeof *scores);
    WT_AUTO_FREE bool *has_vector = wt__alloc_array(input->tool_count, sizeof *has_vector);
    *out = (struct vector_quality){0};
    WT_CHECK_ALLOC(vectors && scores && has_vector, err);
    for (size_t i = 0; i < input->tool_count; i++) {
        has_vector[i] = false;
        for (size_t d = 0; d < input->dim && !has_vector[i]; d++)
            has_vector[i] = vectors[i * input->dim + d] != 0;
        out->tools += has_vector[i];
    }
    struct vector_judge l = {
        .input = input, .vectors = vectors, .scores = scores, .has_vector = has_vector, .out = out};
    wt__rng_seed(&l.rng, seed);
    int rc = judge_request_cosines(&l, err);
    free(l.used.values);
    free(l.unused.values);
    return rc;
}

/* ---------------------------------------------------------------- the map */

struct map_sample {
    struct scatter_map *out;
    float *vectors; /* [MAP_POINTS * POINT_KINDS, D] */
    size_t dim;
    struct rng rng;
};

/* Samples up to MAP_POINTS of the nonzero rows. texts: [count]. */
static int sample_points(struct map_sample *s, enum point_kind kind, const float *rows, size_t count,
                         const struct str *texts, wt_error *err)
{
    WT_AUTO_FREE size_t *order = wt__alloc_array(count, sizeof *order);
    WT_CHECK_ALLOC(order, err);
    for (size_t i = 0; i < count; i++) {
        size_t at = wt__rng_below(&s->rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < count && s->out->of_kind[kind] < MAP_POINTS; i++) {
        const float *row = rows + order[i] * s->dim;
        size_t d = 0;
        while (d < s->dim && row[d] == 0)
            d++;
        if (d == s->dim)
            continue;
        memcpy(s->vectors + s->out->count * s->dim, row, s->dim * sizeof *row);
        s->out->points[s->out->count++] = (struct point){.kind = kind, .text = texts[order[i]]};
        s->out->of_kind[kind]++;
    }
    return 0;
}

/* Sets nearest[a][b] to the share of points of kind a whose nearest neighbour is of kind b. */
static int count_nearest_kinds(struct map_sample *s, wt_error *err)
{
    struct scatter_map *out = s->out;
    WT_AUTO_FREE float *scores = wt__alloc_aligned(out->count, sizeof *scores);
    WT_CHECK_ALLOC(scores, err);
    for (size_t i = 0; i < out->count; i++) {
        size_t best = i ? 0 : 1;
        wt__kernels()->dots_f32(s->vectors + i * s->dim, s->vectors, out->count, s->dim, scores);
        for (size_t j = 0; j < out->count; j++)
            if (j != i && scores[j] > scores[best])
                best = j;
        enum point_kind kind = out->points[i].kind;
        if (best < out->count)
            out->nearest[kind][out->points[best].kind] += 1 / (double)out->of_kind[kind];
    }
    return 0;
}

static int place_points(struct map_sample *s, uint64_t seed, struct progress *progress, wt_error *err)
{
    WT_AUTO_FREE double *places = wt__alloc_array(2 * s->out->count, sizeof *places);
    WT_CHECK_ALLOC(places, err);
    WT_TRY(wt__tsne(places, s->vectors, s->out->count, s->dim, seed, progress, err));
    for (size_t i = 0; i < s->out->count; i++) {
        s->out->points[i].x = places[2 * i];
        s->out->points[i].y = places[2 * i + 1];
    }
    return 0;
}

int wt__scatter_map(struct scatter_map *out, const struct analysis_input *m, uint64_t seed, struct arena *arena,
                    struct progress *progress, wt_error *err)
{
    enum { MOST = MAP_POINTS * POINT_KINDS };
    *out = (struct scatter_map){.points = wt__arena_array(arena, struct point, MOST)};
    WT_AUTO_FREE float *vectors = wt__alloc_aligned(MOST * m->dim, sizeof *vectors);
    WT_AUTO_FREE struct str *texts = wt__alloc_array(m->request_count, sizeof *texts);
    struct map_sample s = {.out = out, .dim = m->dim, .vectors = vectors};
    WT_CHECK_ALLOC(out->points && vectors && texts, err);
    wt__rng_seed(&s.rng, seed);
    for (size_t q = 0; q < m->request_count; q++)
        texts[q] = m->queries[q].text;
    WT_TRY(sample_points(&s, POINT_REQUEST, m->requests, m->request_count, texts, err));
    WT_TRY(sample_points(&s, POINT_USE, m->uses, m->tool_count, m->names, err));
    WT_TRY(sample_points(&s, POINT_DESCRIPTION, m->descriptions, m->tool_count, m->names, err));
    WT_TRY(count_nearest_kinds(&s, err));
    return place_points(&s, seed, progress, err);
}
