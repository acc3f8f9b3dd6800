/* whichtool/call.h: from a request to the call that it asks for: which tool, and its arguments.
 *
 *   wt_call(engine, "weather at latitude 11.6 and longitude -97.8", 44, NULL, &called, &err);
 *   if (called->tool && called->valid && !called->question) puts(called->call);
 *   wt_called_free(called);
 *
 * The conventions are those of whichtool.h, which includes this header. Nothing is called. */
#ifndef WHICHTOOL_CALL_H
#define WHICHTOOL_CALL_H

#include "../whichtool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_call_options {
    size_t size;
    const char *tool;     /* the tool to call, named as in wt_get: only its arguments are looked for; NULL: choose it */
    const char *recipe;   /* of wt_find, that finds the tools to choose from; NULL: "auto" */
    const char *provider; /* only this provider's tools: one more of filter->providers; NULL: none more */
    const wt_filter *filter; /* which tools may be called; NULL: all */
    const char *form;        /* of wt_called.call: "arguments" (an object), "openai", "openai-responses", "anthropic",
                                "gemini", "mcp", or "lines" (ToolVerifier's own); NULL: "arguments" */
    double abstain;          /* as in wt_pick_options. With "auto" alone */
    int explain;             /* fill wt_called.steps */
    int as_typed;            /* as in wt_find_options */
    wt_progress_fn progress; /* the same */
    void *progress_context;
    unsigned time_limit_ms; /* the same */
    int language_model; /* the engine's language model (wt_open_options) chooses the tool and writes the arguments, and
                           verifies both, as ToolVerifier does; 0: none is asked */
    /* With a language model, for experiments: */
    const char *selection;  /* "verified" (2.2); "conditioned", whose question sees the request (4.2); or without one:
                               "once", "one-shot" (with a recorded request of each tool, 3.2), "direct" (A.4.8),
                               "consistent" (A.3); NULL: "verified" */
    const char *generation; /* where the second prediction of the arguments (2.3) comes from: "react", "second-model",
                               "sampled", or "alone" for none, and so no verification; NULL: "second-model" where one is
                               named, else "react" */
    const char *second_chat_model; /* of "second-model": another model of the same server, by its name there (A.4.5) */
    const char *construction;      /* of the arguments that were decided on: "assembled", or "written" by the model from
                                      lines of "name: value" (A.4.7); NULL: "assembled" */
} wt_call_options;

WT_INIT(wt_call_options_init, wt_call_options)

/* Something of a call that was checked. */
typedef struct wt_verified {
    const char *what; /* "tool", "arguments", "schema" */
    const char *by;   /* "validator", or the language model's name */
} wt_verified;

/* All of it is the result's, and lives as long as it does. */
typedef struct wt_called {
    const wt_tool *tool;   /* NULL: no tool fits. Where question asks which tool is meant, the likeliest one */
    const char *arguments; /* JSON: what the request gives for sure, and defaults of what is required; NULL without a
                              tool */
    const char *call;      /* the same in the form of the options, also where it is not complete; NULL without a tool */
    int valid;             /* arguments fit the tool's schema, and so the call may be made, if question is NULL */
    size_t missing_count;
    const char *const *missing; /* [missing_count] required arguments that the request does not give */
    const char *question;   /* what to ask whoever made the request, in words of the tools' definitions; NULL: none */
    int asks_tool;          /* question asks which of two tools is meant, or whether the one is, not for a value */
    size_t violation_count; /* beside missing arguments */
    const char *const *violations; /* [violation_count] what keeps arguments from fitting, a sentence each */
    const char
        *steps; /* with explain: every choice and what it stands on, as a JSON object (docs/json.md); else NULL */
    const char *recipe;  /* what found the tools; "" with options->tool */
    const char *notice;  /* one line on what was missing, or NULL */
    const char *encoder; /* as in wt_hits; "" with options->tool */
    double probability;  /* of the tool, as in wt_hit; NaN with options->tool */
    double total_ms;
    size_t verified_count;
    const wt_verified *const *verified; /* [verified_count] */
    size_t questions;                   /* put to the language model, and answered; as in wt_picked, as are the next */
    uint64_t prompt_tokens, completion_tokens;
    double model_ms;
    const char *chances; /* one line on what probability is worth where nothing was recorded to measure it by; NULL */
    const char *doubt;   /* why the tool, which acts, is not called without asking: "question" (the request asks
                            something), "denied" (it says not to), "unasked" (it only speaks of it), "unread" (a word of
                            it   is not in the call); NULL if the request orders the call. Set only where question is */
} wt_called;

WT_API void wt_called_free(wt_called *called);

/* A call for the request: which tool, and its arguments (ToolVerifier, sections 2.2 and 2.3; docs/verified-calls.md),
 * with or without a language model.
 *
 * Without one the tool is the first one found, unless another near one takes what the request has and that one does
 * not. Where two are too close to tell, question asks. Arguments are spans of the request and values of enumerations
 * that it says, matched to the parameters by kind and by the words beside them. What is not sure is left out and asked
 * for; nothing is made up. With one, it is asked for the tool, for the next best, and, where the two differ in what
 * they say, a question that tells them apart, its answer, and which of the two it is; then for the arguments twice, and
 * for each that differs which one the request gives, if any. Arguments are validated against the tool's schema
 * (whichtool/validator.h) with formats asserted.
 *
 * Errors: those of wt_find, WT_ENOTFOUND and WT_EINVAL also as of wt_get for options->tool, WT_EINVAL (no such form,
 * selection, generation or construction; a second chat model that is missing, of no use, or the first one). A schema
 * that is wrong or out of the validator's bounds is no error: the call is not valid then, and notice says why. With a
 * language model also the errors that wt_pick has of it. From any thread. */
WT_API int wt_call(wt_engine *engine, const char *request, size_t request_len, const wt_call_options *options,
                   wt_called **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
