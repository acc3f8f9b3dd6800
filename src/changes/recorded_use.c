/* recorded_use.c: recording, importing, listing, exporting and forgetting what was used.
 *
 *   read the source (no lock) -> look up the tools -> one transaction -> vectors, batch by batch
 *
 * As with tools, the transaction is what the caller was promised; the vectors are derived, can be stopped at any
 * moment, and are taken up by the next call. */
#include "changes/recorded_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "catalog/usage.h"
#include "engine/new_tools.h"
#include "changes/recorded_arguments.h"
#include "engine/sized_options.h"
#include "engine/suggest.h"
#include "engine/tools.h"
#include "text/shown.h"

enum { PAGE = 1000 }; /* usages held at once by an export */

/* ---------------------------------------------------------------- looking up tools */

/* Tools by the names that usages have for them; each is looked up once. */
struct lookup {
    wt_engine *engine;
    struct arena arena;    /* the names, and what is gathered of usages */
    struct map by_name[2]; /* [source_ids] -> index of found */
    struct found {
        struct str name;
        int64_t id; /* 0: no tool has it; -1: several have */
    } * found;
    size_t count, capacity;
    wt_error ambiguous; /* the sentence about the last of those */
};

static void lookup_dispose(struct lookup *lookup)
{
    wt__map_dispose(&lookup->by_name[0]);
    wt__map_dispose(&lookup->by_name[1]);
    wt__arena_dispose(&lookup->arena);
    free(lookup->found);
}

/* *id as in struct found. */
static int resolve(struct lookup *lookup, const char *name, bool source_id, int64_t *id, wt_error *err)
{
    wt_error why = {0};
    int64_t found[2] = {0};
    pthread_mutex_lock(&lookup->engine->store_lock);
    int rc = source_id ? wt__store_find_source_id(lookup->engine->store, wt__str(name), found, 2, &why) : 0;
    if (rc > 1)
        rc = wt__fail(&why, WT_EINVAL, "several tools have the source id \"%s\"", name);
    else if (rc == 0)
        rc = wt__tool_resolve(lookup->engine->store, name, found, &why);
    pthread_mutex_unlock(&lookup->engine->store_lock);
    *id = rc >= 0 ? found[0] : rc == WT_EINVAL ? -1 : 0;
    if (rc == WT_EINVAL)
        lookup->ambiguous = why;
    if (rc >= 0 || rc == WT_EINVAL || rc == WT_ENOTFOUND)
        return 0;
    if (err)
        *err = why;
    return rc;
}

/* The name's id; *name becomes a copy that lives as long as the lookup. */
static int look_up(struct lookup *lookup, struct str *name, bool source_id, int64_t *id, wt_error *err)
{
    struct map *map = &lookup->by_name[source_id];
    const uint32_t *known = wt__map_get(map, *name);
    if (known) {
        *name = lookup->found[*known].name;
        *id = lookup->found[*known].id;
        return *id < 0 ? resolve(lookup, name->ptr, source_id, id, err) : 0; /* for its sentence */
    }
    name->ptr = wt__arena_copy(&lookup->arena, *name);
    if (!name->ptr ||
        wt__grow((void **)&lookup->found, &lookup->capacity, lookup->count + 1, sizeof *lookup->found) < 0 ||
        !wt__map_insert(map, *name, (uint32_t)lookup->count, NULL))
        return wt__fail_nomem(err);
    int rc = resolve(lookup, name->ptr, source_id, id, err);
    lookup->found[lookup->count++] = (struct found){*name, *id};
    return rc;
}

/* The same tool among those, or NULL. */
static struct usage_tool *find_among(struct usage_tool *tools, size_t count, const struct usage_tool *tool)
{
    for (size_t i = 0; i < count; i++)
        if (tool->tool ? tools[i].tool == tool->tool : wt__str_equal(tools[i].label, tool->label))
            return &tools[i];
    return NULL;
}

/* Whether tool is not among them yet. One that is gets the arguments, where it has none. */
static bool is_new(struct usage_tool *tools, size_t count, const struct usage_tool *tool)
{
    struct usage_tool *same = find_among(tools, count, tool);
    if (same && same->arguments.len == 0)
        same->arguments = tool->arguments;
    return !same;
}

/* ---------------------------------------------------------------- recording */

/* Everything about the usage but its tools. */
static int read_record(struct usage *usage, struct str request, size_t count, const wt_record_options *options,
                       wt_error *err)
{
    *usage = (struct usage){.request = request,
                            .time = options->time ? options->time : (int64_t)time(NULL),
                            .client = wt__str(options->client),
                            .key = wt__str(options->key)};
    if (count == 0)
        return wt__fail(err, WT_EINVAL, "a usage is of one tool at least");
    if (count > WT_MAX_USAGE_TOOLS)
        return wt__fail(err, WT_ETOOLONG, "%zu tools in one usage; at most %d are taken", count, WT_MAX_USAGE_TOOLS);
    if (!wt__usage_outcome_read(wt__str(options->outcome), &usage->outcome))
        return wt__fail(err, WT_EINVAL, "the outcome \"%s\" is none of: " USAGE_OUTCOME_WORDS, options->outcome);
    if (usage->time < 0 || usage->time > CLOCK_TEXT_MAX)
        return wt__fail(err, WT_EINVAL, "the time %lld is not in the years 1970 to 9999", (long long)usage->time);
    int rc = wt__usage_check_client(usage->client, err);
    if (rc == 0)
        rc = wt__usage_check_key(usage->key, err);
    return rc < 0 ? rc : wt__usage_check_request(request, err);
}

/* No tool has any of the names. */
static int fail_unknown(wt_engine *engine, const char *first, size_t count, wt_error *err)
{
    struct buffer sentence = {0};
    wt__buffer_printf(&sentence, "no tool is named \"%s\"%s; nothing was recorded", first,
                      count > 1 ? ", nor as the others" : "");
    pthread_mutex_lock(&engine->store_lock);
    wt__suggest_tool(&sentence, engine->store, wt__str(first));
    pthread_mutex_unlock(&engine->store_lock);
    int rc = sentence.failed ? wt__fail_nomem(err) : wt__fail(err, WT_ENOTFOUND, "%s", sentence.ptr);
    wt__buffer_dispose(&sentence);
    return rc;
}

/* What tool number `index` was called with. */
static int read_arguments(struct lookup *lookup, const char *text, size_t index, struct usage_tool *tool, wt_error *err)
{
    json_t *object;
    wt_error why = {0};
    int rc = wt__usage_read_arguments(&object, wt__str(text), &why);
    if (rc == 0)
        rc = wt__recorded_arguments(lookup->engine, tool->tool, tool->label, object, &lookup->arena, &tool->arguments,
                                    &why);
    json_decref(object);
    if (rc == WT_EFORMAT || rc == WT_ETOOLONG)
        return wt__fail(err, rc, "tool %zu (\"%s\"): %s", index + 1, tool->label.ptr, why.message);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* Finds the tools. arguments: of each, or NULL. Returns how many of the names no tool has. */
static int read_tools(struct lookup *lookup, const char *const *names, const char *const *arguments, size_t count,
                      struct usage_tool *tools, size_t *tool_count, wt_error *err)
{
    int unknown = 0;
    *tool_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct usage_tool tool = {.label = wt__str(names[i])};
        if (tool.label.len == 0 || tool.label.len > WT_MAX_USAGE_LABEL_BYTES)
            return wt__fail(err, tool.label.len ? WT_ETOOLONG : WT_EINVAL,
                            "the name of tool %zu has %zu bytes; 1 to %d are taken", i + 1, tool.label.len,
                            WT_MAX_USAGE_LABEL_BYTES);
        int rc = look_up(lookup, &tool.label, false, &tool.tool, err);
        if (rc < 0)
            return rc;
        if (tool.tool < 0)
            return wt__fail(err, WT_EINVAL, "%s", lookup->ambiguous.message);
        if (arguments && arguments[i] && *arguments[i])
            rc = read_arguments(lookup, arguments[i], i, &tool, err);
        if (rc < 0)
            return rc;
        if (!is_new(tools, *tool_count, &tool))
            continue;
        unknown += tool.tool == 0;
        tools[(*tool_count)++] = tool;
    }
    return (size_t)unknown == *tool_count ? fail_unknown(lookup->engine, names[0], *tool_count, err) : unknown;
}

/* What follows the transaction and may wait: a failure of it takes nothing back, so none is told. */
static void learn_now(wt_engine *engine)
{
    const struct encoder *encoder;
    size_t learned;
    if (wt__usage_encoder(engine, &encoder, NULL) == 0)
        wt__usage_learn(engine, encoder, NULL, &learned, NULL);
}

int wt_record_usage(wt_engine *engine, const char *request, size_t request_len, const char *const *names, size_t count,
                    const wt_record_options *given, wt_error *err)
{
    wt_record_options options;
    struct usage_tool tools[WT_MAX_USAGE_TOOLS];
    struct lookup lookup = {.engine = engine};
    struct usage usage;
    int rc = wt__options_read(&options, sizeof options, given, err);
    if (rc < 0)
        return rc;
    rc = read_record(&usage, (struct str){request, request_len}, count, &options, err);
    if (rc == 0)
        rc = read_tools(&lookup, names, options.arguments, count, tools, &usage.tool_count, err);
    int unknown = rc;
    if (rc >= 0) {
        usage.tools = tools;
        pthread_mutex_lock(&engine->store_lock);
        rc = wt__store_add_usages(engine->store, &usage, 1, NULL, NULL, NULL, err);
        pthread_mutex_unlock(&engine->store_lock);
        if (rc == 0)
            wt__new_tools_called(engine, &usage, 1);
    }
    lookup_dispose(&lookup);
    if (rc < 0)
        return rc;
    if (!options.no_vectors)
        learn_now(engine);
    wt__engine_changed(engine);
    return unknown;
}

int wt_set_usage_outcome(wt_engine *engine, const char *key, const char *client, const char *outcome, wt_error *err)
{
    struct usage usage = {.key = wt__str(key), .client = wt__str(client)};
    enum usage_fate fate;
    int rc = wt__usage_check_key(usage.key, err);
    if (rc == 0)
        rc = wt__usage_check_client(usage.client, err);
    if (rc < 0)
        return rc;
    if (usage.key.len == 0)
        return wt__fail(err, WT_EINVAL, "say which usage ended so: its key");
    if (!wt__usage_outcome_read(wt__str(outcome), &usage.outcome))
        return wt__fail(err, WT_EINVAL, "the outcome \"%s\" is none of: " USAGE_OUTCOME_WORDS, outcome);
    pthread_mutex_lock(&engine->store_lock);
    rc = wt__store_add_usages(engine->store, &usage, 1, NULL, &fate, NULL, err);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0)
        return rc;
    wt__engine_changed(engine);
    return fate == USAGE_MISSING ? wt__fail(err, WT_ENOTFOUND, "no usage of that client has the key \"%s\"", key) : 0;
}

/* ---------------------------------------------------------------- importing */

struct usage_report {
    wt_usage_report public;     /* first, so that the public pointer is this one */
    struct usage_import import; /* the issues live here */
    struct buffer notice;
};

struct import {
    struct lookup lookup;
    struct usage_report *report;
    struct usage *usages;
    size_t count, capacity;
    int64_t now;
    struct str client; /* whose they are, whatever they say; "": what they say */
    struct str key;    /* of one that says none */
    bool none_known;   /* no tool of the last usage is known, which was skipped for that */
};

void wt_usage_report_free(wt_usage_report *public)
{
    if (!public)
        return;
    struct usage_report *report = (struct usage_report *)public;
    wt__usage_import_dispose(&report->import);
    wt__buffer_dispose(&report->notice);
    free(report);
}

/* Tells about a name that cannot be used. */
static int tell_name(struct import *import, const struct usage_draft *draft, size_t at, int64_t id, wt_error *err)
{
    char pointer[32] = "", query[120] = "";
    struct str name = draft->tools[at].name;
    if (draft->query.len > 0)
        snprintf(query, sizeof query, "query \"%.*s\": ", (int)(draft->query.len < 80 ? draft->query.len : 80),
                 draft->query.ptr);
    else
        snprintf(pointer, sizeof pointer, "/tools/%zu", at);
    struct usage_place place = {draft->file, draft->line, draft->byte, pointer};
    if (id < 0)
        return wt__usage_issue(&import->report->import, &place, err, "%s%s", query, import->lookup.ambiguous.message);
    return wt__usage_issue(&import->report->import, &place, err, "%sno tool is named \"%.*s\"", query,
                           (int)(name.len < 200 ? name.len : 200), name.ptr);
}

/* The arguments of a call; such as cannot be kept are told. */
static int take_arguments(struct import *import, const struct usage_draft *draft, size_t at, struct usage_tool *tool,
                          wt_error *err)
{
    char pointer[48];
    wt_error why = {0};
    if (!draft->tools[at].arguments)
        return 0;
    int rc = wt__recorded_arguments(import->lookup.engine, tool->tool, tool->label, draft->tools[at].arguments,
                                    &import->lookup.arena, &tool->arguments, &why);
    if (rc == WT_ETOOLONG) {
        snprintf(pointer, sizeof pointer, "/tools/%zu/arguments", at);
        struct usage_place place = {draft->file, draft->line, draft->byte, pointer};
        return wt__usage_issue(&import->report->import, &place, err, "%s; the usage is taken without them",
                               why.message);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* tools [draft->tool_count], *count of them; *known of those are in the store. */
static int find_tools(struct import *import, const struct usage_draft *draft, struct usage_tool *tools, size_t *count,
                      size_t *known, wt_error *err)
{
    *count = *known = 0;
    for (size_t i = 0; i < draft->tool_count; i++) {
        struct usage_tool tool = {.label = draft->tools[i].name};
        int rc = look_up(&import->lookup, &tool.label, draft->query.len > 0, &tool.tool, err);
        if (rc == 0 && tool.tool <= 0)
            rc = tell_name(import, draft, i, tool.tool, err);
        if (rc < 0)
            return rc;
        if (tool.tool < 0) /* what several tools have is not kept: it will not become the id of one */
            continue;
        rc = take_arguments(import, draft, i, &tool, err);
        if (rc < 0)
            return rc;
        if (!is_new(tools, *count, &tool))
            continue;
        *known += tool.tool > 0;
        tools[(*count)++] = tool;
    }
    return 0;
}

static int take(void *context, const struct usage_draft *draft, wt_error *err)
{
    struct import *import = context;
    struct usage_tool tools[WT_MAX_USAGE_TOOLS];
    size_t count, known;
    int rc = find_tools(import, draft, tools, &count, &known, err);
    if (rc < 0)
        return rc;
    if (known == 0 && draft->tool_count > 0) {
        import->report->import.skipped++;
        import->none_known = true;
        return 0;
    }
    import->report->public.unknown_tools += draft->tool_count - known;
    struct arena *arena = &import->lookup.arena;
    struct str client = import->client.len > 0 ? import->client : draft->client;
    struct str key = draft->key.len > 0 ? draft->key : import->key;
    struct usage usage = {.request = {wt__arena_copy(arena, draft->request), draft->request.len},
                          .outcome = draft->outcome,
                          .time = draft->time >= 0 ? draft->time : import->now,
                          .tools = wt__arena_array(arena, struct usage_tool, count),
                          .tool_count = count,
                          .client = {wt__arena_copy(arena, client), client.len},
                          .key = {wt__arena_copy(arena, key), key.len}};
    if (!usage.request.ptr || !usage.tools || !usage.client.ptr || !usage.key.ptr ||
        wt__grow((void **)&import->usages, &import->capacity, import->count + 1, sizeof usage) < 0)
        return wt__fail_nomem(err);
    memcpy((struct usage_tool *)usage.tools, tools, count * sizeof *tools);
    import->usages[import->count++] = usage;
    return 0;
}

/* Vectors, or why there are none. */
static int learn_import(wt_engine *engine, struct usage_report *report, struct progress *progress, wt_error *err)
{
    const struct encoder *encoder = NULL;
    wt_error why;
    int rc = wt__usage_encoder(engine, &encoder, &why);
    if (rc == 0)
        return wt__usage_learn(engine, encoder, progress, &report->public.learned, err);
    if (rc == WT_EMODEL) {
        wt__buffer_printf(&report->notice, "%snothing was learned yet: %s", report->notice.len > 0 ? "; " : "",
                          why.message);
        report->public.notice = report->notice.ptr;
        return report->notice.failed ? wt__fail_nomem(err) : 0;
    }
    if (err)
        *err = why;
    return rc;
}

/* A log that was there already, whole or for the most part, is most likely one that was added twice; single requests
 * come again every day. last: the id of the last usage that was added. */
static int tell_again(wt_engine *engine, struct usage_report *report, int64_t last, wt_error *err)
{
    uint64_t again = 0;
    size_t added = report->public.added;
    pthread_mutex_lock(&engine->store_lock);
    int rc = added ? wt__store_count_again(engine->store, last - (int64_t)added, &again, err) : 0;
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0 || 2 * again <= added)
        return rc;
    wt__buffer_printf(&report->notice,
                      "%llu of these have the request, client and tools of one that was recorded before, and are "
                      "recorded again: with a \"key\" each, that happens once",
                      (unsigned long long)again);
    report->public.notice = report->notice.ptr;
    return report->notice.failed ? wt__fail_nomem(err) : 0;
}

static size_t *count_of_fate(wt_usage_report *report, enum usage_fate fate)
{
    return fate == USAGE_ADDED     ? &report->added
           : fate == USAGE_CHANGED ? &report->outcomes
           : fate == USAGE_MISSING ? &report->missing
                                   : &report->repeated;
}

static int store_import(wt_engine *engine, struct import *import, struct progress *progress, wt_error *err)
{
    struct usage_report *report = import->report;
    enum usage_fate *fates = wt__arena_array(&report->import.arena, enum usage_fate, import->count);
    int64_t last = 0;
    int rc = fates ? 0 : wt__fail_nomem(err);
    if (rc == 0 && import->count > 0) {
        pthread_mutex_lock(&engine->store_lock);
        rc = wt__store_add_usages(engine->store, import->usages, import->count, progress, fates, &last, err);
        pthread_mutex_unlock(&engine->store_lock);
        if (rc == 0)
            wt__new_tools_called(engine, import->usages, import->count);
    }
    for (size_t i = 0; rc == 0 && i < import->count; i++)
        *count_of_fate(&report->public, fates[i]) += 1;
    report->public.skipped = report->import.skipped;
    report->public.issues = wt__arena_pointers(&report->import.arena, report->import.issues, report->import.issue_count,
                                               sizeof *report->import.issues);
    report->public.issue_count = report->import.issue_count;
    if (rc == 0)
        rc = tell_again(engine, report, last, err);
    return rc < 0 || report->public.issues ? rc : wt__fail_nomem(err);
}

/* From path, or from bytes when that is NULL. */
static int add_usage(wt_engine *engine, const char *path, struct str bytes, const wt_add_usage_options *given,
                     wt_usage_report **out, wt_error *err)
{
    wt_add_usage_options options;
    struct progress progress;
    struct import import = {.lookup = {.engine = engine}, .now = (int64_t)time(NULL)};
    *out = NULL;
    int rc = wt__options_read(&options, sizeof options, given, err);
    if (rc < 0)
        return rc;
    import.report = calloc(1, sizeof *import.report);
    if (!import.report)
        return wt__fail_nomem(err);
    wt__progress_init(&progress, options.progress, options.progress_context);
    struct usage_import *reader = &import.report->import;
    *reader =
        (struct usage_import){.take = take, .context = &import, .progress = &progress, .strict = options.strict != 0};
    rc = path ? wt__usage_import_path(reader, path, options.split ? options.split : "train", err)
              : wt__usage_import_bytes(reader, bytes, options.source_name ? options.source_name : "input", err);
    if (rc == 0)
        rc = store_import(engine, &import, &progress, err);
    bool stored = rc == 0;
    lookup_dispose(&import.lookup);
    free(import.usages);
    if (rc == 0 && !options.no_vectors)
        rc = learn_import(engine, import.report, &progress, err);
    if (stored)
        wt__engine_changed(engine);
    wt__progress_dispose(&progress);
    if (rc == 0 || (stored && rc == WT_ECANCELLED))
        *out = &import.report->public;
    else
        wt_usage_report_free(&import.report->public);
    return rc;
}

int wt_add_usage(wt_engine *engine, const char *bytes, size_t len, const wt_add_usage_options *options,
                 wt_usage_report **out, wt_error *err)
{
    return add_usage(engine, NULL, (struct str){bytes, len}, options, out, err);
}

int wt_add_usage_path(wt_engine *engine, const char *path, const wt_add_usage_options *options, wt_usage_report **out,
                      wt_error *err)
{
    return add_usage(engine, path, (struct str){"", 0}, options, out, err);
}

/* ---------------------------------------------------------------- reports of many callers */

/* Its code and message; a usage that can be recorded is the import's next. */
static int read_reported(struct import *import, struct reported_usage *usage, wt_error *err)
{
    struct usage_report report = {.import = {.take = take, .context = import}};
    size_t before = import->count;
    wt_error why = {0};
    import->report = &report;
    import->client = usage->client;
    import->key = usage->key;
    import->none_known = false;
    int rc = wt__usage_import_bytes(&report.import, usage->line, "usage", &why);
    if (rc == 0 && report.import.issue_count > 0)
        snprintf(why.message, sizeof why.message, "%s", report.import.issues[0].reason);
    usage->unknown_tools = report.public.unknown_tools;
    usage->none_known = import->none_known;
    usage->code = import->count > before ? 0 : WT_EFORMAT;
    snprintf(usage->message, sizeof usage->message, "%.*s", REPORTED_MESSAGE_BYTES - 1, why.message);
    wt__usage_import_dispose(&report.import);
    import->report = NULL;
    if (rc < 0 && rc != WT_EFORMAT && err)
        *err = why;
    return rc == WT_EFORMAT ? 0 : rc;
}

static int store_reported(wt_engine *engine, const struct import *import, struct reported_usage *const *taken,
                          enum usage_fate *fates, wt_error *err)
{
    if (import->count == 0)
        return 0;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_add_usages(engine->store, import->usages, import->count, NULL, fates, NULL, err);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc == 0)
        wt__new_tools_called(engine, import->usages, import->count);
    for (size_t i = 0; rc == 0 && i < import->count; i++)
        taken[i]->fate = fates[i];
    return rc;
}

int wt__record_reported(wt_engine *engine, struct reported_usage *const *usages, size_t count, wt_error *err)
{
    struct import import = {.lookup = {.engine = engine}, .now = (int64_t)time(NULL)};
    struct reported_usage **taken = wt__arena_array(&import.lookup.arena, struct reported_usage *, count);
    enum usage_fate *fates = wt__arena_array(&import.lookup.arena, enum usage_fate, count);
    int rc = taken && fates ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        size_t before = import.count;
        rc = read_reported(&import, usages[i], err);
        if (import.count > before)
            taken[before] = usages[i];
    }
    if (rc == 0)
        rc = store_reported(engine, &import, taken, fates, err);
    if (rc == 0 && import.count > 0)
        wt__engine_changed(engine);
    lookup_dispose(&import.lookup);
    free(import.usages);
    return rc;
}

/* ---------------------------------------------------------------- listing */

struct usage_page {
    wt_usages public; /* first, so that the public pointer is this one */
    struct arena arena;
};

void wt_usages_free(wt_usages *usages)
{
    if (!usages)
        return;
    struct usage_page *page = (struct usage_page *)usages;
    wt__arena_dispose(&page->arena);
    free(page);
}

static int fail_unnamed(struct store *store, const char *name, wt_error *err)
{
    struct buffer sentence = {0};
    wt__buffer_printf(&sentence, "neither a tool nor a usage has the name \"%s\"", name);
    wt__suggest_tool(&sentence, store, wt__str(name));
    int rc = sentence.failed ? wt__fail_nomem(err) : wt__fail(err, WT_ENOTFOUND, "%s", sentence.ptr);
    wt__buffer_dispose(&sentence);
    return rc;
}

/* What the filter means here. Its strings are borrowed. Called with store_lock held. */
static int read_filter(wt_engine *engine, const wt_usage_filter *filter, struct usage_query *query, wt_error *err)
{
    uint64_t named = 0;
    *query = (struct usage_query){.after = filter->after_id,
                                  .before = filter->before,
                                  .limit = filter->limit,
                                  .client = wt__str(filter->client),
                                  .arguments = true};
    if (!filter->tool)
        return 0;
    query->label = wt__str(filter->tool);
    wt_error why;
    int rc = wt__tool_resolve(engine->store, filter->tool, &query->tool, &why);
    if (rc == WT_ENOTFOUND && query->label.len > 0) {
        rc = wt__store_count_usages(engine->store, &(struct usage_query){.label = query->label}, &named, &why);
        if (rc == 0 && named == 0)
            rc = fail_unnamed(engine->store, filter->tool, &why);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int materialise(struct arena *arena, const struct usage *usage, wt_usage *out, wt_error *err)
{
    wt_usage_tool *tools = wt__arena_array(arena, wt_usage_tool, usage->tool_count);
    const void *pointers = wt__arena_pointers(arena, tools, usage->tool_count, sizeof *tools);
    if (!pointers)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < usage->tool_count; i++)
        tools[i] = (wt_usage_tool){usage->tools[i].label.ptr, usage->tools[i].tool != 0,
                                   usage->tools[i].arguments.len ? usage->tools[i].arguments.ptr : NULL};
    *out = (wt_usage){.id = usage->id,
                      .request = usage->request.ptr,
                      .outcome = wt__usage_outcome_name(usage->outcome),
                      .time = usage->time,
                      .tool_count = usage->tool_count,
                      .tools = pointers,
                      .client = usage->client.ptr,
                      .key = usage->key.ptr};
    return 0;
}

int wt_list_usage(wt_engine *engine, const wt_usage_filter *given, wt_usages **out, wt_error *err)
{
    wt_usage_filter filter;
    struct usage_query query;
    struct usage *usages = NULL;
    size_t count = 0;
    *out = NULL;
    int rc = wt__options_read(&filter, sizeof filter, given, err);
    if (rc < 0)
        return rc;
    struct usage_page *page = calloc(1, sizeof *page);
    if (!page)
        return wt__fail_nomem(err);
    pthread_mutex_lock(&engine->store_lock);
    rc = read_filter(engine, &filter, &query, err);
    if (rc == 0)
        rc = wt__store_usages(engine->store, &query, &page->arena, &usages, &count, err);
    pthread_mutex_unlock(&engine->store_lock);
    wt_usage *items = rc == 0 ? wt__arena_array(&page->arena, wt_usage, count) : NULL;
    const void *pointers = rc == 0 ? wt__arena_pointers(&page->arena, items, count, sizeof *items) : NULL;
    if (rc == 0 && !pointers)
        rc = wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = materialise(&page->arena, &usages[i], &items[i], err);
    if (rc < 0) {
        wt_usages_free(&page->public);
        return rc;
    }
    page->public = (wt_usages){count, pointers};
    *out = &page->public;
    return 0;
}

static void write_tool(struct buffer *out, const wt_usage_tool *tool)
{
    if (tool->arguments)
        wt__buffer_text(out, "{\"tool\":");
    wt__buffer_json(out, wt__str(tool->id));
    if (tool->arguments) {
        wt__buffer_text(out, ",\"arguments\":");
        wt__buffer_text(out, tool->arguments);
        wt__buffer_char(out, '}');
    }
}

static void write_line(struct buffer *out, const wt_usage *usage)
{
    char time[CLOCK_TEXT_BYTES];
    wt__clock_text(usage->time, time);
    wt__buffer_text(out, "{\"request\":");
    wt__buffer_json(out, wt__str(usage->request));
    wt__buffer_text(out, ",\"tools\":[");
    for (size_t i = 0; i < usage->tool_count; i++) {
        wt__buffer_text(out, i ? "," : "");
        write_tool(out, usage->tools[i]);
    }
    wt__buffer_text(out, "]");
    if (*usage->outcome)
        wt__buffer_printf(out, ",\"outcome\":\"%s\"", usage->outcome);
    wt__buffer_printf(out, ",\"time\":\"%s\"", time);
    if (*usage->client) {
        wt__buffer_text(out, ",\"client\":");
        wt__buffer_json(out, wt__str(usage->client));
    }
    if (*usage->key) {
        wt__buffer_text(out, ",\"key\":");
        wt__buffer_json(out, wt__str(usage->key));
    }
    wt__buffer_text(out, "}\n");
}

/* One page; *filter moves on behind it. Returns how many. */
static int64_t export_page(wt_engine *engine, wt_usage_filter *filter, wt_write_fn write, void *context, wt_error *err)
{
    wt_usages *page;
    struct buffer lines = {0}, shown = {0};
    int rc = wt_list_usage(engine, filter, &page, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < page->len; i++)
        write_line(&lines, page->items[i]);
    wt__shown_json(&shown, wt__buffer_view(&lines));
    if (lines.failed || shown.failed)
        rc = wt__fail_nomem(err);
    else if (shown.len > 0 && write(context, shown.ptr, shown.len))
        rc = wt__fail_cancelled(err);
    int64_t count = (int64_t)page->len;
    if (count > 0)
        filter->after_id = page->items[count - 1]->id;
    wt__buffer_dispose(&lines);
    wt__buffer_dispose(&shown);
    wt_usages_free(page);
    return rc < 0 ? rc : count;
}

int64_t wt_export_usage(wt_engine *engine, const wt_usage_filter *given, wt_write_fn write, void *context,
                        wt_error *err)
{
    wt_usage_filter filter;
    int64_t total = 0, count;
    int rc = wt__options_read(&filter, sizeof filter, given, err);
    if (rc < 0)
        return rc;
    size_t limit = filter.limit;
    do {
        filter.limit = limit && limit - (size_t)total < PAGE ? limit - (size_t)total : PAGE;
        count = export_page(engine, &filter, write, context, err);
        if (count < 0)
            return count;
        total += count;
    } while (count == PAGE && (!limit || (size_t)total < limit));
    return total;
}

/* ---------------------------------------------------------------- forgetting */

int64_t wt_forget_usage(wt_engine *engine, const wt_usage_filter *given, int all, wt_error *err)
{
    wt_usage_filter filter;
    struct usage_query query;
    int64_t rc = wt__options_read(&filter, sizeof filter, given, err);
    if (rc < 0)
        return rc;
    if (!filter.tool && !filter.before && !wt__str(filter.client).len && !all)
        return wt__fail(err, WT_EINVAL, "say which usages to forget: of a tool, of a client, before a time, or all");
    filter.after_id = 0;
    pthread_mutex_lock(&engine->store_lock);
    rc = read_filter(engine, &filter, &query, err);
    if (rc == 0)
        rc = wt__store_forget_usages(engine->store, &query, err);
    pthread_mutex_unlock(&engine->store_lock);
    wt__engine_changed(engine);
    return rc;
}

/* ---------------------------------------------------------------- what there is */

int wt_get_usage_info(wt_engine *engine, wt_usage_info *out, wt_error *err)
{
    const struct encoder *encoder = NULL;
    struct usage_info found;
    struct usage_mark mark = {0};
    wt__usage_encoder(engine, &encoder, NULL);
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_usage_info(engine->store, &found, err);
    if (rc == 0 && encoder) {
        struct vector_set set = wt__engine_usage_vectors(encoder, engine);
        rc = wt__store_usage_mark(engine->store, &set, &mark, err);
    }
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0)
        return rc;
    wt_usage_info info = {.usages = found.usages, .pending = mark.pending + mark.stale, .generation = found.generation};
    return wt__options_write(out, sizeof info, &info, err);
}

int wt_read_time(const char *text, int64_t *seconds, wt_error *err)
{
    if (wt__usage_time_read(wt__str(text), seconds))
        return 0;
    *seconds = 0;
    return wt__fail(err, WT_EINVAL, "\"%s\" is no time: write it as 2026-11-22 or 2026-11-22T08:30:00Z",
                    text ? text : "");
}
