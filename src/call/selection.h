/* selection.h: lets a language model choose one of several tools for a request and verify its choice: ToolVerifier
 * (Mekala et al. 2024), section 2.2.
 *
 *   pick: the candidate for the request, or null
 *   again: the nearest of the others
 *   contrast: a question that separates these two, from their names and descriptions alone; independent of the request,
 *       so one question per pair of definitions can be stored forever (struct contrast_store)
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
#ifndef WT_CALL_SELECTION_H
#define WT_CALL_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "call/call_request.h"
#include "llm/chat.h"
#include "llm/exchange.h"

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

const char *wt__selection_method_name(enum selection_method method); /* "verified", "once", ... */
/* Finds a method by its name. Returns false if the name is unknown. */
bool wt__selection_method_named(struct str name, enum selection_method *out);
const char *wt__selection_end_name(enum selection_end end); /* "unsaid", "none", "picked", "confirmed" or "corrected" */

#endif
