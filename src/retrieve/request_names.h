/* request_names.h: finds names of tools in a request, in its order.
 *
 * A request may consist only of names, conjunctions and polite words: "create issue, list labels and search". Then
 * every name counts, however it is written. In any other request a name counts if it looks like an identifier:
 *
 *   with punctuation     "create_issue", "issues/create", "mcp__github__create_issue"
 *   in camel case        "createIssue"
 *   method and path      "GET /repos/{owner}"
 *
 * Any other name of several words in a sentence is "spoken". It is weaker evidence, because "create issue reports for
 * this repository" may mean another tool. */
#ifndef WT_RETRIEVE_REQUEST_NAMES_H
#define WT_RETRIEVE_REQUEST_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "index/names.h"

enum {
    REQUEST_NAMES_MAX = 32,     /* names per request; further ones are ignored */
    REQUEST_TOKENS_MAX = 4096,  /* tokens of a request that are searched for names */
    REQUEST_PROVIDERS_MAX = 64, /* ambiguous names whose provider is looked up; later ones match any provider */
    COVER_TOKENS_MAX = 256      /* tokens; longer requests are not searched for spoken names, nor read as names only */
};

#define NAME_ANY_ROW UINT32_MAX
#define NAME_UNWRITTEN UINT64_MAX

struct request_name {
    struct str text; /* view of the request */
    uint64_t hash;
    struct name_run run; /* entries of the index */
    uint32_t row;        /* row of the tool whose provider is named nearby, or NAME_ANY_ROW */
    uint64_t written;    /* hash of the exact spelling; NAME_UNWRITTEN if no tool has it or only one tool has the
                          * name */
};

struct request_names {
    struct request_name items[REQUEST_NAMES_MAX];
    size_t count;
    bool only; /* the request consists only of names */

    /* Names of two or more words in a sentence; filled if `only` is false. */
    struct request_name spoken[REQUEST_NAMES_MAX];
    size_t spoken_count;
};

/* Finds the names in a request. Scratch memory is in the arena. Errors: WT_ENOMEM. */
int wt__request_names(struct request_names *out, const struct name_index *names, struct str request,
                      struct arena *arena, wt_error *err);

#endif
