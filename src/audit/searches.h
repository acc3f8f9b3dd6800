/* searches.h: searches of an audit: for each tool's own description, plain and phrased as people ask, and for recorded
 * requests. */
#ifndef WT_AUDIT_SEARCHES_H
#define WT_AUDIT_SEARCHES_H

#include "audit/auditing.h"

enum {
    SEARCH_DEPTH = 10,          /* hits of each search */
    SEARCH_WORDS = 4,           /* minimum words of the first sentences used as a request */
    SEARCH_VOICED_LEAST = 2000, /* minimum requests phrased as people ask */
    SEARCH_VOICED_MOST = 5000,  /* maximum of the same */
    SEARCH_USED = 32            /* maximum tools used by one recorded request */
};

struct audit_search {
    struct str request;
    uint32_t tool;        /* tool that the description is from; UINT32_MAX for a recorded request */
    const uint32_t *used; /* [used_count] tools that a recorded request used; empty for others */
    size_t used_count;
    uint32_t hits[SEARCH_DEPTH]; /* [count] tools, best first */
    float scores[SEARCH_DEPTH];
    uint8_t count;
    uint8_t rank;     /* rank of the tool or its original, from 1; 0 if not among the hits */
    uint32_t copy_of; /* original, according to the search, if the tool is a copy; else UINT32_MAX */
    bool word_for_word;
};

struct audit_searches {
    struct audit_search *plain; /* [plain_count] by tool */
    size_t plain_count;
    struct audit_search *voiced; /* [voiced_count] */
    size_t voiced_count;
    struct audit_search *recorded; /* [recorded_count] different requests */
    size_t recorded_count;
    const char *recipe; /* "" if nothing was searched */
    const char *encoder;
};

/* Makes the requests and searches for them, with all threads. *out lives in the audit's scratch. Errors: same as
 * wt_find. */
int wt__audit_search(struct audit_run *a, struct audit_searches *out, wt_error *err);

/* Appends the first whole sentences of a description, without markup, for use as a request. */
void wt__first_sentences(struct str description, struct buffer *out);

/* Returns the search for the tool's own description; NULL if it was not searched. */
const struct audit_search *wt__find_own_search(const struct audit_searches *searches, uint32_t tool);

#endif
