/* usage_import.c: see the header. A BEIR folder is read judgements first, because they say which queries have tools;
 * they are kept as views of the file, chained by query. */
#include "catalog/usage_import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"

enum { REASON_MAX = 512, STEP_BYTES = 1 << 20, NONE = UINT32_MAX, SHOWN = 80 };

/* ---------------------------------------------------------------- issues */

static int keep_issue(struct usage_import *import, const struct usage_place *place, const char *reason, wt_error *err)
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
        return keep_issue(import, place, reason, err);
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

struct lines {
    struct usage_import *import;
    struct str text;
    struct usage_place place;
    size_t next, reported;
    bool cut; /* the line has no end: the file may have been cut off */
};

/* 1: *line is the next that is not blank; 0: there is none; or WT_ECANCELLED. */
static int next_line(struct lines *l, struct str *line, wt_error *err)
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

static int lines_open(struct lines *l, struct usage_import *import, struct str text, const char *name, wt_error *err)
{
    *l = (struct lines){.import = import, .text = text, .place = {.file = name, .pointer = ""}};
    if (text.len > WT_MAX_FILE_BYTES)
        return wt__fail(err, WT_ETOOLONG, "%s has %zu bytes; at most %zu are read", name, text.len, WT_MAX_FILE_BYTES);
    return wt__progress_phase(import->progress, "reading", text.len) ? wt__fail_cancelled(err) : 0;
}

/* An issue that costs a usage. */
#define SKIP(l, at, err, ...)                                                                                          \
    ((l)->import->skipped++, (l)->place.pointer = (at), wt__usage_issue((l)->import, &(l)->place, (err), __VA_ARGS__))

/* 1: *out is the line's object, ended with json_decref; 0: an issue was reported. */
static int read_object(struct lines *l, struct str line, json_t **out, wt_error *err)
{
    wt_error why = {0};
    int rc = wt__json_parse(out, line.ptr, line.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0)
        return SKIP(l, "", err, "%s%s", why.message, l->cut ? " (the source may be cut off here)" : "");
    if (json_is_object(*out))
        return 1;
    json_decref(*out);
    *out = NULL;
    return SKIP(l, "", err, "not an object: a usage is {\"request\": \"...\", \"tools\": [\"...\"]}");
}

/* ---------------------------------------------------------------- JSON Lines */

/* Each returns 1, 0 when an issue was reported, or a failure. */
static int read_request(struct lines *l, const json_t *object, const char *key, const char *pointer, struct str *out,
                        wt_error *err)
{
    wt_error why = {0};
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return SKIP(l, pointer, err, value ? "\"%s\" is not a string" : "the usage has no \"%s\"", key);
    *out = (struct str){json_string_value(value), json_string_length(value)};
    return wt__usage_check_request(*out, &why) < 0 ? SKIP(l, pointer, err, "%s", why.message) : 1;
}

static int read_tools(struct lines *l, const json_t *object, struct str tools[WT_MAX_USAGE_TOOLS], size_t *count,
                      wt_error *err)
{
    char at[32];
    size_t i;
    const json_t *list = json_object_get(object, "tools"), *item;
    if (!json_is_array(list))
        return SKIP(l, "/tools", err, list ? "\"tools\" is not an array" : "the usage has no \"tools\"");
    *count = json_array_size(list);
    if (*count == 0)
        return SKIP(l, "/tools", err, "\"tools\" is empty: a usage is of one tool at least");
    if (*count > WT_MAX_USAGE_TOOLS)
        return SKIP(l, "/tools", err, "%zu tools in one usage; at most %d are taken", *count, WT_MAX_USAGE_TOOLS);
    json_array_foreach(list, i, item)
    {
        snprintf(at, sizeof at, "/tools/%zu", i);
        tools[i] = (struct str){json_string_value(item), json_string_length(item)};
        if (!json_is_string(item) || tools[i].len == 0)
            return SKIP(l, at, err, "not the name of a tool");
        if (tools[i].len > WT_MAX_USAGE_LABEL_BYTES)
            return SKIP(l, at, err, "the name has %zu bytes; at most %d are taken", tools[i].len,
                        WT_MAX_USAGE_LABEL_BYTES);
    }
    return 1;
}

static int read_outcome(struct lines *l, const json_t *object, enum usage_outcome *out, wt_error *err)
{
    const json_t *value = json_object_get(object, "outcome");
    *out = USAGE_UNTOLD;
    if (!value || json_is_null(value))
        return 1;
    if (json_is_string(value) && wt__usage_outcome_read(wt__json_str(object, "outcome"), out))
        return 1;
    return SKIP(l, "/outcome", err, "the outcome is neither \"ok\" nor \"failed\"");
}

static int read_time(struct lines *l, const json_t *object, int64_t *out, wt_error *err)
{
    const json_t *value = json_object_get(object, "time");
    *out = -1;
    if (!value || json_is_null(value))
        return 1;
    if (json_is_string(value) && wt__usage_time_read(wt__json_str(object, "time"), out))
        return 1;
    if (json_is_number(value)) {
        double seconds = json_number_value(value);
        if (seconds >= 0 && seconds <= (double)USAGE_TIME_MAX) {
            *out = json_is_integer(value) ? json_integer_value(value) : (int64_t)seconds;
            return 1;
        }
    }
    return SKIP(l, "/time", err, "the time is neither a number of seconds since 1970 nor like 2026-11-22T08:30:00Z");
}

static int read_usage(struct lines *l, const json_t *object, wt_error *err)
{
    struct str tools[WT_MAX_USAGE_TOOLS];
    struct usage_draft draft = {.tools = tools, .file = l->place.file, .line = l->place.line, .byte = l->place.byte};
    int rc = read_request(l, object, "request", "/request", &draft.request, err);
    if (rc > 0)
        rc = read_tools(l, object, tools, &draft.tool_count, err);
    if (rc > 0)
        rc = read_outcome(l, object, &draft.outcome, err);
    if (rc > 0)
        rc = read_time(l, object, &draft.time, err);
    return rc > 0 ? l->import->take(l->import->context, &draft, err) : rc;
}

int wt__usage_import_bytes(struct usage_import *import, struct str bytes, const char *name, wt_error *err)
{
    struct lines l;
    struct str line;
    int rc = lines_open(&l, import, bytes, name, err);
    while (rc == 0 && (rc = next_line(&l, &line, err)) == 1) {
        json_t *object = NULL;
        rc = read_object(&l, line, &object, err);
        if (rc == 1)
            rc = read_usage(&l, object, err);
        json_decref(object);
    }
    if (rc == 0 && l.place.line == 0)
        rc = wt__fail(err, WT_EFORMAT, "%s is empty", name);
    return rc;
}

/* ---------------------------------------------------------------- BEIR */

struct judgement {
    struct str tool;
    uint32_t next; /* of the same query, or NONE */
};

struct query {
    struct str id;
    uint32_t first, last; /* judgements */
    size_t line;          /* where it was judged first */
    bool met;
};

struct judged {
    struct map by_id; /* query id -> index of queries */
    struct query *queries;
    struct judgement *judgements;
    size_t query_count, query_capacity, judgement_count, judgement_capacity;
};

static struct str next_field(struct str *rest)
{
    const char *tab = rest->len ? memchr(rest->ptr, '\t', rest->len) : NULL;
    struct str field = {rest->ptr, tab ? (size_t)(tab - rest->ptr) : rest->len};
    size_t step = field.len + (tab != NULL);
    *rest = (struct str){rest->ptr + step, rest->len - step};
    return wt__str_trim(field);
}

/* 1 for a score over 0, 0 for another number, -1 for no number. */
static int read_score(struct str text)
{
    char number[32] = "", *end;
    if (text.len == 0 || text.len >= sizeof number)
        return -1;
    memcpy(number, text.ptr, text.len);
    double score = strtod(number, &end);
    return *end ? -1 : score > 0;
}

static int add_judgement(struct judged *j, struct str query, struct str tool, size_t line, wt_error *err)
{
    bool added = false;
    uint32_t at = (uint32_t)j->judgement_count;
    if (j->judgement_count >= NONE - 1)
        return wt__fail(err, WT_ETOOLONG, "more than %u judgements", NONE - 1);
    if (wt__grow((void **)&j->judgements, &j->judgement_capacity, j->judgement_count + 1, sizeof *j->judgements) < 0 ||
        wt__grow((void **)&j->queries, &j->query_capacity, j->query_count + 1, sizeof *j->queries) < 0)
        return wt__fail_nomem(err);
    uint32_t *index = wt__map_insert(&j->by_id, query, (uint32_t)j->query_count, &added);
    if (!index)
        return wt__fail_nomem(err);
    j->judgements[j->judgement_count++] = (struct judgement){tool, NONE};
    if (added)
        j->queries[j->query_count++] = (struct query){query, at, at, line, false};
    else
        j->judgements[j->queries[*index].last].next = at;
    j->queries[*index].last = at;
    return 0;
}

static int read_judgements(struct judged *j, struct usage_import *import, struct str text, const char *name,
                           wt_error *err)
{
    struct lines l;
    struct str line;
    int rc = lines_open(&l, import, text, name, err);
    while (rc == 0 && (rc = next_line(&l, &line, err)) == 1) {
        struct str query = next_field(&line), tool = next_field(&line), score = next_field(&line);
        int relevant = read_score(score);
        bool header = relevant < 0 && l.place.line == 1;
        rc = 0;
        if (header || (relevant == 0 && query.len > 0 && tool.len > 0))
            continue;
        if (relevant > 0 && query.len > 0 && tool.len > 0)
            rc = add_judgement(j, query, tool, l.place.line, err);
        else
            rc = wt__usage_issue(import, &l.place, err,
                                 "a judgement is a query id, a tool id and a number, with tabs between");
    }
    return rc;
}

/* The usage of a query that has relevant tools. */
static int take_query(struct judged *j, struct lines *l, struct query *query, struct str request, wt_error *err)
{
    struct str tools[WT_MAX_USAGE_TOOLS];
    struct usage_draft draft = {.request = request,
                                .time = -1,
                                .tools = tools,
                                .source_ids = true,
                                .file = l->place.file,
                                .line = l->place.line,
                                .byte = l->place.byte};
    query->met = true;
    for (uint32_t at = query->first; at != NONE; at = j->judgements[at].next) {
        struct str tool = j->judgements[at].tool;
        if (draft.tool_count == WT_MAX_USAGE_TOOLS)
            return SKIP(l, "", err, "the query has more than %d tools", WT_MAX_USAGE_TOOLS);
        if (tool.len > WT_MAX_USAGE_LABEL_BYTES)
            return SKIP(l, "", err, "the id of a tool of the query has more than %d bytes", WT_MAX_USAGE_LABEL_BYTES);
        tools[draft.tool_count++] = tool;
    }
    return l->import->take(l->import->context, &draft, err);
}

static int read_query(struct judged *j, struct lines *l, const json_t *object, wt_error *err)
{
    struct str id = wt__json_str(object, "_id"), request;
    if (id.len == 0)
        return SKIP(l, "/_id", err, "the query has no \"_id\"");
    const uint32_t *index = wt__map_get(&j->by_id, id);
    if (!index)
        return 0; /* of another split */
    struct query *query = &j->queries[*index];
    if (query->met)
        return SKIP(l, "/_id", err, "the query \"%.*s\" is there twice", (int)(id.len < SHOWN ? id.len : SHOWN),
                    id.ptr);
    query->met = true;
    int rc = read_request(l, object, "text", "/text", &request, err);
    return rc > 0 ? take_query(j, l, query, request, err) : rc;
}

static int read_queries(struct judged *j, struct usage_import *import, struct str text, const char *name,
                        const char *judgements_name, wt_error *err)
{
    struct lines l;
    struct str line;
    int rc = lines_open(&l, import, text, name, err);
    while (rc == 0 && (rc = next_line(&l, &line, err)) == 1) {
        json_t *object = NULL;
        rc = read_object(&l, line, &object, err);
        if (rc == 1)
            rc = read_query(j, &l, object, err);
        json_decref(object);
    }
    for (size_t i = 0; rc == 0 && i < j->query_count; i++) {
        const struct query *query = &j->queries[i];
        struct usage_place place = {judgements_name, query->line, 0, ""};
        if (query->met)
            continue;
        import->skipped++;
        rc = wt__usage_issue(import, &place, err, "the query \"%.*s\" is not in %s",
                             (int)(query->id.len < SHOWN ? query->id.len : SHOWN), query->id.ptr, name);
    }
    return rc;
}

static int read_folder(struct usage_import *import, const char *queries_path, const char *judgements_path,
                       wt_error *err)
{
    struct judged judged = {0};
    char *queries = NULL, *judgements = NULL;
    size_t queries_len = 0, judgements_len = 0;
    int rc = wt__file_read(&judgements, &judgements_len, judgements_path, WT_MAX_FILE_BYTES, err);
    if (rc == 0)
        rc = wt__file_read(&queries, &queries_len, queries_path, WT_MAX_FILE_BYTES, err);
    if (rc == 0)
        rc = read_judgements(&judged, import, (struct str){judgements, judgements_len}, judgements_path, err);
    if (rc == 0 && judged.query_count == 0)
        rc = wt__fail(err, WT_EFORMAT, "%s gives no query a tool", judgements_path);
    if (rc == 0)
        rc = read_queries(&judged, import, (struct str){queries, queries_len}, queries_path, judgements_path, err);
    wt__map_dispose(&judged.by_id);
    free(judged.queries);
    free(judged.judgements);
    free(queries);
    free(judgements);
    return rc;
}

int wt__usage_import_path(struct usage_import *import, const char *path, const char *split, wt_error *err)
{
    struct arena scratch = {0};
    struct buffer name = {0};
    int rc = 0;
    if (!wt__is_folder(path)) {
        char *bytes = NULL;
        size_t len = 0;
        rc = wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, err);
        if (rc == 0)
            rc = wt__usage_import_bytes(import, (struct str){bytes, len}, path, err);
        free(bytes);
        return rc;
    }
    if (!*split || strchr(split, '/') || *split == '.')
        return wt__fail(err, WT_EUSAGE, "the split \"%s\" is no plain name such as train, dev or test", split);
    wt__buffer_printf(&name, "qrels/%s.tsv", split);
    char *judgements = name.failed ? NULL : wt__path_join(&scratch, path, name.ptr);
    char *queries = wt__path_join(&scratch, path, "queries.jsonl");
    rc = judgements && queries ? read_folder(import, queries, judgements, err) : wt__fail_nomem(err);
    wt__buffer_dispose(&name);
    wt__arena_dispose(&scratch);
    return rc;
}
