/* vectors.c: the encoder as a service: embeddings in the format of OpenAI's API, and reranking in the format of
 * Cohere's and Jina's APIs. */
#include "wire/verbs.h"

#include <math.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/memory.h"
#include "wire/bodies.h"
#include "wire/members.h"

int wt__check_asked_model(const struct json_run *run, const char *asked, wt_catalog_info *info, wt_error *err)
{
    wt_catalog_info_init(info);
    WT_TRY(wt_info(run->engine, info, err));
    if (!asked || strcmp(asked, "default") == 0 || strcmp(asked, info->model) == 0)
        return 0;
    return wt__fail_at(err, WT_ENOTFOUND, 0, 0, "/model",
                       "unknown model \"%.64s\"; the server has %s, also named default", asked,
                       *info->model ? info->model : "none");
}

/* Computes a vector of length 1 for each text. Free *out, [count, *dim], with free(). */
static int embed_texts(struct json_run *run, const struct texts *texts, float **out, size_t *dim, wt_error *err)
{
    *out = NULL;
    int d = wt_dimension(run->engine, err);
    if (d < 0)
        return d;
    *dim = (size_t)d;
    WT_AUTO_FREE size_t *lens = wt__alloc_array(texts->count, sizeof *lens);
    WT_AUTO_FREE float *vectors = wt__alloc_array(texts->count * *dim, sizeof *vectors);
    if (!lens || !vectors)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < texts->count; i++)
        lens[i] = strlen(texts->items[i]);
    double begun = wt__now_ms();
    WT_TRY(wt_embed(run->engine, texts->items, lens, texts->count, vectors, err));
    run->times.encoded = wt__now_ms();
    run->times.encode_ms = run->times.encoded - begun;
    *out = WT_TAKE(vectors);
    return 0;
}

/* Estimates tokens as a quarter of the bytes, as max_tokens does. */
static uint64_t estimate_tokens(const struct texts *texts)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < texts->count; i++)
        bytes += strlen(texts->items[i]);
    return (bytes + 3) / 4;
}

/* Truncates the vector to `kept` dimensions and normalises it again. */
static void truncate_vector(float *vector, size_t dim, size_t kept)
{
    double square = 0;
    if (kept == dim)
        return;
    for (size_t d = 0; d < kept; d++)
        square += (double)vector[d] * vector[d];
    float scale = square > 0 ? (float)(1 / sqrt(square)) : 0;
    for (size_t d = 0; d < kept; d++)
        vector[d] *= scale;
}

/* Appends the floats as base64, little-endian on every machine. */
static void put_floats(struct buffer *out, const float *vector, size_t count)
{
    wt__buffer_char(out, '"');
    WT_CLEANUP(wt__buffer_dispose) struct buffer bytes = {0};
    for (size_t d = 0; d < count; d++) {
        uint32_t bits;
        memcpy(&bits, &vector[d], sizeof bits);
        const unsigned char little[4] = {bits & 255, bits >> 8 & 255, bits >> 16 & 255, bits >> 24};
        wt__buffer_append(&bytes, little, sizeof little);
    }
    wt__base64(out, wt__buffer_view(&bytes));
    out->failed |= bytes.failed;
    wt__buffer_char(out, '"');
}

static void put_numbers(struct buffer *out, const float *vector, size_t count)
{
    for (size_t d = 0; d < count; d++)
        wt__buffer_printf(out, d ? ",%.9g" : "[%.9g", (double)vector[d]);
    wt__buffer_char(out, ']');
}

static void put_embeddings(struct json_run *run, const struct embeddings_body *body, float *vectors, size_t dim,
                           const char *model)
{
    struct buffer *out = run->out;
    size_t kept = body->dimensions ? body->dimensions : dim;
    bool base64 = body->encoding && strcmp(body->encoding, "base64") == 0;
    wt__buffer_text(out, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < body->texts.count; i++) {
        truncate_vector(vectors + i * dim, dim, kept);
        wt__buffer_text(out, i ? "," : "");
        wt__buffer_printf(out, "{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", i);
        (base64 ? put_floats : put_numbers)(out, vectors + i * dim, kept);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
    wt__json_text(out, "model", model);
    uint64_t tokens = estimate_tokens(&body->texts);
    wt__json_open(out, "usage", '{');
    wt__json_count(out, "prompt_tokens", tokens);
    wt__json_count(out, "total_tokens", tokens);
    wt__buffer_text(out, "}}");
}

int wt__run_embed(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct embeddings_body body = {0};
    WT_AUTO_FREE float *vectors = NULL;
    wt_catalog_info info;
    size_t dim;
    WT_TRY(wt__embeddings_body_read(&body, json, err));
    WT_TRY(wt__check_asked_model(run, body.model, &info, err));
    WT_TRY(embed_texts(run, &body.texts, &vectors, &dim, err));
    if (body.dimensions > dim)
        return wt__fail_at(err, WT_EINVAL, 0, 0, "/dimensions", "vectors of %s have %zu dimensions; %zu were requested",
                           info.model, dim, body.dimensions);
    put_embeddings(run, &body, vectors, dim, info.model);
    return 0;
}

struct document_relevance {
    double score;
    size_t index;
};

static int compare_relevance(const void *a, const void *b)
{
    const struct document_relevance *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static void put_ranked(struct json_run *run, const struct rerank_body *body, const struct document_relevance *ranked,
                       const char *model)
{
    struct buffer *out = run->out;
    const struct texts query = {&body->query, 1};
    size_t count = body->documents.count;
    uint64_t tokens = estimate_tokens(&body->documents) + estimate_tokens(&query);
    if (body->top_n > 0 && body->top_n < count)
        count = body->top_n;
    wt__buffer_char(out, '{');
    wt__json_text(out, "id", "rerank");
    wt__json_text(out, "model", model);
    wt__json_open(out, "results", '[');
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_count(out, "index", ranked[i].index);
        wt__json_number(out, "relevance_score", ranked[i].score);
        if (body->return_documents) {
            wt__buffer_text(out, ",\"document\":{");
            wt__json_text(out, "text", body->documents.items[ranked[i].index]);
            wt__buffer_char(out, '}');
        }
        wt__buffer_char(out, '}');
    }
    wt__buffer_text(out, "],\"usage\":{");
    wt__json_count(out, "total_tokens", tokens);
    wt__buffer_text(out, "},\"meta\":{\"api_version\":{\"version\":\"2\"},\"billed_units\":{\"search_units\":1}}}");
}

/* Scores the documents by their similarity to the query, best first. vectors: [1 + count, dim], the query first. */
static void rank_documents(const float *vectors, size_t dim, struct document_relevance *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double dot = 0;
        for (size_t d = 0; d < dim; d++)
            dot += (double)vectors[d] * vectors[(i + 1) * dim + d];
        out[i] = (struct document_relevance){dot < 0 ? 0 : dot > 1 ? 1 : dot, i};
    }
    qsort(out, count, sizeof *out, compare_relevance);
}

int wt__run_rerank(struct json_run *run, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct rerank_body body = {0};
    WT_AUTO_FREE float *vectors = NULL;
    wt_catalog_info info;
    size_t dim;
    WT_TRY(wt__rerank_body_read(&body, json, err));
    WT_TRY(wt__check_asked_model(run, body.model, &info, err));
    size_t count = body.documents.count;
    const char **texts = wt__arena_array(&body.body.arena, const char *, count + 1);
    struct document_relevance *ranked = wt__arena_array(&body.body.arena, struct document_relevance, count + 1);
    if (!texts || !ranked)
        return wt__fail_nomem(err);
    texts[0] = body.query;
    memcpy(texts + 1, body.documents.items, count * sizeof *texts);
    WT_TRY(embed_texts(run, &(struct texts){texts, count + 1}, &vectors, &dim, err));
    rank_documents(vectors, dim, ranked, count);
    put_ranked(run, &body, ranked, info.model);
    return 0;
}
