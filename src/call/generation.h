/* generation.h: lets a language model write and verify the arguments of a call: ToolVerifier (Mekala et al. 2024),
 * section 2.3.
 *
 *   predictions: all arguments, twice: few-shot from past calls of the tool, and by reasoning first (ReAct), by another
 *       model, or as a sample
 *   verification: a multiple-choice question, including "none of them", for each parameter with different predictions
 *   the call: the agreed and verified values, assembled here; or written by the model as in A.4.7
 *   validation: by the caller; the model repairs an invalid call once, given the fault
 *
 * Values absent from the request are missing, never invented. Predictions and the answers of
 * verifications may be null.
 * A required parameter without a value is reported (ARGUMENT_MISSING), unless its schema has a default
 * (ARGUMENT_DEFAULT).
 *
 * Differences from the paper: predictions are JSON, constrained by the tool's schema (argument_form.h), so no prose is
 * parsed. Options have a hashed order, not the order of the predictions. Numbers and spellings with the same value are
 * equal.
 *
 * Unusable answers: if one prediction is unusable, the other is used without verification. If both are, no call is made
 * (GENERATION_UNSAID). If a verification is unusable, the argument is unsure and left out of the call.
 *
 * Descriptions, schemas, requests, demonstrations and the model's answers are hostile. Each is only ever the value of a
 * slot, and members of an answer are looked up only by the names of the tool's parameters. */
#ifndef WT_CALL_GENERATION_H
#define WT_CALL_GENERATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "call/arguments.h"
#include "call/call_request.h"
#include "call/parameters.h"
#include "llm/chat.h"
#include "llm/exchange.h"

enum {
    GENERATION_PREDICTIONS = 2,
    GENERATION_DEMONSTRATIONS = 3,         /* demonstrations in a prompt, as in the paper */
    GENERATION_MAX_TOOL_BYTES = 1200,      /* name and description in the prompts */
    GENERATION_MAX_VALUE_BYTES = 1200,     /* a parameter's line, or a value, in the prompts */
    GENERATION_MAX_ARGUMENTS_BYTES = 2000, /* a demonstration in the prompts */
    GENERATION_MAX_FAULT_BYTES = 1024,     /* description of a fault */
};

/* Source of the second set of arguments; the first is always few-shot. */
enum generation_source {
    GENERATION_REACT,       /* the same model, reasoning first */
    GENERATION_OTHER_MODEL, /* few-shot, another model */
    GENERATION_SAMPLED,     /* few-shot, the same model at a temperature */
    GENERATION_ALONE,       /* no second set, no verification */
};

enum generation_build {
    GENERATION_ASSEMBLED, /* from the verified values, without a question */
    GENERATION_WRITTEN,   /* by the model from "name: value" lines (A.4.7); it may only change the form of values */
};

struct generation_demonstration {
    struct str request;
    const json_t *arguments;
};

struct generation_tool {
    struct str name, description;
    const json_t *schema;                                  /* schema of the arguments; NULL if the tool has no schema */
    const struct generation_demonstration *demonstrations; /* nearest first, or NULL */
    size_t demonstration_count;
};

/* Validates arguments against the tool's schema. Returns 0 and sets *fault, in the arena, to a description of the
 * fault, or to an empty string. Other errors end the generation. */
struct call_validation {
    void *self;
    int (*validate)(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err);
};

struct generation_options {
    enum generation_source second;
    struct chat_model *other; /* for GENERATION_OTHER_MODEL */
    double temperature;       /* for GENERATION_SAMPLED; 0 for CALL_TEMPERATURE */
    enum generation_build build;
    const struct call_validation *validation; /* NULL to skip validation */
};

struct generated_argument {
    const struct parameter *parameter;
    const json_t *predictions[GENERATION_PREDICTIONS]; /* NULL if the prediction leaves the argument out */
    bool asked;                                        /* the predictions differ, and the model was asked */
    enum argument_state state;
    const json_t *value; /* for GIVEN, DEFAULT and UNSURE */
};

enum generation_end {
    GENERATION_UNSAID,     /* no usable prediction */
    GENERATION_INCOMPLETE, /* a required argument is missing or unsure */
    GENERATION_INVALID,    /* the call is invalid after the repair; see `fault` */
    GENERATION_COMPLETE,
};

/* Trace of a generation. Free with wt__generation_dispose; the rest lives as long as the arena. */
struct generation_trace {
    struct generated_argument *items; /* in the order of the schema, at most PARAMETERS_MOST */
    size_t len;
    struct parameters parameters;
    json_t *arguments; /* arguments of the call: given and default values; NULL if unsaid or on an error */
    enum generation_end end;
    struct str fault; /* description of the fault, as plain text; empty if the call is valid or was not validated */
    bool verified;    /* both predictions were usable, and their differences were asked about */
    bool mended;      /* the model repaired the call */
    json_t *answers;  /* list of all answers; owns the values */
    struct chat_exchange *exchanges;
    size_t exchange_count;
    struct chat_cost cost;
};

/* Generates the arguments for a request. options: NULL for defaults. The tool's schema and demonstrations must outlive
 * the trace. Errors: WT_EINVAL (invalid option), those of chat.h except WT_EFORMAT, those of the validation, WT_ENOMEM.
 * On an error the trace has the questions asked so far. */
int wt__generate_arguments(const struct generation_options *options, const struct generation_tool *tool,
                           struct chat_model *model, const struct call_request *request, struct arena *arena,
                           struct generation_trace *out, wt_error *err);
void wt__generation_dispose(struct generation_trace *trace);

const char *wt__generation_end_name(enum generation_end end); /* "unsaid", "incomplete", "invalid" or "complete" */

#endif
