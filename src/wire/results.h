/* results.h: writes results of the library as JSON, for the command and servers (docs/json.md).
 *
 * Each result is an object on one line, without a line end. Unknown values are null, so all members are always present,
 * except optional ones such as those of `explain`. */
#ifndef WT_WIRE_RESULTS_H
#define WT_WIRE_RESULTS_H

#include "changes/recorded_use.h"
#include "wire/members.h"

/* Result of find or pick, in one form for both. */
struct search_result {
    const wt_hit *const *hits; /* [len] */
    size_t len;
    const char *request, *recipe;
    const char *read_as;              /* corrected request; NULL if unchanged */
    const char *const *unknown_words; /* [unknown_count] */
    size_t unknown_count;
    const char *encoder;                 /* name of the encoder; "" if no encoder was used */
    const char *reason, *notice, *trace; /* NULL if none */
    unsigned notice_codes;
    /* NaN if unknown. The first three are probabilities: no tool fits, tools of several providers are needed, the set
     * is complete. expected_match is the expected TRACC of the set. */
    double no_tool, several_providers, complete, expected_match;
    size_t tokens, over_budget;
    double encode_ms, search_ms, total_ms;
    struct model_cost language_model;
    size_t kept; /* number of hits that are in the result because they are already loaded (wt_hit.kept) */
};

/* Return views of a result. The request of a conversation is its last turn; `request` may then be NULL. */
struct search_result wt__found_by_find(const wt_hits *hits, const char *request);
struct search_result wt__found_by_pick(const wt_picked *picked, const char *request);

struct found_form {
    bool counted; /* true if tokens of definitions were counted (max_tokens) */
    bool explained;
    const char *definitions; /* JSON array for the member `definitions`; NULL to omit it */
};
void wt__json_found(struct buffer *out, const struct search_result *found, const struct found_form *form);

struct called_form {
    bool explained; /* true to include `steps` */
    bool call;      /* true to include `call`, in the requested format; null without a tool */
};
void wt__json_called(struct buffer *out, const wt_called *called, const char *request, const struct called_form *form);

void wt__json_status(struct buffer *out, const wt_status *status);

/* Append the report of an import, without notice, issues and closing brace, which the caller adds. */
void wt__json_added(struct buffer *out, const char *source, const wt_add_report *report);
void wt__json_usage_added(struct buffer *out, const char *source, const wt_usage_report *report);

/* Appends the result of recording usages: counts by fate, and the invalid usages as `refused`. is_policed: a policy
 * hides which tools exist. All usages except the refused ones then count as recorded. */
void wt__json_usage_result(struct buffer *out, struct reported_usage *const *usages, size_t count, bool is_policed);

/* Appends the result of a segment of usages as an object. */
void wt__json_usage_segment(struct buffer *out, const char *id, const struct usage_segment *segment);

/* True if a usage is reported as invalid. With a policy, a usage of unknown tools only is not reported, because this
 * would reveal which tools exist. */
bool wt__is_invalid_usage(const struct reported_usage *usage, bool is_policed);

#endif
