/* arguments.h: the arguments of a tool from the words of a request, without a language model: literals (literals.h) and
 * the values of enumerations go to the parameters that fit them by kind, by the words beside them and by which end of
 * a range they are. What is told apart is what is sure and what is not: a required argument that nothing of the request
 * gives is missing, one that several things could be is unsure, and either is asked for; nothing is made up.
 *
 * An end of a range is never filled by the other one (ToolVerifier 4.3: a model writes the maximum that was said as
 * the minimum, too): "at most 500" is no min_price. */
#ifndef WT_CALL_ARGUMENTS_H
#define WT_CALL_ARGUMENTS_H

#include "call/literals.h"
#include "call/parameters.h"

enum argument_state {
    ARGUMENT_ABSENT,  /* optional, and the request says nothing of it */
    ARGUMENT_GIVEN,   /* the request says it */
    ARGUMENT_DEFAULT, /* required, and the schema's default, or what past calls usually give */
    ARGUMENT_MISSING, /* required, and nothing in the request is one; that may be meant, and have another form */
    ARGUMENT_UNSURE,  /* something in the request may be it */
};

struct argument {
    enum argument_state state;
    json_t *value;     /* of GIVEN, DEFAULT, and of UNSURE where it may be that; owned by the arguments */
    size_t start, end; /* bytes of the request that it is from; 0, 0: of none */
    float score;
    bool declined; /* absent, since the request says "NAME: none" */
};

struct call_arguments {
    struct argument *items; /* [parameters->len] */
    size_t len;
    struct str unused; /* the first literal that no parameter took: the request says more than the call; "" for none */
};

/* about: what the tool says of itself, whose names are no arguments ("What version is Instana using?"). out->items live
 * in the arena; end with wt__call_arguments_dispose. 0 or WT_ENOMEM. */
int wt__call_arguments_fill(struct call_arguments *out, const struct literals *literals, struct str about,
                            const struct parameters *parameters, struct arena *arena);
/* The value has not the form that the parameter wants, and so is no proposal either. */
void wt__call_argument_refuse(struct argument *argument, const struct parameter *parameter);
void wt__call_arguments_dispose(struct call_arguments *arguments);

#endif
