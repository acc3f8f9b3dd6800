/* add_mcp.c: MCP servers as a source of tools.
 *
 *   configuration -> all servers asked at once, a thread each -> one after another imported -> vectors, snapshot
 *
 * What is imported does not depend on who answers first. A server is a source of its own ("mcp:CONFIGURATION#NAME",
 * or "mcp:PROVIDER"), which lies below no folder and no other server, so that sync knows whose tools are gone. */
#include <limits.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/pool.h"
#include "changes/add.h"
#include "engine/sized_options.h"
#include "mcp/listing.h"
#include "mcp/config.h"

enum { ASKED_AT_ONCE = 32 };

struct mcp_report {
    wt_mcp_report public; /* first, so that the public pointer is this one */
    struct arena arena;
};

/* A server, on its way from the configuration to the report. */
struct asked {
    const struct mcp_server *server;
    struct mcp_listing listing;
    struct report *report; /* NULL where its tools are not in */
    const char *source;    /* of its tools; NULL before it said who it is, where the configuration does not */
    const char *provider;  /* of its tools; NULL where none is known */
    wt_error why;          /* code 0: its tools are in */
};

struct adding {
    wt_engine *engine;
    wt_add_mcp_options options;
    struct mcp_config config; /* of one server, where there is none */
    const char *prefix;       /* of the sources of its servers: "mcp:CONFIGURATION#"; "mcp:" without one */
    struct asked *asked;      /* [config.count] */
    struct progress progress;
    struct arena arena;
    size_t imported; /* servers */
    size_t removed;  /* tools of servers that are named no more */
};

void wt_mcp_report_free(wt_mcp_report *public)
{
    if (!public)
        return;
    struct mcp_report *report = (struct mcp_report *)public;
    for (size_t i = 0; i < public->server_count; i++)
        wt_add_report_free((wt_add_report *)public->servers[i]->added);
    wt__arena_dispose(&report->arena);
    free(report);
}

/* ---------------------------------------------------------------- whom to ask */

static int name_prefix(struct adding *adding, const char *path, wt_error *err)
{
    struct buffer text = {0};
    char resolved[PATH_MAX];
    if (path && !realpath(path, resolved))
        return wt__fail_errno(err, "find", path);
    wt__buffer_printf(&text, "mcp:%s%s", path ? resolved : "", path ? "#" : "");
    adding->prefix = text.failed ? NULL : wt__arena_copy(&adding->arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return adding->prefix ? 0 : wt__fail_nomem(err);
}

static int find_servers(struct adding *adding, const char *source, wt_error *err)
{
    const char *const *command = adding->options.command;
    if (!source == !(command && command[0]))
        return wt__fail(err, WT_EINVAL, "either a configuration, a URL or a command says which MCP server to ask");
    bool configured = source && !wt__mcp_is_url(source);
    int rc = configured ? wt__mcp_config_read(&adding->config, source, err) : 0;
    if (rc == 0 && adding->options.provider && adding->config.count > 1)
        rc = wt__fail(err, WT_EINVAL,
                      "%s names %zu MCP servers, and a provider is for the tools of one: without it, each server's "
                      "tools have its own name as provider",
                      source, adding->config.count);
    if (rc == 0)
        rc = name_prefix(adding, configured ? source : NULL, err);
    if (rc < 0 || configured)
        return rc;
    struct mcp_server *server = wt__arena_array(&adding->config.arena, struct mcp_server, 1);
    if (!server)
        return wt__fail_nomem(err);
    *server = (struct mcp_server){.name = "", .argv = source ? NULL : command, .url = source};
    adding->config.servers = server;
    adding->config.count = 1;
    return 0;
}

/* Sync takes what a source's name and a slash begin for a part of it, so a server's name has its slashes as URLs do. */
static const char *source_of(struct adding *adding, const char *name)
{
    struct buffer text = {0};
    wt__buffer_text(&text, adding->prefix);
    for (; *name; name++)
        if (*name == '/' || *name == '%')
            wt__buffer_printf(&text, "%%%02X", (unsigned char)*name);
        else
            wt__buffer_char(&text, *name);
    const char *out = text.failed ? NULL : wt__arena_copy(&adding->arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return out;
}

/* ---------------------------------------------------------------- asking */

static bool is_left_out(const struct mcp_server *server)
{
    return server->disabled || server->itself;
}

static int ask_one(void *context, size_t index, unsigned worker)
{
    struct adding *adding = context;
    struct asked *asked = &adding->asked[index];
    (void)worker;
    if (is_left_out(asked->server))
        return 0;
    unsigned timeout_ms = adding->options.timeout_ms ? adding->options.timeout_ms : WT_MCP_TIMEOUT_MS;
    int rc = wt__mcp_list_tools(&asked->listing, asked->server, timeout_ms, &adding->progress, &asked->why);
    bool stopped = wt__progress_step(&adding->progress, 1) || rc == WT_ECANCELLED;
    return stopped ? WT_ECANCELLED : rc == WT_ENOMEM ? rc : 0;
}

static int ask_all(struct adding *adding, wt_error *err)
{
    size_t enabled = 0;
    adding->asked = wt__arena_array(&adding->arena, struct asked, adding->config.count);
    if (!adding->asked)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < adding->config.count; i++) {
        const struct mcp_server *server = &adding->config.servers[i];
        adding->asked[i].server = server;
        enabled += !is_left_out(server);
        if (*server->name && !(adding->asked[i].source = source_of(adding, server->name)))
            return wt__fail_nomem(err);
    }
    if (wt__progress_phase(&adding->progress, "asking servers", enabled))
        return wt__fail_cancelled(err);
    int rc = wt__pool_run(ASKED_AT_ONCE, adding->config.count, ask_one, adding);
    return rc == WT_ECANCELLED ? wt__fail_cancelled(err) : rc < 0 ? wt__fail_nomem(err) : 0;
}

/* ---------------------------------------------------------------- importing */

static int name_source(struct adding *adding, struct asked *asked, wt_error *err)
{
    const char *name = asked->server->name;
    asked->provider = adding->options.provider ? adding->options.provider
                      : *name                  ? name
                              : wt__mcp_short_name(&adding->arena, asked->server, wt__str(asked->listing.name));
    if (asked->provider && !asked->source)
        asked->source = source_of(adding, asked->provider);
    return asked->source ? 0 : wt__fail_nomem(err);
}

/* Whether the failure is one of what the server listed, and not one of the store. */
static bool is_of_the_server(int code)
{
    return code == WT_EFORMAT || code == WT_EINVAL || code == WT_ETOOLONG;
}

static int import_one(struct adding *adding, struct asked *asked, wt_error *err)
{
    struct import import = {0};
    int rc = name_source(adding, asked, err);
    if (rc < 0)
        return rc;
    struct import_options reading = {.format = STR("mcp"),
                                     .provider = wt__str(asked->provider),
                                     .source_name = wt__str(asked->source),
                                     .strict = adding->options.strict,
                                     .progress = &adding->progress};
    rc = wt__import_bytes(&import, wt__buffer_view(&asked->listing.tools), &reading, &asked->why);
    if (rc == 0)
        rc = wt__report_new(&asked->report, &import, &asked->why);
    if (rc == 0)
        rc = wt__store_tools(adding->engine, &import, wt__str(asked->source), adding->options.sync, &adding->progress,
                             asked->report, &asked->why);
    wt__import_dispose(&import);
    adding->imported += rc == 0;
    if (rc == 0)
        return 0;
    wt_add_report_free(asked->report ? &asked->report->public : NULL);
    asked->report = NULL;
    if (is_of_the_server(rc))
        return 0;
    *err = asked->why;
    return rc;
}

/* Whether the configuration names the server of a source. */
static bool is_named(const struct adding *adding, struct str source)
{
    for (size_t i = 0; i < adding->config.count; i++)
        if (adding->asked[i].source && wt__str_equal(source, wt__str(adding->asked[i].source)))
            return true;
    return false;
}

/* Removes the tools of servers that an earlier configuration of the same file named and this one does not. */
static int remove_gone(struct adding *adding, wt_error *err)
{
    struct str *sources;
    size_t count = 0;
    wt_engine *engine = adding->engine;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_sources(engine->store, wt__str(adding->prefix), &adding->arena, &sources, &count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct store_import_options options = {.source = sources[i], .sync = true, .progress = &adding->progress};
        struct store_changes changes;
        if (is_named(adding, sources[i]))
            continue;
        rc = wt__store_import(engine->store, NULL, 0, &options, &changes, err);
        adding->removed += rc == 0 ? changes.removed : 0;
    }
    pthread_mutex_unlock(&engine->store_lock);
    return rc;
}

/* After a stop, the report says of the servers whose tools are not in that they were stopped. */
static int import_all(struct adding *adding, wt_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < adding->config.count && (rc == 0 || rc == WT_ECANCELLED); i++) {
        struct asked *asked = &adding->asked[i];
        if (is_left_out(asked->server) || asked->why.code != 0)
            continue;
        if (rc == 0)
            rc = import_one(adding, asked, err);
        else
            wt__fail_cancelled(&asked->why);
    }
    if (rc == 0 && adding->options.sync && strcmp(adding->prefix, "mcp:") != 0)
        rc = remove_gone(adding, err);
    return rc;
}

/* ---------------------------------------------------------------- telling */

static int tell_server(struct arena *arena, struct asked *asked, wt_mcp_server *out)
{
    const char *reason = asked->server->itself ? asked->server->refusal : asked->why.code < 0 ? asked->why.message : "";
    const char *provider = asked->provider ? asked->provider : asked->server->name;
    *out = (wt_mcp_server){
        .name = wt__arena_copy(arena, wt__str(*asked->server->name ? asked->server->name : provider)),
        .provider = wt__arena_copy(arena, wt__str(provider)),
        .disabled = is_left_out(asked->server),
        .code = asked->why.code,
        .reason = wt__arena_copy(arena, wt__str(reason)),
        .tools = asked->listing.tool_count,
    };
    if (!out->name || !out->provider || !out->reason)
        return -1;
    out->added = asked->report ? &asked->report->public : NULL;
    asked->report = NULL; /* it goes with the whole */
    return 0;
}

static int report_all(struct adding *adding, const struct report *searchable, wt_mcp_report **out, wt_error *err)
{
    struct mcp_report *report = calloc(1, sizeof *report);
    size_t count = adding->config.count;
    if (!report)
        return wt__fail_nomem(err);
    wt_mcp_server *servers = wt__arena_array(&report->arena, wt_mcp_server, count);
    const char *notice = searchable->public.notice;
    report->public = (wt_mcp_report){
        .servers = wt__arena_pointers(&report->arena, servers, count, sizeof *servers),
        .removed = adding->removed,
        .embedded = searchable->public.embedded,
        .notice = notice ? wt__arena_copy(&report->arena, wt__str(notice)) : NULL,
    };
    bool whole = servers && report->public.servers && (!notice || report->public.notice);
    for (size_t i = 0; whole && i < count; i++) {
        whole = tell_server(&report->arena, &adding->asked[i], &servers[i]) == 0;
        report->public.server_count += whole;
        report->public.failed += servers[i].code < 0;
    }
    if (!whole) {
        wt_mcp_report_free(&report->public);
        return wt__fail_nomem(err);
    }
    *out = &report->public;
    return 0;
}

/* ---------------------------------------------------------------- the whole */

static int add_answers(struct adding *adding, wt_mcp_report **out, wt_error *err)
{
    static const struct import nothing;
    struct report *searchable;
    int rc = wt__report_new(&searchable, &nothing, err);
    if (rc < 0)
        return rc;
    wt__engine_begin_import(adding->engine);
    rc = import_all(adding, err);
    for (size_t i = 0; rc == 0 && i < adding->config.count; i++)
        if (adding->asked[i].report)
            rc = wt__report_take_own(searchable, adding->asked[i].report, err);
    if (rc == 0)
        rc = wt__make_searchable(adding->engine, adding->options.no_vectors, &adding->progress, searchable, err);
    if (rc < 0) /* so no newer index was made */
        wt__engine_changed(adding->engine);
    wt__engine_end_import(adding->engine);
    if (rc == 0 || (rc == WT_ECANCELLED && adding->imported + adding->removed > 0)) {
        int told = report_all(adding, searchable, out, err);
        rc = told < 0 ? told : rc;
    }
    wt_add_report_free(&searchable->public);
    return rc;
}

int wt_add_mcp(wt_engine *engine, const char *source, const wt_add_mcp_options *given, wt_mcp_report **out,
               wt_error *err)
{
    struct adding adding = {.engine = engine};
    wt_error scratch;
    err = err ? err : &scratch;
    *out = NULL;
    int rc = wt__options_read(&adding.options, sizeof adding.options, given, err);
    if (rc < 0)
        return rc;
    if (engine->read_only) /* before anything is started */
        return wt__fail(err, WT_EREADONLY, "the store %s is open for reading only; no tools can be added",
                        engine->path);
    wt__progress_init(&adding.progress, adding.options.progress, adding.options.progress_context);
    rc = find_servers(&adding, source, err);
    if (rc == 0)
        rc = ask_all(&adding, err);
    if (rc == 0)
        rc = add_answers(&adding, out, err);
    for (size_t i = 0; adding.asked && i < adding.config.count; i++) {
        wt__buffer_dispose(&adding.asked[i].listing.tools);
        wt_add_report_free(adding.asked[i].report ? &adding.asked[i].report->public : NULL);
    }
    wt__mcp_config_dispose(&adding.config);
    wt__arena_dispose(&adding.arena);
    wt__progress_dispose(&adding.progress);
    return rc;
}
