#include "wire/members.h"

#include <math.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/number.h"
#include "text/shown.h"
#include "text/unicode.h"

enum { DIGITS_MAX = 18 }; /* maximum digits of a number that always fits into 64 bits */

struct compact_scan {
    const char *at, *end;
    unsigned depth;
};

static bool skip_char(struct compact_scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

/* Skips a string of plain characters and of escapes that have only one spelling. */
static bool skip_json_string(struct compact_scan *scan)
{
    if (!skip_char(scan, '"'))
        return false;
    const char *begin = scan->at;
    bool ascii = true;
    while (scan->at < scan->end && *scan->at != '"') {
        unsigned char c = (unsigned char)*scan->at++;
        if (c < 0x20 || c == 0x7F)
            return false;
        ascii &= c < 0x80;
        if (c == '\\' && (scan->at == scan->end || !memchr("\"\\bfnrt", *scan->at++, 7)))
            return false;
    }
    struct str text = {begin, (size_t)(scan->at - begin)};
    return skip_char(scan, '"') && (ascii || wt__utf8_valid(text));
}

/* Skips a whole number. False for "-0", because the writer writes 0. */
static bool skip_json_number(struct compact_scan *scan)
{
    bool negative = skip_char(scan, '-');
    const char *begin = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    size_t digits = (size_t)(scan->at - begin);
    if (digits == 0 || digits > DIGITS_MAX || (*begin == '0' && (digits > 1 || negative)))
        return false;
    return scan->at == scan->end || !memchr(".eE", *scan->at, 3);
}

static bool skip_word(struct compact_scan *scan, struct str word)
{
    if ((size_t)(scan->end - scan->at) < word.len || memcmp(scan->at, word.ptr, word.len) != 0)
        return false;
    scan->at += word.len;
    return true;
}

static bool skip_json_value(struct compact_scan *scan);

static bool skip_members(struct compact_scan *scan, char close, bool keyed)
{
    bool fine = ++scan->depth <= WT_MAX_JSON_DEPTH;
    scan->at++;
    if (!skip_char(scan, close)) {
        do
            fine = fine && (!keyed || (skip_json_string(scan) && skip_char(scan, ':'))) && skip_json_value(scan);
        while (fine && skip_char(scan, ','));
        fine = fine && skip_char(scan, close);
    }
    scan->depth--;
    return fine;
}

static bool skip_json_value(struct compact_scan *scan)
{
    switch (scan->at < scan->end ? *scan->at : '\0') {
    case '{':
        return skip_members(scan, '}', true);
    case '[':
        return skip_members(scan, ']', false);
    case '"':
        return skip_json_string(scan);
    case 't':
        return skip_word(scan, STR("true"));
    case 'f':
        return skip_word(scan, STR("false"));
    case 'n':
        return skip_word(scan, STR("null"));
    default:
        return skip_json_number(scan);
    }
}

bool wt__is_compact(struct str text)
{
    struct compact_scan scan = {text.ptr, text.ptr + text.len, 0};
    return text.len > 0 && skip_json_value(&scan) && scan.at == scan.end;
}

void wt__json_key(struct buffer *out, const char *key)
{
    bool first = out->len == 0 || out->ptr[out->len - 1] == '{';
    wt__buffer_append(out, ",\"" + first, 2 - first);
    wt__buffer_text(out, key);
    wt__buffer_append(out, "\":", 2);
}

void wt__json_open(struct buffer *out, const char *key, char bracket)
{
    wt__json_key(out, key);
    wt__buffer_char(out, bracket);
}

void wt__json_text(struct buffer *out, const char *key, const char *value)
{
    wt__json_key(out, key);
    wt__shown_string(out, wt__str(value));
}

void wt__json_text_or_null(struct buffer *out, const char *key, const char *value)
{
    if (value) {
        wt__json_text(out, key, value);
        return;
    }
    wt__json_key(out, key);
    wt__buffer_text(out, "null");
}

void wt__json_count(struct buffer *out, const char *key, uint64_t value)
{
    char text[NUMBER_BYTES];
    wt__json_key(out, key);
    wt__buffer_append(out, text, wt__count_text(text, value));
}

void wt__json_flag(struct buffer *out, const char *key, bool value)
{
    wt__json_key(out, key);
    wt__buffer_text(out, value ? "true" : "false");
}

void wt__json_number(struct buffer *out, const char *key, double value)
{
    char text[NUMBER_BYTES];
    wt__json_key(out, key);
    if (isfinite(value))
        wt__buffer_append(out, text, wt__number_text(text, value));
    else
        wt__buffer_text(out, "null");
}

void wt__json_raw(struct buffer *out, const char *key, const char *json)
{
    json_auto_t *value = NULL;
    wt__json_key(out, key);
    if (wt__is_compact(wt__str(json)))
        wt__shown_json(out, wt__str(json));
    else if (wt__json_parse(&value, json, strlen(json), NULL) == 0)
        wt__shown_value(out, value);
    else
        wt__shown_string(out, wt__str(json));
}

void wt__json_as_written(struct buffer *out, const char *key, const char *json)
{
    wt__json_key(out, key);
    wt__buffer_text(out, json ? json : "null");
}

void wt__json_texts(struct buffer *out, const char *key, const char *const *items, size_t count)
{
    wt__json_open(out, key, '[');
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        wt__shown_string(out, wt__str(items[i]));
    }
    wt__buffer_char(out, ']');
}

void wt__json_notice_codes(struct buffer *out, unsigned codes)
{
    const char *names[sizeof codes * 8];
    size_t count = 0;
    for (unsigned code = 1; code != 0; code <<= 1)
        if (codes & code && (names[count] = wt_notice_name(code)))
            count++;
    wt__json_texts(out, "notice_codes", names, count);
}

void wt__json_time(struct buffer *out, const char *key, int64_t seconds)
{
    char text[CLOCK_TEXT_BYTES];
    wt__clock_text(seconds, text);
    wt__json_text(out, key, text);
}

void wt__json_language_model(struct buffer *out, const struct model_cost *cost)
{
    wt__json_key(out, "language_model");
    if (cost->questions == 0) {
        wt__buffer_text(out, "null");
        return;
    }
    wt__buffer_char(out, '{');
    wt__json_count(out, "questions", cost->questions);
    wt__json_count(out, "prompt_tokens", cost->prompt_tokens);
    wt__json_count(out, "completion_tokens", cost->completion_tokens);
    wt__json_number(out, "ms", cost->ms);
    wt__buffer_char(out, '}');
}

void wt__json_tool(struct buffer *out, const wt_tool *tool)
{
    wt__json_text(out, "id", tool->id);
    wt__json_text(out, "provider", tool->provider);
    wt__json_text(out, "name", tool->name);
    wt__json_text(out, "export_name", tool->export_name);
    wt__json_text(out, "title", tool->title);
    wt__json_text(out, "description", tool->description);
    wt__json_text(out, "category", tool->category);
    wt__json_text(out, "source_id", tool->source_id);
    wt__json_text(out, "format", tool->format);
    wt__json_text(out, "sha256", tool->sha256);
    wt__json_raw(out, "schema", tool->schema);
}

size_t wt__import_change(const wt_add_report *report, size_t index, const char **name)
{
    static const char *const names[IMPORT_CHANGES] = {"added", "updated", "unchanged", "removed", "skipped"};
    const size_t counts[IMPORT_CHANGES] = {report->added, report->updated, report->unchanged, report->removed,
                                           report->skipped};
    *name = names[index];
    return counts[index];
}

void wt__json_changes(struct buffer *out, const wt_add_report *report)
{
    for (size_t i = 0; i < IMPORT_CHANGES; i++) {
        const char *name;
        size_t count = wt__import_change(report, i, &name);
        wt__json_count(out, name, count);
    }
}

void wt__json_issues(struct buffer *out, const wt_add_issue *const *issues, size_t count)
{
    wt__json_open(out, "issues", '[');
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "file", issues[i]->file);
        wt__json_count(out, "line", issues[i]->line);
        wt__json_count(out, "byte", issues[i]->byte);
        wt__json_text(out, "pointer", issues[i]->pointer);
        wt__json_text(out, "reason", issues[i]->reason);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}
