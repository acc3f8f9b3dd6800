/* call.h: one call on its way: the tools that a request may mean, and what became of each. call.c makes it, where one
 * is wanted by a language model in call_model.c; call_steps.c tells how. */
#ifndef WT_CALL_CALL_H
#define WT_CALL_CALL_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "call/arguments.h"
#include "call/decision.h"
#include "call/demonstrations.h"
#include "call/generation.h"
#include "call/intent.h"
#include "call/selection.h"
#include "engine/engine.h"
#include "engine/notice.h"

enum {
    CALL_CANDIDATES = 8, /* first tools that are looked at; of dev requests what is meant is seldom beyond the fifth */
    CALL_VIOLATIONS = 8, /* that are told */
};

struct call_candidate {
    const wt_tool *tool;
    double score, probability;            /* of the search */
    json_t *schema;                       /* NULL: it is no JSON */
    json_t *recorded;                     /* what demonstrations borrow */
    struct demonstration *demonstrations; /* [demonstration_count] */
    size_t demonstration_count;
    struct parameters parameters;
    struct call_arguments arguments;
    double decided; /* as in struct choice */
    unsigned details;
};

/* The part of a language model. */
struct call_model {
    bool wanted;
    enum selection_method method;
    enum generation_source source;
    enum generation_build build;
    struct engine_chat second; /* of GENERATION_OTHER_MODEL, as is the next */
    struct chat_model *other;
    const char *name;         /* NULL until it was asked */
    bool selected, generated; /* there is a trace of it */
    struct selection_trace selection;
    struct generation_trace generation;
};

struct calling {
    /* What is wanted; borrowed. */
    wt_engine *engine;
    struct str request;
    const wt_call_options *options; /* in full */
    struct arena *arena;            /* the result's */
    struct progress *progress;
    struct call_model model;
    struct literals literals; /* of the request */

    /* How far it is. */
    wt_hits *hits;   /* NULL with options->tool */
    wt_tools *tools; /* NULL without */
    struct call_candidate candidates[CALL_CANDIDATES];
    bool weak;            /* hardly anything speaks for the one candidate that there is */
    size_t count, found;  /* count is 0 where a language model says that none fits; found are there nevertheless */
    size_t first, second; /* of the candidates, by the decision; second SIZE_MAX: there is none */
    json_t *values;       /* the arguments that are sure */
    const char **missing; /* [missing_count] */
    size_t missing_count;
    enum doubt doubt;     /* why the tool is not called without asking */
    struct str unread;    /* word of the request that the call leaves unread; DOUBT_UNREAD */
    const char *wrong;    /* the first violation that another value would mend; NULL: none */
    struct notice notice; /* becomes wt_called.notice */
};

/* Reads what the options say of the model. Errors: WT_EINVAL. */
int wt__call_model_options(const wt_call_options *options, struct call_model *out, wt_error *err);

/* Has the model choose among the candidates, and write the arguments of the one that it chose: `first` and its
 * arguments are its then; count is 0 where it says that none fits. Errors: those of wt_call. */
int wt__call_by_model(struct calling *calling, wt_error *err);
void wt__call_model_dispose(struct call_model *model);

/* Sets calling->doubt and calling->unread for the first candidate, whose arguments are final. 0 or WT_ENOMEM. */
int wt__call_doubt(struct calling *calling, wt_error *err);

/* Fills the candidate's demonstrations: its definition's input_examples, and recorded calls. Errors: those of the
 * store, WT_ENOMEM. */
int wt__call_demonstrations(struct calling *calling, struct call_candidate *candidate, wt_error *err);

/* The request of the tool's newest recorded usage that did not fail, in the arena; empty: none. Errors: as above. */
int wt__call_past_request(const struct calling *calling, const wt_tool *tool, struct str *out, wt_error *err);

/* Appends what was found, decided and read, as a JSON object. */
void wt__call_steps(struct buffer *out, const struct calling *calling);

#endif
