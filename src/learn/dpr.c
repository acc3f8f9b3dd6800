/* dpr.c: the lesson "dpr" (the dual encoder of ToolRerank, section 2.2, and of ToolBench): searches the tools' texts
 * with the current encoder. The encoder itself is trained by another lesson. This lesson measures it on dev, tunes the
 * weight of sub-queries there, and writes the recipe. */
#include "learn/lessons.h"

#include <math.h>

#include "learn/dev_evaluator.h"

static int measure_dpr(struct dev_evaluator *evaluator, struct retriever *retriever, struct dev_outcome *out,
                       wt_error *err)
{
    struct tool_vectors documents;
    int rc = wt__tool_vectors_open(&documents, evaluator->documents, evaluator->tools, evaluator->dim, err);
    if (rc == 0)
        rc = wt__evaluator_measure_subqueries(evaluator, &documents, &retriever->subquery, out, err);
    wt__tool_vectors_dispose(&documents);
    return rc;
}

int wt__lesson_dpr(struct training *training, wt_trained *out, wt_error *err)
{
    struct dev_evaluator *evaluator;
    struct dev_outcome outcome = wt__no_outcome();
    struct retriever retriever = {.weights = {[SOURCE_DENSE] = 1}}; /* the paper uses no sub-queries */
    json_t *about = NULL;
    int rc = wt__evaluator_begin(&evaluator, training, &about, err);
    if (rc == 0 && evaluator->dev_count > 0)
        rc = measure_dpr(evaluator, &retriever, &outcome, err);
    if (rc == 0) {
        out->after = outcome.recall;
        rc = wt__evaluator_finish(evaluator, about, json_pack("{s:o}", "weights", wt__retriever_write(&retriever)), out,
                                  err);
    }
    json_decref(about);
    return rc;
}
