/* results.h: the results of the library as JSON, one form each, for the command and for servers (docs/json.md).
 *
 * A form is an object on one line without a line end. What a result does not tell is null, so that a reader finds every
 * member always; only what was asked for beyond that (explain) may be absent. */
#ifndef WT_WIRE_RESULTS_H
#define WT_WIRE_RESULTS_H

#include "wire/members.h"

/* What find and pick tell, in one form for both. */
struct found {
    const wt_hit *const *hits; /* [len] */
    size_t len;
    const char *request, *recipe;
    const char *read_as;              /* NULL: as it was typed */
    const char *const *unknown_words; /* [unknown_count] */
    size_t unknown_count;
    const char *encoder;                 /* "": none */
    const char *reason, *notice, *trace; /* NULL: there is none */
    /* Probabilities, and what a set is expected to match; NaN: not told */
    double no_tool, several_providers, complete, expected_match;
    size_t tokens, over_budget;
    double encode_ms, search_ms, total_ms;
    struct model_cost language_model;
    size_t kept; /* hits that are */
};

/* Views of the result. request: as it was asked, NULL with a conversation alone, whose last turn it is then. */
struct found wt__found_by_find(const wt_hits *hits, const char *request);
struct found wt__found_by_pick(const wt_picked *picked, const char *request);

struct found_form {
    bool counted; /* the hits' definitions were (max_tokens) */
    bool explained;
    const char *definitions; /* NULL, or a JSON array of the hits' definitions, which becomes a member of that name */
};
void wt__json_found(struct buffer *out, const struct found *found, const struct found_form *form);

struct called_form {
    bool explained; /* with its steps */
    bool call;      /* with the member call: in the form that was asked for, null without a tool */
};
void wt__json_called(struct buffer *out, const wt_called *called, const char *request, const struct called_form *form);

void wt__json_status(struct buffer *out, const wt_status *status);

/* The members that a report of an import has before its notice and issues, without the closing brace: it is followed by
 * what only the caller knows. */
void wt__json_added(struct buffer *out, const char *source, const wt_add_report *report);
void wt__json_usage_added(struct buffer *out, const char *source, const wt_usage_report *report);

#endif
