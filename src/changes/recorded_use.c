/* recorded_use.c: records, imports, lists, exports and forgets usages.
 *
 *   read the source (no lock) -> look up the tools -> one transaction -> vectors, batch by batch
 *
 * The usages are stored once the transaction has ended. Encoding may be stopped at any moment, and the next call
 * continues it. */
#include "changes/recorded_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "catalog/credentials.h"
#include "engine/filter.h"
#include "catalog/usage.h"
#include "mcp/listing.h"
#include "engine/sized_options.h"
#include "engine/tools.h"
#include "text/shown.h"

enum { PAGE = 1000 }; /* usages that an export loads at once */

/* ---------------------------------------------------------------- looking up tools */

/* Cache of tools by their names in usages. */
struct tool_lookup {
    wt_engine *engine;
    struct arena arena;    /* owns the names, and the texts of usages */
    struct map by_name[2]; /* index in `found` by name; [1] for source ids, [0] for other names */
    struct found_tool {
        struct str name;
        int64_t id; /* 0 if the name is unknown; -1 if it is ambiguous */
    } * found;      /* [count] */
    size_t count, capacity;
    wt_error ambiguous; /* message about the last ambiguous name */
};

static void lookup_dispose(struct tool_lookup *lookup)
{
    wt__map_dispose(&lookup->by_name[0]);
    wt__map_dispose(&lookup->by_name[1]);
    wt__arena_dispose(&lookup->arena);
    free(lookup->found);
}

/* Looks up a name in the store. *id: see struct found_tool. */
static int resolve_tool_name(struct tool_lookup *lookup, const char *name, bool source_id, int64_t *id, wt_error *err)
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

/* Looks up a name in the cache, then in the store. *id: see struct found_tool. *name becomes a copy that lives as long
 * as the lookup. */
static int look_up_tool(struct tool_lookup *lookup, struct str *name, bool source_id, int64_t *id, wt_error *err)
{
    struct map *map = &lookup->by_name[source_id];
    const uint32_t *known = wt__map_get(map, *name);
    if (known) {
        *name = lookup->found[*known].name;
        *id = lookup->found[*known].id;
        /* Resolve an ambiguous name again to set lookup->ambiguous. */
        return *id < 0 ? resolve_tool_name(lookup, name->ptr, source_id, id, err) : 0;
    }
    name->ptr = wt__arena_copy(&lookup->arena, *name);
    if (!name->ptr ||
        wt__grow((void **)&lookup->found, &lookup->capacity, lookup->count + 1, sizeof *lookup->found) < 0 ||
        !wt__map_insert(map, *name, (uint32_t)lookup->count, NULL))
        return wt__fail_nomem(err);
    int rc = resolve_tool_name(lookup, name->ptr, source_id, id, err);
    lookup->found[lookup->count++] = (struct found_tool){*name, *id};
    return rc;
}

/* Returns the element of tools [count] with the same id as tool, or the same label if tool has no id. Returns NULL if
 * it does not exist. */
static struct usage_tool *find_same_tool(struct usage_tool *tools, size_t count, const struct usage_tool *tool)
{
    for (size_t i = 0; i < count; i++)
        if (tool->tool ? tools[i].tool == tool->tool : wt__str_equal(tools[i].label, tool->label))
            return &tools[i];
    return NULL;
}

/* True if the tool is not among the tools yet. Otherwise, if the earlier tool has no arguments, gives it the arguments
 * of this tool. */
static bool is_new_tool(struct usage_tool *tools, size_t count, const struct usage_tool *tool)
{
    struct usage_tool *same = find_same_tool(tools, count, tool);
    if (same && same->arguments.len == 0)
        same->arguments = tool->arguments;
    return !same;
}

/* Removes the credentials from the arguments of a call. Without a valid schema, the names of the arguments alone
 * decide. id: id of the tool, 0 if unknown. label: name of the tool. */
static int drop_credentials(wt_engine *engine, int64_t id, struct str label, json_t *arguments, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct tool tool = {.name = label};
    json_auto_t *schema = NULL;
    int found = 0;
    if (id > 0) {
        pthread_mutex_lock(&engine->store_lock);
        found = wt__store_get(engine->store, &id, 1, &arena, &tool, err);
        pthread_mutex_unlock(&engine->store_lock);
    }
    if (found < 0 && found != WT_EFORMAT && found != WT_ETOOLONG)
        return found;
    if (found > 0 && wt__json_parse(&schema, tool.schema.ptr, tool.schema.len, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    wt__drop_credentials(arguments, tool.name, schema);
    return 0;
}

/* Writes arguments as stored text to *out, in the arena, without credentials. Most calls have no credentials, so the
 * schema of the tool is read only if an argument may be a credential. tool: id of the tool, 0 if unknown. label: name
 * of the tool. Takes store_lock. Errors: WT_ETOOLONG with a message about "the arguments", WT_ENOMEM, and those of the
 * store. */
static int write_recorded_arguments(wt_engine *engine, int64_t tool, struct str label, json_t *arguments,
                                    struct arena *arena, struct str *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (wt__may_have_credentials(arguments))
        WT_TRY(drop_credentials(engine, tool, label, arguments, err));
    WT_TRY(wt__usage_write_arguments(&text, arguments, err));
    *out = wt__buffer_view(&text);
    out->ptr = wt__arena_copy(arena, *out);
    return out->ptr ? 0 : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- recording */

/* Fills a usage without its tools, and checks it. count: number of tools. */
static int read_record(struct usage *usage, struct str request, size_t count, const wt_record_options *options,
                       wt_error *err)
{
    *usage = (struct usage){.request = request,
                            .time = options->time ? options->time : (int64_t)time(NULL),
                            .client = wt__str(options->client),
                            .key = wt__str(options->key)};
    if (count == 0)
        return wt__fail(err, WT_EINVAL, "a usage has at least one tool");
    if (count > WT_MAX_USAGE_TOOLS)
        return wt__fail(err, WT_ETOOLONG, "%zu tools in one usage; at most %d are taken", count, WT_MAX_USAGE_TOOLS);
    if (!wt__usage_outcome_read(wt__str(options->outcome), &usage->outcome))
        return wt__fail(err, WT_EINVAL, "the outcome \"%s\" is none of: " USAGE_OUTCOME_WORDS, options->outcome);
    if (usage->time < 0 || usage->time > CLOCK_TEXT_MAX)
        return wt__fail(err, WT_EINVAL, "the time %lld is not in the years 1970 to 9999", (long long)usage->time);
    WT_TRY(wt__usage_check_client(usage->client, err));
    WT_TRY(wt__usage_check_key(usage->key, err));
    return wt__usage_check_request(request, err);
}

/* Fails because all names are unknown, and suggests a similar name. first: first unknown name. count: number of
 * names. */
static int fail_unknown_tools(wt_engine *engine, const char *first, size_t count, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer sentence = {0};
    wt__buffer_printf(&sentence, "no tool is named \"%s\"%s; nothing was recorded", first,
                      count > 1 ? ", and the other names are unknown too" : "");
    pthread_mutex_lock(&engine->store_lock);
    wt__suggest_tool(&sentence, engine->store, wt__str(first));
    pthread_mutex_unlock(&engine->store_lock);
    return sentence.failed ? wt__fail_nomem(err) : wt__fail(err, WT_ENOTFOUND, "%s", sentence.ptr);
}

/* Reads the arguments of tool number `index`. */
static int read_usage_arguments(struct tool_lookup *lookup, const char *text, size_t index, struct usage_tool *tool,
                                wt_error *err)
{
    json_auto_t *object = NULL;
    wt_error why = {0};
    int rc = wt__usage_read_arguments(&object, wt__str(text), &why);
    if (rc == 0)
        rc = write_recorded_arguments(lookup->engine, tool->tool, tool->label, object, &lookup->arena, &tool->arguments,
                                      &why);
    if (rc == WT_EFORMAT || rc == WT_ETOOLONG)
        return wt__fail(err, rc, "tool %zu (\"%s\"): %s", index + 1, tool->label.ptr, why.message);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* Finds the tools [count], and leaves out repeated tools. arguments: arguments of each tool, or NULL. Returns the
 * number of unknown names, or an error. */
static int read_usage_tools(struct tool_lookup *lookup, const char *const *names, const char *const *arguments,
                            size_t count, struct usage_tool *tools, size_t *tool_count, wt_error *err)
{
    int unknown = 0;
    *tool_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct usage_tool tool = {.label = wt__str(names[i])};
        if (tool.label.len == 0 || tool.label.len > WT_MAX_USAGE_LABEL_BYTES)
            return wt__fail(err, tool.label.len ? WT_ETOOLONG : WT_EINVAL,
                            "the name of tool %zu has %zu bytes; 1 to %d are taken", i + 1, tool.label.len,
                            WT_MAX_USAGE_LABEL_BYTES);
        WT_TRY(look_up_tool(lookup, &tool.label, false, &tool.tool, err));
        if (tool.tool < 0)
            return wt__fail(err, WT_EINVAL, "%s", lookup->ambiguous.message);
        if (arguments && arguments[i] && *arguments[i])
            WT_TRY(read_usage_arguments(lookup, arguments[i], i, &tool, err));
        if (!is_new_tool(tools, *tool_count, &tool))
            continue;
        unknown += tool.tool == 0;
        tools[(*tool_count)++] = tool;
    }
    return (size_t)unknown == *tool_count ? fail_unknown_tools(lookup->engine, names[0], *tool_count, err) : unknown;
}

/* Encodes the new usage. Ignores failures: the usage is stored, and the next call encodes it. */
static void learn_recorded_usage(wt_engine *engine)
{
    const struct encoder *encoder;
    size_t learned;
    if (wt__usage_encoder(engine, &encoder, NULL) == 0)
        wt__usage_learn(engine, encoder, NULL, &learned, NULL);
}

/* Stores usages in one transaction. The parameters are those of wt__store_add_usages. */
static int store_recorded_usages(wt_engine *engine, const struct usage *usages, size_t count, struct progress *progress,
                                 enum usage_fate *fates, int64_t *last, wt_error *err)
{
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_add_usages(engine->store, usages, count, progress, fates, last, err);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc == 0)
        wt__new_tools_called(engine, usages, count);
    return rc;
}

int wt_record_usage(wt_engine *engine, const char *request, size_t request_len, const char *const *names, size_t count,
                    const wt_record_options *given, wt_error *err)
{
    wt_record_options options;
    struct usage_tool tools[WT_MAX_USAGE_TOOLS];
    WT_CLEANUP(lookup_dispose) struct tool_lookup lookup = {.engine = engine};
    struct usage usage;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    WT_TRY(read_record(&usage, (struct str){request, request_len}, count, &options, err));
    int unknown = read_usage_tools(&lookup, names, options.arguments, count, tools, &usage.tool_count, err);
    if (unknown < 0)
        return unknown;
    usage.tools = tools;
    WT_TRY(store_recorded_usages(engine, &usage, 1, NULL, NULL, NULL, err));
    if (!options.no_vectors)
        learn_recorded_usage(engine);
    wt__engine_changed(engine);
    return unknown;
}

int wt_set_usage_outcome(wt_engine *engine, const char *key, const char *client, const char *outcome, wt_error *err)
{
    struct usage usage = {.key = wt__str(key), .client = wt__str(client)};
    enum usage_fate fate;
    WT_TRY(wt__usage_check_key(usage.key, err));
    WT_TRY(wt__usage_check_client(usage.client, err));
    if (usage.key.len == 0)
        return wt__fail(err, WT_EINVAL, "give the key of the usage");
    if (!wt__usage_outcome_read(wt__str(outcome), &usage.outcome))
        return wt__fail(err, WT_EINVAL, "the outcome \"%s\" is none of: " USAGE_OUTCOME_WORDS, outcome);
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_add_usages(engine->store, &usage, 1, NULL, &fate, NULL, err);
    pthread_mutex_unlock(&engine->store_lock);
    WT_TRY(rc);
    wt__engine_changed(engine);
    return fate == USAGE_MISSING ? wt__fail(err, WT_ENOTFOUND, "no usage of that client has the key \"%s\"", key) : 0;
}

/* ---------------------------------------------------------------- importing */

struct usage_report {
    wt_usage_report public;     /* first member, so that the public pointer converts to struct usage_report */
    struct usage_import import; /* owner of the issues */
    struct buffer notice;       /* text of public.notice */
};

/* Usages that were read and are not stored yet. */
struct usage_intake {
    struct tool_lookup lookup;
    struct usage_report *report; /* receives the issues */
    struct usage *usages;        /* [count] */
    size_t count, capacity;
    int64_t now;       /* time of usages without a time, in seconds since 1970 */
    struct str client; /* client of all usages, overriding their own; "" to keep theirs */
    struct str key;    /* key of usages without a key */
    bool none_known;   /* the last usage was skipped because all its tools are unknown */
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

/* Reports an unknown or ambiguous name. at: index of the tool; id: see struct found_tool. */
static int report_unusable_name(struct usage_intake *import, const struct usage_draft *draft, size_t at, int64_t id,
                                wt_error *err)
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

/* Sets the arguments of a tool. Reports arguments that are too long, and leaves them out. */
static int take_draft_arguments(struct usage_intake *import, const struct usage_draft *draft, size_t at,
                                struct usage_tool *tool, wt_error *err)
{
    char pointer[48];
    wt_error why = {0};
    if (!draft->tools[at].arguments)
        return 0;
    int rc = write_recorded_arguments(import->lookup.engine, tool->tool, tool->label, draft->tools[at].arguments,
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

/* Fills tools, which has room for draft->tool_count elements, with each tool once. *count: number of tools filled.
 * *unknown: number of names that are not in the store or ambiguous. */
static int find_draft_tools(struct usage_intake *import, const struct usage_draft *draft, struct usage_tool *tools,
                            size_t *count, size_t *unknown, wt_error *err)
{
    *count = *unknown = 0;
    for (size_t i = 0; i < draft->tool_count; i++) {
        struct usage_tool tool = {.label = draft->tools[i].name};
        int rc = look_up_tool(&import->lookup, &tool.label, draft->query.len > 0, &tool.tool, err);
        if (rc == 0 && tool.tool <= 0)
            rc = report_unusable_name(import, draft, i, tool.tool, err);
        if (rc < 0)
            return rc;
        if (tool.tool < 0) { /* an ambiguous name is dropped: it would never become the id of one tool */
            ++*unknown;
            continue;
        }
        WT_TRY(take_draft_arguments(import, draft, i, &tool, err));
        if (!is_new_tool(tools, *count, &tool))
            continue;
        *unknown += tool.tool == 0;
        tools[(*count)++] = tool;
    }
    return 0;
}

static bool has_known_tool(const struct usage_tool *tools, size_t count)
{
    bool known = false;
    for (size_t i = 0; i < count; i++)
        known |= tools[i].tool > 0;
    return known;
}

/* Adds a usage that was read, unless it has tools and all of them are unknown. */
static int take_draft(void *context, const struct usage_draft *draft, wt_error *err)
{
    struct usage_intake *import = context;
    struct usage_tool tools[WT_MAX_USAGE_TOOLS];
    size_t count, unknown;
    WT_TRY(find_draft_tools(import, draft, tools, &count, &unknown, err));
    if (!has_known_tool(tools, count) && draft->tool_count > 0) {
        import->report->import.skipped++;
        import->none_known = true;
        return 0;
    }
    import->report->public.unknown_tools += unknown;
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

/* Encodes the imported usages, or adds the reason to the notice. */
static int learn_imported_usages(wt_engine *engine, struct usage_report *report, struct progress *progress,
                                 wt_error *err)
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

/* Warns if most of the added usages repeat earlier usages: the same log was probably added twice. A few repeated
 * requests are normal. last: id of the last added usage. */
static int report_repeated(wt_engine *engine, struct usage_report *report, int64_t last, wt_error *err)
{
    uint64_t again = 0;
    size_t added = report->public.added;
    pthread_mutex_lock(&engine->store_lock);
    int rc = added ? wt__store_count_again(engine->store, last - (int64_t)added, &again, err) : 0;
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0 || 2 * again <= added)
        return rc;
    wt__buffer_printf(&report->notice,
                      "%llu of these repeat the request, client and tools of an earlier usage, and are recorded "
                      "again; give each a \"key\" to prevent this",
                      (unsigned long long)again);
    report->public.notice = report->notice.ptr;
    return report->notice.failed ? wt__fail_nomem(err) : 0;
}

/* Returns the counter of the report for usages with this fate. */
static size_t *get_fate_count(wt_usage_report *report, enum usage_fate fate)
{
    return fate == USAGE_ADDED     ? &report->added
           : fate == USAGE_CHANGED ? &report->outcomes
           : fate == USAGE_MISSING ? &report->missing
                                   : &report->repeated;
}

static int store_usages(wt_engine *engine, struct usage_intake *import, struct progress *progress, wt_error *err)
{
    struct usage_report *report = import->report;
    enum usage_fate *fates = wt__arena_array(&report->import.arena, enum usage_fate, import->count);
    int64_t last = 0;
    int rc = fates ? 0 : wt__fail_nomem(err);
    if (rc == 0 && import->count > 0)
        rc = store_recorded_usages(engine, import->usages, import->count, progress, fates, &last, err);
    for (size_t i = 0; rc == 0 && i < import->count; i++)
        *get_fate_count(&report->public, fates[i]) += 1;
    report->public.skipped = report->import.skipped;
    report->public.issues = wt__arena_pointers(&report->import.arena, report->import.issues, report->import.issue_count,
                                               sizeof *report->import.issues);
    report->public.issue_count = report->import.issue_count;
    if (rc == 0)
        rc = report_repeated(engine, report, last, err);
    return rc < 0 || report->public.issues ? rc : wt__fail_nomem(err);
}

/* Adds usages from path, or from bytes if path is NULL. */
static int import_usages(wt_engine *engine, const char *path, struct str bytes, const wt_add_usage_options *given,
                         wt_usage_report **out, wt_error *err)
{
    wt_add_usage_options options;
    struct progress progress;
    struct usage_intake import = {.lookup = {.engine = engine}, .now = (int64_t)time(NULL)};
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    import.report = calloc(1, sizeof *import.report);
    WT_CHECK_ALLOC(import.report, err);
    wt__progress_init(&progress, options.progress, options.progress_context);
    struct usage_import *reader = &import.report->import;
    *reader = (struct usage_import){
        .take = take_draft, .context = &import, .progress = &progress, .strict = options.strict != 0};
    int rc = path ? wt__usage_import_path(reader, path, options.split ? options.split : "train", err)
                  : wt__usage_import_bytes(reader, bytes, options.source_name ? options.source_name : "input", err);
    if (rc == 0)
        rc = store_usages(engine, &import, &progress, err);
    bool stored = rc == 0;
    lookup_dispose(&import.lookup);
    free(import.usages);
    if (rc == 0 && !options.no_vectors)
        rc = learn_imported_usages(engine, import.report, &progress, err);
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
    return import_usages(engine, NULL, (struct str){bytes, len}, options, out, err);
}

int wt_add_usage_path(wt_engine *engine, const char *path, const wt_add_usage_options *options, wt_usage_report **out,
                      wt_error *err)
{
    return import_usages(engine, path, (struct str){"", 0}, options, out, err);
}

/* ---------------------------------------------------------------- reports of several callers */

/* Reads a reported usage. Sets its code and message, and adds it to the import if it is valid. */
static int read_reported(struct usage_intake *import, struct reported_usage *usage, wt_error *err)
{
    struct usage_report report = {.import = {.take = take_draft, .context = import}};
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

static int store_reported(wt_engine *engine, const struct usage_intake *import, struct reported_usage *const *taken,
                          enum usage_fate *fates, wt_error *err)
{
    if (import->count == 0)
        return 0;
    if (engine->spool_usages)
        return engine->spool_usages(engine->spool, taken, import->count, err);
    WT_TRY(store_recorded_usages(engine, import->usages, import->count, NULL, fates, NULL, err));
    for (size_t i = 0; i < import->count; i++)
        taken[i]->fate = fates[i];
    return 0;
}

int wt__record_reported_usages(wt_engine *engine, struct reported_usage *const *usages, size_t count, wt_error *err)
{
    struct usage_intake import = {.lookup = {.engine = engine}, .now = (int64_t)time(NULL)};
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
    if (rc == 0 && import.count > 0 && !engine->spool_usages)
        wt__engine_changed(engine);
    lookup_dispose(&import.lookup);
    free(import.usages);
    return rc;
}

/* ---------------------------------------------------------------- segments of replicas */

/* Reads a line of a segment into a usage, in the arena. */
static int read_segment_line(struct str line, struct arena *arena, struct reported_usage *out, wt_error *err)
{
    json_auto_t *whole = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_TRY(wt__json_parse(&whole, line.ptr, line.len, err));
    json_t *usage = wt__json_object(whole, "usage");
    int64_t time = wt__json_int(whole, "time", 0);
    struct str client = wt__json_str(whole, "client"), key = wt__json_str(whole, "key");
    if (!usage)
        return wt__fail(err, WT_EFORMAT, "a line of the segment has no usage");
    if (time > 0 && !json_object_get(usage, "time") && json_object_set_new(usage, "time", json_integer(time)) < 0)
        return wt__fail_nomem(err);
    WT_CHECK_ALLOC(wt__json_write(&text, usage) == 0, err);
    *out = (struct reported_usage){.line = {wt__arena_copy(arena, wt__buffer_view(&text)), text.len},
                                   .client = {wt__arena_copy(arena, client), client.len},
                                   .key = {wt__arena_copy(arena, key), key.len}};
    WT_CHECK_ALLOC(out->line.ptr && out->client.ptr && out->key.ptr, err);
    return 0;
}

/* Reads all lines of a segment. */
static int read_segment(struct usage_intake *import, struct str lines, struct usage_segment *out, wt_error *err)
{
    struct reported_usage usage;
    char *text = wt__arena_copy(&import->lookup.arena, lines);
    WT_CHECK_ALLOC(text, err);
    if (strlen(text) != lines.len)
        return wt__fail(err, WT_EFORMAT, "the segment contains NUL");
    const char *rest = text;
    for (struct str line; wt__str_line(&rest, &line);) {
        if (++out->lines > USAGE_SEGMENT_LINES_MAX)
            return wt__fail(err, WT_ETOOLONG, "the segment has more than %d usages", USAGE_SEGMENT_LINES_MAX);
        int rc = read_segment_line(line, &import->lookup.arena, &usage, err);
        if (rc < 0)
            return rc == WT_ENOMEM ? rc : wt__fail_context(err, WT_EFORMAT, "line %zu of the segment", out->lines);
        WT_TRY(read_reported(import, &usage, err));
        out->refused += usage.code < 0;
    }
    return 0;
}

static bool is_segment_id(struct str id)
{
    bool fits = id.len >= USAGE_SEGMENT_ID_LEAST && id.len <= USAGE_SEGMENT_ID_MOST;
    for (size_t i = 0; fits && i < id.len; i++)
        fits = wt__hex_digit(id.ptr[i]) >= 0;
    return fits;
}

int wt__apply_usage_segment(wt_engine *engine, struct str id, struct str lines, struct usage_segment *out,
                            wt_error *err)
{
    struct usage_intake import = {.lookup = {.engine = engine}, .now = (int64_t)time(NULL)};
    *out = (struct usage_segment){.lines = 0};
    if (!is_segment_id(id))
        return wt__fail(err, WT_EFORMAT, "the id of a segment has %d to %d hexadecimal digits", USAGE_SEGMENT_ID_LEAST,
                        USAGE_SEGMENT_ID_MOST);
    WT_TRY(wt__engine_refuse_read_only(engine, "usages cannot be recorded", err));
    int rc = read_segment(&import, lines, out, err);
    enum usage_fate *fates = wt__arena_array(&import.lookup.arena, enum usage_fate, import.count);
    if (rc == 0 && !fates)
        rc = wt__fail_nomem(err);
    if (rc == 0) {
        pthread_mutex_lock(&engine->store_lock);
        rc = wt__store_add_segment(engine->store, id, import.usages, import.count, fates, err);
        pthread_mutex_unlock(&engine->store_lock);
        out->applied = rc > 0;
    }
    for (size_t i = 0; rc > 0 && i < import.count; i++)
        *(fates[i] == USAGE_ADDED ? &out->recorded : &out->repeated) += 1;
    if (rc > 0) {
        wt__new_tools_called(engine, import.usages, import.count);
        wt__engine_changed(engine);
        atomic_fetch_add(&engine->segments, 1);
    }
    lookup_dispose(&import.lookup);
    free(import.usages);
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- listing */

struct usage_page {
    wt_usages public; /* first member, so that the public pointer converts to struct usage_page */
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

static int fail_unknown_usage(struct store *store, const char *name, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer sentence = {0};
    wt__buffer_printf(&sentence, "neither a tool nor a usage has the name \"%s\"", name);
    wt__suggest_tool(&sentence, store, wt__str(name));
    return sentence.failed ? wt__fail_nomem(err) : wt__fail(err, WT_ENOTFOUND, "%s", sentence.ptr);
}

/* Translates a filter into a query, which borrows its strings. Requires store_lock. */
static int read_usage_filter(wt_engine *engine, const wt_usage_filter *filter, struct usage_query *query, wt_error *err)
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
            rc = fail_unknown_usage(engine->store, filter->tool, &why);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* Converts a usage to its public form, in the arena. */
static int materialise_usage(struct arena *arena, const struct usage *usage, wt_usage *out, wt_error *err)
{
    wt_usage_tool *tools = wt__arena_array(arena, wt_usage_tool, usage->tool_count);
    const void *pointers = wt__arena_pointers(arena, tools, usage->tool_count, sizeof *tools);
    WT_CHECK_ALLOC(pointers, err);
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
    WT_TRY(wt__options_read(&filter, sizeof filter, given, err));
    struct usage_page *page = calloc(1, sizeof *page);
    WT_CHECK_ALLOC(page, err);
    pthread_mutex_lock(&engine->store_lock);
    int rc = read_usage_filter(engine, &filter, &query, err);
    if (rc == 0)
        rc = wt__store_usages(engine->store, &query, &page->arena, &usages, &count, err);
    pthread_mutex_unlock(&engine->store_lock);
    wt_usage *items = rc == 0 ? wt__arena_array(&page->arena, wt_usage, count) : NULL;
    const void *pointers = rc == 0 ? wt__arena_pointers(&page->arena, items, count, sizeof *items) : NULL;
    if (rc == 0 && !pointers)
        rc = wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = materialise_usage(&page->arena, &usages[i], &items[i], err);
    if (rc < 0) {
        wt_usages_free(&page->public);
        return rc;
    }
    page->public = (wt_usages){count, pointers};
    *out = &page->public;
    return 0;
}

static void write_exported_tool(struct buffer *out, const wt_usage_tool *tool)
{
    wt__buffer_text(out, tool->arguments ? "{\"tool\":" : "");
    wt__buffer_json(out, wt__str(tool->id));
    if (tool->arguments)
        wt__buffer_printf(out, ",\"arguments\":%s}", tool->arguments);
}

static void write_exported_usage(struct buffer *out, const wt_usage *usage)
{
    char time[CLOCK_TEXT_BYTES];
    wt__clock_text(usage->time, time);
    wt__buffer_text(out, "{\"request\":");
    wt__buffer_json(out, wt__str(usage->request));
    wt__buffer_text(out, ",\"tools\":[");
    for (size_t i = 0; i < usage->tool_count; i++) {
        wt__buffer_text(out, i ? "," : "");
        write_exported_tool(out, usage->tools[i]);
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

/* Exports one page and moves *filter after it. Returns the number of usages, or an error. */
static int64_t export_usage_page(wt_engine *engine, wt_usage_filter *filter, wt_write_fn write, void *context,
                                 wt_error *err)
{
    wt_usages *page;
    WT_CLEANUP(wt__buffer_dispose) struct buffer lines = {0}, shown = {0};
    int rc = wt_list_usage(engine, filter, &page, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < page->len; i++)
        write_exported_usage(&lines, page->items[i]);
    wt__shown_json(&shown, wt__buffer_view(&lines));
    if (lines.failed || shown.failed)
        rc = wt__fail_nomem(err);
    else if (shown.len > 0 && write(context, shown.ptr, shown.len))
        rc = wt__fail_cancelled(err);
    int64_t count = (int64_t)page->len;
    if (count > 0)
        filter->after_id = page->items[count - 1]->id;
    wt_usages_free(page);
    return rc < 0 ? rc : count;
}

int64_t wt_export_usage(wt_engine *engine, const wt_usage_filter *given, wt_write_fn write, void *context,
                        wt_error *err)
{
    wt_usage_filter filter;
    int64_t total = 0, count;
    WT_TRY(wt__options_read(&filter, sizeof filter, given, err));
    size_t limit = filter.limit;
    do {
        filter.limit = limit && limit - (size_t)total < PAGE ? limit - (size_t)total : PAGE;
        count = export_usage_page(engine, &filter, write, context, err);
        if (count < 0)
            return count;
        total += count;
    } while (count == PAGE && (!limit || (size_t)total < limit));
    return total;
}

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
    rc = read_usage_filter(engine, &filter, &query, err);
    if (rc == 0)
        rc = wt__store_forget_usages(engine->store, &query, err);
    pthread_mutex_unlock(&engine->store_lock);
    wt__engine_changed(engine);
    return rc;
}

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
    return wt__fail(err, WT_EINVAL, "\"%s\" is not a time; write it as 2026-11-22 or 2026-11-22T08:30:00Z",
                    text ? text : "");
}
