/* whichtool/call.h: turns a request into a tool call: which tool, with which arguments.
 *
 *   wt_call(engine, "weather at latitude 11.6 and longitude -97.8", 44, NULL, &called, &err);
 *   if (called->tool && called->valid && !called->question) puts(called->call);
 *   wt_called_free(called);
 *
 * The library only writes the call and never executes it. The conventions are those of whichtool.h, which includes this
 * header. */
#ifndef WHICHTOOL_CALL_H
#define WHICHTOOL_CALL_H

#include "find.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WT_MAX_CALL_CANDIDATES 64 /* maximum of wt_call_options.candidates */

typedef struct wt_call_options {
    size_t size;
    const char *tool;     /* tool to call, named as in wt_get, so that only its arguments are sought; NULL: choose it */
    const char *recipe;   /* recipe of wt_find for the candidates; NULL: "auto" */
    const char *provider; /* only tools of this provider, added to filter->providers; NULL: not restricted */
    const wt_filter *filter; /* tools that may be called; NULL: all */
    const char *form;        /* format of wt_called.call: "arguments" (an object), "openai", "openai-responses",
                                "anthropic", "gemini", "mcp", or "lines" (of ToolVerifier); NULL: "arguments" */
    /* Share of requests with a fitting tool that may get no call, below 1. WT_OFF: never abstain. 0: the default. With
     * language_model, the default never abstains, because the model may answer that no tool fits. Otherwise it is 0.05,
     * with "auto" only, and weak hits also need a probability of 16 % that some tool fits. A tool that takes a kind of
     * value in the request, such as a date, is asked about in any case. */
    double abstain;
    int explain;             /* fill wt_called.steps */
    int as_typed;            /* same as in wt_find_options */
    wt_progress_fn progress; /* same as in wt_find_options */
    void *progress_context;
    unsigned time_limit_ms; /* same as in wt_find_options */
    int language_model; /* let the engine's language model (wt_open_options) choose the tool, write the arguments and
                           verify both, as in ToolVerifier; 0: do not use one */
    /* Reproduces a comparison of ToolVerifier with a language model, as "NAME=VALUE; NAME=VALUE"; may be NULL. Numbers
     * are sections of the paper.
     *
     * selection: how the tool is chosen
     * - verified: with a contrastive question (2.2), the default
     * - conditioned: the question also sees the request (4.2)
     * - once: no verification
     * - one-shot: no verification, with a recorded request of each tool (3.2)
     * - direct: verification without a question (A.4.8)
     * - consistent: majority of several samples (A.3)
     * - single-step: with the arguments in the same answer, and a recorded call of each tool; nothing is verified (3.2)
     *
     * generation: source of the second prediction of the arguments (2.3): react, second-model or sampled; or alone, for
     * no second prediction and no verification; or consistent, for the most frequent value of several samples (A.3).
     * Default: second-model if second-model is set, else react
     *
     * second-model: another model, named as in verify_model (A.4.5)
     *
     * samples, temperature, top-p: of consistent and sampled (A.3). Defaults: 3, 0.7, and that of the server
     *
     * construction: final arguments, assembled (the default), or written by the model from "name: value" lines
     * (A.4.7) */
    const char *experiment;
    /* Number of first hits to choose from, at most WT_MAX_CALL_CANDIDATES; 0: 8, or 20 with language_model. */
    size_t candidates;
    /* Models for a part of the work: "NAME" of the same server, or "NAME@URL" of another server. Another server does
     * not get the engine's key. NULL: the engine's model. Source: ToolVerifier, 2.1.
     * - verify_model: writes and answers the contrastive question, decides, and verifies the arguments
     * - argument_model: writes the arguments */
    const char *verify_model, *argument_model;
} wt_call_options;

WT_INIT(wt_call_options_init, wt_call_options)

/* A verified part of a call. */
typedef struct wt_verified {
    const char *what; /* "tool", "arguments", "schema" */
    const char *by;   /* "validator", or the name of the language model */
} wt_verified;

/* All pointers are owned by the result and live as long as it does. */
typedef struct wt_called {
    const wt_tool *tool;   /* NULL if no tool fits. If question asks for the tool, the likeliest one */
    const char *arguments; /* JSON object with the values that the request gives for certain, and defaults of required
                              arguments; NULL without a tool */
    const char *call;      /* arguments in options->form, even if incomplete; NULL without a tool */
    int valid;             /* true if the arguments fit the tool's schema. Make the call if question is also NULL */
    size_t missing_count;
    const char *const *missing; /* [missing_count] required arguments that the request does not give */
    const char *question;   /* question for the author of the request, in the words of the tools' definitions; NULL if
                               not needed */
    int asks_tool;          /* true if question asks which of two tools or whether `tool` is meant; false if it asks for
                               a value */
    size_t violation_count; /* violations other than missing arguments */
    const char *const *violations; /* [violation_count] reasons why the arguments do not fit, one sentence each */
    const char *steps;   /* with explain: all choices and their evidence, as a JSON object (docs/json.md); else NULL */
    const char *recipe;  /* recipe that found the candidates; "" with options->tool */
    const char *notice;  /* anything missing, in one line; NULL if complete */
    const char *encoder; /* same as in wt_hits; "" with options->tool */
    double probability;  /* probability of the tool, as in wt_hit; NaN with options->tool */
    double total_ms;
    size_t verified_count;
    const wt_verified *const *verified; /* [verified_count] */
    size_t questions;                   /* same as in wt_picked, as are the next three fields */
    uint64_t prompt_tokens, completion_tokens;
    double model_ms;
    const char *chances; /* one line on the reliability of probability if there is no recorded use to measure it; else
                            NULL */
    /* Reason why a tool with side effects is not called without asking. NULL if the request orders the call, or if the
     * tool has no side effects. Only set with a question.
     * - "question": the request asks something
     * - "denied": the request says not to do it
     * - "unasked": the request only mentions the action
     * - "unread": a word of the request does not appear in the call */
    const char *doubt;
    unsigned notice_codes; /* WT_NOTICE_... of notice and chances */
} wt_called;

WT_API void wt_called_free(wt_called *called);

/* Builds a tool call for the request, with or without a language model (ToolVerifier, sections 2.2 and 2.3;
 * docs/verified-calls.md). Any thread.
 *
 * Without a language model:
 * - The tool is the first hit, unless a close second accepts the request's values and the first does not. If two are
 *   too close to tell, question asks.
 * - Arguments are spans of the request and enumeration values mentioned in it, matched to parameters by type and by the
 *   words around them. Uncertain values are left out and asked for, never invented.
 *
 * With a language model:
 * - Tool: the model names the best and the second-best candidate. If the two descriptions differ, the model writes a
 *   question that distinguishes the tools, answers the question, and decides. The model may also say that no candidate
 *   fits.
 * - Arguments: the model predicts all arguments twice. For each difference, the model chooses the value given by the
 *   request, if any.
 * - If the model's answers are unusable, the call is built as without a language model, and notice says so.
 *
 * The arguments are validated against the tool's schema (whichtool/validator.h) with formats asserted. A schema that is
 * invalid or beyond the validator's limits is not an error: the call is not valid, and notice gives the reason.
 *
 * Errors: those of wt_find, and those of wt_get for options->tool. WT_EINVAL also for an unknown form or experiment,
 * and for a second model that is missing, unused, or the same as the first. With a language model also those of
 * wt_pick. */
WT_API int wt_call(wt_engine *engine, const char *request, size_t request_len, const wt_call_options *options,
                   wt_called **out, wt_error *err);

typedef struct wt_prepare_options {
    size_t size;
    size_t questions;         /* maximum questions to have in the store, at most WT_MAX_PREPARED; 0: 100 */
    const char *verify_model; /* same as in wt_call_options */
    wt_progress_fn progress;
    void *progress_context;
} wt_prepare_options;

WT_INIT(wt_prepare_options_init, wt_prepare_options)

enum { WT_MAX_PREPARED = 100000 };

typedef struct wt_prepared {
    size_t size;
    size_t pairs;    /* pairs of tools, at most options->questions */
    size_t written;  /* pairs whose question was written and stored now */
    size_t known;    /* pairs whose question was in the store */
    size_t unusable; /* pairs for which the model gave no usable question */
    uint64_t prompt_tokens, completion_tokens;
    double model_ms;
} wt_prepared;

WT_INIT(wt_prepared_init, wt_prepared)

/* Writes contrastive questions ahead of wt_call (ToolVerifier, section 2.2: the question does not depend on the
 * request, so it can be cached). The pairs are the first two hits of recorded requests, the most frequent pairs first.
 * Without recorded use, each tool is paired with the tool that its own name and description find, the closest pairs
 * first. Reads at most 10,000 recorded requests or tools.
 *
 * Requires a language model (wt_open_options). A repeated call continues a stopped one, because known questions are not
 * asked again.
 *
 * out: set up by wt_prepared_init; filled in also on an error. Errors: WT_EEMPTY (no two tools were found together),
 * WT_EINVAL (too many questions), those of wt_find, wt_list_usage and wt_pick with a language model. */
WT_API int wt_prepare_calls(wt_engine *engine, const wt_prepare_options *options, wt_prepared *out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
