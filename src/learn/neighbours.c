/* neighbours.c: nothing is trained: the study's vectors of the training requests, and which tools each used. */
#include "learn/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "learn/study.h"
#include "nn/safetensors_write.h"

static int write_requests(const struct study *study, const char *folder, wt_error *err)
{
    const struct neighbours *n = &study->past;
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
        {.name = TRAINED_REQUESTS, .data = n->requests, .rank = 2, .shape = {n->count, n->dim}},
        {.name = TRAINED_LABEL_STARTS, .data = numbers, .rank = 1, .shape = {n->count + 1}},
        {.name = TRAINED_LABELS, .data = numbers + n->count + 1, .rank = 1, .shape = {labels}}};
    if (rc == 0)
        rc = wt__safetensors_write(path, tensors, 3, NULL, err);
    free(numbers);
    wt__arena_dispose(&arena);
    return rc;
}

int wt__lesson_neighbours(struct training *training, wt_trained *out, wt_error *err)
{
    static const struct retriever votes = {.neighbours = 1};
    const struct lesson_plan plan = {.most = 1}; /* each request once */
    struct loop_options unused;
    struct study *study;
    struct outcome outcome = {NAN, NAN, NULL};
    json_t *about = NULL, *names = json_array();
    int rc = names ? wt__study_open(&study, training, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__training_plan(training, &plan, &study->base, &unused, &about, err);
    if (rc == 0 && study->dev_count > 0)
        rc = wt__study_ask(study, &votes, NULL, &outcome, err);
    if (rc == 0)
        rc = write_requests(study, out->path, err);
    if (rc == 0)
        rc = wt__study_tool_names(study, names, err);
    if (rc == 0) {
        struct loop_state state = {.before = NAN, .best = outcome.recall};
        json_t *members = wt__training_outcome(about, training->lesson->figure, &state);
        out->after = outcome.recall;
        rc = wt__study_save(study, out->path, members,
                            json_pack("{s:{s:f}, s:O}", "weights", "neighbours", 1.0, "tools", names), err);
        json_decref(members);
    }
    json_decref(names);
    json_decref(about);
    return rc;
}
