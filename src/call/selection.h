/* selection.h: which one of some tools a request calls, said by a language model that verifies its own choice:
 * ToolVerifier (Mekala et al. 2024), section 2.2.
 *
 *   pick       the candidate that the request needs, or none of them
 *   again      the one of the others that comes nearest
 *   contrast   a question that tells these two apart, made of their names and descriptions alone; it does not depend on
 *              the request, so that one is enough for a pair of definitions, for good (struct contrast_store)
 *   answer     the answer to it, made of the request
 *   decision   one of the two, for the request with the answer behind it
 *
 * Where it departs from the paper: the first pick may be none; the model answers with the number of a tool, not with
 * its name; a question about two tools of one name and one description would tell nothing apart, so none is asked.
 *
 * What stands in for an answer that is none: for the first pick nothing does, and no tool is chosen (SELECTION_UNSAID:
 * what to do then is for who called to say); where any later step fails, the first pick stands (SELECTION_PICKED).
 *
 * Descriptions, requests, and what the model says, a stored question included, are hostile. Each is only ever the value
 * of a slot; the choice is only ever a number of a list that was shown. So a description can win a request for a
 * candidate at most, never bring in another tool. */
#ifndef WT_CALL_SELECTION_H
#define WT_CALL_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "call/call_request.h"
#include "llm/chat.h"
#include "llm/prompt.h"

enum {
    SELECTION_MOST_CANDIDATES = 128, /* the first that are looked at, as the prompts take them */
    SELECTION_SAMPLES = 3,           /* of self-consistency: the paper's A.3 */
    SELECTION_MOST_SAMPLES = 32,
    SELECTION_MAX_TOOL_BYTES = 4096,    /* of a name and description that go to a prompt, which has its own limit */
    SELECTION_MAX_REQUEST_BYTES = 8192, /* of a request with an answer behind it; the rest is cut off, not the answer */
    SELECTION_MAX_WORDS_BYTES = 512,    /* of a contrastive question, and of the answer to it */
};

/* The paper's method, and what its tables and section 4 hold it against. */
enum selection_method {
    SELECTION_VERIFIED,    /* all five steps */
    SELECTION_ONCE,        /* the pick alone: without verification, which is the 0-shot prompt of A.4.6 */
    SELECTION_ONE_SHOT,    /* the pick alone, with a past request of each candidate beside them (3.2) */
    SELECTION_DIRECT,      /* pick, again, decision: the two as a choice, without a question (A.4.8) */
    SELECTION_CONDITIONED, /* all five, but the question sees the request as well (4.2), and so is never stored */
    SELECTION_CONSISTENT,  /* the majority of several sampled picks (A.3); of equal ones the first */
    SELECTION_METHODS
};

struct selection_candidate {
    struct str name, description;
    struct str demonstration; /* a past request that this tool served, for SELECTION_ONE_SHOT; empty: none is known */
};

/* Whose question it is: what it was made of, by which model, from which prompt. Borrowed for the call. */
struct contrast_key {
    char definitions[65]; /* SHA-256 of both names and descriptions, the same in either order */
    const char *model;
    const char *task; /* the prompt's name and version */
};

/* Contrastive questions that were kept. Each returns 0 or an error, which ends the selection: a store that is merely
 * not there says nothing and keeps nothing. May be asked by several threads, of several selections, at once. */
struct contrast_store {
    void *self;
    /* *question in the arena; left empty: there is none. */
    int (*get)(void *self, const struct contrast_key *key, struct arena *arena, struct str *question, wt_error *err);
    int (*put)(void *self, const struct contrast_key *key, struct str question, wt_error *err);
};

struct selection_options {
    enum selection_method method;
    unsigned samples;                   /* of SELECTION_CONSISTENT; 0: SELECTION_SAMPLES */
    double temperature;                 /* of these; 0: .7, the paper's */
    const struct contrast_store *store; /* NULL: every question is asked anew */
};

enum selection_end {
    SELECTION_UNSAID,    /* the pick was no answer: nothing is chosen */
    SELECTION_NONE,      /* none of the candidates, or there were none */
    SELECTION_PICKED,    /* the pick, without verification: by method, for want of a second tool, or of an answer */
    SELECTION_CONFIRMED, /* the pick, and the decision */
    SELECTION_CORRECTED, /* the second one, by the decision */
};

/* Everything that was seen and decided. Lives as long as the arena. Candidates by their places in the list that was
 * given; CALL_NOBODY where there is none. */
struct selection_trace {
    size_t *votes; /* of SELECTION_CONSISTENT, [vote_count]: each sample's pick that was an answer, CALL_NOBODY among
                      them */
    size_t vote_count;
    size_t first, second;
    struct str question, answer; /* the model's words, made plain, cut; empty: not asked, or no answer */
    bool stored;                 /* the question was not asked but found in the store */
    size_t chosen;
    enum selection_end end;
    struct chat_exchange *exchanges; /* in the order of the steps */
    size_t exchange_count;
    struct chat_cost cost;
};

/* The candidate that the request calls, in out->chosen. options: NULL for the defaults. On an error nothing is chosen,
 * and the trace holds what was asked up to it. Errors: WT_EINVAL (an option beyond its limit), those of chat.h but
 * WT_EFORMAT, those of the store, WT_ENOMEM. */
int wt__select_tool(const struct selection_options *options, const struct selection_candidate *candidates, size_t count,
                    struct chat_model *model, const struct call_request *request, struct arena *arena,
                    struct selection_trace *out, wt_error *err);

const char *wt__selection_method_name(enum selection_method method); /* "verified", "once", ... */
/* False: no method has the name. */
bool wt__selection_method_named(struct str name, enum selection_method *out);
const char *wt__selection_end_name(enum selection_end end); /* "unsaid", "none", "picked", "confirmed", "corrected" */

#endif
