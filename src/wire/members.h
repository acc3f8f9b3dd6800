/* members.h: writes members of JSON results, and the parts that several results share.
 *
 * Texts may come from untrusted sources, so all of them are escaped by text/shown.h. The output is on one line. */
#ifndef WT_WIRE_MEMBERS_H
#define WT_WIRE_MEMBERS_H

#include "base/buffer.h"
#include "whichtool.h"

/* Append "key":value, after a comma unless it is the object's first member. key: a literal of letters, not escaped. */
void wt__json_key(struct buffer *out, const char *key);
void wt__json_open(struct buffer *out, const char *key, char bracket); /* an opening bracket as the value */
void wt__json_text(struct buffer *out, const char *key, const char *value);
void wt__json_count(struct buffer *out, const char *key, uint64_t value);
void wt__json_flag(struct buffer *out, const char *key, bool value);
void wt__json_number(struct buffer *out, const char *key, double value); /* null if not finite */
void wt__json_text_or_null(struct buffer *out, const char *key, const char *value);

/* Appends JSON text from the library, on one line; as a string if it is not valid JSON. */
void wt__json_raw(struct buffer *out, const char *key, const char *json);
/* Appends JSON text from the library unchanged, because rewriting could change numbers. null if NULL. */
void wt__json_as_written(struct buffer *out, const char *key, const char *json);

/* Appends an array of strings. */
void wt__json_texts(struct buffer *out, const char *key, const char *const *items, size_t count);

/* Appends "notice_codes": the names of WT_NOTICE_... codes. */
void wt__json_notice_codes(struct buffer *out, unsigned codes);

/* Appends a time: "2026-11-22T08:30:00Z". seconds: since 1970. */
void wt__json_time(struct buffer *out, const char *key, int64_t seconds);

/* Appends "language_model": number and cost of questions to the model; null if there were no questions. */
struct model_cost {
    size_t questions;
    uint64_t prompt_tokens, completion_tokens;
    double ms;
};
void wt__json_language_model(struct buffer *out, const struct model_cost *cost);

/* Appends the members of a tool, without braces. */
void wt__json_tool(struct buffer *out, const wt_tool *tool);

/* Counts of an import: "added", "updated", "unchanged", "removed", "skipped". */
enum { IMPORT_CHANGES = 5 };
size_t wt__import_change(const wt_add_report *report, size_t index, const char **name);
void wt__json_changes(struct buffer *out, const wt_add_report *report);
/* Appends "issues": skipped parts of an import, with reasons. */
void wt__json_issues(struct buffer *out, const wt_add_issue *const *issues, size_t count);

/* True if the text is JSON of at most WT_MAX_JSON_DEPTH levels in the form that wt__json_write produces, so it can be
 * copied without parsing. Stored schemas were written by wt__json_write, and parsing them again for every hit would
 * dominate the cost of a result; they are still checked, because a store is an untrusted file. May be false for a
 * compact text if the check would be costly: numbers with a fraction or exponent, and escapes with several forms. Does
 * not check that keys are unique. */
bool wt__is_compact(struct str text);

#endif
