/* neighbours_trainer.c: the lesson "neighbours": stores past requests with their tools for retrieve/neighbours.h. It
 * does not train; it saves the evaluator's vectors of the training requests, and the tools of each. */
#include "learn/lessons.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "learn/dev_evaluator.h"
#include "nn/safetensors.h"

/* Encodes the requests again with the engine's encoder, for recipes that use no trained encoder (PTR over bm25, dense
 * or hybrid). *out: [N, D]; NULL if the evaluator uses the same encoder. */
static int encode_untrained(const struct dev_evaluator *evaluator, const struct encoder *encoder, float **out,
                            wt_error *err)
{
    struct training *training = evaluator->training;
    const struct example_set *train = &training->examples.train;
    struct progress progress;
    int rc;
    *out = NULL;
    if (encoder == evaluator->encoder)
        return 0;
    *out = wt__alloc_array(train->count * wt__encoder_dim(encoder), sizeof **out);
    if (!*out)
        return wt__fail_nomem(err);
    wt__progress_init(&progress, wt__train_progress_forward, &training->progress);
    rc = wt__progress_phase(&progress, "encoding requests", train->count) ? wt__fail_cancelled(err) : 0;
    if (rc == 0)
        rc =
            wt__encode_many(encoder, TEXT_REQUEST, train->texts, train->count, training->threads, *out, &progress, err);
    wt__progress_dispose(&progress);
    return rc;
}

/* Writes the tensors. untrained: [N, dim], or NULL. */
static int write_past_requests(const struct dev_evaluator *evaluator, const float *untrained, size_t dim,
                               const char *folder, wt_error *err)
{
    const struct neighbours *n = &evaluator->past;
    size_t labels = n->starts[n->count];
    struct arena arena = {0};
    float *numbers = wt__alloc_array(n->count + 1 + labels, sizeof *numbers);
    char *path = wt__path_join(&arena, folder, TRAINED_WEIGHTS);
    int rc = numbers && path ? wt__make_folders(folder, err) : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i <= n->count; i++)
        numbers[i] = (float)n->starts[i];
    for (size_t i = 0; rc == 0 && i < labels; i++)
        numbers[n->count + 1 + i] = (float)n->labels[i];
    const struct tensor_source tensors[] = {
        {.name = PAST_REQUESTS, .data = n->requests, .rank = 2, .shape = {n->count, n->dim}},
        {.name = PAST_STARTS, .data = numbers, .rank = 1, .shape = {n->count + 1}},
        {.name = PAST_LABELS, .data = numbers + n->count + 1, .rank = 1, .shape = {labels}},
        {.name = PAST_UNTRAINED, .data = untrained, .rank = 2, .shape = {n->count, dim}}};
    if (rc == 0)
        rc = wt__safetensors_write(path, tensors, untrained ? 4 : 3, NULL, err);
    free(numbers);
    wt__arena_dispose(&arena);
    return rc;
}

int wt__lesson_neighbours(struct training *training, wt_trained *out, wt_error *err)
{
    static const struct retriever votes = {.weights = {[SOURCE_NEIGHBOURS] = 1}};
    struct dev_evaluator *evaluator;
    struct dev_outcome outcome = wt__no_outcome();
    const struct encoder *engines = NULL;
    float *untrained = NULL;
    json_t *about = NULL, *names = json_array();
    int rc = names ? wt__evaluator_begin(&evaluator, training, &about, err) : wt__fail_nomem(err);
    if (rc == 0 && wt__train_progress_phase(&training->progress, "measuring", 1))
        rc = wt__fail_cancelled(err);
    if (rc == 0 && evaluator->dev_count > 0)
        rc = wt__evaluator_measure(evaluator, &votes, NULL, &outcome, err);
    if (rc == 0)
        rc = wt__engine_encoder(training->engine, &engines, err);
    if (rc == 0)
        rc = encode_untrained(evaluator, engines, &untrained, err);
    if (rc == 0)
        rc = write_past_requests(evaluator, untrained, wt__encoder_dim(engines), out->path, err);
    if (rc == 0)
        rc = wt__evaluator_tool_names(evaluator, names, err);
    if (rc == 0) {
        out->after = outcome.recall;
        rc = wt__evaluator_finish(evaluator, about,
                                  json_pack("{s:{s:f}, s:O, s:s}", "weights", "neighbours", 1.0, "tools", names,
                                            PAST_UNTRAINED, wt__encoder_hash(engines)),
                                  out, err);
    }
    free(untrained);
    json_decref(names);
    json_decref(about);
    return rc;
}
