/* cross.c: runs a cross-encoder on pairs of texts, and reranks the first hits of a search. See cross.h. */
#include "rerank/cross.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "encoder/config.h"
#include "encoder/packed.h"
#include "encoder/transformer.h"
#include "rerank/reranker.h"
#include "retrieve/document.h"

enum {
    BATCH_TOKENS = 256,                      /* a batch runs once it has at least this many tokens */
    BATCH_ROWS = BATCH_TOKENS + CROSS_TOKENS /* capacity of a batch in tokens */
};

struct cross {
    struct encoder *encoder;
    const struct tokenizer *tokenizer;
    const struct transformer *model;
    size_t most; /* maximum tokens of a pair */
    bool types;  /* true if the model has token types, which mark the two texts of a pair */
    pthread_mutex_t lock;
    struct cross_scratch *idle; /* list of unused scratches, protected by the lock */
};

/* Memory for one call of wt__cross_score. */
struct cross_scratch {
    struct activations activations;
    size_t starts[BATCH_ROWS + 1]; /* first row of each pair in the batch, and the end */
    int32_t ids[BATCH_ROWS], types[BATCH_ROWS];
    int32_t request[CROSS_TOKENS]; /* tokens of the request */
    struct arena arena;
    struct cross_scratch *next; /* next unused scratch */
};

/* ---------------------------------------------------------------- opening */

static void free_cross_scratch(struct cross_scratch *scratch)
{
    if (!scratch)
        return;
    wt__arena_dispose(&scratch->arena);
    free(scratch);
}

static int new_cross_scratch(struct cross_scratch **out, const struct cross *cross, wt_error *err)
{
    struct cross_scratch *s = calloc(1, sizeof *s);
    struct activation_limits limits = {.rows = BATCH_ROWS, .longest = CROSS_TOKENS, .bytes = true};
    *out = NULL;
    WT_CHECK_ALLOC(s, err);
    size_t floats = wt__activations_place(&s->activations, cross->model, &limits, false, NULL);
    float *memory = floats ? wt__arena_alloc(&s->arena, floats * sizeof(float), 64) : NULL;
    if (!memory) {
        free_cross_scratch(s);
        return wt__fail_nomem(err);
    }
    wt__activations_place(&s->activations, cross->model, &limits, false, memory);
    *out = s;
    return 0;
}

static int check_cross_model(const struct cross *cross, const char *folder, wt_error *err)
{
    const struct model_config *c = &cross->model->config;
    size_t frame = wt__cross_frame(cross->tokenizer);
    if (c->labels == 0)
        return wt__fail(err, WT_EMODEL,
                        "%s: the model has no classifier; a cross-encoder's config.json names an architecture"
                        " ...ForSequenceClassification",
                        folder);
    if (c->labels > 1)
        return wt__fail(err, WT_EMODEL, "%s: the model's classifier has %u labels; a cross-encoder must have one",
                        folder, (unsigned)c->labels);
    if (c->max_tokens < frame)
        return wt__fail(err, WT_EMODEL, "%s: a pair needs room for %zu tokens; the model has room for %u", folder,
                        frame, (unsigned)c->max_tokens);
    return 0;
}

int wt__cross_open(struct cross **out, const char *folder, struct progress *progress, wt_error *err)
{
    struct cross *cross = calloc(1, sizeof *cross);
    int rc;
    *out = NULL;
    WT_CHECK_ALLOC(cross, err);
    rc = pthread_mutex_init(&cross->lock, NULL) == 0 ? 0 : wt__fail_nomem(err);
    if (rc < 0) {
        free(cross);
        return rc;
    }
    rc = wt__encoder_load(&cross->encoder, folder, progress, err);
    if (rc == 0) {
        const struct packed *packed = wt__encoder_packed(cross->encoder);
        const struct model_config *config = &packed->model.config;
        cross->tokenizer = &packed->tokenizer;
        cross->model = &packed->model;
        cross->most = config->max_tokens < CROSS_TOKENS ? config->max_tokens : CROSS_TOKENS;
        cross->types = config->types > 1;
        rc = check_cross_model(cross, folder, err);
    }
    if (rc < 0)
        wt__cross_close(cross);
    else
        *out = cross;
    return rc;
}

void wt__cross_close(struct cross *cross)
{
    if (!cross)
        return;
    while (cross->idle) {
        struct cross_scratch *scratch = cross->idle;
        cross->idle = scratch->next;
        free_cross_scratch(scratch);
    }
    pthread_mutex_destroy(&cross->lock);
    wt__encoder_close(cross->encoder);
    free(cross);
}

/* ---------------------------------------------------------------- pairs */

struct token_run wt__cross_tokens(const struct cross *cross, struct str text, int32_t *ids)
{
    size_t count = wt__tokenizer_encode(cross->tokenizer, text, cross->most, ids);
    return (struct token_run){ids + 1, count - 2}; /* without CLS and SEP */
}

size_t wt__cross_frame(const struct tokenizer *tokenizer)
{
    return tokenizer->pair_two_seps ? 4 : 3;
}

/* Reduces two lengths so that their sum is at most `room`. First reduces the longer length, then both equally. */
static void cut_longest(size_t *a, size_t *b, size_t room)
{
    size_t *shorter = *a <= *b ? a : b, *longer = *a <= *b ? b : a;
    if (*a + *b <= room)
        return;
    if (*shorter > room / 2)
        *shorter = room / 2;
    *longer = room - *shorter;
}

static size_t put_run(struct token_run run, size_t count, int32_t *ids)
{
    if (count > 0)
        memcpy(ids, run.ids, count * sizeof *ids);
    return count;
}

size_t wt__cross_pair(const struct tokenizer *tokenizer, struct token_run first, struct token_run second, size_t most,
                      int32_t *ids, int32_t *types)
{
    size_t frame = wt__cross_frame(tokenizer), count = 0, boundary;
    cut_longest(&first.count, &second.count, most - frame);
    ids[count++] = tokenizer->special[TOKENIZER_CLS];
    count += put_run(first, first.count, ids + count);
    for (size_t seps = frame - 2; seps > 0; seps--)
        ids[count++] = tokenizer->special[TOKENIZER_SEP];
    boundary = count;
    count += put_run(second, second.count, ids + count);
    ids[count++] = tokenizer->special[TOKENIZER_SEP];
    for (size_t i = 0; i < count; i++)
        types[i] = tokenizer->pair_types && i >= boundary;
    return count;
}

/* ---------------------------------------------------------------- scoring */

static int borrow_cross_scratch(struct cross *cross, struct cross_scratch **out, wt_error *err)
{
    pthread_mutex_lock(&cross->lock);
    *out = cross->idle;
    if (*out)
        cross->idle = (*out)->next;
    pthread_mutex_unlock(&cross->lock);
    return *out ? 0 : new_cross_scratch(out, cross, err);
}

static void return_cross_scratch(struct cross *cross, struct cross_scratch *scratch)
{
    pthread_mutex_lock(&cross->lock);
    scratch->next = cross->idle;
    cross->idle = scratch;
    pthread_mutex_unlock(&cross->lock);
}

static int check_token_ids(const struct cross *cross, const struct token_run *tools, size_t count, wt_error *err)
{
    uint32_t vocabulary = cross->model->config.vocabulary;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < tools[i].count && k < cross->most; k++)
            if ((uint32_t)tools[i].ids[k] >= vocabulary)
                return wt__fail(err, WT_EMODEL, "token %ld of tool %zu is not among the %u tokens of %s",
                                (long)tools[i].ids[k], i, (unsigned)vocabulary, wt__encoder_name(cross->encoder));
    return 0;
}

/* Computes the logits [count] of the pairs in the batch. */
static void run_cross_batch(const struct cross *cross, struct cross_scratch *s, size_t count, float *logits)
{
    struct activations *a = &s->activations;
    const struct token_batch batch = {
        .count = count, .starts = s->starts, .ids = s->ids, .types = cross->types ? s->types : NULL};
    wt__transformer_forward_first(cross->model, &batch, a);
    wt__head_forward(cross->model, a->x, a->stride, count, a->layers[0].context, logits);
}

/* Scores all tools in batches. Returns false if cancelled. */
static bool score_pairs(const struct cross *cross, struct cross_scratch *s, struct str request,
                        const struct token_run *tools, size_t count, struct progress *progress, float *logits)
{
    struct token_run first = wt__cross_tokens(cross, request, s->request);
    size_t done = 0; /* number of tools with logits */
    for (size_t i = 0; i < count; i++) {
        size_t b = i - done, at = s->starts[b];
        s->starts[b + 1] =
            at + wt__cross_pair(cross->tokenizer, first, tools[i], cross->most, s->ids + at, s->types + at);
        if (s->starts[b + 1] >= BATCH_TOKENS || i + 1 == count) {
            run_cross_batch(cross, s, b + 1, logits + done);
            done = i + 1;
            if (wt__progress_step(progress, b + 1))
                return false;
        }
    }
    return true;
}

int wt__cross_score(struct cross *cross, struct str request, const struct token_run *tools, size_t count,
                    struct progress *progress, float *logits, wt_error *err)
{
    struct cross_scratch *scratch;
    WT_TRY(check_token_ids(cross, tools, count, err));
    if (wt__progress_phase(progress, "reranking", count))
        return wt__fail_cancelled(err);
    WT_TRY(borrow_cross_scratch(cross, &scratch, err));
    bool is_finished = score_pairs(cross, scratch, request, tools, count, progress, logits);
    return_cross_scratch(cross, scratch);
    if (!is_finished)
        return wt__fail_cancelled(err);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(logits[i]))
            return wt__fail(err, WT_EMODEL, "the weights of %s give a number that is not finite",
                            wt__encoder_name(cross->encoder));
    return 0;
}

float wt__cross_probability(float logit)
{
    return 1 / (1 + expf(-logit));
}

/* ---------------------------------------------------------------- tools */

struct cross_encoder *wt__cross_encoder_new(const char *folder, const char *identity)
{
    struct cross_encoder *cross = calloc(1, sizeof *cross);
    char fields[MODEL_FIELDS];
    if (!cross || pthread_mutex_init(&cross->lock, NULL) != 0) {
        free(cross);
        return NULL;
    }
    cross->folder = folder;
    cross->identity = identity;
    wt__model_fields(folder, fields);
    cross->fields = wt__document_fields(fields, NULL);
    return cross;
}

void wt__cross_encoder_free(struct cross_encoder *cross)
{
    if (!cross)
        return;
    wt__cross_close(cross->model);
    pthread_mutex_destroy(&cross->lock);
    free(cross);
}

int wt__cross_encoder_open(struct cross_encoder *cross, struct progress *progress, struct cross **out, wt_error *err)
{
    pthread_mutex_lock(&cross->lock);
    if (!cross->tried) {
        int rc = wt__progress_phase(progress, "loading the reranker", 0)
                     ? wt__fail_cancelled(&cross->error)
                     : wt__cross_open(&cross->model, cross->folder, progress, &cross->error);
        cross->tried = rc != WT_ENOMEM && rc != WT_ECANCELLED;
    }
    *out = cross->model;
    if (!*out && err)
        *err = cross->error;
    int rc = *out ? 0 : cross->error.code;
    pthread_mutex_unlock(&cross->lock);
    return rc;
}

int wt__cross_encoder_score(struct cross *model, unsigned fields, struct str request, const struct tool *tools,
                            size_t count, struct progress *progress, struct arena *arena, float *logits, wt_error *err)
{
    struct token_run *runs = wt__arena_array(arena, struct token_run, count);
    int32_t *ids = wt__arena_array(arena, int32_t, count * CROSS_TOKENS);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_CHECK_ALLOC(runs && ids, err);
    for (size_t i = 0; i < count; i++) {
        wt__buffer_clear(&text);
        wt__document_fields_text(&tools[i], fields, &text);
        WT_CHECK_ALLOC(!text.failed, err);
        runs[i] = wt__cross_tokens(model, wt__buffer_view(&text), ids + i * CROSS_TOKENS);
    }
    return wt__cross_score(model, request, runs, count, progress, logits, err);
}

/* ---------------------------------------------------------------- reranker of the first N hits */

static size_t cross_depth(const struct reranker *reranker)
{
    return reranker->reads;
}

int wt__cross_score_hits(const struct reranker *reranker, const struct rerank_input *input, const struct hit_list *hits,
                         size_t count, struct arena *arena, float *logits, wt_error *err)
{
    struct cross *cross = NULL;
    struct tool *tools = wt__arena_array(arena, struct tool, count);
    uint32_t *rows = wt__arena_array(arena, uint32_t, count);
    WT_CHECK_ALLOC(rows && tools, err);
    WT_TRY(wt__cross_encoder_open(reranker->cross, input->progress, &cross, err));
    for (size_t i = 0; i < count; i++)
        rows[i] = hits->items[i].row;
    WT_TRY(input->tools.read(input->tools.context, rows, count, arena, tools, err));
    return wt__cross_encoder_score(cross, reranker->cross->fields, input->request->text, tools, count, input->progress,
                                   arena, logits, err);
}

/* Sorts by logit, because different logits may round to the same probability. */
static void order_by_logit(struct hit_list *hits, size_t count, float *logits)
{
    for (size_t i = 0; i < count; i++) {
        wt__hit_rescore(&hits->items[i], wt__cross_probability(logits[i]));
        wt__hit_stage(&hits->items[i], CROSS_STAGE)->score = logits[i];
    }
    wt__hits_order(hits, logits, count);
}

static int run_cross(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits,
                     wt_error *err)
{
    size_t count = hits->len < reranker->reads ? hits->len : reranker->reads;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    float *logits = wt__arena_array(&arena, float, count);
    WT_CHECK_ALLOC(logits, err);
    WT_TRY(wt__cross_score_hits(reranker, input, hits, count, &arena, logits, err));
    order_by_logit(hits, count, logits);
    return 0;
}

const struct rerank_kind wt__rerank_cross = {.depth = cross_depth, .run = run_cross};
