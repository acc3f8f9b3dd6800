/* dev_evaluator.c: encodes tools and requests with the current encoder, and measures the recall of dev requests
 * (dev_evaluator.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "catalog/names.h"
#include "engine/engine.h"
#include "learn/dev_evaluator.h"
#include "retrieve/document.h"

/* ---------------------------------------------------------------- vectors of tools and requests */

/* Encodes the tools that have no vectors of this encoder yet, and saves the new vectors in the store. Then reads the
 * vectors of all tools. */
static int encode_documents(struct dev_evaluator *evaluator, struct progress *progress, wt_error *err)
{
    struct training *training = evaluator->training;
    wt_engine *engine = training->engine;
    struct vector_set set = wt__engine_vectors(evaluator->encoder, engine);
    size_t embedded;
    WT_TRY(wt__embed_missing(engine, evaluator->encoder, progress, &embedded, err));
    WT_AUTO_FREE bool *there = wt__alloc_array(evaluator->tools, sizeof *there);
    evaluator->documents = wt__alloc_array(evaluator->tools * evaluator->dim, sizeof *evaluator->documents);
    WT_CHECK_ALLOC(there && evaluator->documents, err);
    pthread_mutex_lock(&engine->store_lock);
    int64_t found = wt__store_get_vectors(engine->store, &set, training->examples.ids, evaluator->tools,
                                          evaluator->documents, there, err);
    pthread_mutex_unlock(&engine->store_lock);
    return found < 0 ? (int)found : 0;
}

static int encode_requests(struct dev_evaluator *evaluator, struct progress *progress, wt_error *err)
{
    const struct example_set *train = &evaluator->training->examples.train;
    size_t dim = evaluator->dim;
    evaluator->train_encoded = calloc(train->count + 1, sizeof *evaluator->train_encoded);
    evaluator->requests = wt__alloc_array(train->count * dim, sizeof *evaluator->requests);
    evaluator->sums = calloc(evaluator->tools * dim + 1, sizeof *evaluator->sums);
    evaluator->uses = calloc(evaluator->tools + 1, sizeof *evaluator->uses);
    WT_CHECK_ALLOC(evaluator->train_encoded && evaluator->requests && evaluator->sums && evaluator->uses, err);
    if (wt__progress_phase(progress, "encoding requests", train->count))
        return wt__fail_cancelled(err);
    WT_TRY(wt__encode_many(evaluator->encoder, TEXT_REQUEST, train->texts, train->count, evaluator->training->threads,
                           evaluator->requests, progress, err));
    for (size_t b = 0; b < train->count; b++)
        for (size_t i = train->starts[b]; i < train->starts[b + 1]; i++) {
            uint32_t tool = train->tools[i];
            evaluator->uses[tool] += train->times[i];
            for (size_t d = 0; d < dim; d++)
                evaluator->sums[tool * dim + d] += (float)train->times[i] * evaluator->requests[b * dim + d];
        }
    return 0;
}

/* Converts the training requests to the form of retrieve/past_requests.h. */
static int list_past_requests(struct dev_evaluator *evaluator, wt_error *err)
{
    const struct example_set *train = &evaluator->training->examples.train;
    size_t count = train->count < EVALUATOR_PAST ? train->count : EVALUATOR_PAST, most = 0, several = 0;
    evaluator->past_starts = wt__alloc_array(count + 1, sizeof *evaluator->past_starts);
    evaluator->every_row = wt__alloc_array(evaluator->tools, sizeof *evaluator->every_row);
    WT_CHECK_ALLOC(evaluator->past_starts && evaluator->every_row, err);
    for (size_t i = 0; i <= count; i++)
        evaluator->past_starts[i] = (uint32_t)train->starts[i];
    for (size_t i = 0; i < count; i++) {
        size_t labels = train->starts[i + 1] - train->starts[i];
        most = labels > most ? labels : most;
        several += labels > 1;
    }
    for (size_t i = 0; i < evaluator->tools; i++)
        evaluator->every_row[i] = (uint32_t)i;
    evaluator->single = several * 20 < count;
    evaluator->past = (struct neighbours){.count = count,
                                          .dim = evaluator->dim,
                                          .requests = evaluator->requests,
                                          .starts = evaluator->past_starts,
                                          .labels = train->tools,
                                          .rows = evaluator->every_row,
                                          .most_labels = most};
    return 0;
}

/* Draws at most EVALUATOR_DEV of the dev examples without repetition. */
static int draw_dev(struct dev_evaluator *evaluator, wt_error *err)
{
    size_t all = evaluator->training->examples.dev.count;
    struct rng rng;
    evaluator->dev_count = all < EVALUATOR_DEV ? all : EVALUATOR_DEV;
    evaluator->dev = wt__alloc_array(all, sizeof *evaluator->dev);
    evaluator->encoded = calloc(evaluator->dev_count + 1, sizeof *evaluator->encoded);
    evaluator->votes = calloc(evaluator->dev_count + 1, sizeof *evaluator->votes);
    evaluator->workspaces = calloc(evaluator->training->threads, sizeof(struct workspace *));
    WT_CHECK_ALLOC(evaluator->dev && evaluator->encoded && evaluator->votes && evaluator->workspaces, err);
    wt__rng_seed(&rng, evaluator->training->seed);
    wt__rng_draw(&rng, evaluator->dev, all, evaluator->dev_count);
    for (unsigned w = 0; w < evaluator->training->threads; w++)
        WT_TRY(wt__workspace_open(&evaluator->workspaces[w], err));
    return 0;
}

/* Opens the snapshot with the vectors of the engine's own encoder, which wt__evaluator_measure_hybrid searches. */
static int open_evaluator_index(struct dev_evaluator *evaluator, struct progress *progress, wt_error *err)
{
    wt_engine *engine = evaluator->training->engine;
    const struct encoder *encoder;
    size_t embedded;
    WT_TRY(wt__engine_encoder(engine, &encoder, err));
    WT_TRY(wt__embed_missing(engine, encoder, progress, &embedded, err));
    struct index_set set = {wt__encoder_hash(encoder), wt__document_kind};
    return wt__engine_index(engine, NULL, &set, NULL, &evaluator->index, err);
}

/* Sets evaluator->encoder. Uses the engine's encoder if that is the base model, else opens the model in the base's
 * folder. */
static int find_base_encoder(struct dev_evaluator *evaluator, wt_error *err)
{
    const struct encoder *engine;
    WT_TRY(wt__engine_encoder(evaluator->training->engine, &engine, err));
    if (strcmp(wt__encoder_hash(engine), evaluator->base.hash) != 0) {
        WT_TRY(wt__encoder_open(&evaluator->own, evaluator->base.folder, err));
        engine = evaluator->own;
    }
    evaluator->encoder = engine;
    return 0;
}

static int fill_evaluator(struct dev_evaluator *evaluator, struct progress *progress, wt_error *err)
{
    WT_TRY(find_base_encoder(evaluator, err));
    evaluator->dim = wt__encoder_dim(evaluator->encoder);
    WT_TRY(encode_documents(evaluator, progress, err));
    WT_TRY(encode_requests(evaluator, progress, err));
    WT_TRY(list_past_requests(evaluator, err));
    WT_TRY(draw_dev(evaluator, err));
    WT_TRY(open_evaluator_index(evaluator, progress, err));
    if (evaluator->index->snapshot->rows != evaluator->tools)
        return wt__fail(err, WT_EBUSY, "the catalogue changed during the training; start again");
    return 0;
}

int wt__evaluator_open(struct dev_evaluator **out, struct training *training, wt_error *err)
{
    struct training_base base;
    struct progress progress;
    *out = NULL;
    WT_TRY(wt__training_base(training, &base, err));
    if (training->evaluator && strcmp(training->evaluator->base.hash, base.hash) == 0) {
        *out = training->evaluator;
        return 0;
    }
    wt__evaluator_free(training->evaluator);
    struct dev_evaluator *evaluator = training->evaluator = calloc(1, sizeof *evaluator);
    WT_CHECK_ALLOC(evaluator, err);
    evaluator->training = training;
    evaluator->base = base;
    evaluator->tools = training->examples.tools;
    wt__progress_init(&progress, wt__train_progress_forward, &training->progress);
    int rc = fill_evaluator(evaluator, &progress, err);
    wt__progress_dispose(&progress);
    if (rc < 0) {
        wt__evaluator_free(evaluator);
        training->evaluator = NULL;
        return rc;
    }
    *out = evaluator;
    return 0;
}

void wt__evaluator_free(struct dev_evaluator *evaluator)
{
    if (!evaluator)
        return;
    for (unsigned w = 0; evaluator->workspaces && w < evaluator->training->threads; w++)
        wt__workspace_close(evaluator->workspaces[w]);
    for (size_t q = 0; evaluator->encoded && q < evaluator->dev_count; q++)
        free(evaluator->encoded[q]);
    for (size_t q = 0; evaluator->votes && q < evaluator->dev_count; q++)
        free((void *)evaluator->votes[q].items);
    wt__index_release(evaluator->index);
    wt__encoder_close(evaluator->own);
    free(evaluator->workspaces);
    free(evaluator->encoded);
    for (size_t b = 0; evaluator->train_encoded && b < evaluator->training->examples.train.count; b++)
        free(evaluator->train_encoded[b]);
    free(evaluator->train_encoded);
    free(evaluator->votes);
    free(evaluator->dev);
    free(evaluator->uses);
    free(evaluator->sums);
    free(evaluator->requests);
    free(evaluator->documents);
    free(evaluator->past_starts);
    free(evaluator->every_row);
    free(evaluator);
}

int wt__tool_vectors_open(struct tool_vectors *out, const float *vectors, size_t tools, size_t dim, wt_error *err)
{
    size_t bytes = wt__vectors_chunk_bytes(dim), chunks = (tools + VECTOR_CHUNK - 1) / VECTOR_CHUNK;
    int rc = 0;
    *out = (struct tool_vectors){.chunks = wt__alloc_aligned(chunks, bytes),
                                 .rows = wt__alloc_array(tools, sizeof *out->rows)};
    if (!out->chunks || !out->rows) {
        wt__tool_vectors_dispose(out);
        return wt__fail_nomem(err);
    }
    memset(out->chunks, 0, chunks * bytes);
    for (uint32_t i = 0; rc == 0 && i < tools; i++) {
        out->rows[i] = i;
        rc =
            wt__vectors_put((unsigned char *)out->chunks + i / VECTOR_CHUNK * bytes, dim, 0, i, vectors + i * dim, err);
    }
    out->view = (struct vectors){.chunks = out->chunks,
                                 .dim = dim,
                                 .slots = (uint32_t)tools,
                                 .rows = (uint32_t)tools,
                                 .row_of_slot = out->rows,
                                 .slot_of_row = out->rows};
    if (rc < 0)
        wt__tool_vectors_dispose(out);
    return rc;
}

void wt__tool_vectors_dispose(struct tool_vectors *vectors)
{
    free(vectors->chunks);
    free(vectors->rows);
    *vectors = (struct tool_vectors){0};
}

/* ---------------------------------------------------------------- measurements */

enum { CUTOFFS = 4 };

/* A measurement of all dev requests on several threads. */
struct dev_measurement {
    struct dev_evaluator *evaluator;
    const struct retriever *retriever;
    const struct encoder *encoder;
    const struct vectors *vectors;
    const struct reranker *reranker; /* or NULL */
    double *recalls;                 /* [Q, CUTOFFS] at 1, 3, 5 and 7 */
    wt_error *errors;                /* [threads] */
};

/* Sets the recalls of dev request q from the rows of its hits. */
static void measure_hits(struct dev_measurement *question, size_t q, const uint32_t *rows, size_t len)
{
    static const size_t cutoffs[CUTOFFS] = {1, 3, 5, 7};
    const struct example_set *dev = &question->evaluator->training->examples.dev;
    size_t b = question->evaluator->dev[q], gold = dev->starts[b + 1] - dev->starts[b];
    for (size_t c = 0; c < CUTOFFS; c++) {
        size_t found = 0;
        for (size_t i = 0; i < len && i < cutoffs[c]; i++)
            for (size_t g = dev->starts[b]; g < dev->starts[b + 1]; g++)
                found += dev->tools[g] == rows[i];
        question->recalls[CUTOFFS * q + c] = (double)found / (double)gold;
    }
}

/* Returns a copy of an array, or NULL if out of memory. */
static void *copy_array(const void *array, size_t count, size_t size)
{
    void *copy = wt__alloc_array(count, size);
    if (copy)
        memcpy(copy, array, count * size);
    return copy;
}

int wt__evaluator_cache(const struct dev_evaluator *evaluator, float **kept, const struct hit_list *hits, wt_error *err)
{
    if (*kept || !hits->encoded)
        return 0;
    *kept = copy_array(hits->encoded, hits->texts * evaluator->dim, sizeof *hits->encoded);
    return *kept ? 0 : wt__fail_nomem(err);
}

/* Caches the parts of a search that do not depend on weights: the vectors of the request's texts, and the votes, which
 * take a scan of all past requests. */
static int cache_search(struct dev_evaluator *evaluator, size_t q, const struct hit_list *hits, wt_error *err)
{
    WT_TRY(wt__evaluator_cache(evaluator, &evaluator->encoded[q], hits, err));
    if (!evaluator->votes[q].items && hits->votes.items) {
        evaluator->votes[q] = (struct neighbour_votes){
            .items = copy_array(hits->votes.items, hits->votes.len, sizeof *hits->votes.items), .len = hits->votes.len};
        if (!evaluator->votes[q].items)
            return wt__fail_nomem(err);
    }
    return 0;
}

/* Searches dev request q and measures its hits. */
static int measure_dev_request(void *context, size_t q, unsigned worker)
{
    struct dev_measurement *question = context;
    struct dev_evaluator *evaluator = question->evaluator;
    bool remembered = question->encoder == evaluator->encoder;
    size_t deeper = question->reranker ? wt__reranker_depth(question->reranker) : 0;
    struct view view = {.snapshot = evaluator->index->snapshot,
                        .encoder = question->encoder,
                        .vectors = question->vectors,
                        .neighbours = remembered ? &evaluator->past : NULL};
    struct retrieve_request request = {.text = evaluator->training->examples.dev.texts[evaluator->dev[q]],
                                       .k = deeper > 0 ? deeper : EVALUATOR_DEPTH,
                                       .features = deeper > 0 && question->reranker->kind->features,
                                       .encoded = remembered ? evaluator->encoded[q] : NULL,
                                       .votes = remembered ? evaluator->votes[q] : (struct neighbour_votes){0}};
    struct hit_list hits;
    uint32_t rows[EVALUATOR_DEPTH];
    WT_TRY(wt__retrieve(question->retriever, &view, &request, evaluator->workspaces[worker], &hits,
                        &question->errors[worker]));
    const struct rerank_input input = {.view = &view, .request = &request};
    if (deeper > 0)
        WT_TRY(wt__rerank(question->reranker, &input, &hits, &question->errors[worker]));
    if (hits.len > EVALUATOR_DEPTH)
        hits.len = EVALUATOR_DEPTH;
    for (size_t i = 0; i < hits.len; i++)
        rows[i] = hits.items[i].row;
    if (remembered)
        WT_TRY(cache_search(evaluator, q, &hits, &question->errors[worker]));
    measure_hits(question, q, rows, hits.len);
    return 0;
}

static int measure_dev_requests(struct dev_measurement *question, struct dev_outcome *out, wt_error *err)
{
    struct dev_evaluator *evaluator = question->evaluator;
    size_t count = evaluator->dev_count;
    out->figure = out->recall = out->first = count ? 0 : NAN;
    WT_AUTO_FREE double *all = question->recalls = wt__alloc_array(CUTOFFS * count, sizeof *all);
    WT_AUTO_FREE wt_error *errors = question->errors = wt__alloc_zeros(evaluator->training->threads, sizeof *errors);
    WT_CHECK_ALLOC(all && errors, err);
    WT_TRY(wt__training_run(evaluator->training, count, measure_dev_request, question, errors, err));
    for (size_t q = 0; q < count; q++) {
        const double *recalls = all + CUTOFFS * q, figure = (recalls[1] + recalls[2] + recalls[3]) / 3;
        out->figure += figure / (double)count;
        out->recall += recalls[2] / (double)count;
        out->first += recalls[0] / (double)count;
        if (out->each)
            out->each[q] = figure;
    }
    struct train_progress *progress = &evaluator->training->progress;
    return wt__train_progress_step(progress, progress->state.done + 1) ? wt__fail_cancelled(err) : 0;
}

int wt__evaluator_measure(struct dev_evaluator *evaluator, const struct retriever *retriever,
                          const struct tool_vectors *vectors, struct dev_outcome *out, wt_error *err)
{
    return wt__evaluator_measure_refined(evaluator, retriever, vectors, NULL, out, err);
}

int wt__evaluator_measure_refined(struct dev_evaluator *evaluator, const struct retriever *retriever,
                                  const struct tool_vectors *vectors, const struct reranker *reranker,
                                  struct dev_outcome *out, wt_error *err)
{
    struct dev_measurement question = {.evaluator = evaluator,
                                       .retriever = retriever,
                                       .encoder = evaluator->encoder,
                                       .vectors = vectors ? &vectors->view : NULL,
                                       .reranker = reranker};
    return measure_dev_requests(&question, out, err);
}

bool wt__evaluator_is_better(const struct dev_evaluator *evaluator, const double *a, const double *b, double errors)
{
    double sum = 0, squares = 0, n = (double)evaluator->dev_count;
    for (size_t i = 0; i < evaluator->dev_count; i++) {
        sum += b[i] - a[i];
        squares += (b[i] - a[i]) * (b[i] - a[i]);
    }
    return sum > 0 && sum * sum > errors * errors * (squares - sum * sum / n);
}

int wt__evaluator_choose(struct dev_evaluator *evaluator, const struct retriever *retrievers, size_t count,
                         const struct tool_vectors *vectors, size_t *chosen, struct dev_outcome *out, wt_error *err)
{
    size_t dev = evaluator->dev_count;
    WT_AUTO_FREE double *best = wt__alloc_array(dev, sizeof *best), *each = wt__alloc_array(dev, sizeof *each);
    WT_CHECK_ALLOC(best && each, err);
    for (size_t i = 0; i < count; i++) {
        struct dev_outcome here = {.each = each};
        WT_TRY(wt__evaluator_measure(evaluator, &retrievers[i], vectors, &here, err));
        if (i == 0 || wt__evaluator_is_better(evaluator, best, each, EVALUATOR_CHANCE)) {
            memcpy(best, each, dev * sizeof *best);
            *chosen = i;
            *out = (struct dev_outcome){here.figure, here.recall, here.first, NULL};
        }
    }
    return 0;
}

int wt__evaluator_measure_subqueries(struct dev_evaluator *evaluator, const struct tool_vectors *vectors,
                                     float *subquery, struct dev_outcome *out, wt_error *err)
{
    struct retriever retrievers[] = {wt__dense, wt__dense, wt__dense};
    size_t chosen = 0;
    retrievers[0].subquery = evaluator->single ? 0 : 1;
    retrievers[1].subquery = 0.5f;
    retrievers[2].subquery = evaluator->single ? 1 : 0;
    WT_TRY(wt__evaluator_choose(evaluator, retrievers, 3, vectors, &chosen, out, err));
    *subquery = retrievers[chosen].subquery;
    return 0;
}

int wt__evaluator_measure_hybrid(struct dev_evaluator *evaluator, struct dev_outcome *out, wt_error *err)
{
    wt_engine *engine = evaluator->training->engine;
    struct dev_measurement question = {.evaluator = evaluator};
    WT_TRY(wt__engine_encoder(engine, &question.encoder, err));
    question.retriever = &wt__hybrid;
    question.vectors =
        wt__snapshot_vectors(evaluator->index->snapshot, wt__encoder_hash(question.encoder), wt__document_kind);
    return measure_dev_requests(&question, out, err);
}

/* ---------------------------------------------------------------- results */

int wt__evaluator_tool_names(struct dev_evaluator *evaluator, json_t *out, wt_error *err)
{
    wt_engine *engine = evaluator->training->engine;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    struct tool *tools = wt__arena_array(&arena, struct tool, evaluator->tools);
    WT_CHECK_ALLOC(tools, err);
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_get(engine->store, evaluator->training->examples.ids, evaluator->tools, &arena, tools, err);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < evaluator->tools; i++) {
        wt__buffer_clear(&id);
        wt__tool_id(&id, tools[i].provider, tools[i].name);
        if (id.failed || json_array_append_new(out, json_stringn(id.ptr, id.len)) < 0)
            return wt__fail_nomem(err);
    }
    return 0;
}

int wt__evaluator_save(struct dev_evaluator *evaluator, const char *folder, const json_t *about,
                       const struct loop_state *state, json_t *config, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_CLEANUP(json_decrefp) json_t *stolen = config;
    WT_CLEANUP(json_decrefp)
    json_t *outcome = wt__training_outcome(about, evaluator->training->lesson->figure, state);
    WT_CLEANUP(json_decrefp)
    json_t *encoder =
        json_pack("{s:s, s:s}", "name", wt__encoder_name(evaluator->encoder), "hash", evaluator->base.hash);
    WT_CHECK_ALLOC(stolen && outcome && encoder, err);
    WT_TRY(wt__make_folders(folder, err));
    char *path = wt__path_join(&arena, folder, TRAINED_CONFIG);
    if (!path || json_object_set(stolen, "encoder", encoder) < 0 || json_object_set(stolen, "whichtool", outcome) < 0 ||
        wt__json_write(&text, stolen) < 0)
        return wt__fail_nomem(err);
    return wt__file_replace(path, text.ptr, text.len, err);
}

int wt__evaluator_begin(struct dev_evaluator **out, struct training *training, json_t **about, wt_error *err)
{
    static const struct lesson_plan each_request_once = {.most = 1};
    struct loop_options unused;
    WT_TRY(wt__evaluator_open(out, training, err));
    return wt__training_plan(training, &each_request_once, &(*out)->base, &unused, about, err);
}

int wt__evaluator_finish(struct dev_evaluator *evaluator, const json_t *about, json_t *config,
                         const wt_trained *trained, wt_error *err)
{
    const struct loop_state state = {.before = trained->before, .best = trained->after};
    return wt__evaluator_save(evaluator, trained->path, about, &state, config, err);
}
