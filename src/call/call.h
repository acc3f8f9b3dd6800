/* call.h: makes a call: its state, validation, text and questions. */
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

/* The state of one call in progress: its candidate tools, and the result for each. call.c makes the call, model_call.c
 * with a language model. */

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
    double decided;   /* share of the best score, as in struct choice */
    unsigned details; /* bits of enum detail */
};

struct call_model {
    bool wanted; /* the caller asked for a language model */

    enum selection_method method;
    enum generation_source source;
    enum generation_build build;
    const char *second_name;   /* model of GENERATION_OTHER_MODEL; NULL if none */
    struct engine_chat second; /* its connection */
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
    bool weak;            /* the only candidate is weak */
    size_t count;         /* 0 if no tool was found, or the language model found that no tool fits */
    size_t found;         /* candidates found, whose values must be released */
    size_t first, second; /* the chosen and the next best candidate; second is SIZE_MAX if there is only one */
    json_t *values;       /* the certain arguments */
    const char **missing; /* [missing_count] */
    size_t missing_count;
    enum doubt doubt;     /* reason not to call the tool without asking */
    struct str unread;    /* word of the request missing from the call; for DOUBT_UNREAD */
    const char *wrong;    /* first violation that another value can fix; NULL if absent */
    struct notice notice; /* becomes wt_called.notice */
};

/* Reads the model options. Errors: WT_EINVAL. */
int wt__call_model_options(const wt_call_options *options, struct arena *arena, struct call_model *out, wt_error *err);

/* Lets the model choose among the candidates and write the arguments of its choice. Sets `first` and its arguments;
 * count becomes 0 if the model found that no tool fits. Errors: those of wt_call. */
int wt__call_by_model(struct call_run *calling, wt_error *err);
void wt__call_model_dispose(struct call_model *model);

/* Fills the candidate's demonstrations from recorded calls and from input_examples of its definition. Errors: those of
 * the store, WT_ENOMEM. */
int wt__call_load_demonstrations(struct call_run *calling, struct call_candidate *candidate, wt_error *err);

/* Sets *out to the request of the tool's newest recorded usage without failure, in the arena; empty if not found.
 * Errors: those of the store, WT_ENOMEM. */
int wt__call_find_past_request(const struct call_run *calling, const wt_tool *tool, struct str *out, wt_error *err);

/* ---------------------------------------------------------------- validation */

/* Validates arguments against the schema of their tool. If the schema is invalid, or exceeds the limits of the
 * validator, validation is skipped and the reason is reported. */

struct call_checker {
    wt_validator *validator; /* NULL if the schema is unusable; `why` has the reason */
    wt_error why;
};

/* Opens a checker; end with wt__call_checker_close. 0 or WT_ENOMEM. */
int wt__call_checker_open(struct call_checker *out, const char *schema, wt_error *err);
void wt__call_checker_close(struct call_checker *checker);

/* Drops unsure arguments that do not fit the schema, as useless proposals. 0 or WT_ENOMEM. */
int wt__call_reject_unfit(const struct call_checker *checker, const struct parameters *parameters,
                          struct call_arguments *arguments, wt_error *err);

/* Implements call_validation.validate. self: a checker with a validator. */
int wt__call_check(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err);

/* ---------------------------------------------------------------- text of a call */

/* Writes a call in the form of the API that executes it: one object in a provider's form, or lines as in ToolVerifier
 * (A.4.7, figure 2). */

/* Appends the call, safe to show (text/shown.h). form: "arguments" (the object alone), "openai" (chat completions),
 * "openai-responses", "anthropic", "gemini", "mcp" (a request without its number), "lines". Tools have their exported
 * name; in "mcp" and "lines" their own. The id of a call is a hash of the call. Errors: WT_EINVAL (unknown form),
 * WT_ENOMEM. */
int wt__tool_call_write(struct buffer *out, struct str form, struct str name, struct str export_name,
                        const json_t *schema, const json_t *arguments, wt_error *err);

/* Returns WT_EINVAL for an unknown form. */
/* Checks the name of a form. Errors: WT_EINVAL if it is unknown. */

int wt__tool_call_check(struct str form, wt_error *err);

/* Appends a value as JSON, safe to show; the text `absent` if value is NULL. */
void wt__write_shown_value(struct buffer *out, const json_t *value, const char *absent);
/* ---------------------------------------------------------------- questions */

/* Asks the user a question, without a language model: about two close tools, about calling a tool at all, or about the
 * value of an argument. Definitions are hostile text: quoted parts are made plain (llm/plain_text.h) and cut. */

enum {
    QUESTION_TOOL_BYTES = 160, /* description of a tool, or its distinguishing words */
    QUESTION_NAME_BYTES = 128,
    QUESTION_VALUE_BYTES = 64,
    QUESTION_DESCRIPTION_BYTES = 120, /* description of a parameter */
    QUESTION_VALUES = 8,              /* values shown of an enumeration */
    QUESTION_DIFFERENCES = 8,         /* distinguishing words of one of two tools */
    QUESTION_COMPARED_BYTES = 2048,   /* bytes compared of each description */
    QUESTION_ARGUMENTS = 5,           /* arguments per question */
    QUESTION_SUGGESTIONS = 3,         /* suggested arguments for an unread word */
};

/* A candidate in a question. */
struct question_tool {
    struct str id, name, description;
};

/* Appends a contrastive question (ToolVerifier 2.2) with the words found in only one of the two descriptions. Without
 * such words, or with too many, quotes the beginnings of both. Tools with the same description are identified by id. */
void wt__question_of_tools(struct buffer *out, const struct question_tool *a, const struct question_tool *b);

/* Appends a question about calling a weak candidate. */
void wt__question_of_weak(struct buffer *out, const struct question_tool *tool);

/* Appends the reason not to call the tool, and a question about calling it. doubt must not be DOUBT_NONE or
 * DOUBT_UNREAD. */
void wt__question_of_intent(struct buffer *out, enum doubt doubt, const struct question_tool *tool);

/* Appends a question about missing and unsure arguments, or else about an unused part of the request. Leaves out
 * unchanged if all is clear. */
void wt__question_of_arguments(struct buffer *out, const struct parameters *parameters,
                               const struct call_arguments *arguments);

/* Appends a question about a value of the wrong form. */
void wt__question_of_violation(struct buffer *out, const char *violation);

/* Appends a note about a word that the call ignores. If out is empty, also asks if the call should be made. An empty
 * word means that the request is too long. */
void wt__question_of_unread(struct buffer *out, struct str word, const struct parameters *parameters,
                            const struct call_arguments *arguments);

#endif
