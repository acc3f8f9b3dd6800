/* encoder.c: opens encoders and runs them on batches of texts.
 *
 * A batch ends at the text that brings it to BATCH_TOKENS tokens, or at the last text. That is enough to use each
 * weight often while it is in the cache, and few enough to keep the hidden states in the L2 cache. Texts are not
 * padded, so sorting them by length would save nothing. */
#include "encoder/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/sha256.h"
#include "encoder/config.h"
#include "encoder/internal.h"
#include "encoder/model_dir.h"
#include "encoder/packed.h"
#include "encoder/transformer.h"
#include "nn/layers.h"

enum {
    BATCH_TOKENS = 256, /* a batch runs when it has at least this many tokens */
    CHUNK_TEXTS = 256,  /* maximum number of texts that a thread takes at a time */
    CHUNKS_A_THREAD = 4 /* intended number of chunks per thread, so that threads finish at about the same time */
};

struct encoder {
    struct model_cache cache;
    char *name;
    char hash[65];
};

struct encoder_scratch {
    struct activations activations;
    size_t capacity; /* maximum number of tokens of a batch, or of a text for a static encoder */
    int32_t *ids;    /* [capacity] tokens of the batch */
    size_t *starts;  /* [capacity + 1] index in `ids` of the first token of each text, then the number of tokens */
    struct arena arena;
    struct arena prompted; /* texts with their prompts, during one call */
};

static const struct transformer *encoder_transformer(const struct encoder *encoder)
{
    return &encoder->cache.packed.model;
}

/* Computes the hash that identifies the encoder's vectors. It covers the weights, and the fields and prompts if the
 * model has any, because they change the vectors. */
static void hash_vectors(const struct packed_header *header, char hash[65])
{
    unsigned char digest[32];
    struct sha256 sha;
    memcpy(digest, header->source_sha256, sizeof digest);
    if (header->fields[0]) {
        wt__sha256_begin(&sha);
        wt__sha256_update(&sha, digest, sizeof digest);
        wt__sha256_update(&sha, header->fields, strlen(header->fields));
        wt__sha256_end(&sha, digest);
    }
    if (wt__prompts_exist(&header->prompts)) {
        wt__sha256_begin(&sha);
        wt__sha256_update(&sha, digest, sizeof digest);
        wt__sha256_update(&sha, &header->prompts, sizeof header->prompts); /* the unused bytes are zero */
        wt__sha256_end(&sha, digest);
    }
    wt__sha256_hex(digest, hash);
}

static void close_encoder(struct encoder **encoder)
{
    wt__encoder_close(*encoder);
}

int wt__encoder_load(struct encoder **out, const char *folder, struct progress *progress, wt_error *err)
{
    struct str name = wt__model_name(folder);
    *out = NULL;
    WT_CLEANUP(close_encoder) struct encoder *encoder = wt__alloc_zeros(1, sizeof(*encoder));
    WT_CHECK_ALLOC(encoder, err);
    encoder->name = wt__copy_string(name.ptr, name.len);
    WT_CHECK_ALLOC(encoder->name, err);
    WT_TRY(wt__model_is_built_in(folder) ? wt__packed_bind(&encoder->cache.packed, wt__built_in_model, folder, err)
                                         : wt__model_cache_open(&encoder->cache, folder, false, NULL, progress, err));
    hash_vectors(encoder->cache.packed.header, encoder->hash);
    *out = WT_TAKE(encoder);
    return 0;
}

bool wt__encoder_peek(const char *folder, char hash[65])
{
    struct packed_header header;
    bool current = wt__model_is_built_in(folder) || wt__model_cache_current(folder, &header);
    if (wt__model_is_built_in(folder))
        memcpy(&header, wt__built_in_model, sizeof header);
    if (current)
        hash_vectors(&header, hash);
    return current;
}

int wt__encoder_open(struct encoder **out, const char *folder, wt_error *err)
{
    return wt__encoder_load(out, folder, NULL, err);
}

void wt__encoder_close(struct encoder *encoder)
{
    if (!encoder)
        return;
    wt__model_cache_close(&encoder->cache);
    free(encoder->name);
    free(encoder);
}

size_t wt__encoder_dim(const struct encoder *encoder)
{
    return encoder_transformer(encoder)->config.hidden;
}

size_t wt__encoder_max_tokens(const struct encoder *encoder)
{
    return encoder_transformer(encoder)->config.max_tokens;
}

bool wt__encoder_is_static(const struct encoder *encoder)
{
    return wt__model_is_static(&encoder_transformer(encoder)->config);
}

/* Judges by the vocabulary. English models have 30,000 to 50,000 tokens, multilingual models 119,547 (BERT) to 501,153
 * (LaBSE). Multilingual models of the XLM-R family have unigram tokenizers, also if their vocabulary was cut. DeBERTa
 * v3 has such a tokenizer, too, with 128,100 tokens for English and 251,000 in its multilingual version. */
bool wt__encoder_is_multilingual(const struct encoder *encoder)
{
    enum { LEAST = 100000, LEAST_DEBERTA = 200000 };
    const struct model_config *config = &encoder_transformer(encoder)->config;
    if (config->architecture == ARCHITECTURE_DEBERTA)
        return config->vocabulary >= LEAST_DEBERTA;
    return config->vocabulary >= LEAST || wt__encoder_packed(encoder)->tokenizer.kind == TOKENIZER_UNIGRAM;
}

bool wt__encoder_is_cross(const struct encoder *encoder)
{
    return encoder_transformer(encoder)->config.labels == 1;
}

const char *wt__encoder_name(const struct encoder *encoder)
{
    return encoder->name;
}

const char *wt__encoder_hash(const struct encoder *encoder)
{
    return encoder->hash;
}

const char *wt__encoder_fields(const struct encoder *encoder)
{
    return encoder->cache.packed.header->fields;
}

const struct packed *wt__encoder_packed(const struct encoder *encoder)
{
    return &encoder->cache.packed;
}

int wt__encoder_pack(const char *folder, bool *made, wt_error *err)
{
    if (made)
        *made = false;
    if (wt__model_is_built_in(folder))
        return 0;
    WT_AUTO_FREE struct model_cache *cache = wt__alloc_zeros(1, sizeof(*cache));
    WT_CHECK_ALLOC(cache, err);
    WT_TRY(wt__model_cache_open(cache, folder, true, made, NULL, err));
    int rc = cache->image ? wt__fail(err, cache->unwritten.code, "the packed model of %s cannot be written: %s", folder,
                                     cache->unwritten.message)
                          : 0;
    wt__model_cache_close(cache);
    return rc;
}

/* Allocates the buffers of the layers in the arena. */
static int place_activations(struct activations *out, const struct transformer *model,
                             const struct activation_limits *limits, struct arena *arena, wt_error *err)
{
    size_t floats = wt__activations_place(out, model, limits, false, NULL);
    float *memory = floats ? wt__arena_alloc(arena, floats * sizeof(float), 64) : NULL;
    WT_CHECK_ALLOC(memory, err);
    wt__activations_place(out, model, limits, false, memory);
    return 0;
}

static void free_encoder_scratch(struct encoder_scratch **scratch)
{
    wt__encoder_scratch_free(*scratch);
}

int wt__encoder_scratch_new(struct encoder_scratch **out, const struct encoder *encoder, wt_error *err)
{
    WT_CLEANUP(free_encoder_scratch) struct encoder_scratch *scratch = wt__alloc_zeros(1, sizeof(*scratch));
    const struct transformer *model = encoder_transformer(encoder);
    bool layers = !wt__encoder_is_static(encoder);
    *out = NULL;
    WT_CHECK_ALLOC(scratch, err);
    scratch->capacity = (layers ? BATCH_TOKENS : 0) + wt__encoder_max_tokens(encoder);
    scratch->ids = wt__arena_array(&scratch->arena, int32_t, scratch->capacity);
    scratch->starts = wt__arena_array(&scratch->arena, size_t, scratch->capacity + 1);
    WT_CHECK_ALLOC(scratch->ids && scratch->starts, err);
    if (layers) {
        struct activation_limits limits = {scratch->capacity, wt__encoder_max_tokens(encoder), true};
        WT_TRY(place_activations(&scratch->activations, model, &limits, &scratch->arena, err));
        wt__model_cache_populate(&encoder->cache);
    }
    *out = WT_TAKE(scratch);
    return 0;
}

void wt__encoder_scratch_free(struct encoder_scratch *scratch)
{
    if (!scratch)
        return;
    wt__arena_dispose(&scratch->arena);
    wt__arena_dispose(&scratch->prompted);
    free(scratch);
}

static void encode_batch(const struct encoder *encoder, struct encoder_scratch *scratch, size_t count, float *out)
{
    const struct transformer *model = encoder_transformer(encoder);
    const struct activations *a = &scratch->activations;
    struct token_batch batch = {.count = count, .starts = scratch->starts, .ids = scratch->ids};
    size_t dim = model->config.hidden;
    wt__transformer_forward(model, &batch, &scratch->activations);
    for (size_t b = 0; b < count; b++) {
        wt__pool_forward(&model->config, a->x + batch.starts[b] * a->stride, a->stride,
                         batch.starts[b + 1] - batch.starts[b], out + b * dim);
        wt__normalize(out + b * dim, dim);
    }
}

static void encode_static(const struct packed *packed, struct encoder_scratch *scratch, const struct str *texts,
                          size_t count, float *out)
{
    size_t dim = packed->table.dim;
    int32_t unknown = packed->tokenizer.special[TOKENIZER_UNK];
    for (size_t i = 0; i < count; i++, out += dim) {
        size_t pieces = wt__tokenizer_pieces(&packed->tokenizer, texts[i], scratch->capacity, scratch->ids);
        wt__token_table_sum(&packed->table, scratch->ids, pieces, unknown, out);
        wt__normalize(out, dim);
    }
}

int wt__encode(const struct encoder *encoder, struct encoder_scratch *scratch, enum text_role role,
               const struct str *texts, size_t count, float *out, wt_error *err)
{
    const struct packed *packed = &encoder->cache.packed;
    size_t dim = wt__encoder_dim(encoder), max_tokens = wt__encoder_max_tokens(encoder);
    size_t done = 0; /* number of texts whose vectors are written */
    wt__arena_reset(&scratch->prompted);
    texts = wt__prompts_apply(&packed->header->prompts, role, texts, count, &scratch->prompted);
    WT_CHECK_ALLOC(texts, err);
    if (wt__encoder_is_static(encoder)) {
        encode_static(packed, scratch, texts, count, out);
        return 0;
    }
    scratch->starts[0] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t b = i - done, start = scratch->starts[b];
        scratch->starts[b + 1] =
            start + wt__tokenizer_encode(&packed->tokenizer, texts[i], max_tokens, scratch->ids + start);
        if (scratch->starts[b + 1] >= BATCH_TOKENS || i + 1 == count) {
            encode_batch(encoder, scratch, b + 1, out + done * dim);
            done = i + 1;
        }
    }
    return 0;
}

/* A call of wt__encode_many, split into chunks of texts. */
struct encode_job {
    const struct encoder *encoder;
    struct encoder_scratch **scratch; /* [threads] */
    enum text_role role;
    const struct str *texts;
    size_t count, chunk;
    float *out;
    struct progress *progress;
};

static int encode_chunk(void *context, size_t index, unsigned worker)
{
    struct encode_job *job = context;
    size_t first = index * job->chunk, count = job->count - first < job->chunk ? job->count - first : job->chunk;
    size_t dim = wt__encoder_dim(job->encoder);
    int rc = wt__encode(job->encoder, job->scratch[worker], job->role, job->texts + first, count,
                        job->out + first * dim, NULL);
    if (rc == 0 && job->progress && wt__progress_step(job->progress, count) != 0)
        rc = WT_ECANCELLED;
    return rc;
}

int wt__encode_many(const struct encoder *encoder, enum text_role role, const struct str *texts, size_t count,
                    unsigned threads, float *out, struct progress *progress, wt_error *err)
{
    size_t workers = threads ? threads : wt__processor_count();
    size_t chunk = count / (workers * CHUNKS_A_THREAD) + 1;
    chunk = chunk < CHUNK_TEXTS ? chunk : CHUNK_TEXTS;
    struct encode_job job = {encoder, NULL, role, texts, count, chunk, out, progress};
    int rc = 0;
    size_t chunks = (count + chunk - 1) / chunk;
    workers = workers < chunks ? workers : chunks;
    job.scratch = calloc(workers + 1, sizeof(struct encoder_scratch *));
    WT_CHECK_ALLOC(job.scratch, err);
    for (size_t i = 0; rc == 0 && i < workers; i++)
        rc = wt__encoder_scratch_new(&job.scratch[i], encoder, err);
    if (rc == 0 && chunks > 0)
        rc = wt__pool_run((unsigned)workers, chunks, encode_chunk, &job);
    if (rc == WT_ECANCELLED)
        wt__fail_cancelled(err);
    else if (rc == WT_ENOMEM)
        wt__fail_nomem(err);
    for (size_t i = 0; i < workers; i++)
        wt__encoder_scratch_free(job.scratch[i]);
    free(job.scratch);
    return rc;
}

/* CHUNK: vocabulary tokens per batch. FRAMED: length of the text [CLS] token [SEP], which encodes one token. */
enum { CHUNK = 64, FRAMED = 3 };

/* Buffers of one thread. */
struct token_scratch {
    struct activations activations;
    int32_t ids[CHUNK * FRAMED];
    size_t starts[CHUNK + 1];
};

struct token_job {
    const struct packed *packed;
    struct token_scratch *scratch; /* [threads] */
    float *out;
    struct progress *progress;
};

static int encode_token_chunk(void *context, size_t index, unsigned worker)
{
    struct token_job *job = context;
    struct token_scratch *s = &job->scratch[worker];
    const struct transformer *model = &job->packed->model;
    const struct tokenizer *tokenizer = &job->packed->tokenizer;
    size_t first = index * CHUNK, hidden = model->config.hidden;
    size_t count = tokenizer->token_count - first < CHUNK ? tokenizer->token_count - first : CHUNK;
    for (size_t i = 0; i < count; i++) {
        int32_t *ids = s->ids + i * FRAMED;
        ids[0] = tokenizer->special[TOKENIZER_CLS];
        ids[1] = (int32_t)(first + i);
        ids[2] = tokenizer->special[TOKENIZER_SEP];
        s->starts[i + 1] = (i + 1) * FRAMED;
    }
    struct token_batch batch = {.count = count, .starts = s->starts, .ids = s->ids};
    wt__transformer_forward(model, &batch, &s->activations);
    for (size_t i = 0; i < count; i++) {
        float *out = job->out + (first + i) * hidden;
        wt__pool_forward(&model->config, s->activations.x + s->starts[i] * s->activations.stride, s->activations.stride,
                         FRAMED, out);
        wt__normalize(out, hidden);
    }
    return wt__progress_step(job->progress, count) ? WT_ECANCELLED : 0;
}

int wt__token_vectors(const struct encoder *encoder, unsigned threads, float *out, struct progress *progress,
                      wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const struct packed *packed = wt__encoder_packed(encoder);
    const struct activation_limits limits = {.rows = CHUNK * FRAMED, .longest = FRAMED};
    size_t workers = threads ? threads : wt__processor_count();
    struct token_job job = {.packed = packed, .out = out, .progress = progress};
    job.scratch = wt__arena_array(&arena, struct token_scratch, workers);
    WT_CHECK_ALLOC(job.scratch, err);
    for (size_t w = 0; w < workers; w++)
        WT_TRY(place_activations(&job.scratch[w].activations, &packed->model, &limits, &arena, err));
    int rc =
        wt__pool_run((unsigned)workers, (packed->tokenizer.token_count + CHUNK - 1) / CHUNK, encode_token_chunk, &job);
    return rc == WT_ECANCELLED ? wt__fail_cancelled(err) : rc;
}
