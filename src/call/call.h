/* call.h: the state of one call in progress: its candidate tools, and the result for each. call.c makes the call,
 * model_call.c with a language model; model_steps.c explains its steps. */
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
#include "engine/engine_chat.h"
#include "engine/notice.h"

enum {
    CALL_CANDIDATES = 8, /* first hits considered; on dev, the correct tool is rarely beyond the fifth */
    CALL_VIOLATIONS = 8, /* maximum violations reported */
};

struct call_candidate {
    const wt_tool *tool;
    double score, probability;            /* results of the search */
    json_t *schema;                       /* NULL if it is not valid JSON */
    json_t *recorded;                     /* owner of the demonstrations' values */
    struct demonstration *demonstrations; /* [demonstration_count] */
    size_t demonstration_count;
    struct parameters parameters;
    struct call_arguments arguments;
    double decided; /* as in struct choice */
    unsigned details;
};

/* State of the language model. */
struct call_model {
    bool wanted;
    enum selection_method method;
    enum generation_source source;
    enum generation_build build;
    struct engine_chat second; /* connection of GENERATION_OTHER_MODEL */
    struct chat_model *other;
    const char *name;         /* NULL until the first question */
    bool selected, generated; /* the trace below is filled */
    struct selection_trace selection;
    struct generation_trace generation;
};

struct call_run {
    /* Input; borrowed. */
    wt_engine *engine;
    struct str request;
    const wt_call_options *options; /* complete, with defaults filled in */
    struct arena *arena;            /* the arena of the result */
    struct progress *progress;
    struct call_model model;
    struct literals literals; /* of the request */

    /* Progress. */
    wt_hits *hits;   /* NULL with options->tool */
    wt_tools *tools; /* NULL without options->tool */
    struct call_candidate candidates[CALL_CANDIDATES];
    bool weak; /* the only candidate is weak */
    size_t count,
        found; /* count: 0 if the language model found that no tool fits; found: number of candidates to release */
    size_t first, second; /* decided candidates; second is SIZE_MAX if there is only one */
    json_t *values;       /* the certain arguments */
    const char **missing; /* [missing_count] */
    size_t missing_count;
    enum doubt doubt;     /* reason not to call the tool without asking */
    struct str unread;    /* word of the request missing from the call; for DOUBT_UNREAD */
    const char *wrong;    /* first violation fixable by another value; NULL if absent */
    struct notice notice; /* becomes wt_called.notice */
};

/* Reads the model options. Errors: WT_EINVAL. */
int wt__call_model_options(const wt_call_options *options, struct call_model *out, wt_error *err);

/* Lets the model choose among the candidates and write the arguments of its choice. Sets `first` and its arguments;
 * count becomes 0 if the model found that no tool fits. Errors: those of wt_call. */
int wt__call_by_model(struct call_run *calling, wt_error *err);
void wt__call_model_dispose(struct call_model *model);

/* Sets calling->doubt and calling->unread for the first candidate, whose arguments are final. 0 or WT_ENOMEM. */
int wt__call_find_doubt(struct call_run *calling, wt_error *err);

/* Fills the candidate's demonstrations from input_examples of its definition and from recorded calls. Errors: those of
 * the store, WT_ENOMEM. */
int wt__call_load_demonstrations(struct call_run *calling, struct call_candidate *candidate, wt_error *err);

/* Sets *out to the request of the tool's newest recorded usage without failure, in the arena; empty if not found.
 * Errors: as above. */
int wt__call_find_past_request(const struct call_run *calling, const wt_tool *tool, struct str *out, wt_error *err);

/* Appends the candidates, the decision and the arguments as a JSON object. */
void wt__call_write_steps(struct buffer *out, const struct call_run *calling);

#endif
