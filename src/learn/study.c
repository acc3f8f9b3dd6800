/* study.c: vectors by the encoder of now, and dev requests put to the retrieval. */
#include "learn/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "catalog/names.h"
#include "engine/embed.h"
#include "retrieve/document.h"

/* ---------------------------------------------------------------- vectors of tools and requests */

/* Tools are encoded into the store, where queries and later trainings find them. */
static int read_documents(struct study *study, struct progress *progress, wt_error *err)
{
    struct training *training = study->training;
    wt_engine *engine = training->engine;
    struct vector_set set = wt__engine_vectors(study->encoder, engine);
    size_t embedded;
    int rc = wt__embed_missing(engine, study->encoder, progress, &embedded, err);
    bool *there = wt__alloc_array(study->tools, sizeof *there);
    study->documents = wt__alloc_array(study->tools * study->dim, sizeof *study->documents);
    if (rc == 0 && (!there || !study->documents))
        rc = wt__fail_nomem(err);
    if (rc == 0) {
        pthread_mutex_lock(&engine->store_lock);
        int64_t found = wt__store_get_vectors(engine->store, &set, training->examples.ids, study->tools,
                                              study->documents, there, err);
        pthread_mutex_unlock(&engine->store_lock);
        rc = found < 0 ? (int)found : 0;
    }
    free(there);
    return rc;
}

static int read_requests(struct study *study, struct progress *progress, wt_error *err)
{
    const struct example_set *train = &study->training->examples.train;
    size_t dim = study->dim;
    study->parted = calloc(train->count + 1, sizeof *study->parted);
    study->requests = wt__alloc_array(train->count * dim, sizeof *study->requests);
    study->sums = calloc(study->tools * dim + 1, sizeof *study->sums);
    study->uses = calloc(study->tools + 1, sizeof *study->uses);
    if (!study->parted || !study->requests || !study->sums || !study->uses)
        return wt__fail_nomem(err);
    int rc = wt__progress_phase(progress, "encoding requests", train->count) ? wt__fail_cancelled(err) : 0;
    if (rc == 0)
        rc = wt__encode_many(study->encoder, train->texts, train->count, study->training->threads, study->requests,
                             progress, err);
    for (size_t b = 0; rc == 0 && b < train->count; b++)
        for (size_t i = train->starts[b]; i < train->starts[b + 1]; i++) {
            uint32_t tool = train->tools[i];
            study->uses[tool] += train->times[i];
            for (size_t d = 0; d < dim; d++)
                study->sums[tool * dim + d] += (float)train->times[i] * study->requests[b * dim + d];
        }
    return rc;
}

/* The requests in the form that votes are taken in. */
static int list_past(struct study *study, wt_error *err)
{
    const struct example_set *train = &study->training->examples.train;
    size_t count = train->count < STUDY_PAST ? train->count : STUDY_PAST, most = 0, several = 0;
    study->past_starts = wt__alloc_array(count + 1, sizeof *study->past_starts);
    study->every_row = wt__alloc_array(study->tools, sizeof *study->every_row);
    if (!study->past_starts || !study->every_row)
        return wt__fail_nomem(err);
    for (size_t i = 0; i <= count; i++)
        study->past_starts[i] = (uint32_t)train->starts[i];
    for (size_t i = 0; i < count; i++) {
        size_t labels = train->starts[i + 1] - train->starts[i];
        most = labels > most ? labels : most;
        several += labels > 1;
    }
    for (size_t i = 0; i < study->tools; i++)
        study->every_row[i] = (uint32_t)i;
    study->single = several * 20 < count;
    study->past = (struct neighbours){.count = count,
                                      .dim = study->dim,
                                      .requests = study->requests,
                                      .starts = study->past_starts,
                                      .labels = train->tools,
                                      .rows = study->every_row,
                                      .most_labels = most};
    return 0;
}

/* STUDY_DEV of the dev examples, drawn without repetition. */
static int draw_dev(struct study *study, wt_error *err)
{
    size_t all = study->training->examples.dev.count;
    struct rng rng;
    study->dev_count = all < STUDY_DEV ? all : STUDY_DEV;
    study->dev = wt__alloc_array(all, sizeof *study->dev);
    study->encoded = calloc(study->dev_count + 1, sizeof *study->encoded);
    study->votes = calloc(study->dev_count + 1, sizeof *study->votes);
    study->workspaces = calloc(study->training->threads, sizeof(struct workspace *));
    if (!study->dev || !study->encoded || !study->votes || !study->workspaces)
        return wt__fail_nomem(err);
    wt__rng_seed(&rng, study->training->seed);
    wt__rng_draw(&rng, study->dev, all, study->dev_count);
    int rc = 0;
    for (unsigned w = 0; rc == 0 && w < study->training->threads; w++)
        rc = wt__workspace_open(&study->workspaces[w], err);
    return rc;
}

/* The snapshot, with the vectors of the engine's own encoder for comparison. */
static int take_shelf(struct study *study, struct progress *progress, wt_error *err)
{
    wt_engine *engine = study->training->engine;
    const struct encoder *encoder;
    size_t embedded;
    int rc = wt__engine_encoder(engine, &encoder, err);
    if (rc == 0)
        rc = wt__embed_missing(engine, encoder, progress, &embedded, err);
    if (rc < 0)
        return rc;
    struct shelf_set set = {wt__encoder_hash(encoder), wt__document_kind};
    return wt__engine_shelf(engine, NULL, &set, NULL, &study->shelf, err);
}

static bool is_current(const struct study *study, const struct training_base *base)
{
    return study && strcmp(study->base.hash, base->hash) == 0;
}

/* The engine's encoder when that is meant, else the folder's. */
static int find_encoder(struct study *study, wt_error *err)
{
    const struct encoder *engine;
    int rc = wt__engine_encoder(study->training->engine, &engine, err);
    if (rc == 0 && strcmp(wt__encoder_hash(engine), study->base.hash) != 0) {
        rc = wt__encoder_open(&study->own, study->base.folder, err);
        engine = study->own;
    }
    study->encoder = engine;
    return rc;
}

int wt__study_open(struct study **out, struct training *training, wt_error *err)
{
    struct training_base base;
    struct progress progress;
    *out = NULL;
    int rc = wt__training_base(training, &base, err);
    if (rc < 0)
        return rc;
    if (is_current(training->study, &base)) {
        *out = training->study;
        return 0;
    }
    wt__study_free(training->study);
    struct study *study = training->study = calloc(1, sizeof *study);
    if (!study)
        return wt__fail_nomem(err);
    study->training = training;
    study->base = base;
    study->tools = training->examples.tools;
    wt__progress_init(&progress, wt__listener_progress, &training->listener);
    rc = find_encoder(study, err);
    if (rc == 0) {
        study->dim = wt__encoder_dim(study->encoder);
        rc = read_documents(study, &progress, err);
    }
    if (rc == 0)
        rc = read_requests(study, &progress, err);
    if (rc == 0)
        rc = list_past(study, err);
    if (rc == 0)
        rc = draw_dev(study, err);
    if (rc == 0)
        rc = take_shelf(study, &progress, err);
    if (rc == 0 && study->shelf->snapshot->rows != study->tools)
        rc = wt__fail(err, WT_EBUSY, "the catalogue changed while it was learned from; start again");
    wt__progress_dispose(&progress);
    if (rc < 0) {
        wt__study_free(study);
        training->study = NULL;
        return rc;
    }
    *out = study;
    return 0;
}

void wt__study_free(struct study *study)
{
    if (!study)
        return;
    for (unsigned w = 0; study->workspaces && w < study->training->threads; w++)
        wt__workspace_close(study->workspaces[w]);
    for (size_t q = 0; study->encoded && q < study->dev_count; q++)
        free(study->encoded[q]);
    for (size_t q = 0; study->votes && q < study->dev_count; q++)
        free((void *)study->votes[q].items);
    wt__shelf_release(study->shelf);
    wt__encoder_close(study->own);
    free(study->workspaces);
    free(study->encoded);
    for (size_t b = 0; study->parted && b < study->training->examples.train.count; b++)
        free(study->parted[b]);
    free(study->parted);
    free(study->votes);
    free(study->dev);
    free(study->uses);
    free(study->sums);
    free(study->requests);
    free(study->documents);
    free(study->past_starts);
    free(study->every_row);
    free(study);
}

/* ---------------------------------------------------------------- tool vectors to search */

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

/* ---------------------------------------------------------------- questions */

/* One question, put to all dev requests by several threads. */
struct question {
    struct study *study;
    const struct retriever *retriever;
    const struct encoder *encoder;
    const struct vectors *vectors;
    struct refiner *refiner; /* or NULL */
    double *recalls;         /* [Q, 3] at 3, 5 and 7 */
    wt_error *errors;        /* [threads] */
};

static void judge(struct question *question, size_t q, const uint32_t *rows, size_t len)
{
    static const size_t cutoffs[] = {3, 5, 7};
    const struct example_set *dev = &question->study->training->examples.dev;
    size_t b = question->study->dev[q], gold = dev->starts[b + 1] - dev->starts[b];
    for (size_t c = 0; c < 3; c++) {
        size_t found = 0;
        for (size_t i = 0; i < len && i < cutoffs[c]; i++)
            for (size_t g = dev->starts[b]; g < dev->starts[b + 1]; g++)
                found += dev->tools[g] == rows[i];
        question->recalls[3 * q + c] = (double)found / (double)gold;
    }
}

/* A copy of an array, or NULL when memory is out. */
static void *copy_of(const void *array, size_t count, size_t size)
{
    void *copy = wt__alloc_array(count, size);
    if (copy)
        memcpy(copy, array, count * size);
    return copy;
}

int wt__study_keep(const struct study *study, float **kept, const struct hit_list *hits, wt_error *err)
{
    if (*kept || !hits->encoded)
        return 0;
    *kept = copy_of(hits->encoded, hits->texts * study->dim, sizeof *hits->encoded);
    return *kept ? 0 : wt__fail_nomem(err);
}

/* Keeps what no weighing of a request's evidence changes: the vectors of its texts, and the votes, for which every past
 * request is looked at. */
static int remember(struct study *study, size_t q, const struct hit_list *hits, wt_error *err)
{
    int rc = wt__study_keep(study, &study->encoded[q], hits, err);
    if (rc < 0)
        return rc;
    if (!study->votes[q].items && hits->votes.items) {
        study->votes[q] = (struct votes){
            .items = copy_of(hits->votes.items, hits->votes.len, sizeof *hits->votes.items), .len = hits->votes.len};
        if (!study->votes[q].items)
            return wt__fail_nomem(err);
    }
    return 0;
}

static int put(void *context, size_t q, unsigned worker)
{
    struct question *question = context;
    struct study *study = question->study;
    bool remembered = question->encoder == study->encoder;
    struct view view = {.snapshot = study->shelf->snapshot,
                        .encoder = question->encoder,
                        .vectors = question->vectors,
                        .neighbours = remembered ? &study->past : NULL};
    struct retrieve_request request = {.text = study->training->examples.dev.texts[study->dev[q]],
                                       .k = question->refiner ? wt__refiner_candidates(question->refiner) : STUDY_DEPTH,
                                       .features = question->refiner,
                                       .encoded = remembered ? study->encoded[q] : NULL,
                                       .votes = remembered ? study->votes[q] : (struct votes){0}};
    struct hit_list hits;
    uint32_t rows[STUDY_DEPTH];
    int rc =
        wt__retrieve(question->retriever, &view, &request, study->workspaces[worker], &hits, &question->errors[worker]);
    if (rc == 0 && question->refiner)
        rc = wt__refine(question->refiner, request.text, question->vectors, &hits, &question->errors[worker]);
    if (rc == 0 && hits.len > STUDY_DEPTH)
        hits.len = STUDY_DEPTH;
    for (size_t i = 0; rc == 0 && i < hits.len; i++)
        rows[i] = hits.items[i].row;
    if (rc == 0 && remembered)
        rc = remember(study, q, &hits, &question->errors[worker]);
    if (rc == 0)
        judge(question, q, rows, hits.len);
    return rc;
}

static int ask(struct question *question, struct outcome *out, wt_error *err)
{
    struct study *study = question->study;
    size_t count = study->dev_count;
    out->figure = out->recall = count ? 0 : NAN;
    question->recalls = wt__alloc_array(3 * count, sizeof *question->recalls);
    question->errors = calloc(study->training->threads, sizeof *question->errors);
    int rc = question->recalls && question->errors ? 0 : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__pool_run(study->training->threads, count, put, question);
    for (unsigned w = 0; rc < 0 && question->errors && w < study->training->threads; w++)
        if (question->errors[w].code && err)
            *err = question->errors[w];
    for (size_t q = 0; rc == 0 && q < count; q++) {
        const double *recalls = question->recalls + 3 * q;
        out->figure += (recalls[0] + recalls[1] + recalls[2]) / 3 / (double)count;
        out->recall += recalls[1] / (double)count;
        if (out->each)
            out->each[q] = (recalls[0] + recalls[1] + recalls[2]) / 3;
    }
    free(question->recalls);
    free(question->errors);
    if (rc == 0 && wt__listener_step(&study->training->listener, study->training->listener.state.done + 1))
        rc = wt__fail_cancelled(err);
    return rc;
}

int wt__study_ask(struct study *study, const struct retriever *retriever, const struct tool_vectors *vectors,
                  struct outcome *out, wt_error *err)
{
    return wt__study_ask_refined(study, retriever, vectors, NULL, out, err);
}

int wt__study_ask_refined(struct study *study, const struct retriever *retriever, const struct tool_vectors *vectors,
                          struct refiner *refiner, struct outcome *out, wt_error *err)
{
    struct question question = {.study = study,
                                .retriever = retriever,
                                .encoder = study->encoder,
                                .vectors = vectors ? &vectors->view : NULL,
                                .refiner = refiner};
    return ask(&question, out, err);
}

bool wt__study_better(const struct study *study, const double *a, const double *b, double errors)
{
    double sum = 0, squares = 0, n = (double)study->dev_count;
    for (size_t i = 0; i < study->dev_count; i++) {
        sum += b[i] - a[i];
        squares += (b[i] - a[i]) * (b[i] - a[i]);
    }
    return sum > 0 && sum * sum > errors * errors * (squares - sum * sum / n);
}

int wt__study_choose(struct study *study, const struct retriever *retrievers, size_t count,
                     const struct tool_vectors *vectors, size_t *chosen, struct outcome *out, wt_error *err)
{
    size_t dev = study->dev_count;
    double *best = wt__alloc_array(dev, sizeof *best), *each = wt__alloc_array(dev, sizeof *each);
    int rc = best && each ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct outcome here = {.each = each};
        rc = wt__study_ask(study, &retrievers[i], vectors, &here, err);
        if (rc == 0 && (i == 0 || wt__study_better(study, best, each, STUDY_CHANCE))) {
            memcpy(best, each, dev * sizeof *best);
            *chosen = i;
            *out = (struct outcome){here.figure, here.recall, NULL};
        }
    }
    free(best);
    free(each);
    return rc;
}

int wt__study_ask_parts(struct study *study, const struct tool_vectors *vectors, float *part, struct outcome *out,
                        wt_error *err)
{
    static const struct retriever single[] = {{.dense = 1}, {.dense = 1, .part = 0.5f}, {.dense = 1, .part = 1}};
    static const struct retriever several[] = {{.dense = 1, .part = 1}, {.dense = 1, .part = 0.5f}, {.dense = 1}};
    const struct retriever *retrievers = study->single ? single : several;
    size_t chosen = 0;
    int rc = wt__study_choose(study, retrievers, 3, vectors, &chosen, out, err);
    *part = retrievers[chosen].part;
    return rc;
}

int wt__study_ask_hybrid(struct study *study, struct outcome *out, wt_error *err)
{
    struct question question = {.study = study, .retriever = &wt__hybrid};
    int rc = wt__engine_encoder(study->training->engine, &question.encoder, err);
    if (rc < 0)
        return rc;
    question.vectors =
        wt__snapshot_vectors(study->shelf->snapshot, wt__encoder_hash(question.encoder), wt__document_kind);
    return ask(&question, out, err);
}

/* ---------------------------------------------------------------- what is left */

int wt__study_tool_names(struct study *study, json_t *out, wt_error *err)
{
    wt_engine *engine = study->training->engine;
    struct arena arena = {0};
    struct buffer id = {0};
    struct tool *tools = wt__arena_array(&arena, struct tool, study->tools);
    int rc = tools ? 0 : wt__fail_nomem(err);
    pthread_mutex_lock(&engine->store_lock);
    if (rc == 0)
        rc = wt__store_get(engine->store, study->training->examples.ids, study->tools, &arena, tools, err);
    pthread_mutex_unlock(&engine->store_lock);
    for (size_t i = 0; rc >= 0 && i < study->tools; i++) {
        wt__buffer_clear(&id);
        wt__tool_id(&id, tools[i].provider, tools[i].name);
        if (id.failed || json_array_append_new(out, json_stringn(id.ptr, id.len)) < 0)
            rc = wt__fail_nomem(err);
    }
    wt__buffer_dispose(&id);
    wt__arena_dispose(&arena);
    return rc < 0 ? rc : 0;
}

int wt__study_save(struct study *study, const char *folder, const json_t *about, const struct loop_state *state,
                   json_t *config, wt_error *err)
{
    struct arena arena = {0};
    struct buffer text = {0};
    json_t *outcome = wt__training_outcome(about, study->training->lesson->figure, state);
    json_t *encoder = json_pack("{s:s, s:s}", "name", wt__encoder_name(study->encoder), "hash", study->base.hash);
    int rc = config && outcome && encoder ? wt__make_folders(folder, err) : wt__fail_nomem(err);
    char *path = wt__path_join(&arena, folder, TRAINED_CONFIG);
    if (rc == 0 && (!path || json_object_set(config, "encoder", encoder) < 0 ||
                    json_object_set(config, "whichtool", outcome) < 0 || wt__json_write(&text, config) < 0))
        rc = wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__file_replace(path, text.ptr, text.len, err);
    wt__buffer_dispose(&text);
    wt__arena_dispose(&arena);
    json_decref(outcome);
    json_decref(encoder);
    json_decref(config);
    return rc;
}

int wt__study_begin(struct study **out, struct training *training, json_t **about, wt_error *err)
{
    static const struct lesson_plan each_request_once = {.most = 1};
    struct loop_options unused;
    int rc = wt__study_open(out, training, err);
    return rc < 0 ? rc : wt__training_plan(training, &each_request_once, &(*out)->base, &unused, about, err);
}

int wt__study_leave(struct study *study, const json_t *about, json_t *config, const wt_trained *trained, wt_error *err)
{
    const struct loop_state state = {.before = trained->before, .best = trained->after};
    return wt__study_save(study, trained->path, about, &state, config, err);
}
