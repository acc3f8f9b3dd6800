/* retrieval_lessons.c: the lessons "dpr", "tool2vec" and "neighbours", which build a retriever without training
 * steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "learn/dev_evaluator.h"
#include "learn/ridge.h"
#include "learn/trainers.h"
#include "nn/safetensors.h"

/* The lesson "dpr" searches the tools' texts with the current encoder (the dual encoder of ToolRerank, section 2.2,
 * and of ToolBench). The lesson "encoder" trains that encoder. "dpr" only tunes the weight of sub-queries on dev and
 * writes the recipe. */

static int measure_dpr(struct dev_evaluator *evaluator, struct retriever *retriever, struct dev_outcome *out,
                       wt_error *err)
{
    WT_CLEANUP(wt__tool_vectors_dispose) struct tool_vectors documents = {0};
    WT_TRY(wt__tool_vectors_open(&documents, evaluator->documents, evaluator->tools, evaluator->dim, err));
    return wt__evaluator_measure_subqueries(evaluator, &documents, &retriever->subquery, out, err);
}

int wt__lesson_dpr(struct training *training, wt_trained *out, wt_error *err)
{
    struct dev_evaluator *evaluator;
    struct dev_outcome outcome = wt__no_outcome();
    struct retriever retriever = {.weights = {[SOURCE_DENSE] = 1}}; /* the paper uses no sub-queries */
    WT_CLEANUP(json_decrefp) json_t *about = NULL;
    WT_TRY(wt__evaluator_begin(&evaluator, training, &about, err));
    if (evaluator->dev_count > 0)
        WT_TRY(measure_dpr(evaluator, &retriever, &outcome, err));
    out->after = outcome.recall;
    return wt__evaluator_finish(evaluator, about, json_pack("{s:o}", "weights", wt__retriever_write(&retriever)), out,
                                err);
}

/* The vector of a tool is a weighted sum of its description's vector and the mean vector of the requests that used the
 * tool. The mean is normalised first (the paper does not specify this), because a tool with many different uses has a
 * short mean. The lesson "tool2vec" tunes two numbers on dev: the weight of the mean, and the number of usages at
 * which the mean has half of that weight. */

/* A single usage weighs at most 1 / DOUBT of the description, whatever the weight of the mean. So one false usage does
 * not put an unneeded tool among the first hits. DOUBT was chosen on dev with false usages (bench/poison.py). Every
 * choice below weighs the description by 1, because the limit is relative to that weight. */
enum { DOUBT = 20 };

static const struct tool2vec usual = {1, 2, 2 * DOUBT};

/* Weight of the description, weight of the mean, and number of usages for half of the mean's weight. The choices are
 * in order of preference: a later choice must be better by more than a standard error. */
static const struct tool2vec choices[] = {
    {1, 2, 2 * DOUBT}, {1, 1.5f, 1.5f * DOUBT}, {1, 1, DOUBT},           {1, 3, 3 * DOUBT},
    {1, 5, 5 * DOUBT}, {1, 0.7f, 0.7f * DOUBT}, {1, 0.5f, 0.5f * DOUBT}, {1, 0, 0},
};

void wt__evaluator_tool2vec(const struct dev_evaluator *evaluator, const struct tool2vec *tool2vec, float *vectors)
{
    for (size_t i = 0; i < evaluator->tools; i++)
        wt__tool2vec(tool2vec, evaluator->dim, evaluator->documents + i * evaluator->dim,
                     evaluator->sums + i * evaluator->dim, evaluator->uses[i], vectors + i * evaluator->dim);
}

int wt__evaluator_tool2vec_weights(struct dev_evaluator *evaluator, struct tool2vec *out, wt_error *err)
{
    struct trained *trained;
    int rc = wt__trained_open(&trained, evaluator->training->out, evaluator->encoder, NULL, err);
    *out = wt__trained_recipe(trained, "tool2vec") ? trained->tool2vec : usual;
    wt__trained_close(trained);
    return rc;
}

/* Computes and opens the vectors for these weights. */
static int open_vectors(struct dev_evaluator *evaluator, const struct tool2vec *tool2vec, float *vectors,
                        struct tool_vectors *searched, wt_error *err)
{
    wt__tool_vectors_dispose(searched);
    wt__evaluator_tool2vec(evaluator, tool2vec, vectors);
    return wt__tool_vectors_open(searched, vectors, evaluator->tools, evaluator->dim, err);
}

/* Chooses the best weights on dev, then the best weight of sub-queries for them. *before is the recall of descriptions
 * alone. */
static int choose_tool2vec_weights(struct dev_evaluator *evaluator, struct tool2vec *best, float *subquery,
                                   double *before, struct dev_outcome *after, wt_error *err)
{
    size_t count = sizeof choices / sizeof *choices, dev = evaluator->dev_count;
    const struct retriever meaning = {.weights = {[SOURCE_DENSE] = 1}, .subquery = evaluator->single ? 0 : 1};
    WT_CLEANUP(wt__tool_vectors_dispose) struct tool_vectors searched = {0};
    WT_AUTO_FREE float *vectors = wt__alloc_array(evaluator->tools * evaluator->dim, sizeof *vectors);
    WT_AUTO_FREE double *chosen = wt__alloc_array(dev, sizeof *chosen), *each = wt__alloc_array(dev, sizeof *each);
    WT_CHECK_ALLOC(vectors && chosen && each, err);
    *best = usual;
    *subquery = meaning.subquery;
    *after = wt__no_outcome();
    if (wt__train_progress_phase(&evaluator->training->progress, "measuring", count + 3))
        return wt__fail_cancelled(err);
    for (size_t i = 0; dev > 0 && i < count; i++) {
        struct dev_outcome here = {.each = each};
        WT_TRY(open_vectors(evaluator, &choices[i], vectors, &searched, err));
        WT_TRY(wt__evaluator_measure(evaluator, &meaning, &searched, &here, err));
        if (i == 0 || wt__evaluator_is_better(evaluator, chosen, each, EVALUATOR_CHANCE)) {
            memcpy(chosen, each, dev * sizeof *chosen);
            *best = choices[i];
        }
        if (choices[i].usage == 0)
            *before = here.recall;
    }
    if (dev == 0)
        return 0;
    WT_TRY(open_vectors(evaluator, best, vectors, &searched, err));
    return wt__evaluator_measure_subqueries(evaluator, &searched, subquery, after, err);
}

int wt__lesson_tool2vec(struct training *training, wt_trained *out, wt_error *err)
{
    struct dev_evaluator *evaluator;
    struct tool2vec tool2vec;
    struct dev_outcome after;
    float subquery;
    WT_CLEANUP(json_decrefp) json_t *about = NULL;
    WT_TRY(wt__evaluator_begin(&evaluator, training, &about, err));
    WT_TRY(choose_tool2vec_weights(evaluator, &tool2vec, &subquery, &out->before, &after, err));
    out->after = after.recall;
    return wt__evaluator_finish(evaluator, about,
                                json_pack("{s:{s:f, s:f, s:f}, s:{s:f, s:f, s:f}}", "weights", "dense", 1.0, "tool2vec",
                                          1.0, "subquery", (double)subquery, "interpolation", "description",
                                          (double)tool2vec.description, "usage", (double)tool2vec.usage, "shrink",
                                          (double)tool2vec.shrink),
                                out, err);
}

/* The lesson "neighbours" saves the vectors of the training requests and the tools of each, for
 * retrieve/past_requests.h. */

/* Encodes the requests with the engine's encoder too, for recipes that do not use the trained encoder (PTR over bm25,
 * dense or hybrid). *out: [B, dimension of the engine's encoder], owned by the caller; NULL if the evaluator uses the
 * engine's encoder. */
static int encode_untrained(const struct dev_evaluator *evaluator, const struct encoder *encoder, float **out,
                            wt_error *err)
{
    struct training *training = evaluator->training;
    const struct example_set *train = &training->examples.train;
    WT_CLEANUP(wt__progress_dispose) struct progress progress = {0};
    *out = NULL;
    if (encoder == evaluator->encoder)
        return 0;
    *out = wt__alloc_array(train->count * wt__encoder_dim(encoder), sizeof **out);
    WT_CHECK_ALLOC(*out, err);
    wt__progress_init(&progress, wt__train_progress_forward, &training->progress);
    if (wt__progress_phase(&progress, "encoding requests", train->count))
        return wt__fail_cancelled(err);
    return wt__encode_many(encoder, TEXT_REQUEST, train->texts, train->count, training->threads, *out, &progress, err);
}

/* Writes the vectors and the tools of the past requests, and a regression from the one to the other. untrained: [B,
 * dim] further vectors of these requests, by the engine's encoder; NULL to write none. */
static int write_past_requests(const struct dev_evaluator *evaluator, const float *untrained, size_t dim,
                               const char *folder, wt_error *err)
{
    const struct neighbours *n = &evaluator->past;
    size_t labels = n->starts[n->count];
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_AUTO_FREE float *numbers = wt__alloc_array(n->count + 1 + labels, sizeof *numbers);
    WT_AUTO_FREE float *ridge = wt__alloc_array(evaluator->tools * (n->dim + 1), sizeof *ridge);
    char *path = wt__path_join(&arena, folder, TRAINED_WEIGHTS);
    WT_CHECK_ALLOC(numbers && ridge && path, err);
    WT_TRY(wt__ridge_fit(n, evaluator->tools, ridge, err));
    WT_TRY(wt__make_folders(folder, err));
    for (size_t i = 0; i <= n->count; i++)
        numbers[i] = (float)n->starts[i];
    for (size_t i = 0; i < labels; i++)
        numbers[n->count + 1 + i] = (float)n->labels[i];
    const struct tensor_source tensors[] = {
        {.name = PAST_REQUESTS, .data = n->requests, .rank = 2, .shape = {n->count, n->dim}},
        {.name = PAST_STARTS, .data = numbers, .rank = 1, .shape = {n->count + 1}},
        {.name = PAST_LABELS, .data = numbers + n->count + 1, .rank = 1, .shape = {labels}},
        {.name = PAST_RIDGE, .data = ridge, .rank = 2, .shape = {evaluator->tools, n->dim + 1}},
        {.name = PAST_UNTRAINED, .data = untrained, .rank = 2, .shape = {n->count, dim}}};
    return wt__safetensors_write(path, tensors, untrained ? 5 : 4, NULL, err);
}

int wt__lesson_neighbours(struct training *training, wt_trained *out, wt_error *err)
{
    static const struct retriever votes = {.weights = {[SOURCE_NEIGHBOURS] = 1}};
    struct dev_evaluator *evaluator;
    struct dev_outcome outcome = wt__no_outcome();
    const struct encoder *engines = NULL;
    WT_AUTO_FREE float *untrained = NULL;
    WT_CLEANUP(json_decrefp) json_t *about = NULL, *names = json_array();
    WT_CHECK_ALLOC(names, err);
    WT_TRY(wt__evaluator_begin(&evaluator, training, &about, err));
    if (wt__train_progress_phase(&training->progress, "measuring", 1))
        return wt__fail_cancelled(err);
    if (evaluator->dev_count > 0)
        WT_TRY(wt__evaluator_measure(evaluator, &votes, NULL, &outcome, err));
    WT_TRY(wt__engine_encoder(training->engine, &engines, err));
    WT_TRY(encode_untrained(evaluator, engines, &untrained, err));
    WT_TRY(write_past_requests(evaluator, untrained, wt__encoder_dim(engines), out->path, err));
    WT_TRY(wt__evaluator_tool_names(evaluator, names, err));
    out->after = outcome.recall;
    return wt__evaluator_finish(evaluator, about,
                                json_pack("{s:{s:f}, s:O, s:s}", "weights", "neighbours", 1.0, "tools", names,
                                          PAST_UNTRAINED, wt__encoder_hash(engines)),
                                out, err);
}
