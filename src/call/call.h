/* call.h: the state of a call in progress, its validation, its text form, and the questions to the user. */
#ifndef WT_CALL_CALL_H
#define WT_CALL_CALL_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/str.h"
#include "call/arguments.h"
#include "call/language_model.h"
#include "engine/engine.h"
#include "engine/notice.h"
#include "whichtool.h"

/* State of one call in progress, with the candidate tools and their arguments. call.c makes the call. If a language
 * model is wanted, model_call.c lets the model choose the tool and write the arguments. */

enum {
    CALL_CANDIDATES = 8, /* default number of candidates; on the dev sets, the correct tool is rarely after the fifth */
    CALL_MODEL_CANDIDATES = 20, /* the same with a language model; ToolVerifier's library has 17 tools */
    CALL_VIOLATIONS = 8,        /* maximum violations reported */
};

struct call_candidate {
    const wt_tool *tool;
    double score, probability;            /* of the search hit; probability is NaN if unknown */
    json_t *schema;                       /* the tool's schema; NULL if it is not valid JSON */
    json_t *recorded;                     /* owner of the JSON in `demonstrations`, or NULL */
    struct demonstration *demonstrations; /* [demonstration_count] */
    size_t demonstration_count;
    struct parameters parameters;
    struct call_arguments arguments;
    double decided;   /* share of the best score, as in struct choice */
    unsigned details; /* bits of enum detail */
};

enum { CALL_OTHER_MODELS = 3 };

struct call_model {
    bool wanted; /* true if the caller asked for a language model */

    enum selection_method method;
    enum generation_source source;
    enum generation_build build;
    struct call_sampling sampling;
    const char *second_name; /* name of the second model, for GENERATION_OTHER_MODEL; else NULL */
    const char *name;        /* name of the first model; NULL until the model is opened */
    /* Models for a part of the work, NULL if not given, and their connections. */
    struct chat_model *other, *verifier, *writer;
    struct engine_chat connections[CALL_OTHER_MODELS];
    bool selected, generated; /* true once `selection` or `generation`, respectively, is filled */
    struct selection_trace selection;
    struct generation_trace generation;
};

struct call_run {
    /* Input; borrowed. */
    wt_engine *engine;
    struct str request;
    const wt_call_options *options; /* the caller's options; fields that an older caller lacks are 0 */
    struct arena *arena;            /* the arena of the result */
    struct progress *progress;
    struct call_model model;
    struct literals literals; /* of the request */

    /* Progress. */
    wt_hits *hits;   /* NULL with options->tool */
    wt_tools *tools; /* NULL without options->tool */
    struct call_candidate candidates[WT_MAX_CALL_CANDIDATES];
    bool weak;            /* true if all hits are weak */
    bool unlikely;        /* true if no tool seems to fit, so that only a kind of value makes a candidate */
    size_t count;         /* number of candidates; 0 if no tool was found or the language model chose none */
    size_t found;         /* number of candidates whose values must be freed; kept if the language model resets count */
    size_t first, second; /* the chosen and the next best candidate; second is SIZE_MAX if there is only one */
    json_t *values;       /* arguments of the call: those with state GIVEN or DEFAULT */
    const char **missing; /* [missing_count] names of arguments with state MISSING */
    size_t missing_count;
    enum doubt doubt;     /* reason not to call the tool without asking */
    struct str unread;    /* for DOUBT_UNREAD: word missing from the call; empty if the request was too long */
    const char *wrong;    /* message of the first violation that another value can fix, or NULL */
    struct notice notice; /* becomes wt_called.notice */
};

/* Reads the model options. Errors: WT_EINVAL. */
int wt__call_model_options(const wt_call_options *options, struct arena *arena, struct call_model *out, wt_error *err);

/* Lets the model choose among the candidates and write the arguments. Sets calling->first, and the arguments of that
 * candidate. calling->count becomes 0 if the model finds that no tool fits. Errors: those of wt_call. */
int wt__call_by_model(struct call_run *calling, wt_error *err);

/* Returns the contrastive questions in the engine's store. */
struct contrast_store wt__call_contrast_store(wt_engine *engine);
void wt__call_model_dispose(struct call_model *model);

/* Fills the candidate's demonstrations from recorded calls and from input_examples of its definition. Errors: those of
 * the store, WT_ENOMEM. */
int wt__call_load_demonstrations(struct call_run *calling, struct call_candidate *candidate, wt_error *err);

/* Sets *out to the request of the tool's newest successful use in the store, in the arena; empty if not found. Errors:
 * those of the store, WT_ENOMEM. */
int wt__call_find_past_request(const struct call_run *calling, const wt_tool *tool, struct str *out, wt_error *err);

/* ---------------------------------------------------------------- validation */

/* Validates arguments against the schema of their tool. If the schema is invalid, or exceeds the limits of the
 * validator, validation is skipped and the reason is reported. */

struct call_checker {
    wt_validator *validator; /* NULL if the schema is unusable */
    wt_error why;            /* reason, if validator is NULL */
};

/* Opens a checker; end with wt__call_checker_close. 0 or WT_ENOMEM. */
int wt__call_checker_open(struct call_checker *out, const char *schema, wt_error *err);
void wt__call_checker_close(struct call_checker *checker);

/* Calls wt__call_argument_reject for each unsure argument whose proposal does not fit the schema. 0 or WT_ENOMEM. */
int wt__call_reject_unfit(const struct call_checker *checker, const struct parameters *parameters,
                          struct call_arguments *arguments, wt_error *err);

/* Implements call_validation.validate. self: a checker with a validator. */
int wt__call_check(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err);

/* ---------------------------------------------------------------- text of a call */

/* The text of a call has the form of the API that executes the call, or of the lines in ToolVerifier (appendix A.4.7,
 * figure 2). */

/* Appends the call, safe to show (text/shown.h). form: "arguments" (the object of arguments alone), "openai" (chat
 * completions), "openai-responses", "anthropic", "gemini", "mcp" (a JSON-RPC request without id), "lines". The forms
 * "mcp" and "lines" use `name`, the others `export_name`. The id of a call is a hash of the call. Errors: WT_EINVAL
 * (unknown form), WT_ENOMEM. */
int wt__tool_call_write(struct buffer *out, struct str form, struct str name, struct str export_name,
                        const json_t *schema, const json_t *arguments, wt_error *err);

/* Checks the name of a form. Errors: WT_EINVAL (unknown form). */
int wt__tool_call_check(struct str form, wt_error *err);

/* Appends a value as JSON, safe to show; the text `absent` if value is NULL. */
void wt__write_shown_value(struct buffer *out, const json_t *value, const char *absent);

/* ---------------------------------------------------------------- questions */

/* Questions to the user are written without a language model. They ask which of two close tools to call, whether to
 * call a tool at all, or for the value of an argument. Definitions of tools are untrusted, so quoted parts are
 * sanitised (llm/plain_text.h) and truncated. */

/* Maximum lengths and numbers. */
enum {
    QUESTION_TOOL_BYTES = 160, /* description of a tool, or the words that distinguish the tool */
    QUESTION_NAME_BYTES = 128,
    QUESTION_VALUE_BYTES = 64,
    QUESTION_DESCRIPTION_BYTES = 120, /* description of a parameter */
    QUESTION_VALUES = 8,              /* values shown of an enumeration */
    QUESTION_DIFFERENCES = 8,         /* words that distinguish one of two tools */
    QUESTION_COMPARED_BYTES = 2048,   /* bytes compared of each description */
    QUESTION_ARGUMENTS = 5,           /* arguments per question */
    QUESTION_SUGGESTIONS = 3,         /* suggested arguments for an unread word */
};

/* A candidate in a question. */
struct question_tool {
    struct str id, name, description;
};

/* Appends a contrastive question (ToolVerifier, section 2.2) with the words found in only one of the two descriptions.
 * If there are no such words or too many, quotes the beginning of each description. Tools with the same description are
 * identified by id. */
void wt__question_of_tools(struct buffer *out, const struct question_tool *a, const struct question_tool *b);

/* Appends a question about calling a weak candidate. */
void wt__question_of_weak(struct buffer *out, const struct question_tool *tool);

/* Appends the reason not to call the tool, and a question about calling it. doubt must not be DOUBT_NONE or
 * DOUBT_UNREAD. */
void wt__question_of_intent(struct buffer *out, enum doubt doubt, const struct question_tool *tool);

/* Appends a question about missing and unsure arguments, or else about an unused part of the request. Leaves `out`
 * unchanged if there is nothing to ask. */
void wt__question_of_arguments(struct buffer *out, const struct parameters *parameters,
                               const struct call_arguments *arguments);

/* Appends a question about a value of the wrong form. */
void wt__question_of_violation(struct buffer *out, const char *violation);

/* Appends a note about a word that the call ignores. If `out` was empty, also asks whether to make the call. An empty
 * word means that the request is too long to be read in full. */
void wt__question_of_unread(struct buffer *out, struct str word, const struct parameters *parameters,
                            const struct call_arguments *arguments);

#endif
