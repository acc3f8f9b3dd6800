/* whichtool.h: finds the few right tools for a request, out of hundreds to a million.
 *
 *   wt_engine *engine;
 *   wt_error err;
 *   if (wt_open(&engine, "tools.wt", NULL, &err) < 0) ...            one file holds the catalogue
 *   wt_add_path(engine, "tools.json", NULL, &report, &err);          any supported format
 *   wt_find(engine, request, strlen(request), NULL, &hits, &err);    offline, in milliseconds
 *
 * Conventions for all functions:
 *   - Return values: 0 or a count on success, a negative WT_E... code on failure.
 *   - Errors: `err` belongs to the caller and may be NULL. It is written only on failure. Its message says what failed,
 *     on what, and what to do about it.
 *   - Ownership: `T **out` is set to NULL on failure. On success the caller owns the result and frees it with the
 *     matching _free function; _free of NULL is a no-op. Strings inside a result live as long as the result.
 *   - Text is UTF-8. Input with a length parameter need not end in NUL. Returned strings end in NUL.
 *   - Structs of the caller begin with `size`. Fill them with their _init function, then change fields. A NULL pointer
 *     to options means the defaults, and so does a zero in any field.
 *   - `size` is the struct's sizeof in the caller's build, so structs may grow at their end. The library neither reads
 *     nor writes beyond it. Fields that an older caller lacks count as 0, and fields unknown to an older library are
 *     ignored. A `size` too small to hold itself, such as 0, is WT_EINVAL: the caller forgot the _init function.
 *     wt_error has no size and never changes.
 *   - The library allocates results, which may also grow at their ends. An array in a result is an array of pointers
 *     ([len]; may be NULL if len is 0), and structs are never nested by value. Do not construct results yourself:
 *     wt_export takes tools from a list or a hit.
 *   - The _init functions are inline because they write the caller's size. A binding without a C compiler zeroes the
 *     struct and writes its sizeof into the first field.
 *   - Pointers may be NULL where the comment says so, and are not checked elsewhere. The engine, `out`, and a text or
 *     list of non-zero length are required.
 *   - Arguments are borrowed for the call. An engine copies the arguments that it needs later, such as wt_open_options.
 *   - Threads: any number of threads may use an engine at once. wt_close must come last. An engine does not survive
 *     fork(): the child opens its own and leaves the parent's alone. Several engines, in one process or in several, may
 *     share a store.
 *   - The library never prints, exits, aborts on bad input, installs signal handlers or keeps global state.
 *
 * Include this header alone. It includes the others:
 *   - whichtool/error.h      errors and the version
 *   - whichtool/call.h       tool calls with arguments
 *   - whichtool/train.h      training models on your own data
 *   - whichtool/eval.h       measuring recipes on a data set
 *   - whichtool/generate.h   data sets written by a language model
 *   - whichtool/audit.h      finding problems in a catalogue
 *   - whichtool/review.h     changed definitions held back until a person approves them
 *   - whichtool/validator.h  JSON Schema validation, without an engine */
#ifndef WHICHTOOL_H
#define WHICHTOOL_H

#include <stddef.h>
#include <stdint.h>

#include "whichtool/error.h"
#include "whichtool/validator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, in addition to those of error.h and validator.h. Input beyond a limit is WT_ETOOLONG; an import of many tools
 * skips the tool instead. They are constants so that a binding can read them. */
enum {
    WT_MAX_FILE_BYTES = 256 << 20,    /* one source file */
    WT_MAX_NAME_BYTES = 256,          /* name of a tool or provider */
    WT_MAX_TOOLS = 2000000,           /* tools in one store */
    WT_MAX_REQUEST_BYTES = 64 << 10,  /* one request */
    WT_MAX_K = 1000,                  /* hits per search */
    WT_MAX_USAGES = 10000000,         /* recorded usages in one store */
    WT_MAX_USAGE_TOOLS = 128,         /* tools of one usage */
    WT_MAX_USAGE_LABEL_BYTES = 1024,  /* name of a tool in a usage */
    WT_MAX_CLIENT_BYTES = 256,        /* client of a usage */
    WT_MAX_USAGE_KEY_BYTES = 128,     /* key of a usage */
    WT_MAX_ARGUMENTS_BYTES = 65536,   /* arguments of one tool in a usage, as compact JSON */
    WT_MAX_ISSUES = 1000,             /* issues listed in a report */
    WT_MAX_FILTER_ITEMS = 100,        /* names or patterns in one list of a filter */
    WT_MAX_PATTERN_BYTES = 1024,      /* one pattern of a filter */
    WT_MAX_COLLISIONS = 10,           /* collisions listed in a report */
    WT_MAX_MESSAGES_BYTES = 16 << 20, /* one conversation */
    WT_MAX_MESSAGES = 10000,          /* messages of a conversation */
    WT_MAX_KEPT = 256,                /* tools called by a conversation, and tools that a caller has loaded */
    WT_MAX_COMPLETE = 64,             /* tools of a set with a completeness target */
    WT_MAX_MORE_LIKE_IT = 5,          /* copies listed per hit */
    WT_MAX_CHAT_AT_ONCE = 64          /* concurrent questions to a language model */
};

/* ---------------------------------------------------------------- progress */

/* Progress callback of long operations: called at the start and end of a phase, and otherwise at most about ten times a
 * second. Calls come from one thread at a time, which may be a thread of the library.
 *
 * phase: static string ("reading", "encoding", ...). total: 0 if unknown.
 *
 * Return non-zero to stop the operation. It then ends soon with WT_ECANCELLED and leaves all data consistent. */
typedef int (*wt_progress_fn)(void *context, const char *phase, uint64_t done, uint64_t total);

/* ---------------------------------------------------------------- engine */

typedef struct wt_engine wt_engine;

typedef struct wt_open_options {
    size_t size;
    int read_only; /* non-zero: never write the store or its index folder */
    /* Name or folder of the encoder. NULL: the first installed of WT_DEFAULT_MODEL, WT_BASE_MODEL and
     * WT_BUILT_IN_MODEL, which is always available. "": no encoder, search by words only. */
    const char *model;
    /* Folder of installed models. NULL: $WHICHTOOL_MODELS, else $XDG_DATA_HOME/whichtool/models, else
     * ~/.local/share/whichtool/models. */
    const char *models_dir;
    unsigned threads;    /* threads for batch encoding; 0: one per processor */
    unsigned busy_ms;    /* maximum wait for another writer, in milliseconds; 0: 10,000 */
    const char *trained; /* folder of the models from wt_train; NULL: STORE-models; "": no trained models */
    /* Language model for the recipe "ptr", wt_call and wt_generate_... (docs/language-model.md). Opening the engine
     * sends no request. */
    const char *chat_url;    /* base URL of a server with OpenAI's chat completions API, such as
                                "http://127.0.0.1:8080/v1"; NULL: $OPENAI_BASE_URL, else https://api.openai.com/v1 */
    const char *chat_model;  /* name of the model on the server */
    const char *chat_key;    /* API key; NULL: $OPENAI_API_KEY, or no key if unset */
    const char *record_path; /* file of recorded answers: looked up first, new answers appended; NULL: not recorded.
                                Excludes replay_path */
    const char *replay_path; /* file of recorded answers used instead of a server; NULL: ask the server */
    unsigned chat_at_once;   /* concurrent questions of wt_generate_..., at most WT_MAX_CHAT_AT_ONCE; 0: 4. Does not
                                change the output */
} wt_open_options;

WT_INIT(wt_open_options_init, wt_open_options)

/* Opens the store at path. Creates it and its parent folders if missing, unless read_only.
 *
 * path: borrowed for the call. ":memory:" opens a private store that ends with wt_close.
 *
 * A missing model is not an error here: recipes that search by words work without one, and wt_hits.notice says so.
 *
 * Errors: WT_ENOTFOUND (read_only and no such store; a folder cannot be created), WT_EINVAL (path is NULL or empty; the
 * options lack their _init), WT_ESTORE, WT_ENEWER, WT_EREADONLY, WT_EBUSY, WT_EIO, WT_ENOMEM. */
WT_API int wt_open(wt_engine **out, const char *path, const wt_open_options *options, wt_error *err);

/* Closes the engine; NULL is a no-op. No other call on the engine may be running or follow. Results stay valid until
 * they are freed. */
WT_API void wt_close(wt_engine *engine);

/* ---------------------------------------------------------------- tools */

/* One tool of the catalogue. Borrowed from the list or hit that contains it. */
typedef struct wt_tool {
    const char *id;          /* "provider/name", or "name" without a provider; unique in the store */
    const char *provider;    /* "" if the tool has no provider */
    const char *name;        /* unique within its provider */
    const char *title;       /* display name; "" if the source has none */
    const char *description; /* "" if the source has none */
    const char *category;    /* "" if the source has none */
    const char *source_id;   /* identifier in the source (BEIR _id, "METHOD /path" of OpenAPI), or "" */
    const char *format;      /* importer that read the tool: "mcp", "openai", ... */
    const char *definition;  /* original bytes from the source; for OpenAPI, the operation as JSON with the servers and
                                security of its document */
    size_t definition_len;
    const char *schema; /* JSON Schema of the arguments without credentials, as JSON text; an object without properties
                           if the source has none */
    const char *sha256; /* SHA-256 of the definition, 64 hexadecimal digits */
    /* Name in wt_export: PROVIDER__TOOL in at most 64 letters, digits, '_' and '-', beginning with a letter or '_'.
     * Unique in the store and stable while the tool stays in it. */
    const char *export_name;
} wt_tool;

typedef struct wt_tools {
    size_t len;
    const wt_tool *const *items;
} wt_tools;

WT_API void wt_tools_free(wt_tools *tools);

typedef struct wt_list_options {
    size_t size;
    const char *provider; /* only tools of this provider; NULL: all */
    size_t limit;         /* maximum number of tools; 0: all */
    size_t offset;        /* number of tools to skip */
    /* Only matching tools: with '*' or '?' a pattern as in wt_filter, else a case-insensitive part of the id. NULL or
     * "": all. */
    const char *pattern;
} wt_list_options;

WT_INIT(wt_list_options_init, wt_list_options)

/* Lists the catalogue in the order of import.
 * Errors: WT_ENOTFOUND (the store has tools, but no such provider), WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_list(wt_engine *engine, const wt_list_options *options, wt_tools **out, wt_error *err);

/* Looks up a tool by name. The first match counts, in this order: exported name, id, bare name, source id.
 *
 * Errors:
 * - WT_ENOTFOUND: no such tool. The message suggests a similar name, if one is found among up to 200,000 names.
 * - WT_EINVAL: name is NULL, or several tools have that bare name or source id. The message lists some of them.
 * - WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_get(wt_engine *engine, const char *name, wt_tools **out, wt_error *err);

/* Removes a tool, named as in wt_get. Returns 1.
 * Errors: those of wt_get, WT_EINVAL also if the provider is reserved (whichtool/review.h), WT_EREADONLY, ... */
WT_API int wt_remove(wt_engine *engine, const char *name, wt_error *err);

/* Removes all tools of a provider. Returns the number of tools removed.
 * Errors: WT_ENOTFOUND (the provider has no tools), WT_EINVAL (reserved: whichtool/review.h), WT_EREADONLY, ... */
WT_API int64_t wt_remove_provider(wt_engine *engine, const char *provider, wt_error *err);

/* Renames a provider. Later imports that use the old name are stored under the new one. The tools keep their usages.
 * Their ids and exported names change, and the next import or wt_embed_missing recomputes their vectors.
 * Returns the number of tools of the provider.
 *
 * Errors:
 * - WT_ENOTFOUND: no tool has the provider.
 * - WT_EINVAL: another provider has or had the new name, a name is empty or malformed, or one of the providers is
 *   reserved (whichtool/review.h).
 * - WT_EREADONLY, WT_EBUSY, ... */
WT_API int64_t wt_rename_provider(wt_engine *engine, const char *provider, const char *name, wt_error *err);

typedef struct wt_catalog_info {
    size_t size;
    uint64_t tools, providers;
    uint64_t embedded;   /* tools with a vector of the current encoder */
    uint64_t generation; /* increases with every change of the catalogue */
    char model[256];     /* name of the current encoder; "" without an encoder */
} wt_catalog_info;

WT_INIT(wt_catalog_info_init, wt_catalog_info)

/* Fills *out, which the caller has initialised. Opens the encoder, so the first call may take long; wt_get_status does
 * not. Errors: WT_EINVAL (out lacks its _init), WT_ESTORE, WT_EBUSY. */
WT_API int wt_info(wt_engine *engine, wt_catalog_info *out, wt_error *err);

typedef struct wt_provider_status {
    const char *name; /* "" for tools without a provider */
    uint64_t tools;
} wt_provider_status;

/* A model trained for this store. */
typedef struct wt_trained_status {
    const char *lesson;              /* name of a lesson (wt_lesson_at) */
    int64_t time;                    /* time of writing, seconds since 1970 */
    const char *data;                /* training data: path of the store or of a data set */
    int recorded_use;                /* true if trained on this store's recorded use */
    uint64_t requests, dev_requests; /* requests for training, and held-out requests for choosing the model */
    const char *figure;              /* metric on the held-out requests, such as "recall@5"; "" if not measured */
    double before, after;            /* same as in wt_trained */
    const char *stale;               /* why the model does not fit the current encoder, one line; NULL if it fits */
} wt_trained_status;

typedef struct wt_status {
    const char *store; /* path */
    int store_version; /* version of the file layout; 0 for a private store */
    uint64_t tools;
    size_t provider_count;
    const wt_provider_status *const *providers; /* in descending order of tools */
    const char *model;   /* configured encoder (wt_open_options.model); "" without one. New vectors are made with it */
    int model_installed; /* true if the files of `model` are present */
    uint64_t embedded;   /* tools with a vector of `model`; a best guess if the model is not installed */
    uint64_t usages;     /* recorded usages */
    uint64_t teaching;   /* usages that did not fail and used a tool of the catalogue */
    uint64_t untrained;  /* distinct teaching requests beyond those of the last training */
    size_t trained_count;
    const wt_trained_status *const *trained; /* by name */
    const char *recipe; /* recipe that "auto" runs: a name from wt_recipe_at, or a mixture chosen by training */
    const char *why;    /* reason for that choice, one sentence */
    /* Sizes on disk. trained_bytes: all trained models; model_bytes: folder of the encoder; cache_bytes: the cache
     * folder, which all stores share and which may be deleted. */
    uint64_t store_bytes, index_bytes, trained_bytes, model_bytes, cache_bytes;
    const char *encoder;       /* encoder that untrained search uses: `model`, or the built-in encoder as long as more
                                  tools have vectors of it */
    uint64_t encoder_embedded; /* tools with a vector of `encoder` */
    const char *better;        /* same as in wt_hits */
    int model_included;        /* true if the encoder came with whichtool */
} wt_status;

/* Returns the state of the store: catalogue, vectors, recorded use, trained models and sizes. Takes milliseconds,
 * because it loads no model and reads no tool. Damage to a model therefore shows only when the model is used. Any
 * thread. Errors: WT_ESTORE, WT_EBUSY, WT_EIO, WT_ENOMEM. */
WT_API int wt_get_status(wt_engine *engine, wt_status **out, wt_error *err);
WT_API void wt_status_free(wt_status *status);

/* Verifies the whole store and its index: pages, indexes and constraints of the database, and all vectors, postings and
 * bounds of the index. Changes nothing. A missing index is valid. Any thread; other calls that need the store wait.
 * Errors: WT_ESTORE (the first damage, and how to repair it), WT_ENEWER, WT_EIO, WT_ENOMEM. */
WT_API int wt_check(wt_engine *engine, wt_error *err);

/* Writes complete tool definitions in the form that a provider's API accepts, as one JSON array.
 *
 * format, for a list of tools: "openai" (chat completions), "openai-responses", "anthropic", "gemini" or "mcp".
 *
 * format, for a client that defers its tools and searches for them (docs/search-backend.md):
 * - "anthropic-reference": content of the tool_result that answers the search tool, as tool_reference blocks. The
 *   request's "tools" must have the same definitions ("anthropic") with defer_loading.
 * - "anthropic-inline": content of a message with the role "system", as tool_addition blocks with the definitions
 *   ("anthropic"). The request's "tools" need not have them (beta inline-tools-2026-09-15). The API rejects an empty
 *   array as content.
 * - "openai-search": "tools" of the tool_search_output that answers a tool_search_call with the execution "client".
 *   Each provider is a namespace of functions ("openai-responses") marked as deferred. Tools without a provider stand
 *   alone. The caller adds call_id.
 *
 * Tools have their export_name in every format, namespaces included; wt_get maps it back. Invisible characters, and
 * those that change the text direction, are written as \uXXXX.
 *
 * *out: NUL-terminated, freed with wt_string_free. Errors: WT_EINVAL (unknown format), WT_ENOMEM. */
WT_API int wt_export(const wt_tool *const *tools, size_t count, const char *format, char **out, wt_error *err);
WT_API void wt_string_free(char *string);

/* ---------------------------------------------------------------- adding tools */

typedef struct wt_add_options {
    size_t size;
    const char *format;      /* format from docs/formats.md, such as "openapi"; NULL: detected */
    const char *provider;    /* provider of the tools, overriding the source's own; NULL: the source's own, if any */
    const char *source_name; /* wt_add: name of the source in messages, and scope of sync; NULL: "input" */
    int sync; /* remove the tools of earlier imports that this source no longer has. For a folder, this covers all files
                 below it. A skipped OpenAPI operation stays */
    int strict;     /* fail the whole import with WT_EFORMAT on a bad tool */
    int no_vectors; /* do not encode now; wt_embed_missing or a later wt_add does */
    wt_progress_fn progress;
    void *progress_context;
} wt_add_options;

WT_INIT(wt_add_options_init, wt_add_options)

/* A skipped tool or file and the reason, or a problem with an imported one. */
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
    const char *notice; /* anything missing, such as the model, in one line; NULL if complete */
    size_t issue_count; /* issues in the list, at most WT_MAX_ISSUES */
    const wt_add_issue *const *issues;
    size_t collisions; /* tools imported under another name */
    const wt_add_collision *const *collided;
    size_t collided_count; /* collisions in the list, at most WT_MAX_COLLISIONS */
    int whole;             /* true if every source was read to its end */
} wt_add_report;

WT_API void wt_add_report_free(wt_add_report *report);

/* Imports tools from memory (wt_add), or from a file, a BEIR folder or any other folder of files (wt_add_path).
 *
 * The catalogue changes in one transaction: completely, or not at all on failure. Vectors are computed afterwards in
 * batches. Stopping in between loses no tool; the next import or wt_embed_missing continues.
 *
 * - Tools with an unchanged definition are left as they are. Bad tools are skipped and reported.
 * - The source of a tool is its file. A symbolic link to a file is a source of its own.
 * - A tool is identified by its provider and name. The same definition is the same tool, whatever its source.
 * - A different definition from the same source updates the tool. From another source it is added next to the existing
 *   tool as "name~2", "name~3", ..., which later imports find again, and is reported as a collision.
 * - A source without usable tools is not an error, unless strict. `added` is then 0, and the issues or the notice say
 *   why.
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
    const char *reason;         /* message of the failure, without secrets from the configuration; "" without one */
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
 * WT_EIO, WT_ECANCELLED, WT_ENOMEM. With WT_ECANCELLED after the first transaction, *out is set and lists the servers
 * whose tools were imported.
 *
 * Any thread; starts threads of its own. */
WT_API int wt_add_mcp(wt_engine *engine, const char *source, const wt_add_mcp_options *options, wt_mcp_report **out,
                      wt_error *err);

/* Encodes all tools without a vector of the current encoder. Returns the number of tools encoded. Cancelling keeps the
 * vectors computed so far. Errors: WT_EMODEL (no encoder), WT_ESTORE, WT_EREADONLY, WT_ECANCELLED, WT_ENOMEM. */
WT_API int64_t wt_embed_missing(wt_engine *engine, wt_progress_fn progress, void *context, wt_error *err);

/* ---------------------------------------------------------------- recorded use */

/* A usage is a past request with the tools that it used and its outcome. Usages improve search: tools are then also
 * found by the requests that they served, and not only by their descriptions (see wt_learn_usage).
 *
 * Requests: stored word for word, in the store file only.
 *
 * Outcome: a failed usage is stored and listed, but not learned from. Times are seconds since 1970, UTC. When a tool is
 * removed, its usages stay, and count again when a tool with the same id is added.
 *
 * Client: any name that the caller chooses, such as an account, a session or a hash. It is stored as given, so do not
 * pass personal names. Without a client, a usage recorded twice counts twice. With one, a tool counts once per client
 * and request, however often that client repeats the request.
 *
 * Key: an optional name that the client gives a usage. A second usage of the same client with the same key is not
 * recorded. A client that does not know whether a usage arrived can therefore send it again. The key also lets
 * wt_set_usage_outcome report the outcome later. Keys are kept as long as their usages.
 *
 * Arguments: an optional JSON object per tool, stored as compact JSON in the store file only. Do not pass secrets.
 * Members named like credentials are dropped, unless the tool's schema has a property of that name. */

typedef struct wt_usage_tool {
    const char *id;        /* id as in wt_tool, or the recorded name if no tool has it */
    int known;             /* true if the store has the tool now */
    const char *arguments; /* arguments of the call, as a compact JSON object; NULL if not recorded */
} wt_usage_tool;

typedef struct wt_usage {
    int64_t id; /* increases with every usage */
    const char *request;
    const char *outcome; /* "ok", "failed", or "" if not recorded */
    int64_t time;
    size_t tool_count;
    const wt_usage_tool *const *tools; /* in the order of use */
    const char *client;                /* "" if not recorded */
    const char *key;                   /* "" if the usage has no key */
} wt_usage;

typedef struct wt_record_options {
    size_t size;
    const char *outcome; /* "ok" ("success", "succeeded", "true"), "failed" ("failure", "error", "false"); NULL or "" if
                            not known */
    int64_t time;        /* time of the usage, years 1970 to 9999; 0: now */
    int no_vectors;      /* do not encode now, which saves some milliseconds; wt_learn_usage or a later call does */
    const char *client;  /* client in UTF-8, at most WT_MAX_CLIENT_BYTES; NULL or "" if not known */
    const char *const *arguments; /* [count] arguments of each tool: a JSON object of at most WT_MAX_ARGUMENTS_BYTES;
                                     NULL or "" if not known. NULL: not known for any tool */
    const char *key;              /* key in UTF-8, at most WT_MAX_USAGE_KEY_BYTES; NULL or "": no key */
} wt_record_options;

WT_INIT(wt_record_options_init, wt_record_options)

/* Records one usage.
 *
 * request: valid UTF-8 without NUL, and not blank.
 * tools: [count] names as in wt_get, 1 to WT_MAX_USAGE_TOOLS. A tool named twice counts once, with the first arguments
 * given for it.
 *
 * Returns the number of names that no tool has; the usage is then recorded with the other tools.
 *
 * Errors: WT_ENOTFOUND (no name is known), WT_EFORMAT (the request, the client, the key or arguments), WT_ETOOLONG,
 * WT_EINVAL (no tools, an ambiguous name, a bad outcome or time), WT_ESTORE, WT_EREADONLY, WT_EBUSY, WT_EFULL,
 * WT_ENOMEM. On error nothing is recorded. */
WT_API int wt_record_usage(wt_engine *engine, const char *request, size_t request_len, const char *const *tools,
                           size_t count, const wt_record_options *options, wt_error *err);

/* Sets the outcome ("ok", "failed" or "") of the usage with this key and client (NULL or "": no client). If the outcome
 * changes between failed and not failed, the next wt_learn_usage recomputes the affected vectors.
 * Errors: WT_ENOTFOUND (no such usage), WT_EINVAL (bad outcome, or no key), WT_EFORMAT, WT_ETOOLONG, WT_ESTORE,
 * WT_EREADONLY, WT_EBUSY, WT_EFULL, WT_ENOMEM. */
WT_API int wt_set_usage_outcome(wt_engine *engine, const char *key, const char *client, const char *outcome,
                                wt_error *err);

typedef struct wt_add_usage_options {
    size_t size;
    const char *split;       /* split of a BEIR folder, read from qrels/SPLIT.tsv; NULL: "train" */
    const char *source_name; /* wt_add_usage: name of the source in messages; NULL: "input" */
    int strict;     /* fail the whole import with WT_EFORMAT on a bad usage, bad arguments or an unknown tool */
    int no_vectors; /* do not encode now; wt_learn_usage does */
    wt_progress_fn progress;
    void *progress_context;
} wt_add_usage_options;

WT_INIT(wt_add_usage_options_init, wt_add_usage_options)

typedef struct wt_usage_report {
    size_t added;         /* usages recorded */
    size_t skipped;       /* usages skipped because they are malformed or none of their tools is known */
    size_t unknown_tools; /* names without a tool, in recorded usages */
    size_t learned;       /* requests encoded */
    const char *notice;   /* anything missing, such as the model, in one line; NULL if complete */
    size_t issue_count;   /* issues in the list, at most WT_MAX_ISSUES */
    const wt_add_issue *const *issues;
    size_t repeated; /* usages with a key that their client has already used, and outcomes already known */
    size_t outcomes; /* usages whose outcome changed */
    size_t missing;  /* outcomes for unknown keys */
} wt_usage_report;

WT_API void wt_usage_report_free(wt_usage_report *report);

/* Imports usages from memory (wt_add_usage) or from a file or BEIR folder (wt_add_usage_path).
 *
 * The format is JSON Lines:
 *   {"request": "book a table", "tools": ["tables/book_table"], "outcome": "ok", "time": "2026-11-22T08:30:00Z",
 *    "client": "c17"}
 *
 * - outcome, time, client and key are optional. time may also be a number of seconds. Other members are ignored.
 * - A line {"key": "run-17/3", "client": "c17", "outcome": "failed"} sets the outcome of an earlier usage.
 * - A tool may also be {"tool": "tables/book_table", "arguments": {"people": 2}}. Arguments that are not an object, or
 *   are longer than WT_MAX_ARGUMENTS_BYTES, are reported, and the usage is recorded without them.
 *
 * A BEIR folder has queries.jsonl and qrels/SPLIT.tsv. A query used the tools whose source id has a judgement above 0.
 *
 * The import is one transaction: completely, or not at all on failure. An unknown tool name is reported, and the usage
 * recorded with its other tools. A malformed usage, or one without a known tool, is reported and skipped.
 *
 * Errors: as in wt_add_path. With WT_ECANCELLED after the transaction, *out is set. */
WT_API int wt_add_usage(wt_engine *engine, const char *bytes, size_t len, const wt_add_usage_options *options,
                        wt_usage_report **out, wt_error *err);
WT_API int wt_add_usage_path(wt_engine *engine, const char *path, const wt_add_usage_options *options,
                             wt_usage_report **out, wt_error *err);

/* Learns from usages not learned yet: encodes their requests with the current encoder and adds them to the vectors of
 * the tools used. Recording and importing also do this. Stopping in between loses nothing. Returns the number of
 * requests encoded. Errors: WT_EMODEL (no encoder), WT_ESTORE, WT_EREADONLY, WT_ECANCELLED, WT_ENOMEM. */
WT_API int64_t wt_learn_usage(wt_engine *engine, wt_progress_fn progress, void *context, wt_error *err);

/* Returns the number of usages since the last training if it is time to remind a person to train, else 0. Time has come
 * when the store has at least ten usages, and twice as many as at the last training and at the last reminder. A store
 * that is in memory or read-only returns 0.
 *
 * A return value above 0 counts as a reminder, so call this only where a person will see it. Any thread.
 * Errors: WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int64_t wt_training_due(wt_engine *engine, wt_error *err);

typedef struct wt_usages {
    size_t len;
    const wt_usage *const *items;
} wt_usages;

WT_API void wt_usages_free(wt_usages *usages);

/* Selects usages; all zero selects every usage. */
typedef struct wt_usage_filter {
    size_t size;
    const char *tool;   /* only usages of this tool: a name as in wt_get, or the recorded name of a removed tool */
    int64_t before;     /* only usages before this time, seconds since 1970; 0: any time */
    int64_t after_id;   /* only usages with a greater id; for the next page, the last id of the previous one */
    size_t limit;       /* maximum number of usages; 0: all */
    const char *client; /* only usages of this client; NULL or "": all */
} wt_usage_filter;

WT_INIT(wt_usage_filter_init, wt_usage_filter)

/* Lists usages in the order of recording. Errors: WT_ENOTFOUND (neither a tool nor a usage has the name), WT_EINVAL
 * (the name is ambiguous), WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_list_usage(wt_engine *engine, const wt_usage_filter *filter, wt_usages **out, wt_error *err);

/* Receives the next bytes of an export. A non-zero return ends the export with WT_ECANCELLED. */
typedef int (*wt_write_fn)(void *context, const char *bytes, size_t len);

/* Writes usages as JSON Lines for wt_add_usage, with invisible characters as \uXXXX. Returns the number of usages.
 * Errors: as in wt_list_usage. */
WT_API int64_t wt_export_usage(wt_engine *engine, const wt_usage_filter *filter, wt_write_fn write, void *context,
                               wt_error *err);

/* Deletes usages for good: those that match all of filter->tool, filter->before and filter->client. limit and after_id
 * are ignored. A filter without any of the three requires `all`.
 *
 * Vectors learned from the usages are recomputed by the next wt_learn_usage. This call does not wait for that.
 *
 * Returns the number of usages deleted. Errors: WT_EINVAL (empty filter without `all`), those of wt_list_usage,
 * WT_EREADONLY, WT_EFULL. */
WT_API int64_t wt_forget_usage(wt_engine *engine, const wt_usage_filter *filter, int all, wt_error *err);

typedef struct wt_usage_info {
    size_t size;
    uint64_t usages;
    uint64_t pending;    /* usages not learned yet plus vectors to recompute; 0 without an encoder */
    uint64_t generation; /* increases with every change of the usages */
} wt_usage_info;

WT_INIT(wt_usage_info_init, wt_usage_info)

/* Fills *out, which the caller has initialised. Opens the encoder, as wt_info does. Errors: as in wt_info. */
WT_API int wt_get_usage_info(wt_engine *engine, wt_usage_info *out, wt_error *err);

/* Converts an RFC 3339 time ("2026-11-22T08:30:00Z"), or a date as midnight UTC, to seconds since 1970. On failure
 * *seconds is 0. Errors: WT_EINVAL. */
WT_API int wt_read_time(const char *text, int64_t *seconds, wt_error *err);

/* ---------------------------------------------------------------- finding tools */

/* Restricts a search to the tools of `providers` (empty: of any) that match a pattern of `only` (empty: any tool),
 * except tools of `excluded_providers` and tools that match a pattern of `excluded`. The search skips the other tools,
 * so it still returns as many hits as requested. No recipe, reranker, set or past use brings an excluded tool back.
 *
 * A pattern must match the whole name, such as "delete_*" or "issues/create*". A pattern with a '/' may instead match
 * the whole id, such as "github/delete_*" or "mail?/send". '*' matches any run of characters including '/', '?' matches
 * one character, and all other characters match themselves, case included.
 *
 * The result's notice lists names and patterns without a tool, with suggestions. If no tool has any of `providers`, or
 * none matches any of `only`, the search fails with WT_ENOTFOUND.
 *
 * Cost: the first search with a filter visits all providers, and with patterns all names (docs/retrieval.md has times
 * for a million). Later searches with the same filter reuse the result until the catalogue changes.
 *
 * A list of more than WT_MAX_FILTER_ITEMS, a NULL in a list, or a pattern of more than WT_MAX_PATTERN_BYTES is
 * WT_EINVAL. Lists and strings are borrowed for the call. */
typedef struct wt_filter {
    size_t size;
    const char *const *providers; /* [provider_count] */
    size_t provider_count;
    const char *const *excluded_providers; /* [excluded_provider_count] */
    size_t excluded_provider_count;
    const char *const *only; /* [only_count] patterns */
    size_t only_count;
    const char *const *excluded; /* [excluded_count] patterns */
    size_t excluded_count;
    /* Callback for conditions that lists cannot express: returns non-zero if the tool with this id may be found. Called
     * once for each tool, from the searching thread. The result is reused for filters with the same lists and
     * condition_name until the catalogue changes, so a condition that changes needs a new name. condition and
     * condition_name must both be set, or both be NULL. */
    int (*condition)(void *context, const char *id);
    void *condition_context;
    const char *condition_name;
} wt_filter;

WT_INIT(wt_filter_init, wt_filter)

typedef struct wt_find_options {
    size_t size;
    size_t k;                /* maximum number of hits, at most WT_MAX_K; 0: 5 */
    const char *recipe;      /* name from wt_recipe_at; NULL or "auto": the best that this store can run */
    const char *provider;    /* only tools of this provider, added to filter->providers; NULL: not restricted */
    size_t max_per_provider; /* maximum hits per provider; 0: unlimited */
    int explain;             /* fill the stages and matches of each hit */
    double abstain;          /* same as in wt_pick_options, but 0: never. Only with "auto" */
    int copies; /* give copies places of their own. Copies are tools of other providers that are identical, or nearly
                   identical with a similar name (docs/floods.md) */
    /* Called between stages, while a reranker runs, while models are loaded, and while the index is built or waited
     * for. May be called from a thread of the library. */
    wt_progress_fn progress;
    void *progress_context;
    unsigned time_limit_ms;  /* time limit, checked where progress is reported, then WT_ETIMEOUT; 0: unlimited */
    const wt_filter *filter; /* tools that may be found; NULL: all */
    /* Token budget for the definitions of all hits together. In rank order, each hit that still fits is kept; the
     * notice lists the others. 0: unlimited.
     *
     * The estimate is a quarter of the bytes that wt_export writes for the tool alone (docs/retrieval.md has the
     * error). A format that answers a client's search is estimated by the definitions that it loads. */
    size_t max_tokens;
    const char *format; /* format of those definitions, as in wt_export; NULL: "openai" */
    int as_typed;       /* neither correct spelling nor shorten a long request (wt_hits.read_as) */
    int none_if_unsure; /* omit weak hits (wt_hit.weak); the result may be empty */
    /* Conversation whose next step needs tools, as JSON: messages of OpenAI's or Anthropic's API, or plain ones
     * (docs/json.md). NULL without one.
     *
     * The last turn of the user is the request, unless wt_find is given one, which then is the last turn. Earlier turns
     * and the tools called in them are context (docs/retrieval.md). Only text is read. A malformed message is skipped
     * and mentioned in the notice. */
    const char *messages;
    size_t messages_len;
    const char *const *have; /* [have_count] tools that the caller has loaded, named as in wt_get. They stay in the
                                result, as do tools called in the conversation: wt_hit.kept */
    size_t have_count;       /* at most WT_MAX_KEPT */
} wt_find_options;

WT_INIT(wt_find_options_init, wt_find_options)

/* Contribution of one stage of the recipe to a hit. */
typedef struct wt_stage_score {
    const char *stage; /* "bm25", "dense", ... */
    size_t rank;       /* 1-based; 0 if beyond the stage's candidates */
    double score;      /* on the stage's own scale */
    double share;      /* part of the hit's score */
    double weight;     /* weight of this evidence in the score; 0 if the stage reorders instead */
} wt_stage_score;

/* A word of the request that a hit matched. */
typedef struct wt_match {
    const char *word;   /* lower case and stemmed */
    const char *fields; /* fields of the tool that contain it, such as "name description" */
    double score;       /* part of the lexical score */
} wt_match;

typedef struct wt_hit {
    const wt_tool *tool;
    double score; /* higher is better; comparable only within one result */
    size_t stage_count, match_count;
    const wt_stage_score *const *stages; /* empty without options->explain */
    const wt_match *const *matches;      /* empty without options->explain; best first */
    /* Probability that the request needs the tool, 0 to 1, comparable across requests.
     *
     * NaN if unknown: with "ptr" and "bundle", and for a tool that a reranker added. At most 1 - no_answer_probability
     * if that is known. If usages of this exact request count, at least the tool's share of them, smoothed by one.
     *
     * The estimate assumes that one request in five needs no tool of the catalogue, and holds for the default encoder
     * until `whichtool train all` calibrates it, which takes 20 dev requests, from about 200 usages
     * (docs/retrieval.md). */
    double probability;
    size_t tokens; /* estimated tokens of the definition; 0 without options->max_tokens */
    int weak; /* wt_find: 1 if the hit shares at most one common word with the request and is not similar in meaning
                 (docs/retrieval.md); else 0 */
    /* 1 if the conversation called the tool or the caller has it. Such hits do not count towards options->k, and
     * neither the budget nor a doubt removes them. Those that the search did not find come last, with score 0 and
     * probability NaN. The filter does exclude them. */
    int kept;
    const char *const *more_like_it; /* [more_listed] ids of copies that share its place, at most WT_MAX_MORE_LIKE_IT:
                                        identical tools of other providers, and younger near-copies that were also
                                        found (docs/floods.md) */
    size_t more_listed;
    size_t more_count; /* number of copies, counting at most 1,000 identical tools; 0 with options->copies */
} wt_hit;

typedef struct wt_hits {
    size_t len; /* 0 if nothing matched, which is not an error */
    const wt_hit *const *items;
    const char *recipe; /* recipe that ran; differs from options->recipe only for "auto" */
    const char *notice; /* anything missing, such as the model or vectors, in one line; NULL if complete */
    double encode_ms, search_ms, total_ms;
    const char *why;                   /* with "auto": how the recipe was chosen, one sentence; else NULL */
    double multi_provider_probability; /* with "toolrerank": probability that the request needs tools of several
                                          providers (docs/toolrerank.md); NaN otherwise */
    double no_answer_probability;      /* with options->abstain: probability that no tool fits; else NaN */
    size_t copies;                     /* copies that share the places of these hits: the sum of more_count */
    size_t tokens;                     /* estimated tokens of all hits; 0 without options->max_tokens */
    size_t over_budget;                /* hits omitted because of options->max_tokens */
    const char
        *encoder; /* encoder of the request: name of the model, or "encoder" for one trained here; "" without one */
    const char *better;  /* WT_BASE_MODEL if it is the default but not installed, so that the less accurate built-in
                            encoder was used; else NULL */
    const char *read_as; /* the request as searched, with unknown words corrected, or only the ends of a long request
                            (docs/retrieval.md); NULL if unchanged */
    const char *const *unknown_words; /* [unknown_count] words of the request that no tool has. Only set if no hit is
                                         likely, or the request is just a few keywords */
    size_t unknown_count;
    size_t weak;           /* hits omitted because of options->none_if_unsure */
    const char *last_turn; /* with options->messages: the turn that was searched for; else NULL */
    size_t kept;           /* hits with wt_hit.kept */
} wt_hits;

WT_API void wt_hits_free(wt_hits *hits);

/* Finds the tools that a request needs, best first. Any thread.
 *
 * request: at most WT_MAX_REQUEST_BYTES. May be NULL with length 0 if options->messages has a turn of the user. Invalid
 * UTF-8 is read as replacement characters.
 *
 * Errors:
 * - WT_EEMPTY: the store has no tools.
 * - WT_ENOTFOUND: no tool has the providers or matches the patterns of the filter.
 * - WT_ERECIPE: unknown recipe, or it needs training.
 * - WT_EMODEL: the recipe needs an encoder.
 * - WT_EINVAL: the request is blank, or an option is out of range.
 * - WT_EFORMAT: options->messages is not JSON, is truncated, or has no text of the user.
 * - WT_ETOOLONG, WT_ESTORE, WT_ECANCELLED, WT_ETIMEOUT, WT_ENOMEM. */
WT_API int wt_find(wt_engine *engine, const char *request, size_t request_len, const wt_find_options *options,
                   wt_hits **out, wt_error *err);

typedef struct wt_recipe {
    const char *name;
    const char *summary; /* one line */
    int needs_model;     /* true if it needs an encoder */
    int needs_training;  /* true if it needs wt_train of the same name; rerank-N needs dpr and cross */
    int picks;           /* true if it returns a set, through wt_pick only. "set-N" is complete for N % of requests */
    double complete;     /* completeness target of such a set, as in wt_pick_options */
} wt_recipe;

/* Returns the recipe at an index from 0, or NULL past the last. Static. */
WT_API const wt_recipe *wt_recipe_at(size_t index);

/* ---------------------------------------------------------------- picking a set */

typedef struct wt_pick_options {
    size_t size;
    /* Share of requests whose set should contain every needed tool, below 1. The set is as small as held-out requests
     * allow, at most WT_MAX_COMPLETE tools. Requires training. 0: the set of the greatest expected TRACC instead. */
    double complete;
    /* Share of requests with a fitting tool that may get an empty set, in exchange for fewer wrong tools. 0: 0.05;
     * negative: never abstain. */
    double abstain;
    const char *provider; /* only tools of this provider, added to filter->providers; NULL: not restricted */
    int explain;          /* fill the stages and matches of each hit; for "ptr" and "bundle", wt_picked.trace */
    const char *recipe;   /* a recipe that picks, from wt_recipe_at; NULL: "set". complete and abstain require "set" */
    /* Only for "ptr" and "bundle": */
    const char *base_retriever; /* recipe that finds the tools to add; NULL: "auto" */
    const char *ablate;         /* comma-separated parts to leave out: bundle, dsa, hqc, cte. Only for "ptr" */
    size_t k;                   /* tools or past requests per view (docs/ptr.md), at most 32; 0: 7. Only for "ptr" */
    /* For every recipe: */
    wt_progress_fn progress; /* same as in wt_find_options; also about once a second while a language model answers */
    void *progress_context;
    unsigned time_limit_ms;  /* same as in wt_find_options */
    const wt_filter *filter; /* tools that may be found; NULL: all */
    size_t
        max_tokens; /* same as in wt_find_options. A cut set makes no promise: tracc and complete are NaN. If `complete`
                       cannot be met, the first tools that fit are returned instead of an error */
    const char *format;   /* same as in wt_find_options */
    int as_typed;         /* same as in wt_find_options */
    const char *messages; /* same as in wt_find_options, as are the next three fields. Only for "set", else WT_EINVAL */
    size_t messages_len;
    const char *const *have; /* [have_count] */
    size_t have_count;
} wt_pick_options;

WT_INIT(wt_pick_options_init, wt_pick_options)

typedef struct wt_picked {
    size_t len;                   /* 0 if no tool fits, which is not an error */
    const wt_hit *const *items;   /* likeliest first; score: probability that the request needs the tool, given that it
                                     needs any */
    double no_answer_probability; /* probability that no tool fits; NaN if unknown */
    double tracc;                 /* expected TRACC of the set; NaN with `complete`, for an empty set, and if unknown */
    double complete;              /* probability that the set has all needed tools: options->complete, or else the
                                     chooser's estimate; NaN if unknown */
    const char *recipe;           /* recipe that found the candidates */
    const char *notice;           /* anything missing, in one line; NULL if complete */
    double encode_ms, search_ms, total_ms;
    /* With "ptr" and "bundle", no_answer_probability, tracc and complete are NaN. The score is 1 for a tool of the past
     * set, and the share of views that contain it for an added tool. */
    const char *trace; /* with explain: all lists, decisions, questions and answers by stage, as a JSON object
                          (docs/ptr.md); else NULL */
    size_t questions;  /* questions that the language model answered, recorded answers included */
    uint64_t prompt_tokens, completion_tokens; /* tokens of those, as far as the server reports them */
    double model_ms;                  /* time to answer; for a recorded answer, the time when it was recorded */
    size_t tokens, over_budget;       /* same as in wt_hits */
    const char *encoder;              /* same as in wt_hits */
    const char *read_as;              /* same as in wt_hits; NULL with "ptr" and "bundle" */
    const char *const *unknown_words; /* [unknown_count] same as in wt_hits; empty with "ptr" and "bundle" */
    size_t unknown_count;
    const char *last_turn; /* same as in wt_hits */
    size_t kept;           /* same as in wt_hits. Figures about the set exclude kept tools that were not picked */
} wt_picked;

WT_API void wt_picked_free(wt_picked *picked);

/* Picks the set of tools that a request needs, no more and no less. By default without a language model
 * (docs/recommend.md). Any thread.
 *
 * Recipes:
 * - "set": `whichtool train all` calibrates its probabilities. Without training they come from other catalogues, and
 *   the notice says so. options->abstain applies first: a request that no tool seems to fit gets an empty set.
 * - "bundle": the set of tools used together by past requests that is most similar to the request. Needs `whichtool
 *   train neighbours`.
 * - "ptr": a language model corrects that set, or builds one without it if nothing was trained (docs/ptr.md).
 *
 * options->complete uses conformal prediction: the set grows as far as needed to find all tools for that share of the
 * dev requests, separately for tools used before and tools never used. New requests meet the share approximately, and
 * without a guarantee, because training made other choices on the same dev requests. The notice gives their number.
 *
 * A completeness target fails with WT_ERECIPE, and the message says which share can be promised, if
 * - the store has no training, or too few dev requests,
 * - the dev requests did not find all their tools, or
 * - this request needs more than WT_MAX_COMPLETE tools.
 * With options->max_tokens the first tools that fit are returned instead, with a notice.
 *
 * Errors: those of wt_find; WT_EINVAL (an option out of range, or of another recipe). With "ptr" also those of the
 * language model:
 * - WT_ENETWORK: no answer, or libcurl is missing.
 * - WT_EINVAL: no model name, a malformed URL, or no key.
 * - WT_ENOTFOUND: replay_path does not exist or lacks an answer.
 * - WT_EREADONLY, WT_EIO, WT_EFULL. */
WT_API int wt_pick(wt_engine *engine, const char *request, size_t request_len, const wt_pick_options *options,
                   wt_picked **out, wt_error *err);

/* ---------------------------------------------------------------- vectors */

/* Returns the dimension D of the current encoder, or WT_EMODEL. */
WT_API int wt_dimension(wt_engine *engine, wt_error *err);

/* Encodes texts as requests, with the model's query prompt if it has one, to unit vectors.
 * lens: [count] bytes. out: [count, D], allocated by the caller. Texts beyond the model's token limit are truncated.
 * Errors: WT_EMODEL, WT_ENOMEM. */
WT_API int wt_embed(wt_engine *engine, const char *const *texts, const size_t *lens, size_t count, float *out,
                    wt_error *err);

/* ---------------------------------------------------------------- models */

/* Default encoder, which comes with whichtool. */
#define WT_DEFAULT_MODEL "whichtool-minilm-v1"
/* Default if the files of WT_DEFAULT_MODEL are missing: the model that it was tuned from, fetched by wt_model_pull. */
#define WT_BASE_MODEL "all-MiniLM-L6-v2"
/* Static encoder compiled into the library: needs neither files nor a network. */
#define WT_BUILT_IN_MODEL "whichtool-static-v1"

#define WT_MAX_MERGED 64 /* models per wt_model_merge */
/* Maximum weight of meaning in "hybrid"; words have weight 1. */
#define WT_MAX_DENSE_WEIGHT 10.0

typedef struct wt_model {
    const char *name;
    const char *path;         /* folder, even if it does not exist; "" if built in */
    const char *architecture; /* "bert", ...; "" if not installed and not in a manifest */
    const char *license;
    int installed;                                    /* true if all files of the manifest exist in full size */
    int packed;                                       /* true if the packed cache exists and is current */
    size_t dimension, layers, max_tokens, parameters; /* 0 if unknown */
    uint64_t bytes;
    int built_in;         /* true if compiled into the library */
    int included;         /* true if it came with whichtool */
    const char *revision; /* for a model pulled from the hub: its commit, or the requested revision if the server did
                             not report one; else "" */
} wt_model;

typedef struct wt_models {
    size_t len;
    const wt_model *const *items;
} wt_models;

WT_API void wt_models_free(wt_models *models);

/* Returns the name of the default encoder: the model used by default.
 * models_dir: as in wt_open_options. Static. */
WT_API const char *wt_default_model(const char *models_dir);

/* Lists the models of the manifests, those in models_dir (NULL: as in wt_open_options), those that came with whichtool,
 * and the built-in one. */
WT_API int wt_model_list(const char *models_dir, wt_models **out, wt_error *err);

/* Describes one model, by name or folder. Errors: WT_ENOTFOUND, WT_EMODEL (unreadable files). */
WT_API int wt_model_info(const char *models_dir, const char *name, wt_models **out, wt_error *err);

/* Downloads a model, verifies the SHA-256 of every file, and moves the model into models_dir with one rename.
 *
 * name: one of
 * - a name with a manifest.
 * - "ORG/NAME" or "ORG/NAME@REVISION" on the Hugging Face hub ($HF_ENDPOINT, if set, replaces its URL). The model goes
 *   to models_dir/ORG/NAME. The first pull records the hashes; later pulls must match them. $HF_TOKEN is sent to that
 *   host only (docs/encoders.md, "Other models").
 *
 * An interrupted pull keeps its files for the next one. Returns 1 if anything was downloaded, and 0 if the model is
 * already complete and correct. A model that came with whichtool is verified where it is.
 *
 * Runs child processes, never a shell. progress may be NULL.
 *
 * Errors:
 * - WT_ENOTFOUND: no manifest of that name, or no such model or revision.
 * - WT_EINVAL: malformed name, or another revision is installed.
 * - WT_ENETWORK: no source delivered the files.
 * - WT_EMODEL: wrong hash, or the model is gated, lacks safetensors, or has an unsupported architecture.
 * - WT_EBUSY: another process is pulling it.
 * - WT_ETOOLONG, WT_EFULL, WT_EREADONLY, WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
WT_API int wt_model_pull(const char *models_dir, const char *name, wt_progress_fn progress, void *context,
                         wt_error *err);

/* Writes the packed cache that makes loading fast, unless it is current. An engine does this when it loads the model,
 * and works without a cache if it cannot write one; here that is an error (WT_EFULL, WT_EREADONLY, WT_EIO, ...). */
WT_API int wt_model_pack(const char *models_dir, const char *name, wt_error *err);

/* Writes the weighted mean of several models to the folder out, which must not contain a model. The weights are fp32.
 * All other files come from the first model, and "whichtool" in config.json lists the merged models.
 *
 * names: [count] names or folders, 2 to WT_MAX_MERGED, with the same architecture, dimensions and tokenizer.
 * weights: [count], each 0 to 1, summing to 1; NULL: equal weights.
 *
 * Any thread. Errors: WT_EINVAL (count, weights, or out has a model), WT_ENOTFOUND (a model does not exist), WT_EMODEL
 * (incompatible or unreadable models, or the built-in one), WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
WT_API int wt_model_merge(const char *models_dir, const char *const *names, const double *weights, size_t count,
                          const char *out, wt_error *err);

/* Writes a smaller copy of a model to the folder out, which must not contain a model.
 *
 * precision: "int8" (a byte per weight and an fp32 scale per row) or "fp16"; NULL: "int8". Only matrices are converted.
 * fp16 is converted back to fp32 when the model is loaded; encoders multiply int8 matrices as bytes where the processor
 * supports it.
 *
 * Any thread. Errors: WT_EINVAL (unknown precision, or out has a model), WT_ENOTFOUND, WT_EMODEL (unreadable, built in,
 * or with values out of range), WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
WT_API int wt_model_quantize(const char *models_dir, const char *name, const char *precision, const char *out,
                             wt_error *err);

#ifdef __cplusplus
}
#endif
#include "whichtool/audit.h"
#include "whichtool/call.h"
#include "whichtool/eval.h"
#include "whichtool/generate.h"
#include "whichtool/review.h"
#include "whichtool/train.h"
#endif
