/* trainable.c: opens a model folder for training, runs it forward and backward, and saves the trained model.
 *
 * Weights and gradients are two blocks of the same layout (internal.h, LAYOUT_FILES), so a weight and its gradient have
 * the same offset.
 *
 * In a small model most weights are word embeddings, and a step uses few of their rows. The first worker adds to the
 * parameters' gradients directly, and marks the rows that it uses. Each other worker has rows of its own for the words
 * that it meets, in the order of first use. */
#include "encoder/trainable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "encoder/internal.h"
#include "encoder/model_dir.h"
#include "encoder/model_files.h"
#include "nn/layers.h"
#include "nn/safetensors.h"
#include "text/tokenizer.h"

/* Allocates zeroed floats that start on a cache line and have WT_PANEL readable floats after them. The pages are not
 * touched. *raw receives the pointer for free(). */
static float *alloc_zeroed_floats(size_t floats, void **raw)
{
    *raw = floats < SIZE_MAX / sizeof(float) - 64 ? calloc(floats + 16 + WT_PANEL, sizeof(float)) : NULL;
    return *raw ? (float *)(((uintptr_t)*raw + 63) / 64 * 64) : NULL;
}

/* Returns the number of weights other than the word embeddings. */
static size_t count_dense_floats(const struct trainable *t)
{
    return t->plan.model + t->plan.layer * t->model.config.layers;
}

/* ---------------------------------------------------------------- opening */

/* Returns the offset of a tensor in the block of weights. */
static size_t find_weight_offset(const struct trainable *t, const struct weight_tensor *tensor)
{
    if (tensor->part == WEIGHT_WORDS)
        return 0;
    size_t run = tensor->layer == WEIGHT_NO_LAYER ? 0 : t->plan.model + tensor->layer * t->plan.layer;
    return t->plan.words + run + t->plan.at[tensor->part] + tensor->offset;
}

static bool is_head_part(enum weight_part part)
{
    return part >= WEIGHT_POOLER && part <= WEIGHT_SCORE_BIAS;
}

/* prefix: number of leading bytes of the tensor's name to omit from the parameter's name. */
static int add_trained_parameter(struct trainable *t, const struct weight_tensor *tensor, size_t prefix, wt_error *err)
{
    struct model_parameter *p = &t->parameters[t->count++];
    size_t at = find_weight_offset(t, tensor);
    bool table = tensor->part != WEIGHT_RELATIVE || t->model.config.relative != RELATIVE_BIAS;
    *p = (struct model_parameter){.name = wt__arena_copy(&t->arena, wt__str(tensor->name + prefix)),
                                  .value = t->weights + at,
                                  .gradient = t->gradients + at,
                                  .count = tensor->count,
                                  .decays = tensor->columns > 0 && table,
                                  .rate = is_head_part(tensor->part) ? TRAINABLE_HEAD_RATE : 1};
    if (tensor->part == WEIGHT_WORDS) {
        p->row = tensor->columns;
        p->touched = t->touched;
    }
    return p->name ? 0 : wt__fail_nomem(err);
}

/* Initialises a tensor of a new head. Matrices are drawn from a normal distribution with standard deviation .02. Biases
 * stay 0. */
static void initialise_head(const struct weight_tensor *tensor, struct rng *rng, float *out)
{
    for (size_t i = 0; i < tensor->count && tensor->columns > 0; i++)
        out[i] = (float)(.02 * sqrt(-2 * log(1 - wt__rng_unit(rng))) * cos(6.283185307179586 * wt__rng_unit(rng)));
}

/* Reads a tensor from the file. If the model has no trained head, initialises the tensors of the head instead. A pooler
 * of BERT is read if the file has it. */
static int read_trained_tensor(struct trainable *t, const struct safetensors *file, const struct weight_tensor *tensor,
                               const char *folder, bool trained_head, struct rng *rng, wt_error *err)
{
    float *out = t->weights + find_weight_offset(t, tensor);
    bool pooler = t->model.config.architecture == ARCHITECTURE_BERT && tensor->part < WEIGHT_SCORE;
    if (!is_head_part(tensor->part) || trained_head || (pooler && wt__safetensors_find(file, tensor->name)))
        return wt__weight_read(file, tensor, folder, out, err);
    initialise_head(tensor, rng, out);
    return 0;
}

static int read_trained_weights(struct trainable *t, const struct safetensors *file, const char *folder,
                                bool trained_head, wt_error *err)
{
    const struct model_config *c = &t->model.config;
    struct weight_walk count = {.config = c, .below = t->below}, walk = count, named = count;
    size_t tensors = 0, skipped = 0;
    struct rng rng;
    while (wt__weight_next(&count))
        tensors++;
    const char *prefix = wt__weights_prefix(file, c);
    walk.prefix = prefix;
    named.prefix = t->scorer ? wt__weights_head_prefix(c) : prefix;
    if (t->upper && prefix)
        skipped = strlen(prefix);
    t->parameters = wt__arena_array(&t->arena, struct model_parameter, tensors);
    t->tensors = wt__arena_array(&t->arena, struct weight_tensor, tensors);
    WT_CHECK_ALLOC(t->parameters && t->tensors, err);
    wt__rng_seed(&rng, t->seed);
    while (wt__weight_next(&walk) && wt__weight_next(&named)) {
        t->tensors[t->count] = named.tensor;
        WT_TRY(read_trained_tensor(t, file, &walk.tensor, folder, trained_head, &rng, err));
        WT_TRY(add_trained_parameter(t, &named.tensor, skipped, err));
    }
    t->whole = t->count;
    return 0;
}

static int open_trained_weights(struct trainable *t, const char *folder, bool trained_head, wt_error *err)
{
    WT_CLEANUP(wt__file_unmap) struct mapping map = {0};
    WT_CLEANUP(wt__safetensors_dispose) struct safetensors file = {0};
    char *path = wt__path_join(&t->arena, folder, MODEL_WEIGHTS_FILE);
    WT_CHECK_ALLOC(path, err);
    int rc = wt__file_map(&map, path, err);
    if (rc < 0 && rc != WT_ENOMEM)
        return wt__fail(err, WT_EMODEL, "%s: the model has no %s", folder, MODEL_WEIGHTS_FILE);
    WT_TRY(rc);
    WT_TRY(wt__safetensors_open(&file, path, map.ptr, map.len, err));
    wt__weight_plan(&t->plan, &t->model.config, LAYOUT_FILES);
    size_t floats = t->plan.words + count_dense_floats(t);
    /* Check before allocating, since config.json may claim more weights than the file has. The check has a margin: even
     * int8 weights take one byte per number. */
    if (floats / 4 > map.len)
        return wt__fail(err, WT_EMODEL, "%s: %s is too short for what config.json says", folder, MODEL_WEIGHTS_FILE);
    struct model_config config = t->model.config;
    t->weights = alloc_zeroed_floats(floats, &t->memory[0]);
    t->gradients = alloc_zeroed_floats(floats, &t->memory[1]);
    t->touched = calloc(config.vocabulary, 1);
    WT_CHECK_ALLOC(t->weights && t->gradients && t->touched, err);
    WT_TRY(read_trained_weights(t, &file, folder, trained_head, err));
    wt__weights_bind(&t->model, &config, LAYOUT_FILES, t->weights, t->weights + t->plan.words,
                     t->weights + t->plan.words + t->plan.model, NULL);
    return 0;
}

/* Removes the first t->below layers from the configuration. The convolution belongs to the first layer. */
static int keep_upper_layers(struct trainable *t, const char *folder, wt_error *err)
{
    struct model_config *c = &t->model.config;
    if (t->below >= c->layers)
        return wt__fail(err, WT_EMODEL, "%s: the model has %u layers, not more than %zu", folder, (unsigned)c->layers,
                        t->below);
    c->layers -= (uint32_t)t->below;
    if (t->below > 0)
        c->convolution = 0;
    return 0;
}

static int fail_static_encoder(const char *folder, wt_error *err)
{
    struct str name = wt__model_name(folder);
    return wt__fail(err, WT_EMODEL, "%.*s is a static encoder, which has no layers to train; begin with another model",
                    (int)name.len, name.ptr);
}

/* Reads the model into a struct that is zero except for below, upper, scorer and seed. The caller closes it on
 * failure. */
static int read_trainable(struct trainable *t, const char *folder, wt_error *err)
{
    struct model_config *c = &t->model.config;
    t->embeddings = true;
    if (!wt__is_folder(folder))
        return wt__model_is_built_in(folder) ? fail_static_encoder(folder, err)
                                             : wt__fail(err, WT_EMODEL, "there is no model at %s", folder);
    WT_TRY(wt__model_config_read(c, folder, err));
    if (wt__model_is_static(c))
        return fail_static_encoder(folder, err);
    bool trained_head = c->labels == 1;
    c->labels = t->scorer; /* a head that is not trained is copied when saving */
    if (t->scorer && c->head_activation == 0)
        return wt__fail(err, WT_EMODEL, "%s: the activation of a head behind this model is not known", folder);
    WT_TRY(keep_upper_layers(t, folder, err));
    WT_TRY(wt__model_prompts(&t->prompts, folder, err));
    WT_TRY(wt__tokenizer_read(&t->blob, folder, err));
    WT_TRY(wt__tokenizer_open(&t->tokenizer, t->blob.ptr, t->blob.len, err));
    WT_TRY(wt__tokenizer_check_frame(&t->tokenizer, folder, err));
    if (t->tokenizer.token_count > c->vocabulary)
        return wt__fail(err, WT_EMODEL, "%s: the tokenizer has %u tokens, but the embeddings have %u rows", folder,
                        (unsigned)t->tokenizer.token_count, (unsigned)c->vocabulary);
    return open_trained_weights(t, folder, trained_head, err);
}

static void close_trainable(struct trainable **t)
{
    wt__trainable_close(*t);
}

static int open_trainable(struct trainable **out, const char *folder, const struct trainable *options, wt_error *err)
{
    WT_CLEANUP(close_trainable) struct trainable *t = wt__alloc_zeros(1, sizeof(*t));
    *out = NULL;
    WT_CHECK_ALLOC(t, err);
    *t = *options;
    WT_TRY(read_trainable(t, folder, err));
    *out = WT_TAKE(t);
    return 0;
}

int wt__trainable_open(struct trainable **out, const char *folder, wt_error *err)
{
    return open_trainable(out, folder, &(struct trainable){0}, err);
}

int wt__trainable_open_upper(struct trainable **out, const char *folder, size_t below, wt_error *err)
{
    return open_trainable(out, folder, &(struct trainable){.below = below, .upper = true}, err);
}

int wt__trainable_open_scorer(struct trainable **out, const char *folder, uint64_t seed, wt_error *err)
{
    return open_trainable(out, folder, &(struct trainable){.scorer = true, .seed = seed}, err);
}

void wt__trainable_close(struct trainable *t)
{
    if (!t)
        return;
    free(t->memory[0]);
    free(t->memory[1]);
    free(t->touched);
    wt__buffer_dispose(&t->blob);
    wt__arena_dispose(&t->arena);
    free(t);
}

const struct model_config *wt__trainable_config(const struct trainable *t)
{
    return &t->model.config;
}

const struct tokenizer *wt__trainable_tokenizer(const struct trainable *t)
{
    return &t->tokenizer;
}

const struct model_prompts *wt__trainable_prompts(const struct trainable *t)
{
    return &t->prompts;
}

void wt__trainable_parameters(struct trainable *t, struct model_parameter **list, size_t *count)
{
    *list = t->parameters;
    *count = t->count;
}

size_t wt__trainable_tokenize(const struct trainable *t, struct str text, size_t max_tokens, int32_t *ids)
{
    return wt__tokenizer_encode(&t->tokenizer, text, max_tokens, ids);
}

void wt__trainable_freeze(struct trainable *t, size_t layers)
{
    t->embeddings = false;
    t->first_layer = layers;
    for (size_t i = 0; i < t->count; i++)
        t->parameters[i].frozen = !is_head_part(t->tensors[i].part) &&
                                  (t->tensors[i].layer == WEIGHT_NO_LAYER || t->tensors[i].layer < layers);
}

static bool is_above(const struct weight_tensor *tensor, size_t layers)
{
    return tensor->layer != WEIGHT_NO_LAYER && tensor->layer >= layers;
}

void wt__trainable_cut(struct trainable *t, size_t layers)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct model_parameter parameter = t->parameters[i];
        struct weight_tensor tensor = t->tensors[i];
        if (is_above(&tensor, layers))
            continue;
        t->parameters[i] = t->parameters[kept];
        t->tensors[i] = t->tensors[kept];
        t->parameters[kept] = parameter;
        t->tensors[kept++] = tensor;
    }
    t->count = kept;
    t->model.config.layers = (uint32_t)layers;
}

/* ---------------------------------------------------------------- tapes */

struct tape_buffers {
    struct activations activations;
    float *memory; /* block that holds the activations and tape->dexternal */
};

/* Returns the number of floats of a tape, or 0 on overflow. The gradients of the external rows come last, and *external
 * is set to their number of floats. If memory is not NULL, the activations are placed in it. */
static size_t count_tape_floats(struct activations *a, const struct trainable *t, const struct tape_limits *limits,
                                float *memory, size_t *external)
{
    struct activation_limits inside = {.rows = limits->rows, .longest = limits->longest};
    size_t floats = wt__activations_place(a, &t->model, &inside, true, memory), sum;
    if (floats == 0 || __builtin_mul_overflow(limits->external, a->stride, external) ||
        __builtin_add_overflow(floats, *external, &sum) || sum > SIZE_MAX / 8)
        return 0;
    return sum;
}

size_t wt__tape_bytes(const struct trainable *t, const struct tape_limits *limits)
{
    struct activations a;
    size_t external, floats = count_tape_floats(&a, t, limits, NULL, &external);
    return floats ? floats * sizeof(float) + sizeof(struct tape) + sizeof(struct tape_buffers) : SIZE_MAX;
}

int wt__tape_new(struct tape **out, const struct trainable *t, const struct tape_limits *limits, wt_error *err)
{
    struct tape *tape = calloc(1, sizeof(*tape));
    struct tape_buffers *buffers = calloc(1, sizeof(*buffers));
    size_t external = 0, floats = buffers ? count_tape_floats(&buffers->activations, t, limits, NULL, &external) : 0;
    *out = NULL;
    if (floats > 0)
        buffers->memory = wt__alloc_aligned(floats, sizeof(float));
    if (!tape || !buffers || !buffers->memory) {
        free(buffers);
        free(tape);
        return wt__fail_nomem(err);
    }
    struct activations *a = &buffers->activations;
    count_tape_floats(a, t, limits, buffers->memory, &external);
    *tape = (struct tape){.stride = a->stride, .last = a->x, .dlast = a->dx, .buffers = buffers};
    if (external > 0)
        tape->dexternal = buffers->memory + (floats - external);
    *out = tape;
    return 0;
}

void wt__tape_free(struct tape *tape)
{
    if (!tape)
        return;
    free(tape->buffers->memory);
    free(tape->buffers);
    free(tape);
}

/* ---------------------------------------------------------------- gradients */

struct gradients {
    struct trainable *t;
    bool first;   /* true for the first worker, which adds directly into the parameters' gradients */
    float *sums;  /* [count_dense_floats] gradients of all weights other than the word embeddings */
    void *memory; /* allocation that contains `sums`; NULL for the first worker */
    /* Gradients of the word embeddings. The first worker does not use the following fields. */
    float *rows;     /* [capacity, E], zero beyond `taken` */
    uint32_t *slots; /* [V] row + 1 of each word, or 0 if it has no row */
    int32_t *ids;    /* [taken] word of each row */
    size_t taken;
    bool reduced; /* true once the rows were added and zeroed, and can be assigned again */
};

/* Returns the maximum number of different words in a batch of `rows` tokens. */
static size_t row_capacity(const struct trainable *t, size_t rows)
{
    return rows < t->model.config.vocabulary ? rows : t->model.config.vocabulary;
}

size_t wt__gradients_bytes(const struct trainable *t, bool first, size_t rows)
{
    const struct model_config *c = &t->model.config;
    const size_t row = c->embedding * sizeof(float) + sizeof(int32_t);
    if (first)
        return sizeof(struct gradients);
    return sizeof(struct gradients) + count_dense_floats(t) * sizeof(float) +
           (t->embeddings ? row_capacity(t, rows) * row + c->vocabulary * sizeof(uint32_t) : 0);
}

static void free_gradients(struct gradients **g)
{
    wt__gradients_free(*g);
}

int wt__gradients_new(struct gradients **out, struct trainable *t, bool first, size_t rows, wt_error *err)
{
    const struct model_config *c = &t->model.config;
    WT_CLEANUP(free_gradients) struct gradients *g = wt__alloc_zeros(1, sizeof(*g));
    bool own_rows = !first && t->embeddings;
    *out = NULL;
    WT_CHECK_ALLOC(g, err);
    g->t = t;
    g->first = first;
    g->sums = first ? t->gradients + t->plan.words : alloc_zeroed_floats(count_dense_floats(t), &g->memory);
    if (own_rows) {
        size_t capacity = row_capacity(t, rows);
        g->rows = calloc(capacity * c->embedding + 1, sizeof(float));
        g->ids = calloc(capacity + 1, sizeof(int32_t));
        g->slots = calloc(c->vocabulary, sizeof(uint32_t));
    }
    WT_CHECK_ALLOC(g->sums && (!own_rows || (g->rows && g->ids && g->slots)), err);
    *out = WT_TAKE(g);
    return 0;
}

void wt__gradients_free(struct gradients *g)
{
    if (!g)
        return;
    free(g->memory);
    free(g->rows);
    free(g->ids);
    free(g->slots);
    free(g);
}

/* Returns the row that collects the gradient of a word. */
static float *find_word_row(struct gradients *g, int32_t id)
{
    size_t width = g->t->model.config.embedding;
    if (g->first) {
        g->t->touched[id] = 1;
        return g->t->gradients + (size_t)id * width;
    }
    if (g->slots[id] == 0) {
        g->ids[g->taken++] = id;
        g->slots[id] = (uint32_t)g->taken;
    }
    return g->rows + (size_t)(g->slots[id] - 1) * width;
}

/* Adds x to sum and clears x. */
static void move_sums(float *restrict x, float *restrict sum, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += x[i];
    memset(x, 0, count * sizeof(float));
}

void wt__gradients_reduce(struct trainable *t, struct gradients *const *workers, size_t count, size_t part,
                          size_t parts)
{
    size_t width = t->model.config.embedding, all = count_dense_floats(t);
    size_t start = t->embeddings ? 0 : t->plan.model + t->plan.layer * t->first_layer;
    size_t slice = ((all - start) / parts + 16) / 16 * 16; /* whole cache lines */
    size_t first = start + part * slice < all ? start + part * slice : all;
    size_t end = first + slice < all ? first + slice : all;
    for (size_t w = 1; w < count; w++) {
        struct gradients *g = workers[w];
        move_sums(g->sums + first, t->gradients + t->plan.words + first, end - first);
        for (size_t i = 0; i < g->taken; i++)
            if ((size_t)g->ids[i] % parts == part) {
                move_sums(g->rows + i * width, t->gradients + (size_t)g->ids[i] * width, width);
                t->touched[g->ids[i]] = 1;
            }
        if (part == 0)
            g->reduced = true;
    }
}

void wt__trainable_allow_bfloat16(struct trainable *t)
{
    for (size_t i = 0; i < t->model.config.layers; i++) {
        struct transformer_layer *layer = &t->model.layers[i];
        struct linear *all[] = {&layer->qkv, &layer->out, &layer->up, &layer->down};
        for (size_t l = 0; l < sizeof(all) / sizeof(all[0]); l++)
            all[l]->reduced = true;
    }
}

void wt__trainable_forward(const struct trainable *t, const struct token_batch *batch, struct tape *tape)
{
    struct activations *a = &tape->buffers->activations;
    wt__transformer_forward(&t->model, batch, a);
    memset(a->dx, 0, batch->starts[batch->count] * a->stride * sizeof(float));
}

void wt__trainable_backward(const struct trainable *t, const struct token_batch *batch, struct tape *tape,
                            struct gradients *g)
{
    struct gradient_sums sums = {t->weights + t->plan.words, g->sums, t->embeddings, t->first_layer};
    size_t width = t->model.config.embedding, stride;
    const float *embedded;
    if (g->reduced) { /* the rows are zero again and can get new words */
        for (size_t i = 0; i < g->taken; i++)
            g->slots[g->ids[i]] = 0;
        g->taken = 0;
        g->reduced = false;
    }
    wt__transformer_backward(&t->model, batch, &tape->buffers->activations, &sums,
                             batch->external ? tape->dexternal : NULL, &embedded, &stride);
    for (size_t n = 0; t->embeddings && n < batch->starts[batch->count]; n++)
        if (batch->ids[n] >= 0) {
            float *row = find_word_row(g, batch->ids[n]);
            const float *gradient = embedded + n * stride;
            for (size_t h = 0; h < width; h++)
                row[h] += gradient[h];
        }
}

/* ---------------------------------------------------------------- head */

void wt__trainable_head_forward(const struct trainable *t, struct head_rows *rows)
{
    const struct transformer *m = &t->model;
    size_t hidden = m->config.hidden;
    wt__linear_forward(&m->pooler, rows->x, hidden, ACTIVATION_NONE, NULL, rows->inner, hidden, rows->count);
    wt__activation_forward((enum activation)m->config.head_activation, rows->inner, rows->active, rows->count * hidden);
    wt__linear_forward(&m->score, rows->active, hidden, ACTIVATION_NONE, NULL, rows->logits, 1, rows->count);
}

void wt__trainable_score(struct trainable *t, float **weights, float **constant)
{
    *weights = t->weights + (t->model.score.weight - t->weights);
    *constant = t->weights + (t->model.score.bias - t->weights);
}

/* Returns the address of a weight's gradient. */
static float *find_gradient(struct trainable *t, const float *weight)
{
    return t->gradients + (weight - t->weights);
}

void wt__trainable_head_backward(struct trainable *t, struct head_rows *rows)
{
    const struct linear *pooler = &t->model.pooler, *score = &t->model.score;
    size_t hidden = t->model.config.hidden;
    /* dx first holds the gradient of `active`; `active` is then overwritten by the gradient of `inner`. */
    wt__linear_backward(score, rows->active, hidden, rows->dlogits, 1, rows->dx, hidden,
                        find_gradient(t, score->weight), find_gradient(t, score->bias), rows->count);
    wt__activation_backward((enum activation)t->model.config.head_activation, rows->inner, rows->dx, rows->active,
                            rows->count * hidden);
    wt__linear_backward(pooler, rows->x, hidden, rows->active, hidden, rows->dx, hidden,
                        find_gradient(t, pooler->weight), find_gradient(t, pooler->bias), rows->count);
}

/* Changes config.json to that of a sequence classifier with one label. */
static int set_classifier_head(const struct trainable *t, json_t *config, wt_error *err)
{
    static const char *const classes[] = {"Bert",       "Roberta", "XLMRoberta",
                                          "DistilBert", "MPNet",   "DebertaV2"}; /* by enum architecture */
    WT_CLEANUP(json_decrefp)
    json_t *head =
        json_pack("{s:[s+], s:{s:s}, s:{s:i}, s:i}", "architectures", classes[t->model.config.architecture],
                  "ForSequenceClassification", "id2label", "0", "LABEL_0", "label2id", "LABEL_0", 0, "num_labels", 1);
    return head && json_object_update(config, head) == 0 ? 0 : wt__fail_nomem(err);
}

static int save_trained_config(const struct trainable *t, const char *source, const char *out, const json_t *members,
                               wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *config = NULL;
    WT_TRY(wt__model_config_open(&config, source, err));
    if (t->scorer)
        WT_TRY(set_classifier_head(t, config, err));
    if (json_object_set_new(config, wt__model_layers_member(&t->model.config), json_integer(t->model.config.layers)) <
        0)
        return wt__fail_nomem(err);
    return wt__model_config_save(config, out, "float32", members, err);
}

/* ---------------------------------------------------------------- weights */

/* The tensors to save, while they are collected. */
struct saved_tensors {
    const struct trainable *t;
    struct tensor_source *tensors; /* [count] */
    size_t count;
    struct arena *arena;
};

struct tensor_source wt__trainable_tensor(const struct trainable *t, size_t i)
{
    const struct weight_tensor *w = &t->tensors[i];
    return (struct tensor_source){
        t->parameters[i].name, t->parameters[i].value, w->columns ? 2 : 1, {w->rows, w->columns}};
}

/* Adds a parameter. A convolution is rearranged into the order of the file. */
static int add_saved_parameter(struct saved_tensors *s, size_t i, wt_error *err)
{
    const struct weight_tensor *t = &s->t->tensors[i];
    const struct model_parameter *p = &s->t->parameters[i];
    struct tensor_source *out = &s->tensors[s->count++];
    *out = wt__trainable_tensor(s->t, i);
    if (t->part != WEIGHT_CONVOLUTION)
        return 0;
    float *file = wt__arena_array(s->arena, float, t->count);
    WT_CHECK_ALLOC(file, err);
    wt__convolution_add_back(file, p->value, t->taps, t->rows, t->columns);
    out->data = file;
    out->rank = 3;
    out->shape[2] = t->taps;
    return 0;
}

/* Adds a tensor of the source that is not a parameter. Tensors without floating-point numbers are buffers and are
 * skipped. */
static int add_untrained_tensor(struct saved_tensors *s, const struct tensor *tensor, wt_error *err)
{
    struct tensor_source *out = &s->tensors[s->count];
    if (!wt__tensor_is_real(tensor))
        return 0;
    for (size_t i = 0; i < s->t->whole; i++)
        if (strcmp(s->t->parameters[i].name, tensor->name) == 0)
            return 0;
    float *copy = wt__arena_array(s->arena, float, tensor->count);
    WT_CHECK_ALLOC(copy, err);
    *out = (struct tensor_source){.name = tensor->name, .data = copy, .rank = tensor->rank};
    memcpy(out->shape, tensor->shape, sizeof(out->shape));
    s->count++;
    return wt__tensor_floats(tensor, copy, err);
}

static int save_trained_weights(const struct trainable *t, const char *source, const char *out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__file_unmap) struct mapping map = {0};
    WT_CLEANUP(wt__safetensors_dispose) struct safetensors file = {0};
    struct saved_tensors s = {.t = t, .arena = &arena};
    char *from = wt__path_join(&arena, source, MODEL_WEIGHTS_FILE),
         *to = wt__path_join(&arena, out, MODEL_WEIGHTS_FILE);
    WT_CHECK_ALLOC(from && to, err);
    WT_TRY(wt__file_map(&map, from, err));
    WT_TRY(wt__safetensors_open(&file, from, map.ptr, map.len, err));
    s.tensors = wt__arena_array(&arena, struct tensor_source, t->count + file.count);
    WT_CHECK_ALLOC(s.tensors, err);
    for (size_t i = 0; i < t->count; i++)
        WT_TRY(add_saved_parameter(&s, i, err));
    for (size_t i = 0; !t->scorer && i < file.count; i++)
        WT_TRY(add_untrained_tensor(&s, &file.tensors[i], err));
    return wt__safetensors_write(to, s.tensors, s.count, NULL, err);
}

int wt__trainable_save(const struct trainable *t, const char *source, const char *out, const json_t *members,
                       wt_error *err)
{
    WT_TRY(wt__make_folders(out, err));
    WT_TRY(wt__model_copy_tokenizer(source, out, err));
    if (!t->scorer)
        WT_TRY(wt__model_copy_modules(source, out, err));
    WT_TRY(save_trained_weights(t, source, out, err));
    return save_trained_config(t, source, out, members, err);
}
