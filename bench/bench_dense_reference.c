/* bench_dense_reference.c: retrieval quality of the encoder alone, for comparison with sentence-transformers.
 *
 *   bench_dense_reference BEIR_DIR [SPLIT [MODEL]]
 *
 * Encodes every request, and "title: text" of every tool, as the reference does. Ranks all tools by cosine, and prints
 * R@5 and nDCG@5 as one JSON object. The search's own tool texts, request parts and rank fusion are not used. MODEL
 * defaults to WT_BASE_MODEL (all-MiniLM-L6-v2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/topk.h"
#include "catalog/dataset.h"
#include "eval/internal.h"
#include "nn/kernels/kernels.h"

enum { CUTOFF = 5 };

struct corpus {
    struct arena arena;
    char **ids;
    struct str *texts;
    size_t len, id_capacity, text_capacity;
};

static int read_corpus(struct corpus *corpus, const char *dir, wt_error *err)
{
    char *bytes;
    size_t len;
    char *path = wt__path_join(&corpus->arena, dir, "corpus.jsonl");
    int rc = path ? wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, err) : wt__fail_nomem(err);
    if (rc < 0)
        return rc;
    for (char *line = bytes; rc == 0 && line < bytes + len;) {
        char *end = memchr(line, '\n', (size_t)(bytes + len - line));
        size_t size = end ? (size_t)(end - line) : (size_t)(bytes + len - line);
        json_t *tool = NULL;
        if (size > 1)
            rc = wt__json_parse(&tool, line, size, err);
        if (tool) {
            struct buffer text = {0};
            struct str title = wt__json_str(tool, "title"), body = wt__json_str(tool, "text");
            wt__buffer_printf(&text, "%.*s: %.*s", (int)title.len, title.ptr, (int)body.len, body.ptr);
            if (wt__grow((void **)&corpus->ids, &corpus->id_capacity, corpus->len + 1, sizeof *corpus->ids) < 0 ||
                wt__grow((void **)&corpus->texts, &corpus->text_capacity, corpus->len + 1, sizeof *corpus->texts) < 0)
                rc = wt__fail_nomem(err);
            else {
                corpus->ids[corpus->len] = wt__arena_copy(&corpus->arena, wt__json_str(tool, "_id"));
                corpus->texts[corpus->len++] = wt__str(wt__arena_copy(&corpus->arena, wt__buffer_view(&text)));
            }
            wt__buffer_dispose(&text);
            json_decref(tool);
        }
        line += size + 1;
    }
    free(bytes);
    return rc;
}

static float *embed_texts(wt_engine *engine, const struct str *texts, size_t count, size_t dim, wt_error *err)
{
    const char **pointers = wt__alloc_array(count, sizeof *pointers);
    size_t *lens = wt__alloc_array(count, sizeof *lens);
    float *out = wt__alloc_aligned(count * dim, sizeof *out);
    for (size_t i = 0; pointers && lens && i < count; i++) {
        pointers[i] = texts[i].ptr;
        lens[i] = texts[i].len;
    }
    if (!pointers || !lens || !out || wt_embed(engine, pointers, lens, count, out, err) < 0) {
        free(out);
        out = NULL;
    }
    free(pointers);
    free(lens);
    return out;
}

static int compare_scores(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

/* Adds one query's recall and nDCG to sums. */
static void add_query_metrics(const struct query *query, const struct corpus *corpus, const struct scored *ranked,
                              double sums[2])
{
    int gains[CUTOFF] = {0}, *ideal = wt__alloc_array(query->judgement_count, sizeof *ideal);
    size_t relevant = 0;
    for (size_t j = 0; ideal && j < query->judgement_count; j++) {
        ideal[j] = query->judgements[j].gain;
        relevant += ideal[j] > 0;
        for (size_t r = 0; r < CUTOFF; r++)
            if (wt__str_equal(wt__str(corpus->ids[ranked[r].row]), query->judgements[j].tool))
                gains[r] = ideal[j];
    }
    if (ideal) {
        qsort(ideal, query->judgement_count, sizeof *ideal, compare_scores);
        sums[0] += wt__recall_at(gains, CUTOFF, relevant, CUTOFF);
        sums[1] += wt__ndcg_at(gains, CUTOFF, ideal, query->judgement_count, CUTOFF);
    }
    free(ideal);
}

static int measure_reference(wt_engine *engine, const char *dir, const char *split, wt_error *err)
{
    struct corpus corpus = {0};
    struct dataset dataset = {0};
    double sums[2] = {0};
    int dim = wt_dimension(engine, err);
    int rc = dim < 0 ? dim : read_corpus(&corpus, dir, err);
    if (rc == 0)
        rc = wt__dataset_read(&dataset, dir, split, err);
    float *tools = NULL, *requests = NULL, *scores = NULL;
    struct str *texts = wt__alloc_array(dataset.len, sizeof *texts);
    if (rc == 0 && texts) {
        for (size_t q = 0; q < dataset.len; q++)
            texts[q] = dataset.queries[q].text;
        tools = embed_texts(engine, corpus.texts, corpus.len, (size_t)dim, err);
        requests = tools ? embed_texts(engine, texts, dataset.len, (size_t)dim, err) : NULL;
        scores = wt__alloc_array(corpus.len, sizeof *scores);
    }
    if (rc == 0 && !(tools && requests && scores && corpus.len >= CUTOFF))
        rc = wt__fail(err, WT_ENOMEM, "cannot encode %s", dir);
    for (size_t q = 0; rc == 0 && q < dataset.len; q++) {
        struct scored kept[CUTOFF];
        struct topk top = {.items = kept, .k = CUTOFF};
        wt__kernels()->dots_f32(requests + q * (size_t)dim, tools, corpus.len, (size_t)dim, scores);
        for (size_t i = 0; i < corpus.len; i++)
            wt__topk_push(&top, (struct scored){scores[i], (uint32_t)i});
        wt__topk_sort(&top);
        add_query_metrics(&dataset.queries[q], &corpus, kept, sums);
    }
    if (rc == 0)
        printf("{\"set\":\"%s\",\"split\":\"%s\",\"queries\":%zu,\"recall@5\":%.4f,\"ndcg@5\":%.4f}\n", dataset.name,
               split, dataset.len, sums[0] / (double)dataset.len, sums[1] / (double)dataset.len);
    free(texts);
    free(tools);
    free(requests);
    free(scores);
    free(corpus.ids);
    free(corpus.texts);
    wt__arena_dispose(&corpus.arena);
    wt__dataset_dispose(&dataset);
    return rc;
}

int main(int argc, char **argv)
{
    wt_engine *engine;
    wt_open_options options;
    wt_error err = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_dense_reference BEIR_DIR [SPLIT [MODEL]]\n");
        return 2;
    }
    wt_open_options_init(&options);
    options.model = argc > 3 ? argv[3] : WT_BASE_MODEL;
    int rc = wt_open(&engine, ":memory:", &options, &err);
    if (rc == 0)
        rc = measure_reference(engine, argv[1], argc > 2 ? argv[2] : "test", &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    wt_close(engine);
    return rc < 0;
}
