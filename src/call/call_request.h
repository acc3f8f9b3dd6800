/* call_request.h: a request that is to become the call of a tool by way of a language model, and what each question
 * about it is about: what selection.h and generation.h share. */
#ifndef WT_CALL_CALL_REQUEST_H
#define WT_CALL_CALL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/progress.h"
#include "base/str.h"

#define CALL_NOBODY SIZE_MAX /* in place of a candidate: none of them */

#define CALL_TEMPERATURE .7 /* of samples, as the paper has it */

enum { CALL_AT_ONCE = 4 /* questions under way at once */ };

/* What an evaluation knows of a request beforehand, for a stand-in model only (call_oracle.h). */
struct call_labels {
    size_t tool;             /* the candidate that the request needs, or CALL_NOBODY */
    size_t nearest;          /* the other candidate that is most like it, or CALL_NOBODY */
    const json_t *arguments; /* of the right call, an object; NULL: none */
    const json_t *wrong;     /* an object: what is mistaken for an argument, by its name; without it nothing is given */
};

struct call_request {
    struct str text;
    const struct call_labels *labels; /* NULL but in evaluations; only handed on to the model */
    struct progress *progress;        /* handed on to the model, which hears from it when to stop; may be NULL */
};

enum call_step {
    CALL_PICK,       /* a candidate, or none */
    CALL_PICK_AGAIN, /* one of the others */
    CALL_CONTRAST,   /* a question that tells two tools apart */
    CALL_ANSWER,     /* the answer to it, of the request */
    CALL_DECIDE,     /* one of the two */
    CALL_PREDICT,    /* all arguments */
    CALL_VERIFY,     /* one argument: one of two values, or none */
    CALL_BUILD,      /* the call of the values that were decided on */
    CALL_MEND,       /* all arguments again, with what is wrong with them */
};

/* chat_question.subject. */
struct call_subject {
    enum call_step step;
    const struct call_request *request;
    unsigned sample; /* which answer of several to the same question, from 0 */

    /* Of CALL_PICK to CALL_DECIDE: number n of the prompt is candidate listed[n - 1]. */
    const size_t *listed;
    size_t listed_count;
    bool answered; /* CALL_DECIDE: the request comes with the answer to the contrastive question */

    /* Of CALL_VERIFY: number n of the prompt is options[n - 1]. */
    const char *parameter;
    const json_t *const *options;
    size_t option_count;

    const json_t *arguments; /* CALL_BUILD: what was decided on */
};

#endif
