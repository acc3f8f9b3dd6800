/* add_mcp.c: imports the tools of MCP servers.
 *
 *   read the configuration -> list the servers in parallel -> import the lists in order -> vectors and a new index
 *
 * The result does not depend on the order of the servers' answers. Each server is a source ("mcp:CONFIGURATION#NAME" or
 * "mcp:PROVIDER"), so that sync removes only a server's own tools. */
#include <limits.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/pool.h"
#include "changes/add.h"
#include "engine/sized_options.h"
#include "mcp/listing.h"
#include "mcp/config.h"

enum { ASKED_AT_ONCE = 32 /* maximum servers listed in parallel */ };

struct mcp_report {
    wt_mcp_report public; /* first member, so that the public pointer converts to struct mcp_report */
    struct arena arena;
};

/* A server and the result of its import. */
struct listed_server {
    const struct mcp_server *server;
    struct mcp_listing listing;
    struct import_report *report; /* NULL if its tools are not stored */
    const char *source;           /* source of its tools; NULL for a server without a name until its list is imported */
    const char *provider;         /* provider of its tools; NULL until its list is imported */
    wt_error why;                 /* error of the server; code 0 if its tools are stored, or if it was skipped */
};

struct mcp_import {
    wt_engine *engine;
    wt_add_mcp_options options;
    struct mcp_config config; /* one server if there is no configuration file */
    const char *prefix; /* prefix of the servers' sources: "mcp:CONFIGURATION#", or "mcp:" without a configuration */
    struct listed_server *asked; /* [config.count] */
    struct progress progress;
    struct arena arena;
    size_t imported; /* number of servers whose tools are stored */
    size_t removed;  /* number of removed tools of servers that the configuration no longer has */
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

/* ---------------------------------------------------------------- servers to list */

static int name_source_prefix(struct mcp_import *adding, const char *path, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    char resolved[PATH_MAX];
    if (path && !realpath(path, resolved))
        return wt__fail_errno(err, "find", path);
    wt__buffer_printf(&text, "mcp:%s%s", path ? resolved : "", path ? "#" : "");
    adding->prefix = text.failed ? NULL : wt__arena_copy(&adding->arena, wt__buffer_view(&text));
    return adding->prefix ? 0 : wt__fail_nomem(err);
}

static int find_mcp_servers(struct mcp_import *adding, const char *source, wt_error *err)
{
    const char *const *command = adding->options.command;
    if (!source == !(command && command[0]))
        return wt__fail(err, WT_EINVAL, "pass either a configuration, a URL or a command of an MCP server");
    bool configured = source && !wt__mcp_is_url(source);
    if (configured)
        WT_TRY(wt__mcp_config_read(&adding->config, source, err));
    if (adding->options.provider && adding->config.count > 1)
        return wt__fail(err, WT_EINVAL,
                        "%s has %zu MCP servers, but a provider applies to one server only; without it, the name of "
                        "each server is its provider",
                        source, adding->config.count);
    WT_TRY(name_source_prefix(adding, configured ? source : NULL, err));
    if (configured)
        return 0;
    struct mcp_server *server = wt__arena_array(&adding->config.arena, struct mcp_server, 1);
    WT_CHECK_ALLOC(server, err);
    *server = (struct mcp_server){.name = "", .argv = source ? NULL : command, .url = source};
    adding->config.servers = server;
    adding->config.count = 1;
    return 0;
}

/* Returns the source of a server, or NULL if out of memory. Escapes slashes as in URLs, since sync treats a source with
 * a slash as a path. */
static const char *name_server_source(struct mcp_import *adding, const char *name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_text(&text, adding->prefix);
    for (; *name; name++)
        if (*name == '/' || *name == '%')
            wt__buffer_printf(&text, "%%%02X", (unsigned char)*name);
        else
            wt__buffer_char(&text, *name);
    return text.failed ? NULL : wt__arena_copy(&adding->arena, wt__buffer_view(&text));
}

/* ---------------------------------------------------------------- listing */

/* True for a server that is not listed: disabled, or whichtool itself. */
static bool is_skipped_server(const struct mcp_server *server)
{
    return server->disabled || server->itself;
}

/* Lists one server; a task of the pool. Stores an error of the server in `why`. Fails only if cancelled or out of
 * memory. */
static int list_server(void *context, size_t index, unsigned worker)
{
    struct mcp_import *adding = context;
    struct listed_server *asked = &adding->asked[index];
    (void)worker;
    if (is_skipped_server(asked->server))
        return 0;
    unsigned timeout_ms = adding->options.timeout_ms ? adding->options.timeout_ms : WT_MCP_TIMEOUT_MS;
    int rc = wt__mcp_list_tools(&asked->listing, asked->server, timeout_ms, &adding->progress, &asked->why);
    bool stopped = wt__progress_step(&adding->progress, 1) || rc == WT_ECANCELLED;
    return stopped ? WT_ECANCELLED : rc == WT_ENOMEM ? rc : 0;
}

static int list_all_servers(struct mcp_import *adding, wt_error *err)
{
    size_t enabled = 0;
    adding->asked = wt__arena_array(&adding->arena, struct listed_server, adding->config.count);
    WT_CHECK_ALLOC(adding->asked, err);
    for (size_t i = 0; i < adding->config.count; i++) {
        const struct mcp_server *server = &adding->config.servers[i];
        adding->asked[i].server = server;
        enabled += !is_skipped_server(server);
        if (*server->name && !(adding->asked[i].source = name_server_source(adding, server->name)))
            return wt__fail_nomem(err);
    }
    if (wt__progress_phase(&adding->progress, "asking servers", enabled))
        return wt__fail_cancelled(err);
    int rc = wt__pool_run(ASKED_AT_ONCE, adding->config.count, list_server, adding);
    return rc == WT_ECANCELLED ? wt__fail_cancelled(err) : rc < 0 ? wt__fail_nomem(err) : 0;
}

/* ---------------------------------------------------------------- importing */

static int name_import_source(struct mcp_import *adding, struct listed_server *asked, wt_error *err)
{
    const char *name = asked->server->name;
    asked->provider = adding->options.provider ? adding->options.provider
                      : *name                  ? name
                              : wt__mcp_short_name(&adding->arena, asked->server, wt__str(asked->listing.name));
    if (asked->provider && !asked->source)
        asked->source = name_server_source(adding, asked->provider);
    return asked->source ? 0 : wt__fail_nomem(err);
}

/* True if the error is about the server's list, not about the store. */
static bool is_server_failure(int code)
{
    return code == WT_EFORMAT || code == WT_EINVAL || code == WT_ETOOLONG;
}

/* Imports the list of a server. Stores an error of the server in `why`, and returns only other errors. */
static int import_server(struct mcp_import *adding, struct listed_server *asked, wt_error *err)
{
    struct import import = {0};
    WT_TRY(name_import_source(adding, asked, err));
    struct import_options reading = {.format = STR("mcp"),
                                     .provider = wt__str(asked->provider),
                                     .source_name = wt__str(asked->source),
                                     .strict = adding->options.strict,
                                     .progress = &adding->progress};
    int rc = wt__import_bytes(&import, wt__buffer_view(&asked->listing.tools), &reading, &asked->why);
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
    if (is_server_failure(rc))
        return 0;
    *err = asked->why;
    return rc;
}

/* True if the source belongs to a server of the configuration. */
static bool is_configured_source(const struct mcp_import *adding, struct str source)
{
    for (size_t i = 0; i < adding->config.count; i++)
        if (adding->asked[i].source && wt__str_equal(source, wt__str(adding->asked[i].source)))
            return true;
    return false;
}

/* Removes the tools of servers dropped from the configuration file. */
static int remove_dropped_servers(struct mcp_import *adding, wt_error *err)
{
    struct str *sources;
    size_t count = 0;
    wt_engine *engine = adding->engine;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_sources(engine->store, wt__str(adding->prefix), &adding->arena, &sources, &count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct store_import_options options = {.source = sources[i], .sync = true, .progress = &adding->progress};
        struct store_changes changes;
        if (is_configured_source(adding, sources[i]))
            continue;
        rc = wt__store_import(engine->store, NULL, 0, &options, &changes, err);
        adding->removed += rc == 0 ? changes.removed : 0;
    }
    pthread_mutex_unlock(&engine->store_lock);
    return rc;
}

/* Imports all listings. After a stop, the remaining servers are reported as cancelled. */
static int import_all_servers(struct mcp_import *adding, wt_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < adding->config.count && (rc == 0 || rc == WT_ECANCELLED); i++) {
        struct listed_server *asked = &adding->asked[i];
        if (is_skipped_server(asked->server) || asked->why.code != 0)
            continue;
        if (rc == 0)
            rc = import_server(adding, asked, err);
        else
            wt__fail_cancelled(&asked->why);
    }
    if (rc == 0 && adding->options.sync && strcmp(adding->prefix, "mcp:") != 0)
        rc = remove_dropped_servers(adding, err);
    return rc;
}

static int report_server(struct arena *arena, struct listed_server *asked, wt_mcp_server *out)
{
    const char *reason = asked->server->itself ? asked->server->refusal : asked->why.code < 0 ? asked->why.message : "";
    const char *provider = asked->provider ? asked->provider : asked->server->name;
    *out = (wt_mcp_server){
        .name = wt__arena_copy(arena, wt__str(*asked->server->name ? asked->server->name : provider)),
        .provider = wt__arena_copy(arena, wt__str(provider)),
        .disabled = is_skipped_server(asked->server),
        .code = asked->why.code,
        .reason = wt__arena_copy(arena, wt__str(reason)),
        .tools = asked->listing.tool_count,
    };
    if (!out->name || !out->provider || !out->reason)
        return -1;
    out->added = asked->report ? &asked->report->public : NULL;
    asked->report = NULL; /* owned by struct mcp_report now */
    return 0;
}

static int write_mcp_report(struct mcp_import *adding, const struct import_report *searchable, wt_mcp_report **out,
                            wt_error *err)
{
    struct mcp_report *report = calloc(1, sizeof *report);
    size_t count = adding->config.count;
    WT_CHECK_ALLOC(report, err);
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
        whole = report_server(&report->arena, &adding->asked[i], &servers[i]) == 0;
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

static int add_listed_tools(struct mcp_import *adding, wt_mcp_report **out, wt_error *err)
{
    static const struct import nothing;
    struct import_report *searchable;
    WT_TRY(wt__report_new(&searchable, &nothing, err));
    wt__engine_begin_import(adding->engine);
    int rc = import_all_servers(adding, err);
    for (size_t i = 0; rc == 0 && i < adding->config.count; i++)
        if (adding->asked[i].report)
            rc = wt__report_add_own(searchable, adding->asked[i].report, err);
    if (rc == 0)
        rc = wt__make_searchable(adding->engine, adding->options.no_vectors, &adding->progress, searchable, err);
    if (rc < 0) /* no newer index was built */
        wt__engine_changed(adding->engine);
    wt__engine_end_import(adding->engine);
    if (rc == 0 || (rc == WT_ECANCELLED && adding->imported + adding->removed > 0)) {
        int told = write_mcp_report(adding, searchable, out, err);
        rc = told < 0 ? told : rc;
    }
    wt_add_report_free(&searchable->public);
    return rc;
}

int wt_add_mcp(wt_engine *engine, const char *source, const wt_add_mcp_options *given, wt_mcp_report **out,
               wt_error *err)
{
    struct mcp_import adding = {.engine = engine};
    wt_error scratch;
    err = err ? err : &scratch;
    *out = NULL;
    WT_TRY(wt__options_read(&adding.options, sizeof adding.options, given, err));
    WT_TRY(wt__engine_refuse_read_only(engine, "no tools can be added", err)); /* before a server is started */
    wt__progress_init(&adding.progress, adding.options.progress, adding.options.progress_context);
    int rc = find_mcp_servers(&adding, source, err);
    if (rc == 0)
        rc = list_all_servers(&adding, err);
    if (rc == 0)
        rc = add_listed_tools(&adding, out, err);
    for (size_t i = 0; adding.asked && i < adding.config.count; i++) {
        wt__buffer_dispose(&adding.asked[i].listing.tools);
        wt_add_report_free(adding.asked[i].report ? &adding.asked[i].report->public : NULL);
    }
    wt__mcp_config_dispose(&adding.config);
    wt__arena_dispose(&adding.arena);
    wt__progress_dispose(&adding.progress);
    return rc;
}
