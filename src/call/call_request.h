/* call_request.h: a request to be turned into a call by a language model, and the subject of each question about it;
 * shared by selection.h and generation.h. */
#ifndef WT_CALL_CALL_REQUEST_H
#define WT_CALL_CALL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/progress.h"
#include "base/str.h"

#define CALL_NO_CANDIDATE SIZE_MAX /* in place of a candidate: no candidate */

#define CALL_TEMPERATURE .7 /* temperature of samples, as in the paper */

enum { CALL_AT_ONCE = 4 /* maximum parallel questions */ };

/* Labels of an evaluation, for a simulated model only (call_oracle.h). */
struct call_labels {
    size_t tool;             /* correct candidate, or CALL_NO_CANDIDATE */
    size_t nearest;          /* most similar other candidate, or CALL_NO_CANDIDATE */
    const json_t *arguments; /* arguments of the correct call, an object; NULL if unknown */
    const json_t *wrong;     /* an object: wrong value by argument name; for others the model gives no value */
};

struct call_request {
    struct str text;
    const struct call_labels *labels; /* NULL except in evaluations; passed through to the model */
    struct progress *progress;        /* passed through to the model, which checks it for cancellation; may be NULL */
};

enum call_step {
    CALL_PICK,       /* choose a candidate, or null */
    CALL_PICK_AGAIN, /* choose one of the others */
    CALL_CONTRAST,   /* ask for a question that separates two tools */
    CALL_ANSWER,     /* answer this question from the request */
    CALL_DECIDE,     /* choose one of the two */
    CALL_PREDICT,    /* predict all arguments */
    CALL_VERIFY,     /* verify one argument: one of two values, or null */
    CALL_BUILD,      /* build the call from the verified values */
    CALL_MEND,       /* predict all arguments again, given the errors */
};

/* Value of chat_question.subject. */
struct call_subject {
    enum call_step step;
    const struct call_request *request;
    unsigned sample; /* index of the sample of this question, from 0 */

    /* For CALL_PICK to CALL_DECIDE: number n of the prompt is candidate listed[n - 1]. */
    const size_t *listed;
    size_t listed_count;
    bool answered; /* CALL_DECIDE: the prompt includes the answer to the contrastive question */

    /* For CALL_VERIFY: number n of the prompt is options[n - 1]. */
    const char *parameter;
    const json_t *const *options;
    size_t option_count;

    const json_t *arguments; /* CALL_BUILD: verified values */
};

#endif
