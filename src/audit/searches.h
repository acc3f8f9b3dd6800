/* searches.h: what the catalogue answers: to each tool's own description, plain and in the words in which people ask,
 * and to recorded requests. */
#ifndef WT_AUDIT_SEARCHES_H
#define WT_AUDIT_SEARCHES_H

#include "audit/auditing.h"

enum {
    SEARCH_DEPTH = 10,          /* hits of each search */
    SEARCH_WORDS = 4,           /* a description's first sentences are read until they have so many */
    SEARCH_VOICED_LEAST = 2000, /* requests in people's words, however few tools there are */
    SEARCH_VOICED_MOST = 5000,  /* and however many */
    SEARCH_USED = 32            /* tools of one recorded request that are looked at */
};

struct searched {
    struct str request;
    uint32_t tool;        /* whose description it is; of a recorded request: unused */
    const uint32_t *used; /* [used_count] tools that it used; none of a made request */
    size_t used_count;
    uint32_t hits[SEARCH_DEPTH]; /* [count] tools, best first */
    float scores[SEARCH_DEPTH];
    uint8_t count;
    uint8_t rank;     /* of the tool, from 1; 0: it is beyond them. A copy has the rank of the one that it is of */
    uint32_t copy_of; /* the tool that it is a copy of, as the search sees it; UINT32_MAX: none */
    bool word_for_word;
};

struct searches {
    struct searched *plain; /* [plain_count] by tool */
    size_t plain_count;
    struct searched *voiced; /* [voiced_count] */
    size_t voiced_count;
    struct searched *recorded; /* [recorded_count] different requests */
    size_t recorded_count;
    const char *recipe; /* "": nothing was searched */
    const char *encoder;
};

/* Makes the requests, and searches them with all threads. All of it is in the audit's scratch. Errors: those of
 * wt_find. */
int wt__audit_search(struct auditing *a, struct searches *out, wt_error *err);

/* Appends the beginning of a description that can stand as a request: whole sentences without markup. */
void wt__audit_request(struct str description, struct buffer *out);

/* The search by the tool's own description; NULL: there was none. */
const struct searched *wt__audit_own_search(const struct searches *searches, uint32_t tool);

#endif
