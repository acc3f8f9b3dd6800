/* members.h: writes members of JSON results, and the parts that several results share.
 *
 * Texts may come from untrusted sources. All functions except wt__json_as_written escape them with text/shown.h, and
 * write on one line. */
#ifndef WT_WIRE_MEMBERS_H
#define WT_WIRE_MEMBERS_H

#include "base/buffer.h"
#include "whichtool.h"

/* Append "key":value, after a comma unless the member is the object's first. key: a literal of letters, not escaped. */
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

/* Number and cost of the questions to a language model. */
struct model_cost {
    size_t questions;
    uint64_t prompt_tokens, completion_tokens;
    double ms;
};
/* Appends "language_model": the cost as an object, or null if there were no questions. */
void wt__json_language_model(struct buffer *out, const struct model_cost *cost);

/* Appends the members of a tool, without braces. */
void wt__json_tool(struct buffer *out, const wt_tool *tool);

enum { IMPORT_CHANGES = 5 }; /* number of counts of an import: added, updated, unchanged, removed, skipped */
/* Returns one of these counts, and sets *name to its name. index: 0 to IMPORT_CHANGES - 1. */
size_t wt__import_change(const wt_add_report *report, size_t index, const char **name);
/* Appends all these counts, each as a member. */
void wt__json_changes(struct buffer *out, const wt_add_report *report);
/* Appends "issues": skipped parts of an import, with reasons. */
void wt__json_issues(struct buffer *out, const wt_add_issue *const *issues, size_t count);

/* True if the text is JSON as written by wt__json_write, nested at most WT_MAX_JSON_DEPTH deep. Such a text can be
 * copied without parsing. Does not check keys for duplicates. Also false for numbers with a fraction or exponent, and
 * for escapes with several spellings, because checking these would be costly.
 *
 * wt__json_write wrote the schemas in a store, and parsing each hit's schema again would dominate the cost of a result.
 * Schemas are checked all the same, because a store is an untrusted file. */
bool wt__is_compact(struct str text);

#endif
