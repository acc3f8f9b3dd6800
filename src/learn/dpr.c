/* dpr.c: the lesson "dpr" (the dual encoder of ToolRerank, section 2.2, and of ToolBench): requests against the tools'
 * texts by the encoder as it is now. What there is to train is the encoder, which has a lesson of its own. Here it is
 * measured on dev, what parts of a request count is found there, and the recipe is left that belongs to it. */
#include "learn/lessons.h"

#include <math.h>

#include "learn/study.h"

static int measure(struct study *study, struct retriever *retriever, struct outcome *out, wt_error *err)
{
    struct tool_vectors documents;
    int rc = wt__tool_vectors_open(&documents, study->documents, study->tools, study->dim, err);
    if (rc == 0)
        rc = wt__study_ask_parts(study, &documents, &retriever->part, out, err);
    wt__tool_vectors_dispose(&documents);
    return rc;
}

int wt__lesson_dpr(struct training *training, wt_trained *out, wt_error *err)
{
    struct study *study;
    struct outcome outcome = {NAN, NAN, NULL};
    struct retriever retriever = {.dense = 1}; /* the paper's: parts of requests count nothing */
    json_t *about = NULL;
    int rc = wt__study_begin(&study, training, &about, err);
    if (rc == 0 && study->dev_count > 0)
        rc = measure(study, &retriever, &outcome, err);
    if (rc == 0) {
        out->after = outcome.recall;
        rc = wt__study_leave(
            study, about,
            json_pack("{s:{s:f, s:f}}", "weights", "dense", (double)retriever.dense, "part", (double)retriever.part),
            out, err);
    }
    json_decref(about);
    return rc;
}
