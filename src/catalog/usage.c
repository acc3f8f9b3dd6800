/* usage.c: validates and writes the fields of a usage, and reads usages from files. */
#include "catalog/usage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "catalog/dataset.h"
#include "text/unicode.h"

static const char *const outcome_names[USAGE_OUTCOMES] = {"", "ok", "failed"};

const char *wt__usage_outcome_name(enum usage_outcome outcome)
{
    return outcome_names[outcome];
}

/* Words of outcomes, including those of agents' logs. */
static const struct {
    const char *word;
    enum usage_outcome outcome;
} outcome_words[] = {{"", USAGE_UNKNOWN},       {"ok", USAGE_OK},        {"success", USAGE_OK},
                     {"succeeded", USAGE_OK},   {"true", USAGE_OK},      {"failed", USAGE_FAILED},
                     {"failure", USAGE_FAILED}, {"error", USAGE_FAILED}, {"false", USAGE_FAILED}};

bool wt__usage_outcome_read(struct str word, enum usage_outcome *out)
{
    size_t i = 0;
    while (i < sizeof outcome_words / sizeof *outcome_words && !wt__str_equal(word, wt__str(outcome_words[i].word)))
        i++;
    if (i == sizeof outcome_words / sizeof *outcome_words)
        return false;
    *out = outcome_words[i].outcome;
    return true;
}

/* True if the text consists only of control characters and blanks of Unicode. */
static bool is_blank_text(struct str text)
{
    const char *end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end;) {
        uint32_t c = wt__utf8_next(&at, end);
        bool blank = c <= ' ' || c == 0x7f || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) ||
                     c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
        if (!blank)
            return false;
    }
    return true;
}

int wt__usage_check_request(struct str request, wt_error *err)
{
    if (request.len > WT_MAX_REQUEST_BYTES)
        return wt__fail(err, WT_ETOOLONG, "the request has %zu bytes; at most %d are allowed", request.len,
                        WT_MAX_REQUEST_BYTES);
    const char *nul = request.len ? memchr(request.ptr, '\0', request.len) : NULL;
    if (nul)
        return wt__fail(err, WT_EFORMAT, "the request has a NUL at byte %zu; it must be text",
                        (size_t)(nul - request.ptr));
    if (!wt__utf8_valid(request))
        return wt__fail(err, WT_EFORMAT, "the request is not valid UTF-8");
    if (is_blank_text(request))
        return wt__fail(err, WT_EFORMAT, "the request is empty");
    return 0;
}

static int check_usage_name(const char *what, struct str name, size_t most, wt_error *err)
{
    if (name.len > most)
        return wt__fail(err, WT_ETOOLONG, "the %s has %zu bytes; at most %zu are allowed", what, name.len, most);
    if ((name.len && memchr(name.ptr, '\0', name.len)) || !wt__utf8_valid(name))
        return wt__fail(err, WT_EFORMAT, "the %s is not valid UTF-8, or has a NUL", what);
    return 0;
}

int wt__usage_check_client(struct str client, wt_error *err)
{
    return check_usage_name("client", client, WT_MAX_CLIENT_BYTES, err);
}

int wt__usage_check_key(struct str key, wt_error *err)
{
    return check_usage_name("key", key, WT_MAX_USAGE_KEY_BYTES, err);
}

/* ---------------------------------------------------------------- arguments */

#define WANTED "give a JSON object, such as {\"city\": \"Oslo\"}"

static int check_arguments_length(size_t len, wt_error *err)
{
    if (len <= WT_MAX_ARGUMENTS_BYTES)
        return 0;
    return wt__fail(err, WT_ETOOLONG, "the arguments have %zu bytes; at most %d are allowed", len,
                    WT_MAX_ARGUMENTS_BYTES);
}

int wt__usage_read_arguments(json_t **out, struct str text, wt_error *err)
{
    wt_error why = {0};
    *out = NULL;
    WT_TRY(check_arguments_length(text.len, err));
    int rc = wt__json_parse(out, text.ptr, text.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc == WT_ETOOLONG)
        return wt__fail(err, WT_EFORMAT, "the arguments are nested deeper than %d levels", WT_MAX_JSON_DEPTH);
    if (rc < 0) /* the parser's own message quotes the text */
        return wt__fail(err, WT_EFORMAT, "the arguments are not valid JSON at byte %zu; " WANTED, why.byte);
    if (json_is_object(*out))
        return 0;
    json_decref(*out);
    *out = NULL;
    return wt__fail(err, WT_EFORMAT, "the arguments are not an object; " WANTED);
}

int wt__usage_write_arguments(struct buffer *out, const json_t *arguments, wt_error *err)
{
    size_t before = out->len;
    if (wt__json_write_typed(out, arguments) < 0)
        return wt__fail_nomem(err);
    return check_arguments_length(out->len - before, err);
}

int wt__usage_check_arguments(struct str text, wt_error *err)
{
    json_auto_t *object = NULL;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ')
            return wt__fail(err, WT_EFORMAT, "the arguments have a control character at byte %zu", i);
    return wt__usage_read_arguments(&object, text, err);
}

/* ---------------------------------------------------------------- times */

/* Reads a number of exactly `digits` digits and moves *text past it. Returns -1 if the text begins with fewer
 * digits. */
static int64_t read_fixed_digits(struct str *text, size_t digits)
{
    int64_t value = 0;
    if (text->len < digits)
        return -1;
    for (size_t i = 0; i < digits; i++) {
        if (!wt__is_digit(text->ptr[i]))
            return -1;
        value = value * 10 + (text->ptr[i] - '0');
    }
    *text = (struct str){text->ptr + digits, text->len - digits};
    return value;
}

/* Skips one of the characters `marks` at the beginning of *text. Returns false if there is another character. */
static bool read_character(struct str *text, const char *marks)
{
    if (text->len == 0 || !text->ptr[0] || !strchr(marks, text->ptr[0]))
        return false;
    *text = (struct str){text->ptr + 1, text->len - 1};
    return true;
}

/* Reads "Z" or "+01:00" as seconds east of UTC. */
static bool read_utc_offset(struct str *text, int64_t *east)
{
    *east = 0;
    if (read_character(text, "Zz"))
        return true;
    bool west = text->len > 0 && text->ptr[0] == '-';
    if (!read_character(text, "+-"))
        return false;
    int64_t hours = read_fixed_digits(text, 2);
    int64_t minutes = read_character(text, ":") ? read_fixed_digits(text, 2) : -1;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *east = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

/* Reads a time of day with an optional fraction and its offset. */
static bool read_clock(struct str *text, struct tm *clock, int64_t *east)
{
    int64_t hour = read_fixed_digits(text, 2);
    int64_t minute = read_character(text, ":") ? read_fixed_digits(text, 2) : -1;
    int64_t second = read_character(text, ":") ? read_fixed_digits(text, 2) : -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) /* 60 is a leap second */
        return false;
    if (read_character(text, ".")) {
        if (read_fixed_digits(text, 1) < 0)
            return false;
        while (read_fixed_digits(text, 1) >= 0) {
        }
    }
    clock->tm_hour = (int)hour;
    clock->tm_min = (int)minute;
    clock->tm_sec = (int)second;
    return read_utc_offset(text, east);
}

bool wt__usage_time_read(struct str text, int64_t *seconds)
{
    int64_t east = 0;
    int64_t year = read_fixed_digits(&text, 4);
    int64_t month = read_character(&text, "-") ? read_fixed_digits(&text, 2) : -1;
    int64_t day = read_character(&text, "-") ? read_fixed_digits(&text, 2) : -1;
    struct tm clock = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    if (year < 1970 || month < 1 || month > 12 || day < 1)
        return false;
    time_t midnight = timegm(&clock);
    if (clock.tm_mday != day) /* 31 April is 1 May */
        return false;
    if (text.len > 0 && (!read_character(&text, "Tt ") || !read_clock(&text, &clock, &east) || text.len > 0))
        return false;
    *seconds = midnight + clock.tm_hour * 3600 + clock.tm_min * 60 + clock.tm_sec - east;
    return *seconds >= 0 && *seconds <= CLOCK_TEXT_MAX;
}

enum { REASON_MAX = 512, STEP_BYTES = 1 << 20, SHOWN = 80, POINTER_MAX = 48 };

/* ---------------------------------------------------------------- issues */

/* Stores an issue, unless there are WT_MAX_ISSUES already. */
static int keep_usage_issue(struct usage_import *import, const struct usage_place *place, const char *reason,
                            wt_error *err)
{
    if (import->issue_count == WT_MAX_ISSUES)
        return 0;
    if (wt__grow((void **)&import->issues, &import->issue_capacity, import->issue_count + 1, sizeof *import->issues) <
        0)
        return wt__fail_nomem(err);
    wt_add_issue issue = {.file = wt__arena_copy(&import->arena, wt__str(place->file)),
                          .line = place->line,
                          .byte = place->byte,
                          .pointer = wt__arena_copy(&import->arena, wt__str(place->pointer)),
                          .reason = wt__arena_copy(&import->arena, wt__str(reason))};
    if (!issue.file || !issue.pointer || !issue.reason)
        return wt__fail_nomem(err);
    import->issues[import->issue_count++] = issue;
    return 0;
}

int wt__usage_issue(struct usage_import *import, const struct usage_place *place, wt_error *err, const char *format,
                    ...)
{
    char reason[REASON_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (!import->strict)
        return keep_usage_issue(import, place, reason, err);
    return wt__fail_at(err, WT_EFORMAT, place->line, place->byte, place->pointer, "%s:%zu: %s%s%s", place->file,
                       place->line, place->pointer, *place->pointer ? ": " : "", reason);
}

void wt__usage_import_dispose(struct usage_import *import)
{
    wt__arena_dispose(&import->arena);
    free(import->issues);
    import->issues = NULL;
}

/* ---------------------------------------------------------------- lines */

struct usage_lines {
    struct usage_import *import;
    struct str text;
    struct usage_place place;
    size_t next;     /* offset of the next line */
    size_t reported; /* offset up to which the progress was reported */
    bool cut;        /* the current line has no newline, so the file may be truncated */
};

/* Returns 1 with the next line that is not blank, 0 at the end, or WT_ECANCELLED. */
static int next_usage_line(struct usage_lines *l, struct str *line, wt_error *err)
{
    while (l->next < l->text.len) {
        const char *begin = l->text.ptr + l->next, *end = memchr(begin, '\n', l->text.len - l->next);
        size_t len = end ? (size_t)(end - begin) : l->text.len - l->next;
        l->place.line++;
        l->place.byte = l->next;
        l->cut = !end;
        l->next += len + (end != NULL);
        size_t done = l->next - l->reported;
        if (done >= STEP_BYTES || l->next == l->text.len) {
            l->reported = l->next;
            if (wt__progress_step(l->import->progress, done))
                return wt__fail_cancelled(err);
        }
        if (l->place.line == 1 && wt__str_starts((struct str){begin, len}, STR("\xef\xbb\xbf"))) {
            begin += 3;
            len -= 3;
        }
        *line = wt__str_trim((struct str){begin, len});
        if (line->len > 0)
            return 1;
    }
    return 0;
}

static int open_usage_lines(struct usage_lines *l, struct usage_import *import, struct str text, const char *name,
                            wt_error *err)
{
    *l = (struct usage_lines){.import = import, .text = text, .place = {.file = name, .pointer = ""}};
    if (text.len > WT_MAX_FILE_BYTES)
        return wt__fail(err, WT_ETOOLONG, "%s has %zu bytes; at most %d are read", name, text.len, WT_MAX_FILE_BYTES);
    return wt__progress_phase(import->progress, "reading", text.len) ? wt__fail_cancelled(err) : 0;
}

/* Reports an issue that skips a usage. */
#define SKIP(l, at, err, ...)                                                                                          \
    ((l)->import->skipped++, (l)->place.pointer = (at), wt__usage_issue((l)->import, &(l)->place, (err), __VA_ARGS__))

/* Removes the quote of the input from the parser's message. The quote may contain arguments, which may be secret. */
static void remove_quote(wt_error *why)
{
    char *near = strstr(why->message, " near '");
    if (near)
        *near = '\0';
}

/* Returns 1 with the line's object, to be released with json_decref, or 0 if an issue was reported. */
static int read_line_object(struct usage_lines *l, struct str line, json_t **out, wt_error *err)
{
    wt_error why = {0};
    int rc = wt__json_parse(out, line.ptr, line.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    remove_quote(&why);
    if (rc < 0)
        return SKIP(l, "", err, "%s%s", why.message, l->cut ? " (the source may be cut off here)" : "");
    if (json_is_object(*out))
        return 1;
    json_decref(*out);
    *out = NULL;
    return SKIP(l, "", err, "not an object: a usage is {\"request\": \"...\", \"tools\": [\"...\"]}");
}

/* ---------------------------------------------------------------- JSON Lines */

/* Each function for a member of a usage returns 1, 0 if it reported an issue, or an error. */
static int read_line_request(struct usage_lines *l, const json_t *object, struct str *out, wt_error *err)
{
    wt_error why = {0};
    const json_t *value = json_object_get(object, "request");
    if (!json_is_string(value))
        return SKIP(l, "/request", err, value ? "\"request\" is not a string" : "the usage has no \"request\"");
    *out = (struct str){json_string_value(value), json_string_length(value)};
    return wt__usage_check_request(*out, &why) < 0 ? SKIP(l, "/request", err, "%s", why.message) : 1;
}

/* Reads an element of "tools": a name, or {"tool": NAME, "arguments": {...}}. Invalid arguments are dropped, and the
 * tool is kept. */
static int read_line_tool(struct usage_lines *l, json_t *item, size_t index, struct usage_draft_tool *out,
                          wt_error *err)
{
    char at[POINTER_MAX];
    const json_t *name = json_is_object(item) ? json_object_get(item, "tool") : item;
    json_t *arguments = json_is_object(item) ? json_object_get(item, "arguments") : NULL;
    snprintf(at, sizeof at, "/tools/%zu%s", index, name == item ? "" : "/tool");
    *out = (struct usage_draft_tool){.name = {json_string_value(name), json_string_length(name)}};
    if (out->name.len == 0)
        return SKIP(l, at, err, "neither the name of a tool nor {\"tool\": NAME, \"arguments\": {...}}");
    if (out->name.len > WT_MAX_USAGE_LABEL_BYTES)
        return SKIP(l, at, err, "the name has %zu bytes; at most %d are allowed", out->name.len,
                    WT_MAX_USAGE_LABEL_BYTES);
    if (json_is_object(arguments))
        out->arguments = arguments;
    if (!arguments || json_is_object(arguments) || json_is_null(arguments))
        return 1;
    snprintf(at, sizeof at, "/tools/%zu/arguments", index);
    l->place.pointer = at;
    int rc = wt__usage_issue(l->import, &l->place, err,
                             "the arguments are not an object; the usage is imported without them");
    return rc < 0 ? rc : 1;
}

static int read_line_tools(struct usage_lines *l, const json_t *object,
                           struct usage_draft_tool tools[WT_MAX_USAGE_TOOLS], size_t *count, wt_error *err)
{
    size_t i;
    json_t *item;
    const json_t *list = json_object_get(object, "tools");
    if (!json_is_array(list))
        return SKIP(l, "/tools", err, list ? "\"tools\" is not an array" : "the usage has no \"tools\"");
    *count = json_array_size(list);
    if (*count == 0)
        return SKIP(l, "/tools", err, "\"tools\" is empty: a usage has at least one tool");
    if (*count > WT_MAX_USAGE_TOOLS)
        return SKIP(l, "/tools", err, "%zu tools in one usage; at most %d are allowed", *count, WT_MAX_USAGE_TOOLS);
    json_array_foreach(list, i, item)
    {
        int rc = read_line_tool(l, item, i, &tools[i], err);
        if (rc <= 0)
            return rc;
    }
    return 1;
}

static int read_line_outcome(struct usage_lines *l, const json_t *object, enum usage_outcome *out, wt_error *err)
{
    const json_t *value = json_object_get(object, "outcome");
    *out = USAGE_UNKNOWN;
    if (!value || json_is_null(value))
        return 1;
    struct str word = json_is_true(value)    ? STR("true")
                      : json_is_false(value) ? STR("false")
                                             : wt__json_str(object, "outcome");
    if ((json_is_boolean(value) || json_is_string(value)) && wt__usage_outcome_read(word, out))
        return 1;
    return SKIP(l, "/outcome", err, "the outcome is not one of: " USAGE_OUTCOME_WORDS);
}

static int read_line_time(struct usage_lines *l, const json_t *object, int64_t *out, wt_error *err)
{
    const json_t *value = json_object_get(object, "time");
    *out = -1;
    if (!value || json_is_null(value))
        return 1;
    if (json_is_string(value) && wt__usage_time_read(wt__json_str(object, "time"), out))
        return 1;
    if (json_is_number(value)) {
        double seconds = json_number_value(value);
        if (seconds >= 0 && seconds <= (double)CLOCK_TEXT_MAX) {
            *out = json_is_integer(value) ? json_integer_value(value) : (int64_t)seconds;
            return 1;
        }
    }
    return SKIP(l, "/time", err, "the time is neither a number of seconds since 1970 nor like 2026-11-22T08:30:00Z");
}

static int read_line_name(struct usage_lines *l, const json_t *object, const char *pointer,
                          int (*check)(struct str name, wt_error *err), struct str *out, wt_error *err)
{
    wt_error why = {0};
    const json_t *value = json_object_get(object, pointer + 1);
    if (!value || json_is_null(value))
        return 1;
    if (!json_is_string(value))
        return SKIP(l, pointer, err, "\"%s\" is not a string", pointer + 1);
    *out = (struct str){json_string_value(value), json_string_length(value)};
    return check(*out, &why) < 0 ? SKIP(l, pointer, err, "%s", why.message) : 1;
}

/* True for {"key": "run-17/3", "outcome": "failed"}, the outcome of a usage reported before. */
static bool is_outcome(const json_t *object)
{
    return !json_object_get(object, "request") && !json_object_get(object, "tools") &&
           json_object_get(object, "outcome") && wt__json_str(object, "key").len > 0;
}

static int read_line_usage(struct usage_lines *l, const json_t *object, wt_error *err)
{
    struct usage_draft_tool tools[WT_MAX_USAGE_TOOLS];
    struct usage_draft draft = {.tools = tools, .file = l->place.file, .line = l->place.line, .byte = l->place.byte};
    bool usage = !is_outcome(object);
    int rc = 1;
    if ((usage && ((rc = read_line_request(l, object, &draft.request, err)) <= 0 ||
                   (rc = read_line_tools(l, object, tools, &draft.tool_count, err)) <= 0)) ||
        (rc = read_line_outcome(l, object, &draft.outcome, err)) <= 0 ||
        (rc = read_line_time(l, object, &draft.time, err)) <= 0 ||
        (rc = read_line_name(l, object, "/client", wt__usage_check_client, &draft.client, err)) <= 0 ||
        (rc = read_line_name(l, object, "/key", wt__usage_check_key, &draft.key, err)) <= 0)
        return rc;
    return l->import->take(l->import->context, &draft, err);
}

int wt__usage_import_bytes(struct usage_import *import, struct str bytes, const char *name, wt_error *err)
{
    struct usage_lines l;
    struct str line;
    int rc = open_usage_lines(&l, import, bytes, name, err);
    while (rc == 0 && (rc = next_usage_line(&l, &line, err)) == 1) {
        json_auto_t *object = NULL;
        rc = read_line_object(&l, line, &object, err);
        if (rc == 1)
            rc = read_line_usage(&l, object, err);
    }
    if (rc == 0 && l.place.line == 0)
        rc = wt__fail(err, WT_EFORMAT, "%s is empty", name);
    return rc;
}

/* ---------------------------------------------------------------- BEIR */

/* Passes the usage of a query with relevant tools to `take`. */
static int take_query(struct usage_import *import, const struct query *query, const char *file, wt_error *err)
{
    struct usage_draft_tool tools[WT_MAX_USAGE_TOOLS];
    struct usage_draft draft = {.request = query->text, .time = -1, .tools = tools, .query = query->id, .file = file};
    struct usage_place place = {file, 0, 0, ""};
    for (size_t i = 0; i < query->judgement_count; i++) {
        const struct judgement *judgement = &query->judgements[i];
        if (judgement->gain <= 0)
            continue;
        if (draft.tool_count == WT_MAX_USAGE_TOOLS || judgement->tool.len > WT_MAX_USAGE_LABEL_BYTES) {
            import->skipped++;
            return wt__usage_issue(import, &place, err,
                                   "query \"%.*s\" has more than %d tools, or a name over %d bytes",
                                   (int)(query->id.len < SHOWN ? query->id.len : SHOWN), query->id.ptr,
                                   WT_MAX_USAGE_TOOLS, WT_MAX_USAGE_LABEL_BYTES);
        }
        tools[draft.tool_count++] = (struct usage_draft_tool){.name = judgement->tool};
    }
    wt_error why;
    if (wt__usage_check_request(query->text, &why) == 0)
        return import->take(import->context, &draft, err);
    import->skipped++;
    return wt__usage_issue(import, &place, err, "query \"%.*s\": %s",
                           (int)(query->id.len < SHOWN ? query->id.len : SHOWN), query->id.ptr, why.message);
}

static int read_folder(struct usage_import *import, const char *folder, const char *split, wt_error *err)
{
    WT_CLEANUP(wt__dataset_dispose) struct dataset set = {.name = ""};
    WT_CLEANUP(wt__buffer_dispose) struct buffer file = {0};
    if (wt__progress_phase(import->progress, "reading", 0))
        return wt__fail_cancelled(err);
    WT_TRY(wt__dataset_read(&set, folder, split, err));
    wt__buffer_printf(&file, "%s/qrels/%s.tsv", folder, split);
    if (file.failed)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < set.len; i++)
        WT_TRY(take_query(import, &set.queries[i], file.ptr, err));
    if (set.unknown_queries == 0)
        return 0;
    struct usage_place place = {file.ptr, 0, 0, ""};
    import->skipped += set.unknown_queries;
    return wt__usage_issue(import, &place, err, "%zu queries are not in queries.jsonl", set.unknown_queries);
}

int wt__usage_import_path(struct usage_import *import, const char *path, const char *split, wt_error *err)
{
    WT_AUTO_FREE char *bytes = NULL;
    size_t len = 0;
    if (wt__is_folder(path))
        return read_folder(import, path, split, err);
    WT_TRY(wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, err));
    return wt__usage_import_bytes(import, (struct str){bytes, len}, path, err);
}
