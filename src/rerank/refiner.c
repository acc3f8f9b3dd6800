/* refiner.c: runs the refiner and reorders hits. See refiner.h. The layers below and above `join` share one set of
 * activations. In the activations, the rows of the candidates follow the rows of the request. */
#include "rerank/refiner.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "encoder/packed.h"
#include "encoder/transformer.h"
#include "rerank/reranker.h"

struct refiner {
    const struct encoder *encoder;
    size_t join, candidates, dim, hidden; /* candidates: maximum N; dim: D; hidden: H */
    struct upper_layers upper;            /* the retrained layers from `join` on */
    struct linear candidate;              /* C and c, packed */
    float *score;                         /* [H + F + 1] s, w and b */
    bool flat;                            /* true if s is zero; the layers then have no effect and are not run */
    struct arena arena;
    pthread_mutex_t lock;
    struct refiner_scratch *idle; /* list of unused scratches, protected by the lock */
};

struct refiner_scratch {
    struct activations activations;
    int32_t *ids, *positions; /* [T + N] */
    float *inputs;            /* [N, D + F] */
    float *storage;           /* [N, P] for vectors that are read from a file */
    struct arena arena;
    struct refiner_scratch *next; /* next unused scratch */
};

/* ---------------------------------------------------------------- opening */

/* Reads a tensor of shape [rows, columns], or [columns] if rows is 0, into the arena. */
static int read_refiner_tensor(const struct safetensors *file, const char *path, const char *name, size_t rows,
                               size_t columns, struct arena *arena, float **out, wt_error *err)
{
    const struct tensor *t = wt__safetensors_find(file, name);
    size_t rank = rows ? 2 : 1;
    if (!t || t->rank != rank || t->shape[rank - 1] != columns || (rows && t->shape[0] != rows))
        return wt__fail(err, WT_EMODEL, "%s: needs a tensor \"%s\" of %zu x %zu numbers", path, name, rows ? rows : 1,
                        columns);
    *out = wt__arena_array(arena, float, t->count);
    WT_CHECK_ALLOC(*out, err);
    WT_TRY(wt__tensor_floats(t, *out, err));
    for (size_t i = 0; i < t->count; i++)
        if (!isfinite((*out)[i]))
            return wt__fail(err, WT_EMODEL, "%s: \"%s\" has a number that is not finite", path, name);
    return 0;
}

static int read_refiner_head(struct refiner *r, const struct safetensors *file, const char *path, wt_error *err)
{
    size_t in = r->dim + RETRIEVE_FEATURES, floats = wt__matrix_packed_size(r->hidden, in) + WT_PANEL;
    WT_CLEANUP(wt__arena_dispose) struct arena reading = {0};
    float *candidate, *bias, *score, *score_bias;
    WT_TRY(read_refiner_tensor(file, path, REFINER_CANDIDATE, r->hidden, in, &reading, &candidate, err));
    WT_TRY(read_refiner_tensor(file, path, REFINER_CANDIDATE_BIAS, 0, r->hidden, &r->arena, &bias, err));
    WT_TRY(read_refiner_tensor(file, path, REFINER_SCORE, 1, r->hidden + RETRIEVE_FEATURES, &reading, &score, err));
    WT_TRY(read_refiner_tensor(file, path, REFINER_SCORE_BIAS, 0, 1, &reading, &score_bias, err));
    float *packed = wt__arena_alloc(&r->arena, floats * sizeof(float), 64);
    r->score = wt__arena_array(&r->arena, float, r->hidden + RETRIEVE_FEATURES + 1);
    WT_CHECK_ALLOC(packed && r->score, err);
    memset(packed, 0, floats * sizeof(float));
    wt__matrix_pack(packed, candidate, in, r->hidden, in);
    r->candidate = (struct linear){.in = in, .out = r->hidden, .weight = packed, .bias = bias};
    memcpy(r->score, score, (r->hidden + RETRIEVE_FEATURES) * sizeof(float));
    r->score[r->hidden + RETRIEVE_FEATURES] = score_bias[0];
    r->flat = true;
    for (size_t h = 0; h < r->hidden; h++)
        r->flat &= score[h] == 0;
    return 0;
}

int wt__refiner_open(struct refiner **out, const struct encoder *encoder, const char *path, size_t join,
                     size_t candidates, wt_error *err)
{
    const struct model_config *config = &wt__encoder_packed(encoder)->model.config;
    struct refiner *r = calloc(1, sizeof *r);
    struct mapping map = {0};
    struct safetensors file = {0};
    int rc;
    *out = NULL;
    WT_CHECK_ALLOC(r, err);
    rc = pthread_mutex_init(&r->lock, NULL) == 0 ? 0 : wt__fail_nomem(err);
    if (rc == 0 && wt__encoder_is_static(encoder))
        rc = wt__fail(err, WT_EMODEL, "%s: a refiner needs an encoder with layers, and this encoder is static", path);
    if (rc == 0 && (candidates < REFINER_MIN_CANDIDATES || candidates > REFINER_MAX_CANDIDATES))
        rc = wt__fail(err, WT_EMODEL, "%s: a refiner takes %d to %d candidates, not %zu", path, REFINER_MIN_CANDIDATES,
                      REFINER_MAX_CANDIDATES, candidates);
    if (rc == 0)
        rc = wt__file_map(&map, path, err);
    if (rc == 0)
        rc = wt__safetensors_open(&file, path, map.ptr, map.len, err);
    if (rc == 0) {
        r->encoder = encoder;
        r->join = join;
        r->candidates = candidates;
        r->dim = wt__encoder_dim(encoder);
        r->hidden = config->hidden;
        rc = wt__upper_layers_open(&r->upper, config, join, &file, path, err);
    }
    if (rc == 0)
        rc = read_refiner_head(r, &file, path, err);
    wt__safetensors_dispose(&file);
    wt__file_unmap(&map);
    if (rc < 0)
        wt__refiner_close(r);
    else
        *out = r;
    return rc == WT_EIO || rc == WT_ENOTFOUND ? wt__fail_context(err, WT_EMODEL, "the refiner") : rc;
}

void wt__refiner_close(struct refiner *refiner)
{
    if (!refiner)
        return;
    while (refiner->idle) {
        struct refiner_scratch *scratch = refiner->idle;
        refiner->idle = scratch->next;
        wt__refiner_scratch_free(scratch);
    }
    pthread_mutex_destroy(&refiner->lock);
    wt__upper_layers_close(&refiner->upper);
    wt__arena_dispose(&refiner->arena);
    free(refiner);
}

size_t wt__refiner_candidates(const struct refiner *refiner)
{
    return refiner->candidates;
}

int wt__refiner_scratch_new(struct refiner_scratch **out, const struct encoder *encoder, size_t candidates,
                            wt_error *err)
{
    const struct transformer *model = &wt__encoder_packed(encoder)->model;
    struct refiner_scratch *s = calloc(1, sizeof *s);
    size_t rows = REFINER_TOKENS + candidates;
    struct activation_limits limits = {.rows = rows, .longest = rows};
    *out = NULL;
    WT_CHECK_ALLOC(s, err);
    size_t floats = wt__activations_place(&s->activations, model, &limits, false, NULL);
    float *memory = floats ? wt__arena_alloc(&s->arena, floats * sizeof(float), 64) : NULL;
    s->ids = wt__arena_array(&s->arena, int32_t, rows);
    s->positions = wt__arena_array(&s->arena, int32_t, rows);
    s->inputs = wt__arena_array(&s->arena, float, candidates *(wt__encoder_dim(encoder) + RETRIEVE_FEATURES));
    s->storage = wt__arena_array(&s->arena, float, candidates *wt__vectors_padded(wt__encoder_dim(encoder)));
    if (!memory || !s->ids || !s->positions || !s->inputs || !s->storage) {
        wt__refiner_scratch_free(s);
        return wt__fail_nomem(err);
    }
    wt__activations_place(&s->activations, model, &limits, false, memory);
    *out = s;
    return 0;
}

void wt__refiner_scratch_free(struct refiner_scratch *scratch)
{
    if (!scratch)
        return;
    wt__arena_dispose(&scratch->arena);
    free(scratch);
}

/* ---------------------------------------------------------------- running */

size_t wt__refiner_request(const struct encoder *encoder, size_t join, struct refiner_scratch *scratch,
                           struct str request, const float **rows, size_t *stride)
{
    const struct packed *packed = wt__encoder_packed(encoder);
    size_t most = packed->model.config.max_tokens < REFINER_TOKENS ? packed->model.config.max_tokens : REFINER_TOKENS;
    size_t starts[2] = {0, wt__tokenizer_encode(&packed->tokenizer, request, most, scratch->ids)};
    const struct token_batch batch = {.count = 1, .starts = starts, .ids = scratch->ids};
    wt__embedding_forward(&packed->model, &batch, &scratch->activations);
    for (size_t layer = 0; layer < join; layer++)
        wt__layer_forward(&packed->model, layer, &batch, &scratch->activations);
    *rows = scratch->activations.x;
    *stride = scratch->activations.stride;
    return starts[1];
}

/* Computes the rows of the candidates, which follow the T rows of the request. All candidates have the position T. */
static void join_candidates(const struct refiner *r, struct refiner_scratch *scratch, size_t tokens, size_t count,
                            const float *const *vectors, const float (*features)[RETRIEVE_FEATURES])
{
    struct activations *a = &scratch->activations;
    for (size_t i = 0; i < count; i++) {
        float *input = scratch->inputs + i * r->candidate.in;
        memcpy(input, vectors[i], r->dim * sizeof(float));
        memcpy(input + r->dim, features[i], sizeof features[i]);
    }
    wt__linear_forward(&r->candidate, scratch->inputs, r->candidate.in, ACTIVATION_NONE, NULL,
                       a->x + tokens * a->stride, a->stride, count);
    for (size_t i = 0; i < tokens + count; i++)
        scratch->positions[i] = (int32_t)(i < tokens ? i : tokens);
}

void wt__refiner_run(const struct refiner *r, struct refiner_scratch *scratch, struct str request, size_t count,
                     const float *const *vectors, const float (*features)[RETRIEVE_FEATURES], float *additions)
{
    const struct activations *a = &scratch->activations;
    size_t stride, tokens = 0;
    if (!r->flat) {
        const float *rows;
        tokens = wt__refiner_request(r->encoder, r->join, scratch, request, &rows, &stride);
        const size_t starts[2] = {0, tokens + count};
        const struct token_batch batch = {.count = 1, .starts = starts, .positions = scratch->positions};
        join_candidates(r, scratch, tokens, count, vectors, features);
        wt__upper_layers_forward(&r->upper, &batch, &scratch->activations);
    }
    for (size_t i = 0; i < count; i++) {
        const float *state = a->x + (tokens + i) * a->stride;
        double sum = r->score[r->hidden + RETRIEVE_FEATURES];
        for (size_t h = 0; h < r->hidden && !r->flat; h++)
            sum += (double)r->score[h] * state[h];
        for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
            sum += (double)r->score[r->hidden + f] * features[i][f];
        additions[i] = (float)sum;
    }
}

/* ---------------------------------------------------------------- order */

static int borrow_refiner_scratch(struct refiner *r, struct refiner_scratch **out, wt_error *err)
{
    pthread_mutex_lock(&r->lock);
    *out = r->idle;
    if (*out)
        r->idle = (*out)->next;
    pthread_mutex_unlock(&r->lock);
    return *out ? 0 : wt__refiner_scratch_new(out, r->encoder, r->candidates, err);
}

static void return_refiner_scratch(struct refiner *r, struct refiner_scratch *scratch)
{
    pthread_mutex_lock(&r->lock);
    scratch->next = r->idle;
    r->idle = scratch;
    pthread_mutex_unlock(&r->lock);
}

static void note_addition(struct hit *hit, float addition, float share)
{
    struct stage_evidence *stage = wt__hit_stage(hit, REFINER_STAGE);
    stage->score = addition;
    stage->share = share;
}

/* Adds `additions`, in units of the best score, to the scores of the first `count` hits. Sorts these hits. Limits the
 * scores of later hits to the lowest score of these hits. */
static void reorder_hits(struct hit_list *hits, size_t count, const float *additions)
{
    float best = hits->items[0].score, scores[REFINER_MAX_CANDIDATES];
    for (size_t i = 0; i < count; i++) {
        float share = best * additions[i];
        scores[i] = hits->items[i].score += share;
        note_addition(&hits->items[i], additions[i], share);
    }
    wt__hits_sort(hits->items, scores, count);
    for (size_t i = 0; i < count; i++)
        wt__hit_stage(&hits->items[i], REFINER_STAGE)->rank = i + 1;
    for (size_t i = count; i < hits->len; i++) {
        struct hit *hit = &hits->items[i];
        float score = fminf(hit->score, hits->items[count - 1].score);
        note_addition(hit, 0, score - hit->score);
        hit->score = score;
    }
}

/* Reads the candidates' vectors. A tool without one has zeros. */
static int read_candidate_vectors(struct refiner_scratch *scratch, const struct vectors *vectors,
                                  const struct hit_list *hits, size_t count, const float **found, wt_error *err)
{
    static const float nothing[VECTOR_MAX_DIM];
    for (size_t i = 0; i < count; i++) {
        uint32_t row = hits->items[i].row;
        bool none = !vectors || row >= vectors->rows || vectors->slot_of_row[row] == VECTOR_NONE;
        float *storage = none ? NULL : scratch->storage + i * wt__vectors_padded(vectors->dim);
        found[i] = none ? nothing : wt__vectors_of_row(vectors, row, storage);
        if (!found[i])
            return wt__fail(err, WT_ESTORE, "the vector of row %u is damaged", (unsigned)row);
    }
    return 0;
}

int wt__refine(struct refiner *r, struct str request, const struct vectors *vectors, struct hit_list *hits,
               wt_error *err)
{
    const float *found[REFINER_MAX_CANDIDATES];
    float features[REFINER_MAX_CANDIDATES][RETRIEVE_FEATURES], additions[REFINER_MAX_CANDIDATES];
    struct refiner_scratch *scratch;
    size_t count = hits->len < r->candidates ? hits->len : r->candidates;
    if (count == 0 || hits->items[0].score <= 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        memcpy(features[i], hits->items[i].features, sizeof features[i]);
    WT_TRY(borrow_refiner_scratch(r, &scratch, err));
    int rc = read_candidate_vectors(scratch, vectors, hits, count, found, err);
    if (rc == 0)
        wt__refiner_run(r, scratch, request, count, found, (const float(*)[RETRIEVE_FEATURES])features, additions);
    return_refiner_scratch(r, scratch);
    if (rc == 0)
        reorder_hits(hits, count, additions);
    return rc;
}

/* ---------------------------------------------------------------- reranker */

/* A refiner that is loaded on first use, because most processes use another recipe. */
struct refiner_on_demand {
    const char *path;
    const struct encoder *encoder;
    size_t join, candidates;
    pthread_mutex_t lock;
    bool tried;              /* true once loaded or failed; stays false if out of memory */
    struct refiner *refiner; /* NULL before the first use and after a failure */
    wt_error why;            /* error of a failed loading */
};

static int open_refiner(struct reranker *out, const struct rerank_folder *folder, wt_error *err)
{
    int64_t join = wt__json_int(folder->config, "join", -1), count = wt__json_int(folder->config, "candidates", 0);
    if (!wt__str_equal(wt__json_str(folder->config, "first"), wt__str(folder->first_identity)))
        return wt__fail(err, WT_EMODEL, "%s, whose hits it reranks, has been retrained", folder->first);
    struct refiner_on_demand *model = calloc(1, sizeof *model);
    if (!model || pthread_mutex_init(&model->lock, NULL) != 0) {
        free(model);
        return wt__fail_nomem(err);
    }
    model->path = folder->weights;
    model->encoder = folder->encoder;
    model->join = join < 0 ? SIZE_MAX : (size_t)join;
    model->candidates = count < 0 ? 0 : (size_t)count;
    out->model = model;
    return 0;
}

static void close_refiner(void *model)
{
    struct refiner_on_demand *refiner = model;
    if (!refiner)
        return;
    wt__refiner_close(refiner->refiner);
    pthread_mutex_destroy(&refiner->lock);
    free(refiner);
}

static int load_refiner(const struct reranker *reranker, wt_error *err)
{
    struct refiner_on_demand *model = reranker->model;
    pthread_mutex_lock(&model->lock);
    if (!model->tried) {
        model->why = (wt_error){0};
        int rc =
            wt__refiner_open(&model->refiner, model->encoder, model->path, model->join, model->candidates, &model->why);
        model->why.code = rc;
        model->tried = rc != WT_ENOMEM;
    }
    int rc = model->refiner ? 0 : model->why.code;
    if (rc < 0 && err)
        *err = model->why;
    pthread_mutex_unlock(&model->lock);
    return rc;
}

static size_t refiner_depth(const struct reranker *reranker)
{
    const struct refiner_on_demand *model = reranker->model;
    return model->candidates;
}

static int run_refiner(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits,
                       wt_error *err)
{
    const struct refiner_on_demand *model = reranker->model;
    WT_TRY(load_refiner(reranker, err));
    return wt__refine(model->refiner, input->request->text, input->view->vectors, hits, err);
}

const struct rerank_kind wt__rerank_refiner = {.features = true,
                                               .open = open_refiner,
                                               .close = close_refiner,
                                               .load = load_refiner,
                                               .depth = refiner_depth,
                                               .run = run_refiner};
