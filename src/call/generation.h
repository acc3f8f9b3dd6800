/* generation.h: the arguments of a call, written by a language model that verifies them: ToolVerifier (Mekala et al.
 * 2024), section 2.3.
 *
 *   predictions   all arguments, twice: few-shot from what past requests called the tool with, and by reasoning first
 *                 (ReAct), by another model, or as a sample
 *   verification  for each parameter in which these differ, a question of multiple choice, of which "none" is one
 *   the call      what was agreed on or decided, put together here; or, as in the paper's A.4.7, by the model
 *   validation    the caller's; what does not hold is written once more by the model, which is told what is wrong
 *
 * What the request does not give is missing, and never made up: a prediction may be null, a verification may be none,
 * and a required parameter without a value is reported (ARGUMENT_MISSING), unless its schema has a default, which is
 * marked as such (ARGUMENT_DEFAULT).
 *
 * Where it departs from the paper: predictions are JSON, which the tool's schema constrains as far as it can
 * (argument_form.h), so that nothing is read out of prose; options stand in an order of their own, not that of the
 * predictions; numbers and spellings that only differ in form are no difference.
 *
 * What stands in for an answer that is none: of one prediction the other, unverified; of both nothing, and no call is
 * made (GENERATION_UNSAID); of a verification neither value, and the argument is unsure and not in the call.
 *
 * Descriptions, schemas, requests, demonstrations and what the model says are hostile. Each is only ever the value of a
 * slot; the members of an answer are only ever looked up by the names of the tool's parameters. */
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
#include "llm/prompt.h"

enum {
    GENERATION_PREDICTIONS = 2,
    GENERATION_DEMONSTRATIONS = 3,         /* the first that are shown, as the paper has it */
    GENERATION_MAX_TOOL_BYTES = 1200,      /* of a name and description, as the prompts take them */
    GENERATION_MAX_VALUE_BYTES = 1200,     /* of a parameter's line, or a value, as the prompts take them */
    GENERATION_MAX_ARGUMENTS_BYTES = 2000, /* of a demonstration */
    GENERATION_MAX_FAULT_BYTES = 1024,     /* of what is wrong with a call, in words */
};

/* Where the second set of arguments comes from; the first is always few-shot. */
enum generation_source {
    GENERATION_REACT,       /* the same model, reasoning first */
    GENERATION_OTHER_MODEL, /* few-shot, another model */
    GENERATION_SAMPLED,     /* few-shot, the same model at a temperature */
    GENERATION_ALONE,       /* there is none: without verification */
};

enum generation_build {
    GENERATION_ASSEMBLED, /* of what was decided, without a question */
    GENERATION_WRITTEN, /* by the model, from "name: value" lines (A.4.7); it may give a value another form, no more */
};

struct generation_demonstration {
    struct str request;
    const json_t *arguments;
};

struct generation_tool {
    struct str name, description;
    const json_t *schema;                                  /* of its arguments; NULL: it has none */
    const struct generation_demonstration *demonstrations; /* nearest first, or NULL */
    size_t demonstration_count;
};

/* Holds arguments to the tool's schema: 0, and *fault in the arena says in a sentence what is wrong with them, empty
 * when nothing is; or an error, which ends the generation. */
struct call_validation {
    void *self;
    int (*validate)(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err);
};

struct generation_options {
    enum generation_source second;
    struct chat_model *other; /* of GENERATION_OTHER_MODEL */
    double temperature;       /* of GENERATION_SAMPLED; 0: CALL_TEMPERATURE */
    enum generation_build build;
    const struct call_validation *validation; /* NULL: the call is not validated */
};

struct generated_argument {
    const struct parameter *parameter;
    const json_t *predictions[GENERATION_PREDICTIONS]; /* NULL: none was given */
    bool asked;                                        /* they differ, and the model was asked which it is */
    enum argument_state state;
    const json_t *value; /* of GIVEN, DEFAULT and UNSURE */
};

enum generation_end {
    GENERATION_UNSAID,     /* no prediction was an answer */
    GENERATION_INCOMPLETE, /* a required argument is missing or unsure */
    GENERATION_INVALID,    /* the call does not hold, and the second try did not either: `fault` */
    GENERATION_COMPLETE,
};

/* Everything that was seen and decided. Ends with wt__generation_dispose; the rest lives as long as the arena. */
struct generation_trace {
    struct generated_argument *items; /* in the order of the schema, the first PARAMETERS_MOST */
    size_t len;
    struct parameters parameters;
    json_t *arguments; /* of the call, an object: what is given or a default; NULL when unsaid or on an error */
    enum generation_end end;
    struct str fault; /* the first that was found, in words, made plain; empty: none, or nothing validated it */
    bool verified;    /* both predictions were answers, and what they differed in was asked about */
    bool mended;      /* the call was written once more */
    json_t *answers;  /* a list of what was answered, which the values are parts of */
    struct chat_exchange *exchanges;
    size_t exchange_count;
    struct chat_cost cost;
};

/* The arguments with which the request calls the tool. options: NULL for the defaults. The tool's schema and its
 * demonstrations must outlive the trace. Errors: WT_EINVAL (an option that is none), those of chat.h but WT_EFORMAT,
 * those of the validation, WT_ENOMEM; the trace holds what was asked up to it. */
int wt__generate_arguments(const struct generation_options *options, const struct generation_tool *tool,
                           struct chat_model *model, const struct call_request *request, struct arena *arena,
                           struct generation_trace *out, wt_error *err);
void wt__generation_dispose(struct generation_trace *trace);

const char *wt__generation_end_name(enum generation_end end); /* "unsaid", "incomplete", "invalid", "complete" */

#endif
