/* arguments.h: reads the arguments of a tool from the words of a request, without a language model.
 *
 * Literals (literals.h) and values of enumerations are assigned to parameters by kind, by the words around them, and by
 * their end of a range. A required argument absent from the request is missing. An argument with several candidates is
 * unsure. The caller asks for both; values are never invented.
 *
 * The maximum of a range never fills the minimum: "at most 500" is not a min_price. Language models make this mistake
 * (ToolVerifier, section 4.3). */
#ifndef WT_CALL_ARGUMENTS_H
#define WT_CALL_ARGUMENTS_H

#include "call/literals.h"
#include "call/parameters.h"

enum argument_state {
    ARGUMENT_ABSENT,  /* optional, and not in the request */
    ARGUMENT_GIVEN,   /* in the request */
    ARGUMENT_DEFAULT, /* required; value is the schema's default, or the usual value of past calls */
    ARGUMENT_MISSING, /* required, and not in the request in the form of the schema */
    ARGUMENT_UNSURE,  /* something in the request may be the value */
};

struct call_argument {
    enum argument_state state;
    json_t *value;     /* value of GIVEN and DEFAULT, proposal of UNSURE or NULL; owned by the arguments */
    size_t start, end; /* source of the value in the request; both 0 if unknown */
    float score;
    bool declined; /* the request says "NAME: none" */
};

struct call_arguments {
    struct call_argument *items; /* [parameters->len] */
    size_t len;
    struct str unused; /* first literal left unused; "" if all are used */
};

/* Fills out from the request. about: name and description of the tool; names in them are not arguments ("What version
 * is Instana using?"). out->items live in the arena; free the values with wt__call_arguments_dispose. 0 or WT_ENOMEM.
 */
int wt__call_arguments_fill(struct call_arguments *out, const struct literals *literals, struct str about,
                            const struct parameters *parameters, struct arena *arena);
/* Drops a value of the wrong form: the argument becomes missing, or unsure without a proposal. */
void wt__call_argument_reject(struct call_argument *argument, const struct parameter *parameter);
void wt__call_arguments_dispose(struct call_arguments *arguments);

#endif
