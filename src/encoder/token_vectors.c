#include "encoder/token_vectors.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/pool.h"
#include "encoder/packed.h"
#include "encoder/pooling.h"
#include "nn/norm.h"

enum { CHUNK = 64 /* tokens per batch */, FRAMED = 3 /* [CLS] token [SEP] */ };

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
    struct arena arena = {0};
    const struct packed *packed = wt__encoder_packed(encoder);
    const struct activation_limits limits = {.rows = CHUNK * FRAMED, .longest = FRAMED};
    size_t workers = threads ? threads : wt__processor_count();
    struct token_job job = {.packed = packed, .out = out, .progress = progress};
    job.scratch = wt__arena_array(&arena, struct token_scratch, workers);
    int rc = job.scratch ? 0 : wt__fail_nomem(err);
    for (size_t w = 0; rc == 0 && w < workers; w++) {
        struct activations *a = &job.scratch[w].activations;
        size_t floats = wt__activations_place(a, &packed->model, &limits, false, NULL);
        float *memory = floats ? wt__arena_alloc(&arena, floats * sizeof(float), 64) : NULL;
        if (memory)
            wt__activations_place(a, &packed->model, &limits, false, memory);
        rc = memory ? 0 : wt__fail_nomem(err);
    }
    if (rc == 0)
        rc = wt__pool_run((unsigned)workers, (packed->tokenizer.token_count + CHUNK - 1) / CHUNK, encode_token_chunk,
                          &job);
    if (rc == WT_ECANCELLED)
        wt__fail_cancelled(err);
    wt__arena_dispose(&arena);
    return rc;
}
