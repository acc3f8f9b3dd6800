/* language_model.h: lets a language model choose a tool and write the arguments of the call. The model also verifies
 * its answers. */
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

/* Selection and generation share the request, and the subject of each question to the model. */

#define CALL_NO_CANDIDATE SIZE_MAX /* index that means "no candidate" */

#define CALL_TEMPERATURE .7 /* temperature of samples, as in ToolVerifier (Mekala et al. 2024) */

enum {
    CALL_AT_ONCE = 4,      /* maximum concurrent questions */
    CALL_SAMPLES = 3,      /* default number of samples for self-consistency: A.3 of the paper */
    CALL_MOST_SAMPLES = 32 /* maximum number of samples */
};

/* Sampling for self-consistency. */
struct call_sampling {
    unsigned samples;   /* 0 for CALL_SAMPLES */
    double temperature; /* 0 for CALL_TEMPERATURE */
    double top_p;       /* as in struct chat_question */
};

/* Returns the sampling with its defaults. */
static inline struct call_sampling wt__call_sampling(const struct call_sampling *given)
{
    return (struct call_sampling){.samples = given->samples ? given->samples : CALL_SAMPLES,
                                  .temperature = given->temperature > 0 ? given->temperature : CALL_TEMPERATURE,
                                  .top_p = given->top_p};
}

/* Returns 0, or WT_EINVAL for a number out of range. what: "selection" or "generation", for the message. */
int wt__call_sampling_check(const struct call_sampling *sampling, const char *what, wt_error *err);

/* Labels of an evaluation, for a simulated model only (tests/call/call_oracle.h). */
struct call_labels {
    size_t tool;             /* correct candidate, or CALL_NO_CANDIDATE */
    size_t nearest;          /* most similar other candidate, or CALL_NO_CANDIDATE */
    const json_t *arguments; /* JSON object of the correct call's arguments; NULL if unknown */
    const json_t *wrong; /* JSON object of wrong values by argument name; on an error, other arguments are left out */
};

struct call_request {
    struct str text;
    const struct call_labels *labels; /* passed through to the model; NULL except in evaluations */
    struct progress *progress;        /* passed through to the model, which checks it for cancellation; may be NULL */
};

enum call_step {
    CALL_PICK,       /* choose a candidate, or null */
    CALL_PICK_AGAIN, /* choose one of the other candidates */
    CALL_CONTRAST,   /* write a question that distinguishes the two picked tools */
    CALL_ANSWER,     /* answer that question from the request */
    CALL_DECIDE,     /* choose one of the two picked tools */
    CALL_PREDICT,    /* predict all arguments */
    CALL_VERIFY,     /* verify one argument: one of two values, or null */
    CALL_BUILD,      /* build the call from the verified values */
    CALL_MEND,       /* predict all arguments again, given the errors */
};

/* Value of chat_question.subject. */
struct call_subject {
    enum call_step step;
    const struct call_request *request;
    unsigned sample; /* index of the sample, from 0 */

    /* For CALL_PICK to CALL_DECIDE: number n of the prompt is candidate listed[n - 1]. */
    const size_t *listed;
    size_t listed_count;
    bool answered; /* CALL_DECIDE: the prompt includes the answer to the contrastive question */

    /* For CALL_VERIFY: number n of the prompt is options[n - 1]. */
    const char *parameter;
    const json_t *const *options;
    size_t option_count;

    const json_t *arguments; /* CALL_BUILD: given and default values; CALL_MEND: the invalid arguments */
};

/* ---------------------------------------------------------------- numbered answers */

/* Numbered answers: the model answers with the number of a list item, or with null if the prompt allows null. Every
 * decision about tools and values has this form. Any other answer is unusable. */

/* Copies a prompt's schema and restricts `member` to the numbers 1 to count, and to null if the prompt's schema allows
 * null. Free *out with json_decref. 0 or WT_ENOMEM. */
int wt__numbered_schema(json_t **out, const json_t *schema, const char *member, size_t count, wt_error *err);

enum numbered {
    NUMBERED_UNUSABLE, /* neither a number of the list nor an allowed null */
    NUMBERED_NONE,     /* null */
    NUMBERED_ITEM,     /* a number of the list */
};

/* Reads the number from `member` of an answer. answer: NULL counts as unusable. none: true if null is allowed. *item:
 * for NUMBERED_ITEM, the index of the item from 0. */
enum numbered wt__numbered_read(const json_t *answer, const char *member, size_t count, bool none, size_t *item);

/* ---------------------------------------------------------------- forms of arguments */

/* These functions show the parameters of a tool to a language model, build the JSON schema of the answer, and read
 * values from the answer.
 *
 * The tool's own schema is untrusted. The answer schema is sent to the server outside the slots that protect values in
 * a prompt. So the answer schema keeps only names, types, limits and enumerations of identifiers. Titles, descriptions
 * and keywords unsupported by llm/answer.c are dropped. If a parameter's name is not an identifier, the answer may be
 * any object. The answer schema may therefore accept more than the tool does, so always validate the answer. */

enum {
    ARGUMENT_NAME_BYTES = 64,          /* length of the longest name or enumeration value in an answer schema */
    ARGUMENT_SCHEMA_BYTES = 32 << 10,  /* maximum size of an answer schema; a larger one becomes "any object" */
    ARGUMENT_MOST_COUNT = 1000,        /* largest limit of a length or count in an answer schema */
    ARGUMENT_MOST_NUMBER = 1000000000, /* largest absolute limit of a number in an answer schema */
    ARGUMENT_MOST_THOUGHT = 2000,      /* maximum characters of the thought before the arguments */
    ARGUMENT_SHOWN_VALUES = 16,        /* enumeration values shown in the line of a parameter */
};

/* Builds the schema of the answer {"arguments": {...}}. thought: true to require a member "thought" before "arguments".
 * All parameters are required and may be null. Free *out with json_decref. 0 or WT_ENOMEM. */
int wt__argument_schema(json_t **out, const struct parameters *parameters, bool thought, wt_error *err);

/* Appends a line with the parameter's name, type, "required" or "optional", enumeration values, limits and
 * description. */
void wt__argument_line(struct buffer *out, const struct parameter *parameter);

/* Appends a string as it is, and any other value as JSON. */
void wt__argument_value(struct buffer *out, const json_t *value);

/* True if the model's value means "no value": NULL, null, a blank string, or a word such as "none", "n/a" or "any". If
 * the parameter's enumeration has the word, the word is a value. */
bool wt__argument_is_absent(const json_t *value, const struct parameter *parameter);

/* True if two predictions are equal. Numbers are compared by value. Strings are compared without case and surrounding
 * blanks. */
bool wt__argument_equal(const json_t *a, const json_t *b);

/* ---------------------------------------------------------------- selection */

/* A language model chooses one of several tools for a request and verifies its choice: ToolVerifier (Mekala et al.
 * 2024), section 2.2. The steps:
 *
 *   pick: the candidate for the request, or null
 *   again: the most suitable of the other candidates
 *   contrast: a question that distinguishes the two picked tools. It is written from their names and descriptions
 *     alone, so it can be stored once for each pair of tools (struct contrast_store)
 *   answer: the answer to this question, from the request
 *   decision: one of the two tools, for the request followed by the answer
 *
 * Differences from the paper:
 *   - The first pick may be null.
 *   - The model answers with the number of a tool, not its name.
 *   - Two tools with the same name and description are not compared.
 *
 * If the first pick is unusable, no tool is chosen (SELECTION_UNSAID), and the caller decides how to continue. If a
 * later answer is unusable, the first pick is used (SELECTION_PICKED).
 *
 * Descriptions, requests, answers of the model and stored questions are untrusted. They are inserted only as values of
 * prompt slots, and a choice is always a number of the list in the prompt. A malicious description can therefore at
 * most make the model choose its own tool. It cannot bring in a tool that is not a candidate. */

enum {
    SELECTION_MOST_CANDIDATES = 128,    /* maximum candidates; later ones are ignored */
    SELECTION_MAX_TOOL_BYTES = 4096,    /* maximum bytes of a tool's name and description in a prompt */
    SELECTION_MAX_REQUEST_BYTES = 8192, /* maximum bytes of the request that an answer is appended to */
    SELECTION_MAX_WORDS_BYTES = 512,    /* maximum bytes of a contrastive question or of its answer */
};

/* The paper's method, and the baselines that the paper compares. Numbers in brackets are sections of the paper. */
enum selection_method {
    SELECTION_VERIFIED,    /* all five steps */
    SELECTION_ONCE,        /* pick only, without verification: the 0-shot prompt of A.4.6 */
    SELECTION_ONE_SHOT,    /* pick only; the prompt has a past request of each candidate (3.2) */
    SELECTION_DIRECT,      /* pick, again and decision, without a contrastive question (A.4.8) */
    SELECTION_CONDITIONED, /* all five steps, but the question depends on the request (4.2) and is never stored */
    SELECTION_CONSISTENT,  /* the most frequent of several sampled picks (A.3); the first at a tie */
    SELECTION_SINGLE_STEP, /* pick and arguments in one answer, with a past call of each candidate (3.2) */
    SELECTION_METHODS
};

struct selection_candidate {
    struct str name, description;
    struct str demonstration; /* past request of this tool, for SELECTION_ONE_SHOT, or past call, for
                                 SELECTION_SINGLE_STEP; empty if unknown */
    struct str parameters;    /* lines of the parameters (wt__argument_line), for SELECTION_SINGLE_STEP */
};

/* Key of a stored question. Strings are borrowed for the call. */
struct contrast_key {
    char definitions[65]; /* SHA-256 in hex of both names and descriptions; the same for either order of the tools */
    const char *model;    /* name of the language model */
    const char *task;     /* name and version of the prompt */
};

/* Callbacks for stored contrastive questions. They return 0, or an error that ends the selection. If the store cannot
 * be written, `put` returns 0 without storing the question. The callbacks must be thread-safe. */
struct contrast_store {
    void *self;
    /* Sets *question, in the arena; leaves it empty if no question has this key. */
    int (*get)(void *self, const struct contrast_key *key, struct arena *arena, struct str *question, wt_error *err);
    int (*put)(void *self, const struct contrast_key *key, struct str question, wt_error *err);
};

struct selection_options {
    enum selection_method method;
    struct call_sampling sampling;      /* for SELECTION_CONSISTENT */
    struct chat_model *verifier;        /* asks and answers the contrastive question, and decides; NULL: the model */
    const struct contrast_store *store; /* NULL to store no questions */
};

enum selection_end {
    SELECTION_UNSAID,    /* the pick was unusable; no tool is chosen */
    SELECTION_NONE,      /* no candidate fits, or the list is empty */
    SELECTION_PICKED,    /* the first pick, unverified: no verification, no different tool, or an unusable answer */
    SELECTION_CONFIRMED, /* the first pick, confirmed by the decision */
    SELECTION_CORRECTED, /* the second pick, chosen by the decision */
};

/* Trace of a selection. Lives as long as the arena. votes, first, second and chosen are indexes of candidates, or
 * CALL_NO_CANDIDATE. */
struct selection_trace {
    struct str arguments; /* JSON, only for SELECTION_SINGLE_STEP; empty if the answer has none */
    size_t *votes;        /* [vote_count] usable picks of the samples, including CALL_NO_CANDIDATE */
    size_t vote_count;
    size_t first, second;        /* the two picks */
    struct str question, answer; /* the model's words, sanitised and truncated; empty if not asked or unusable */
    bool stored;                 /* true if the question was found in the store */
    size_t chosen;               /* the result */
    enum selection_end end;
    struct chat_exchange *exchanges; /* in the order of the steps */
    size_t exchange_count;
    struct chat_cost cost;
};

/* Chooses the candidate for the request, in out->chosen. options: NULL for defaults. On an error, out->chosen is
 * CALL_NO_CANDIDATE and the trace contains the questions asked so far. Errors: WT_EINVAL (invalid option), those of
 * chat.h except WT_EFORMAT, those of the store, WT_ENOMEM. */
int wt__select_tool(const struct selection_options *options, const struct selection_candidate *candidates, size_t count,
                    struct chat_model *model, const struct call_request *request, struct arena *arena,
                    struct selection_trace *out, wt_error *err);

/* Stores the contrastive question of two tools ahead of a selection. Asks the model, unless the store has the question.
 * Does nothing for equal definitions. *out has the question, out->stored is true if the store had it, and out->cost is
 * the cost. Errors: those of wt__select_tool. */
int wt__prepare_contrast(const struct selection_candidate pair[2], struct chat_model *model,
                         const struct contrast_store *store, struct progress *progress, struct arena *arena,
                         struct selection_trace *out, wt_error *err);

/* Finds a method by its name, such as "one-shot" for SELECTION_ONE_SHOT. Returns false if the name is unknown. */
bool wt__selection_method_named(struct str name, enum selection_method *out);
const char *wt__selection_end_name(enum selection_end end); /* "unsaid", "none", "picked", "confirmed" or "corrected" */

/* ---------------------------------------------------------------- generation */

/* A language model writes and verifies the arguments of a call: ToolVerifier (Mekala et al. 2024), section 2.3. The
 * steps:
 *
 *   predictions: all arguments, twice. The first prediction is few-shot from past calls of the tool. The second is
 *     made with reasoning first (ReAct), by another model, or as a sample (enum generation_source)
 *   verification: for each parameter with different predictions, a multiple-choice question with null for "neither"
 *   the call: assembled from the equal and the verified values, or written by the model as in A.4.7 of the paper
 *   validation: by a callback of the caller. The model repairs an invalid call once, with a description of the fault
 *
 * The model may answer null for a value that the request does not give. A required parameter without a value is
 * ARGUMENT_MISSING, or ARGUMENT_DEFAULT if its schema has a default.
 *
 * Differences from the paper:
 *   - Predictions are JSON, constrained by an answer schema, so no prose is parsed.
 *   - The options of a verification are ordered by a hash, not by prediction.
 *   - Values that differ only in case, surrounding blanks or the notation of a number are equal.
 *
 * If one prediction is unusable, the other prediction is used without verification. If both are unusable, no call is
 * made (GENERATION_UNSAID). If the answer to a verification is unusable, the argument is unsure and left out of the
 * call.
 *
 * Descriptions, schemas, requests, demonstrations and the model's answers are untrusted. They are inserted only as
 * values of prompt slots. Members of an answer are looked up only by the names of the tool's parameters. */

enum {
    GENERATION_PREDICTIONS = 2,            /* predictions of each argument */
    GENERATION_DEMONSTRATIONS = 3,         /* maximum demonstrations in a prompt, as in the paper */
    GENERATION_MAX_TOOL_BYTES = 1200,      /* maximum bytes of name and description of the tool in a prompt */
    GENERATION_MAX_VALUE_BYTES = 1200,     /* maximum bytes of a parameter's line, or of a value, in a prompt */
    GENERATION_MAX_ARGUMENTS_BYTES = 2000, /* maximum bytes of a demonstration in a prompt */
    GENERATION_MAX_FAULT_BYTES = 1024,     /* maximum bytes of the description of a fault */
};

/* Source of the second prediction. The first prediction is always few-shot. */
enum generation_source {
    GENERATION_REACT,       /* the same model, reasoning first */
    GENERATION_OTHER_MODEL, /* few-shot, by another model */
    GENERATION_SAMPLED,     /* few-shot, by the same model with a temperature above 0 */
    GENERATION_ALONE,       /* no second prediction and no verification */
    GENERATION_CONSISTENT,  /* the most frequent value of several sampled predictions (A.3); the first at a tie */
    GENERATION_SOURCES
};

enum generation_build {
    GENERATION_ASSEMBLED, /* assembled from the verified values, without another question */
    GENERATION_WRITTEN, /* written by the model from "name: value" lines (A.4.7), which may change the form of values */
};

struct generation_tool {
    struct str name, description;
    const json_t *schema;                       /* schema of the arguments; NULL if the tool has no schema */
    const struct demonstration *demonstrations; /* [demonstration_count] past calls in prompt order; or NULL */
    size_t demonstration_count;
};

/* Callback that validates arguments against the tool's schema. Returns 0 and sets *fault, in the arena, to a
 * description of the fault; to an empty text if the arguments are valid. An error ends the generation. */
struct call_validation {
    void *self;
    int (*validate)(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err);
};

struct generation_options {
    enum generation_source second;
    const json_t *given;           /* arguments to take instead of asking for predictions; NULL to ask */
    struct chat_model *other;      /* the second model for GENERATION_OTHER_MODEL; else ignored */
    struct chat_model *verifier;   /* verifies arguments; NULL: the model that predicts them */
    struct call_sampling sampling; /* for GENERATION_SAMPLED and GENERATION_CONSISTENT */
    enum generation_build build;
    const struct call_validation *validation; /* NULL to skip validation */
};

struct generated_argument {
    const struct parameter *parameter;
    const json_t *predictions[GENERATION_PREDICTIONS]; /* NULL if the prediction leaves the argument out */
    bool asked;                                        /* true if the predictions differ and the model was asked */
    enum argument_state state;
    const json_t *value; /* value for states GIVEN and DEFAULT, proposal for UNSURE; else NULL */
};

enum generation_end {
    GENERATION_UNSAID,     /* no usable prediction */
    GENERATION_INCOMPLETE, /* a required argument is missing or unsure */
    GENERATION_INVALID,    /* the call is invalid after the repair; see `fault` */
    GENERATION_COMPLETE,
};

/* Trace of a generation. wt__generation_dispose frees the JSON values. All else lives as long as the arena. */
struct generation_trace {
    struct generated_argument *items; /* [len] in the order of the schema, at most PARAMETERS_MOST */
    size_t len;
    struct parameters parameters;
    json_t *arguments; /* JSON object of given and default values; NULL without a usable prediction or on an error */
    enum generation_end end;
    struct str fault; /* latest fault found, sanitised, even if it was repaired; empty if no fault was found */
    bool verified;    /* true if both predictions were usable and the model was asked about each difference */
    bool mended;      /* true if the model wrote all arguments again because of a fault */
    json_t *answers;  /* array of the usable answers; owns the values in `items`, except defaults */
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
