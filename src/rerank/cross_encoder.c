#include "rerank/cross_encoder.h"

#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "encoder/config.h"
#include "rerank/reranker.h"
#include "retrieve/document.h"

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
                     : wt__cross_load(&cross->model, cross->folder, progress, &cross->error);
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
    struct buffer text = {0};
    int rc = runs && ids ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        wt__buffer_clear(&text);
        wt__document_fields_text(&tools[i], fields, &text);
        if (text.failed)
            rc = wt__fail_nomem(err);
        else
            runs[i] = wt__cross_tokens(model, wt__buffer_view(&text), ids + i * CROSS_TOKENS);
    }
    if (rc == 0)
        rc = wt__cross_score(model, request, runs, count, progress, logits, err);
    wt__buffer_dispose(&text);
    return rc;
}

/* ---------------------------------------------------------------- reranker of the first N hits */

static size_t cross_depth(const struct reranker *reranker)
{
    return reranker->reads;
}

/* Sorts by logit, because the best probabilities may all round to one. Hits after the first `count` keep their order,
 * with scores limited to the last score before them. */
static void order_by_logit(struct hit_list *hits, size_t count, float *logits)
{
    for (size_t i = 0; i < count; i++) {
        wt__hit_rescore(&hits->items[i], wt__cross_probability(logits[i]));
        wt__hit_stage(&hits->items[i], CROSS_STAGE)->score = logits[i];
    }
    wt__hits_sort(hits->items, logits, count);
    for (size_t i = 0; i < count; i++)
        wt__hit_stage(&hits->items[i], CROSS_STAGE)->rank = i + 1;
    for (size_t i = count; i < hits->len; i++)
        wt__hit_rescore(&hits->items[i], fminf(hits->items[i].score, hits->items[i - 1].score));
}

static int run_cross(const struct reranker *reranker, const struct rerank_input *input, struct hit_list *hits,
                     wt_error *err)
{
    size_t count = hits->len < reranker->reads ? hits->len : reranker->reads;
    struct arena arena = {0};
    struct cross *cross = NULL;
    struct tool *tools = wt__arena_array(&arena, struct tool, count);
    float *logits = wt__arena_array(&arena, float, count);
    uint32_t *rows = wt__arena_array(&arena, uint32_t, count);
    int rc = logits && rows && tools ? wt__cross_encoder_open(reranker->cross, input->progress, &cross, err)
                                     : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rows[i] = hits->items[i].row;
    if (rc == 0)
        rc = input->tools.read(input->tools.context, rows, count, &arena, tools, err);
    if (rc == 0)
        rc = wt__cross_encoder_score(cross, reranker->cross->fields, input->request->text, tools, count,
                                     input->progress, &arena, logits, err);
    if (rc == 0)
        order_by_logit(hits, count, logits);
    wt__arena_dispose(&arena);
    return rc;
}

const struct rerank_kind wt__rerank_cross = {.depth = cross_depth, .run = run_cross};
