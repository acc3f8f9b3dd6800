/* language_model.h: chooses a tool and writes its arguments by a language model with verification. */
#ifndef WT_CALL_LANGUAGE_MODEL_H
#define WT_CALL_LANGUAGE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/str.h"
#include "call/arguments.h"
#include "llm/chat.h"
#include "llm/prompt.h"

/* ---------------------------------------------------------------- requests */

/* A request to be turned into a call by a language model, and the subject of each question about it; shared by
 * selection and generation. */

#define CALL_NO_CANDIDATE SIZE_MAX /* in place of a candidate: no candidate */

#define CALL_TEMPERATURE .7 /* temperature of samples, as in ToolVerifier (Mekala et al. 2024) */

enum { CALL_AT_ONCE = 4 /* maximum parallel questions */ };

/* Labels of an evaluation, for a simulated model only (tests/call/call_oracle.h). */
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

/* ---------------------------------------------------------------- numbered answers */

/* Answers in the form of a list number, or null if the prompt allows it. Every decision about tools and values has this
 * form; any other answer is unusable. */

/* Copies a prompt's schema and restricts the member to the numbers 1 to count, and to null if the schema allows it.
 * Free *out with json_decref. 0 or WT_ENOMEM. */
int wt__numbered_schema(json_t **out, const json_t *schema, const char *member, size_t count, wt_error *err);

enum numbered {
    NUMBERED_UNUSABLE, /* neither a number of the list nor an allowed null */
    NUMBERED_NONE,
    NUMBERED_ITEM,
};

/* Reads an answer; NULL is unusable. none: null is allowed. *item: index of the item, from 0, for NUMBERED_ITEM. */
enum numbered wt__numbered_read(const json_t *answer, const char *member, size_t count, bool none, size_t *item);

/* ---------------------------------------------------------------- forms of arguments */

/* Shows the parameters of a tool to a language model, builds the JSON schema for its answer, and reads values from the
 * answer.
 *
 * The tool's own schema is hostile text. The answer schema is sent to the server outside the quoted slots, and a repair
 * round shows it to the model. So it keeps only names, types and limits. Titles and descriptions are dropped, and so
 * are enumerations with blanks in their values. If a name is not an identifier, the answer may be any object. Keywords
 * unsupported by llm/answer.c are dropped too. The answer schema can thus accept more than the tool does, so always
 * validate the answer. */

enum {
    ARGUMENT_NAME_BYTES = 64,          /* longest name or enumeration value in an answer schema */
    ARGUMENT_SCHEMA_BYTES = 32 << 10,  /* maximum size of an answer schema; a larger one becomes "any object" */
    ARGUMENT_MOST_COUNT = 1000,        /* largest limit of a length or count in an answer schema */
    ARGUMENT_MOST_NUMBER = 1000000000, /* largest absolute limit of a number in an answer schema */
    ARGUMENT_MOST_THOUGHT = 2000,      /* maximum characters of the thought before the arguments */
    ARGUMENT_SHOWN_VALUES = 16,        /* enumeration values shown in the line of a parameter */
};

/* Builds the schema of {"arguments": {...}}; with thought, a "thought" member comes first. All parameters are required
 * and may be null. Free *out with json_decref. 0 or WT_ENOMEM. */
int wt__argument_schema(json_t **out, const struct parameters *parameters, bool thought, wt_error *err);

/* Appends a line with the parameter's name, type, whether it is required, values and description. */
void wt__argument_line(struct buffer *out, const struct parameter *parameter);

/* Appends a string as it is, and any other value as JSON. */
void wt__argument_value(struct buffer *out, const json_t *value);

/* True if the model's value means "no value": NULL, null, a blank string, or a word such as "none" or "n/a" unless the
 * parameter has this word as a value. */
bool wt__argument_is_absent(const json_t *value, const struct parameter *parameter);

/* True if two predictions are equal. Numbers compare by value; strings ignore case and surrounding blanks. */
bool wt__argument_equal(const json_t *a, const json_t *b);

/* ---------------------------------------------------------------- selection */

/* Lets a language model choose one of several tools for a request and verify its choice: ToolVerifier (Mekala et al.
 * 2024), section 2.2.
 *
 *   pick: the candidate for the request, or null
 *   again: the nearest of the others
 *   contrast: a question that separates these two, from their names and descriptions alone; independent of the request,
 *     so one question per pair of definitions can be stored forever (struct contrast_store)
 *   answer: the answer to it, from the request
 *   decision: one of the two, for the request followed by the answer
 *
 * Differences from the paper: the first pick may be null; the model answers with the number of a tool, not its name;
 * two tools with the same name and description are not compared.
 *
 * Unusable answers: if the first pick is unusable, no tool is chosen (SELECTION_UNSAID), and the caller decides how to
 * continue. If a later step fails, the first pick stands (SELECTION_PICKED).
 *
 * Descriptions, requests and answers of the model, including stored questions, are hostile. Each is only ever the value
 * of a slot, and a choice is only ever a number of the list in the prompt. So a description can at most win a request
 * for a candidate, never bring in another tool. */

enum {
    SELECTION_MOST_CANDIDATES = 128, /* maximum candidates considered, as in the prompts */
    SELECTION_SAMPLES = 3,           /* samples of self-consistency: A.3 of the paper */
    SELECTION_MOST_SAMPLES = 32,
    SELECTION_MAX_TOOL_BYTES = 4096,    /* name and description of a tool in a prompt, which has its own limit */
    SELECTION_MAX_REQUEST_BYTES = 8192, /* request before an answer; cut first */
    SELECTION_MAX_WORDS_BYTES = 512,    /* contrastive question or its answer */
};

/* The paper's method, and the baselines of its tables and section 4. */
enum selection_method {
    SELECTION_VERIFIED,    /* all five steps */
    SELECTION_ONCE,        /* pick only, without verification: the 0-shot prompt of A.4.6 */
    SELECTION_ONE_SHOT,    /* pick only, with a past request of each candidate (3.2) */
    SELECTION_DIRECT,      /* pick, again, decision: a choice without a question (A.4.8) */
    SELECTION_CONDITIONED, /* all five steps, but the question depends on the request (4.2) and is never stored */
    SELECTION_CONSISTENT,  /* majority of several sampled picks (A.3); the first of equals */
    SELECTION_METHODS
};

struct selection_candidate {
    struct str name, description;
    struct str demonstration; /* past request of this tool, for SELECTION_ONE_SHOT; empty if unknown */
};

/* Key of a question: its definitions, model and prompt. Borrowed for the call. */
struct contrast_key {
    char definitions[65]; /* SHA-256 of both names and descriptions, independent of their order */
    const char *model;
    const char *task; /* name and version of the prompt */
};

/* Stored contrastive questions. Functions return 0 or an error, which ends the selection. An unavailable store returns
 * 0 without a question. Must be safe for several threads. */
struct contrast_store {
    void *self;
    /* *question: in the arena; left empty if not found */
    int (*get)(void *self, const struct contrast_key *key, struct arena *arena, struct str *question, wt_error *err);
    int (*put)(void *self, const struct contrast_key *key, struct str question, wt_error *err);
};

struct selection_options {
    enum selection_method method;
    unsigned samples;                   /* for SELECTION_CONSISTENT; 0 for SELECTION_SAMPLES */
    double temperature;                 /* of these samples; 0 for CALL_TEMPERATURE */
    const struct contrast_store *store; /* NULL to ask every question again */
};

enum selection_end {
    SELECTION_UNSAID, /* unusable pick; no tool is chosen */
    SELECTION_NONE,   /* no candidate fits, or the list is empty */
    SELECTION_PICKED, /* pick without verification, because of the method, a single candidate, or an unusable answer */
    SELECTION_CONFIRMED, /* pick, confirmed by the decision */
    SELECTION_CORRECTED, /* second candidate, by the decision */
};

/* Trace of a selection. Lives as long as the arena. Candidates are indexes of the given list, or CALL_NO_CANDIDATE. */
struct selection_trace {
    size_t *votes; /* [vote_count] usable picks of the samples, including CALL_NO_CANDIDATE */
    size_t vote_count;
    size_t first, second;
    struct str question, answer; /* the model's words as plain text, cut; empty if not asked or unusable */
    bool stored;                 /* the question was found in the store */
    size_t chosen;
    enum selection_end end;
    struct chat_exchange *exchanges; /* in the order of the steps */
    size_t exchange_count;
    struct chat_cost cost;
};

/* Chooses the candidate for the request, in out->chosen. options: NULL for defaults. On an error, out->chosen is
 * CALL_NO_CANDIDATE and the trace has the questions asked so far. Errors: WT_EINVAL (invalid option), those of chat.h
 * except WT_EFORMAT, those of the store, WT_ENOMEM. */
int wt__select_tool(const struct selection_options *options, const struct selection_candidate *candidates, size_t count,
                    struct chat_model *model, const struct call_request *request, struct arena *arena,
                    struct selection_trace *out, wt_error *err);

/* Finds a method by its name: "verified", "once", "one-shot", "direct", "conditioned" or "consistent". Returns false if
 * the name is unknown. */
bool wt__selection_method_named(struct str name, enum selection_method *out);
const char *wt__selection_end_name(enum selection_end end); /* "unsaid", "none", "picked", "confirmed" or "corrected" */

/* ---------------------------------------------------------------- generation */

/* Lets a language model write and verify the arguments of a call: ToolVerifier (Mekala et al. 2024), section 2.3.
 *
 *   predictions: all arguments, twice: few-shot from past calls of the tool, and by reasoning first (ReAct), by another
 *     model, or as a sample
 *   verification: a multiple-choice question, including "none of them", for each parameter with different predictions
 *   the call: the agreed and verified values, assembled here; or written by the model as in A.4.7
 *   validation: by the caller; the model repairs an invalid call once, given the fault
 *
 * Values absent from the request are missing, never invented. Predictions and the answers of verifications may be null.
 * A required parameter without a value is reported (ARGUMENT_MISSING), unless its schema has a default
 * (ARGUMENT_DEFAULT).
 *
 * Differences from the paper: predictions are JSON, constrained by the tool's schema, so no prose is parsed. Options
 * have a hashed order, not the order of the predictions. Numbers and spellings with the same value are equal.
 *
 * Unusable answers: if one prediction is unusable, the other is used without verification. If both are, no call is made
 * (GENERATION_UNSAID). If a verification is unusable, the argument is unsure and left out of the call.
 *
 * Descriptions, schemas, requests, demonstrations and the model's answers are hostile. Each is only ever the value of a
 * slot, and members of an answer are looked up only by the names of the tool's parameters. */

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

struct generation_tool {
    struct str name, description;
    const json_t *schema;                       /* schema of the arguments; NULL if the tool has no schema */
    const struct demonstration *demonstrations; /* nearest first, or NULL */
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
