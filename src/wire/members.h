/* members.h: the pieces that every JSON form of a result is put together from: members, and what several forms share.
 *
 * Text of a result may come from anywhere, so all of it passes through text/shown.h. A form is on one line. */
#ifndef WT_WIRE_MEMBERS_H
#define WT_WIRE_MEMBERS_H

#include "base/buffer.h"
#include "whichtool.h"

/* key: letters alone, as it is written in the source. "key": value, with a comma before it unless it is an object's
 * first member. */
void wt__json_key(struct buffer *out, const char *key);
void wt__json_text(struct buffer *out, const char *key, const char *value);
void wt__json_count(struct buffer *out, const char *key, uint64_t value);
void wt__json_flag(struct buffer *out, const char *key, bool value);
void wt__json_number(struct buffer *out, const char *key, double value); /* null when it is not finite */
void wt__json_text_or_null(struct buffer *out, const char *key, const char *value);

/* JSON text that the library gave, on one line; a string when it is no JSON. */
void wt__json_raw(struct buffer *out, const char *key, const char *json);
/* The same as the library wrote it: read and written again, a number would not be as it was typed. NULL: null. */
void wt__json_as_written(struct buffer *out, const char *key, const char *json);

/* An array of strings. */
void wt__json_texts(struct buffer *out, const char *key, const char *const *items, size_t count);

/* "2026-11-22T08:30:00Z" */
void wt__json_time(struct buffer *out, const char *key, int64_t seconds);

/* "language_model": what it was asked and what that cost; null when nothing was. */
struct model_cost {
    size_t questions;
    uint64_t prompt_tokens, completion_tokens;
    double ms;
};
void wt__json_language_model(struct buffer *out, const struct model_cost *cost);

/* The members that every JSON form of a tool has, without the braces. */
void wt__json_tool(struct buffer *out, const wt_tool *tool);

/* "added", "updated", "unchanged", "removed", "skipped" of an import. */
enum { IMPORT_CHANGES = 5 };
size_t wt__import_change(const wt_add_report *report, size_t index, const char **name);
void wt__json_changes(struct buffer *out, const wt_add_report *report);
/* "issues": what an import did not take, and why. */
void wt__json_issues(struct buffer *out, const wt_add_issue *const *issues, size_t count);

#endif
