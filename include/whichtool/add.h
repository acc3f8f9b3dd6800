/* whichtool/add.h: imports tools from memory, files and MCP servers.
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_ADD_H
#define WHICHTOOL_ADD_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_add_options {
    size_t size;
    const char *format;      /* format from docs/formats.md, such as "openapi"; NULL: detected */
    const char *provider;    /* provider of the tools, overriding the source's own; NULL: the source's own, if any */
    const char *source_name; /* wt_add: name of the source in messages, and scope of sync; NULL: "input" */
    int sync;   /* remove tools of earlier imports if this source no longer has them. If the source is a folder, this
                 applies to all files below it. The tool of a skipped OpenAPI operation stays */
    int strict; /* fail the whole import with WT_EFORMAT on a bad tool */
    int no_vectors; /* do not encode now; wt_embed_missing or a later wt_add does */
    wt_progress_fn progress;
    void *progress_context;
} wt_add_options;

WT_INIT(wt_add_options_init, wt_add_options)

/* A skipped tool or file, or a problem with an imported tool. */
typedef struct wt_add_issue {
    const char *file;
    size_t line;         /* 1-based; 0 if unknown */
    size_t byte;         /* byte offset of the tool */
    const char *pointer; /* JSON pointer, or "" */
    const char *reason;
} wt_add_issue;

/* A tool imported under another name, because a tool of another source with another definition already has its name. */
typedef struct wt_add_collision {
    const char *id;     /* id of the imported tool, such as "github/search~2" */
    const char *taken;  /* id that was already taken, such as "github/search" */
    const char *source; /* source of the imported tool */
    const char *other;  /* source of the tool that has the taken id */
} wt_add_collision;

typedef struct wt_add_report {
    size_t added, updated, unchanged, removed, skipped;
    size_t embedded;    /* vectors computed */
    const char *format; /* detected format; "mixed" for a folder of several formats */
    const char *notice; /* remarks, such as a missing model or a collision, in one line; NULL for no remark */
    size_t issue_count; /* issues in the list, at most WT_MAX_ISSUES */
    const wt_add_issue *const *issues;
    size_t collisions; /* tools added under another name, because a tool of another source has theirs */
    const wt_add_collision *const *collided;
    size_t collided_count; /* collisions in the list, at most WT_MAX_COLLISIONS */
    int whole;             /* true if every source was read to its end */
    unsigned notice_codes; /* WT_NOTICE_... of notice */
} wt_add_report;

WT_API void wt_add_report_free(wt_add_report *report);

/* Imports tools from memory (wt_add), or from a file, a BEIR folder or any other folder of files (wt_add_path).
 *
 * The catalogue changes in one transaction: completely, or not at all on failure. Vectors are computed afterwards in
 * batches. Stopping between batches loses no tool. The next import or wt_embed_missing computes the missing vectors.
 *
 * - Tools with an unchanged definition are left as they are. Bad tools are skipped and reported.
 * - The source of a tool is its file. A symbolic link to a file is a source of its own.
 * - A tool is identified by its provider and name. The same definition is the same tool, whatever its source.
 * - A different definition from the same source updates the tool. A different definition from another source is added
 *   next to the existing tool as "name~2", "name~3", ..., and reported as a collision. Later imports keep this name.
 * - An empty list of tools is not an error. A source whose tools are all bad is an error only if strict. In both cases,
 *   `added` is 0, and the issues or the notice say why. An empty file, and an OpenAPI document without operations, are
 *   errors.
 *
 * Errors: WT_EFORMAT (unknown format, a pipe or device, or a bad tool if strict), WT_EINVAL, WT_ETOOLONG, WT_ENOTFOUND,
 * WT_ESTORE, WT_EREADONLY, WT_EBUSY, WT_EFULL, WT_EIO, WT_ECANCELLED, WT_ENOMEM. With WT_ECANCELLED after the
 * transaction, *out is set. */
WT_API int wt_add(wt_engine *engine, const char *bytes, size_t len, const wt_add_options *options, wt_add_report **out,
                  wt_error *err);
WT_API int wt_add_path(wt_engine *engine, const char *path, const wt_add_options *options, wt_add_report **out,
                       wt_error *err);

enum { WT_MCP_TIMEOUT_MS = 60000 }; /* default of wt_add_mcp_options.timeout_ms */

typedef struct wt_add_mcp_options {
    size_t size;
    const char *const *command; /* program and arguments of one server, ending in NULL; only without a source */
    const char *provider;       /* provider of the tools, for a single server; NULL: the name of each server */
    int sync;   /* remove tools that a server no longer lists, and the tools of servers that the configuration no longer
                   names. The tools of a server that did not answer stay */
    int strict; /* a bad tool excludes all tools of its server */
    int no_vectors;      /* do not encode now; wt_embed_missing or a later wt_add does */
    unsigned timeout_ms; /* time limit per server, from its start to its last tool; 0: WT_MCP_TIMEOUT_MS */
    wt_progress_fn progress;
    void *progress_context;
} wt_add_mcp_options;

WT_INIT(wt_add_mcp_options_init, wt_add_mcp_options)

typedef struct wt_mcp_server {
    const char *name;           /* name in the configuration; for a command or URL the provider, "" if unknown */
    const char *provider;       /* provider of its tools; "" if unknown because the server did not answer */
    int disabled;               /* true if the server was not asked: disabled in the configuration, or whichtool itself
                                   (see reason) */
    int code;                   /* 0, or the wt_code of the failure that excluded its tools */
    const char *reason;         /* message of the failure, without secrets from the configuration; for whichtool itself,
                                   why it was not asked; else "" */
    size_t tools;               /* tools listed by the server */
    const wt_add_report *added; /* report of their import; NULL if not imported */
} wt_mcp_server;

typedef struct wt_mcp_report {
    size_t server_count; /* in the order of the configuration */
    const wt_mcp_server *const *servers;
    size_t failed;      /* servers whose tools were not imported, except disabled ones */
    size_t removed;     /* tools removed because the configuration no longer names their server (sync) */
    size_t embedded;    /* vectors computed */
    const char *notice; /* anything missing, such as the model, in one line; NULL if complete */
} wt_mcp_report;

WT_API void wt_mcp_report_free(wt_mcp_report *report);

/* Lists the tools of MCP servers (tools/list) and imports them, one transaction per server. Asks up to 32 servers at a
 * time. Tools get the server's name as provider.
 *
 * source: one of
 * - the path of an MCP client's configuration (docs/mcp.md lists the formats)
 * - the http:// or https:// URL of one server (streamable HTTP)
 * - NULL, with options->command as the one server
 *
 * Programs start without a shell, with a minimal environment and the variables from the configuration. Each has its own
 * process group, which has ended when the function returns, even after a cancellation.
 *
 * Servers are not trusted: the size of their answers is bounded, and the rules of wt_add apply. If one server fails,
 * the report says so, and the tools of the others are imported.
 *
 * Errors: WT_EINVAL (neither or both of source and command; a provider for several servers), WT_EFORMAT (not a
 * configuration), WT_ETOOLONG, WT_ENOTFOUND, WT_ESTORE, WT_EREADONLY (no server is started), WT_EBUSY, WT_EFULL,
 * WT_EIO, WT_ECANCELLED, WT_ENOMEM. With WT_ECANCELLED after the first transaction, *out is set. In the report, the
 * servers that were not imported because of the cancellation have the code WT_ECANCELLED.
 *
 * Any thread; starts threads of its own. */
WT_API int wt_add_mcp(wt_engine *engine, const char *source, const wt_add_mcp_options *options, wt_mcp_report **out,
                      wt_error *err);

/* Encodes all tools without a vector of the current encoder. Returns the number of encoded tools. Cancelling keeps the
 * vectors computed so far. Errors: WT_EMODEL (no encoder), WT_ESTORE, WT_EREADONLY, WT_ECANCELLED, WT_ENOMEM. */
WT_API int64_t wt_embed_missing(wt_engine *engine, wt_progress_fn progress, void *context, wt_error *err);

#ifdef __cplusplus
}
#endif
#endif
