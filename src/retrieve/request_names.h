/* request_names.h: which names of tools stand in a request, in its order.
 *
 * A request that is made of names only, with what joins them and what is only polite around them, says each of them,
 * however it is written: "create issue, list labels and search". In any other request a name counts where it is written
 * as one: with a sign inside ("create_issue", "issues/create", "mcp__github__create_issue"), with capitals
 * ("createIssue"), or as method and path. What else of a sentence is some tool's name is only spoken: "create an issue
 * in this repository" may mean another tool. */
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
    REQUEST_NAMES_MAX = 32,     /* of a request; others are passed over */
    REQUEST_TOKENS_MAX = 4096,  /* of a request that are read for names */
    REQUEST_PROVIDERS_MAX = 64, /* names of several tools beside which a provider's is looked for; later ones are any */
    COVER_TOKENS_MAX = 256      /* of a request that may be made of names only, or in which some are spoken */
};

#define NAME_ANY_ROW UINT32_MAX
#define NAME_UNWRITTEN UINT64_MAX

struct request_name {
    struct str text; /* of the request */
    uint64_t hash;
    struct name_run run; /* the entries of the index */
    uint32_t row;        /* of the provider that the request names beside it, or NAME_ANY_ROW */
    uint64_t written;    /* the hash of those that are written like that; NAME_UNWRITTEN where none is */
};

struct request_names {
    struct request_name items[REQUEST_NAMES_MAX];
    size_t count;
    bool only; /* the request is made of them only */

    /* Where it is not, names of two words or more that it says among others. */
    struct request_name spoken[REQUEST_NAMES_MAX];
    size_t spoken_count;
};

/* What it needs meanwhile is in the arena. Errors: WT_ENOMEM. */
int wt__request_names(struct request_names *out, const struct names *names, struct str request, struct arena *arena,
                      wt_error *err);

#endif
