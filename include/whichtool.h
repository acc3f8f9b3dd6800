/* whichtool.h: find the few right tools for a request, out of hundreds to a million.
 *
 *   wt_engine *engine;
 *   wt_error err;
 *   if (wt_open(&engine, "tools.wt", NULL, &err) < 0) ...            one file holds the catalogue
 *   wt_add_path(engine, "tools.json", NULL, &report, &err);          any supported format
 *   wt_find(engine, request, strlen(request), NULL, &hits, &err);    offline, in milliseconds
 *
 * Conventions, everywhere:
 *   - A function returns 0 (or a count) when it worked and a negative WT_E... code when it did not. `err` may be
 *     NULL; it is the caller's, is written only on failure, and says what happened, where, and what to do.
 *   - `T **out` is set to NULL on failure; on success it is the caller's and ends with the matching _free, for
 *     which NULL is a no-op. Strings inside a result live as long as the result.
 *   - Text is UTF-8. Input need not end in NUL where a length is asked for; strings that come back do.
 *   - Structs that the caller owns begin with `size`: fill them with their _init function, then change fields. A NULL
 *     options pointer means defaults, and so does a zero in any field. `size` is what sizeof was where the caller was
 *     compiled, so structs may grow at their end without breaking callers: the library neither reads nor writes beyond
 *     it, and fields that an older caller does not have count as 0. A `size` larger than the library's own is that
 *     of a newer header: fields that this library does not know are ignored. A `size` that holds not even itself, as
 *     0, is WT_EINVAL: the _init was forgotten. wt_error alone has no size and never changes.
 *   - Results are the library's, and grow at their ends too: an array in one is an array of pointers ([len]; NULL or
 *     not when len is 0), and no struct lies in another. Make none of them yourself: wt_export takes tools as a list or
 *     a hit held them.
 *   - The _init functions are inline, for they must write the caller's size; a binding that has no use for the header
 *     zeroes a struct and puts its sizeof into the first field.
 *   - Pointers may be NULL where it is said. Elsewhere that is not checked: an engine, `out`, and a text or list whose
 *     length is not 0 must be there.
 *   - What is passed in is borrowed for the call; an engine keeps copies of what it needs later, as of wt_open_options.
 *   - An engine may be used from any number of threads, except wt_close, which comes last. It does not survive fork():
 *     a child opens its own, and leaves its parent's alone. Several engines, of one process or of several, may have one
 *     store.
 *   - Nothing prints, exits, aborts on bad input, installs signal handlers or keeps global state.
 *
 * This is the header to include. It brings whichtool/error.h (errors, the version), whichtool/call.h (calls for
 * requests), whichtool/train.h (models of one's own), whichtool/eval.h (how well recipes find), whichtool/generate.h
 * (data that a language model makes), whichtool/audit.h (what is wrong with a catalogue), whichtool/review.h
 * (definitions that wait until somebody approves of them), and what needs no engine: whichtool/validator.h (JSON held
 * to JSON Schemas). */
#ifndef WHICHTOOL_H
#define WHICHTOOL_H

#include <stddef.h>
#include <stdint.h>

#include "whichtool/error.h"
#include "whichtool/validator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, beside those of the headers above. Input beyond one is an error (WT_ETOOLONG) or, for one tool of many, a
 * skipped tool. Constants that a binding can read; a limit that no int holds would be a macro. */
enum {
    WT_MAX_FILE_BYTES = 256 << 20,    /* one source file */
    WT_MAX_NAME_BYTES = 256,          /* a tool's or provider's name */
    WT_MAX_TOOLS = 2000000,           /* tools in one store */
    WT_MAX_REQUEST_BYTES = 64 << 10,  /* one request */
    WT_MAX_K = 1000,                  /* hits asked for */
    WT_MAX_USAGES = 10000000,         /* recorded usages in one store */
    WT_MAX_USAGE_TOOLS = 128,         /* tools of one usage */
    WT_MAX_USAGE_LABEL_BYTES = 1024,  /* what a usage may call a tool */
    WT_MAX_CLIENT_BYTES = 256,        /* what a usage calls its client */
    WT_MAX_USAGE_KEY_BYTES = 128,     /* what a client calls a usage */
    WT_MAX_ARGUMENTS_BYTES = 65536,   /* what a usage called one tool with, as compact JSON */
    WT_MAX_ISSUES = 1000,             /* issues that a report keeps */
    WT_MAX_FILTER_ITEMS = 100,        /* names or patterns in one list of a filter */
    WT_MAX_PATTERN_BYTES = 1024,      /* a pattern of tools */
    WT_MAX_COLLISIONS = 10,           /* collisions that a report keeps */
    WT_MAX_MESSAGES_BYTES = 16 << 20, /* one conversation */
    WT_MAX_MESSAGES = 10000,          /* messages of it */
    WT_MAX_KEPT = 256,                /* tools that one calls, and tools that a caller has */
    WT_MAX_COMPLETE = 64,             /* tools of a set that is complete with a stated probability */
    WT_MAX_MORE_LIKE_IT = 5,          /* copies of a hit that are named */
    WT_MAX_CHAT_AT_ONCE = 64          /* questions that a language model is asked at once */
};

/* ---------------------------------------------------------------- progress */

/* Called from long operations, from one thread at a time, which may be one of the library's, at most about ten times a
 * second.
 * phase is a static string ("reading", "encoding", ...). total is 0 when unknown.
 * A non-zero return stops the operation soon: it ends with WT_ECANCELLED and leaves everything sound. */
typedef int (*wt_progress_fn)(void *context, const char *phase, uint64_t done, uint64_t total);

/* ---------------------------------------------------------------- engine */

typedef struct wt_engine wt_engine;

typedef struct wt_open_options {
    size_t size;
    int read_only;          /* non-zero: never write the store or its index folder */
    const char *model;      /* name or directory of the encoder. NULL: the first that is there of WT_DEFAULT_MODEL,
                               WT_BASE_MODEL and WT_BUILT_IN_MODEL, which always is; "": none, words alone count */
    const char *models_dir; /* where models live; NULL: $WHICHTOOL_MODELS, else $XDG_DATA_HOME/whichtool/models,
                               else ~/.local/share/whichtool/models */
    unsigned threads;       /* for batch encoding; 0: one a processor */
    unsigned busy_ms;       /* how long to wait for another writer; 0: 10,000 */
    const char *trained;    /* folder that wt_train filled; NULL: STORE-models, beside the store; "": none */
    /* The language model that the recipe "ptr", wt_call and wt_generate_... ask (docs/language-model.md). No request is
     * sent before a question is asked. */
    const char *chat_url;    /* of a server that speaks OpenAI's chat completions, as "http://127.0.0.1:8080/v1"; NULL:
                                $OPENAI_BASE_URL, else https://api.openai.com/v1 */
    const char *chat_model;  /* its name, as the server knows it */
    const char *chat_key;    /* NULL: $OPENAI_API_KEY; none is sent when that is unset */
    const char *record_path; /* answers are taken from this file, and added to it; NULL: nowhere */
    const char *replay_path; /* answers are taken from this file alone: no server is asked; NULL: from a server */
    unsigned chat_at_once;   /* questions that it is asked at once by wt_generate_..., which have many, at most
                                WT_MAX_CHAT_AT_ONCE; 0: 4. What comes out is the same */
} wt_open_options;

WT_INIT(wt_open_options_init, wt_open_options)

/* Opens the store at path, creating it (and its parent folders) when absent, unless read_only.
 * path is borrowed for the call. ":memory:" opens a private store that ends with wt_close.
 * A missing model is no error here: lexical recipes work without one, and wt_hits.notice says so.
 * Errors: WT_ENOTFOUND (read_only, and nothing is there; a folder that cannot be made), WT_EINVAL (path is NULL or
 * empty; the _init of options was forgotten), WT_ESTORE, WT_ENEWER, WT_EREADONLY, WT_EBUSY, WT_EIO, WT_ENOMEM. */
WT_API int wt_open(wt_engine **out, const char *path, const wt_open_options *options, wt_error *err);

/* Closes the engine; NULL is a no-op. No other call on it may be running or follow. Results that were handed out
 * stay valid until they are freed. */
WT_API void wt_close(wt_engine *engine);

/* ---------------------------------------------------------------- tools */

/* One tool as the store holds it. Borrowed from the list or hit that contains it. */
typedef struct wt_tool {
    const char *id;          /* "provider/name", or "name" without a provider; unique in the store */
    const char *provider;    /* "" when it has none */
    const char *name;        /* unique within its provider */
    const char *title;       /* for people; "" when the source has none */
    const char *description; /* "" when the source has none */
    const char *category;    /* "" when the source has none */
    const char *source_id;   /* what the source calls it (BEIR _id, "METHOD /path" of OpenAPI); "" when nothing */
    const char *format;      /* importer that read it: "mcp", "openai", ... */
    const char *definition;  /* the source's own bytes, as they were; an operation of OpenAPI as JSON, with the servers
                              * and the security that it has of its document */
    size_t definition_len;
    const char *schema;      /* JSON Schema of the arguments but credentials, as JSON text; "{}"-like object for none */
    const char *sha256;      /* of definition, 64 hexadecimal digits */
    const char *export_name; /* what wt_export calls it: PROVIDER__TOOL in at most 64 letters, digits, '_' and '-', that
                         begin with a letter or '_'; unique in the store, and the tool's own as long as it stays */
} wt_tool;

typedef struct wt_tools {
    size_t len;
    const wt_tool *const *items;
} wt_tools;

WT_API void wt_tools_free(wt_tools *tools);

typedef struct wt_list_options {
    size_t size;
    const char *provider; /* only this provider's; NULL: all */
    size_t limit;         /* 0: all */
    size_t offset;        /* tools to pass over first */
    const char *pattern;  /* only tools that fit: with '*' or '?' a pattern as in wt_filter, else a part of the id, in
                             upper or lower case. NULL or "": all */
} wt_list_options;

WT_INIT(wt_list_options_init, wt_list_options)

/* The catalogue in the order of import. Errors: WT_ENOTFOUND (there are tools, and none of that provider), WT_ESTORE,
 * WT_EBUSY, WT_ENOMEM. */
WT_API int wt_list(wt_engine *engine, const wt_list_options *options, wt_tools **out, wt_error *err);

/* The tool that name stands for: an exported name, an id, a bare name that only one tool has, or a source id. Errors:
 * WT_ENOTFOUND (the message says which one may have been meant, where one is near: that looks at up to 200,000 names),
 * WT_EINVAL (name is NULL, or several tools have that bare name; the message lists some), WT_ESTORE. */
WT_API int wt_get(wt_engine *engine, const char *name, wt_tools **out, wt_error *err);

/* Removes the tool that name stands for, as in wt_get. Returns 1, or WT_ENOTFOUND, WT_EINVAL (as wt_get, or its
 * provider is reserved: whichtool/review.h), WT_EREADONLY, ... */
WT_API int wt_remove(wt_engine *engine, const char *name, wt_error *err);

/* Removes every tool of a provider. Returns how many, or WT_ENOTFOUND when it has none, or WT_EINVAL when it is
 * reserved (whichtool/review.h). */
WT_API int64_t wt_remove_provider(wt_engine *engine, const char *provider, wt_error *err);

/* Gives a provider another name. Imports that use the old one are stored under the new one from then on. Its tools keep
 * their usages; their ids and exported names change, and their vectors are made by the next import or wt_embed_missing.
 * Returns how many tools it has. Errors: WT_ENOTFOUND (no tool has that provider), WT_EINVAL (another provider has, or
 * had, that name; provider or name is empty, or is no name; one of them is reserved: whichtool/review.h), WT_EREADONLY,
 * WT_EBUSY, ... */
WT_API int64_t wt_rename_provider(wt_engine *engine, const char *provider, const char *name, wt_error *err);

typedef struct wt_catalog_info {
    size_t size;
    uint64_t tools, providers;
    uint64_t embedded;   /* tools that have a vector of the current model */
    uint64_t generation; /* grows with every change of the catalogue */
    char model[256];     /* name of the current encoder; "" when there is none */
} wt_catalog_info;

WT_INIT(wt_catalog_info_init, wt_catalog_info)

/* Errors: WT_EINVAL (out was not filled with its _init), WT_ESTORE, WT_EBUSY. */
WT_API int wt_info(wt_engine *engine, wt_catalog_info *out, wt_error *err);

typedef struct wt_provider_status {
    const char *name; /* "" for tools without a provider */
    uint64_t tools;
} wt_provider_status;

/* A model that was trained for this store. */
typedef struct wt_trained_status {
    const char *lesson;              /* a name of wt_lesson_at */
    int64_t time;                    /* when it was written, seconds since 1970 */
    const char *data;                /* what it learned from: the path of the store or of a data set */
    int recorded_use;                /* that was this store's recorded use */
    uint64_t requests, dev_requests; /* that it learned from, and that were held out to choose by */
    const char *figure;              /* what was measured on those: "recall@5"; "" when nothing was */
    double before, after;            /* as in wt_trained */
    const char *stale;               /* why it is not used as it is, one line; NULL: it fits */
} wt_trained_status;

typedef struct wt_status {
    const char *store; /* path */
    int store_version; /* of the file's layout; 0 of a private store */
    uint64_t tools;
    size_t provider_count;
    const wt_provider_status *const *providers; /* most tools first */
    const char *model;   /* the encoder that was asked for, as wt_open_options chooses it; "": none. It makes vectors */
    int model_installed; /* it is there */
    uint64_t embedded;   /* tools that have a vector of it; as far as the store can tell, where it is not there */
    uint64_t usages;     /* recorded */
    uint64_t teaching;   /* those that did not fail and used a tool that is there */
    uint64_t untrained;  /* different requests of those beyond what the last training had: what another would add */
    size_t trained_count;
    const wt_trained_status *const *trained; /* by name */
    const char *recipe; /* what "auto" runs: a name of wt_recipe_at, or a mixture that training found */
    const char *why;    /* one sentence */
    /* On disk. trained_bytes: of all that training left; model_bytes: of the encoder's folder; cache_bytes: of the
     * cache folder, which any store shares and which may be deleted. */
    uint64_t store_bytes, index_bytes, trained_bytes, model_bytes, cache_bytes;
    /* Which encoder finding uses without training: the model, or the built-in one while it has more of the vectors. */
    const char *encoder;
    uint64_t encoder_embedded; /* tools that have a vector of it */
    const char *better;        /* as in wt_hits */
    int model_included;        /* the encoder is one of those that came with whichtool */
} wt_status;

/* What there is: the catalogue, vectors, recorded use, trained models, sizes. Loads no model and reads no tool, so it
 * takes milliseconds; that a model is whole is found out when it is used. From any thread.
 * Errors: WT_ESTORE, WT_EBUSY, WT_EIO, WT_ENOMEM. */
WT_API int wt_get_status(wt_engine *engine, wt_status **out, wt_error *err);
WT_API void wt_status_free(wt_status *status);

/* Reads the whole store and the index beside it, and checks what a search only checks where it meets it: pages, indexes
 * and constraints of the store; every vector, posting and bound of the index. Changes nothing; an index that was not
 * made yet is sound. From any thread; other calls that need the store wait.
 * 0, or WT_ESTORE with the first damage and what to do about it, WT_ENEWER, WT_EIO, WT_ENOMEM. */
WT_API int wt_check(wt_engine *engine, wt_error *err);

/* Complete definitions of tools in the form that a provider's API accepts, as one JSON array.
 * format: "openai" (chat completions), "openai-responses", "anthropic", "gemini", "mcp". Or, for a client that defers
 * its tools and asks here which to load (docs/search-backend.md), of
 *   "anthropic-reference"  the content of the tool_result that answers a call of the client's search tool:
 * tool_reference blocks. The request's "tools" has the same definitions ("anthropic") with defer_loading;
 *   "anthropic-inline"     the content of a message of the role "system": tool_addition blocks with the definitions
 *                          ("anthropic"), none of which need stand in the request's "tools" (beta
 *                          inline-tools-2026-09-15). An empty array is no content that the API accepts;
 *   "openai-search"        "tools" of the tool_search_output that answers a tool_search_call whose execution is
 * "client": a namespace a provider, with functions ("openai-responses") that are marked as deferred; a tool without a
 * provider stands alone. The caller writes call_id beside it. Tools go by their export_name, the same for every API, in
 * a namespace too; wt_get maps it back. Characters that nobody sees, or that turn text round, are written as \uXXXX.
 * *out is a NUL-terminated string that ends with wt_string_free. Errors: WT_EINVAL (unknown format), WT_ENOMEM. */
WT_API int wt_export(const wt_tool *const *tools, size_t count, const char *format, char **out, wt_error *err);
WT_API void wt_string_free(char *string);

/* ---------------------------------------------------------------- adding tools */

typedef struct wt_add_options {
    size_t size;
    const char *format;      /* as docs/formats.md lists them, "openapi"; NULL: detected */
    const char *provider;    /* provider of tools whose source names none; for sources that name one, overrides it */
    const char *source_name; /* wt_add: how messages name the source; NULL: "input". Also the scope of sync */
    int sync;                /* remove tools that earlier imports of the same source brought and this one lacks; of a
                                folder: of all below it. An operation of OpenAPI that is skipped is not lacking */
    int strict;              /* a bad tool fails the whole import with WT_EFORMAT */
    int no_vectors;          /* do not encode now; wt_embed_missing or a later wt_add does */
    wt_progress_fn progress;
    void *progress_context;
} wt_add_options;

WT_INIT(wt_add_options_init, wt_add_options)

/* A tool, or a whole file of a folder, that was not taken, and why; or what is wrong with one that was. */
typedef struct wt_add_issue {
    const char *file;
    size_t line;         /* 1-based; 0 when unknown */
    size_t byte;         /* offset where it begins */
    const char *pointer; /* JSON pointer; "" when none */
    const char *reason;
} wt_add_issue;

/* A tool that was added by another name, because a tool of another source, with another definition, has its own. */
typedef struct wt_add_collision {
    const char *id;     /* what it is called: "github/search~2" */
    const char *taken;  /* the id that it would have: "github/search" */
    const char *source; /* where it comes from */
    const char *other;  /* where the tool comes from that has the id */
} wt_add_collision;

typedef struct wt_add_report {
    size_t added, updated, unchanged, removed, skipped;
    size_t embedded;    /* vectors made */
    const char *format; /* what was detected; "mixed" for a folder of several */
    const char *notice; /* one line on what is missing (no model), or NULL */
    size_t issue_count; /* the first WT_MAX_ISSUES of them are kept */
    const wt_add_issue *const *issues;
    size_t collisions; /* tools that were added by another name */
    const wt_add_collision *const *collided;
    size_t collided_count; /* the first WT_MAX_COLLISIONS of them are kept */
    int whole;             /* every source was read to its end */
} wt_add_report;

WT_API void wt_add_report_free(wt_add_report *report);

/* Imports tools from memory, or from a file or a folder (a BEIR folder, or any folder of files).
 * The catalogue changes in one transaction: all of it or, on failure, nothing. Vectors are made after that, in
 * batches; a stop in between loses no tool, and the next import or wt_embed_missing goes on where it ended.
 * Tools whose definition did not change are not touched. A bad tool is skipped and reported. A tool's source is the
 * file that it comes from; a link to a file is one of its own. A tool is (provider, name): with the same definition it
 * is one tool whoever brings it; with another one from the same source it is changed, and from another source it is
 * added beside the one that is there, as "name~2", "name~3", ..., found again so, and told in the report. A source that
 * nothing was taken from is no error unless strict: added is 0, and issues, or notice where it has no tools, say why.
 * Errors:
 * WT_EFORMAT (of no known format, a pipe or device, or any tool when strict), WT_ETOOLONG, WT_ENOTFOUND, WT_ESTORE,
 * WT_EREADONLY, WT_EBUSY, WT_EFULL, WT_ECANCELLED, WT_ENOMEM. With WT_ECANCELLED after the transaction, *out is set. */
WT_API int wt_add(wt_engine *engine, const char *bytes, size_t len, const wt_add_options *options, wt_add_report **out,
                  wt_error *err);
WT_API int wt_add_path(wt_engine *engine, const char *path, const wt_add_options *options, wt_add_report **out,
                       wt_error *err);

enum { WT_MCP_TIMEOUT_MS = 60000 }; /* that a server has when wt_add_mcp_options.timeout_ms is 0 */

typedef struct wt_add_mcp_options {
    size_t size;
    const char *const *command; /* without a source: a server's program and its arguments, ends in NULL */
    const char *provider;       /* of one server's tools: WT_EINVAL with more; NULL: each server's name */
    int sync;                   /* remove tools that a server does not list any more, and those of servers that the
                                   configuration does not name any more; never those of one that did not answer */
    int strict;                 /* a bad tool keeps all tools of its server out */
    int no_vectors;             /* do not encode now; wt_embed_missing or a later wt_add does */
    unsigned timeout_ms;        /* for each server, from its start to its last tool; 0: WT_MCP_TIMEOUT_MS */
    wt_progress_fn progress;
    void *progress_context;
} wt_add_mcp_options;

WT_INIT(wt_add_mcp_options_init, wt_add_mcp_options)

typedef struct wt_mcp_server {
    const char *name;           /* as the configuration has it; of a command or a URL the provider's, "" unknown */
    const char *provider;       /* of its tools; "" when it did not answer and none was given */
    int disabled;               /* it was not asked: by the configuration, or since it is whichtool itself (reason) */
    int code;                   /* 0, or why its tools are not in: a wt_code */
    const char *reason;         /* the same as a sentence, without what is secret of the configuration; "" */
    size_t tools;               /* that it listed */
    const wt_add_report *added; /* what became of them; NULL where none are in */
} wt_mcp_server;

typedef struct wt_mcp_report {
    size_t server_count; /* in the order of the configuration */
    const wt_mcp_server *const *servers;
    size_t failed;      /* servers whose tools are not in, disabled ones not counted */
    size_t removed;     /* tools of servers that the configuration does not name any more (sync) */
    size_t embedded;    /* vectors made */
    const char *notice; /* one line on what is missing (no model), or NULL */
} wt_mcp_report;

WT_API void wt_mcp_report_free(wt_mcp_report *report);

/* Asks MCP servers which tools they have (tools/list), all at once, and imports what they list, a transaction a server.
 * source: the path of a client's configuration (`mcpServers`, VS Code's `servers`; docs/mcp.md), or the http:// or
 * https:// address of one server (streamable HTTP); NULL: options->command is one server. Programs are started without
 * a shell, with few variables of this process's environment and those that the configuration writes, in process
 * groups of their own, which have ended when this returns, also by a stop. Servers are not trusted: what they send is
 * bounded, and imported by the rules of wt_add. A server that fails is told in the report and keeps no other out.
 * Tools get the server's name as provider.
 * Errors: WT_EINVAL (neither or both of source and command; a provider for several servers), WT_EFORMAT (no
 * configuration), WT_ETOOLONG, WT_ENOTFOUND, WT_ESTORE, WT_EREADONLY (no server is started then), WT_EBUSY, WT_EFULL,
 * WT_EIO, WT_ECANCELLED, WT_ENOMEM. With WT_ECANCELLED after the first transaction, *out is set and tells which
 * servers' tools are in. From any thread; it starts threads of its own while it asks. */
WT_API int wt_add_mcp(wt_engine *engine, const char *source, const wt_add_mcp_options *options, wt_mcp_report **out,
                      wt_error *err);

/* Encodes every tool that has no vector of the current model yet. Returns how many were encoded.
 * Errors: WT_EMODEL (no model), WT_ESTORE, WT_EREADONLY, WT_ECANCELLED, WT_ENOMEM. */
WT_API int64_t wt_embed_missing(wt_engine *engine, wt_progress_fn progress, void *context, wt_error *err);

/* ---------------------------------------------------------------- recorded use */

/* A usage is a past request with the tools that it used, and how it ended. A store that has usages finds better: a
 * tool is then known by the requests that it served, not by its description alone (see wt_learn_usage).
 *
 * Requests are kept word for word, in the store file alone. Recording the same usage twice counts twice, unless it says
 * from which client it is: a tool counts once a client and request, however often that client repeats it. A client is
 * any name that the caller chooses (an account, a session, a hash of one); it is kept as it is given, so give one that
 * names no person. Times are seconds since 1970 in UTC. A usage that failed is kept and listed, but teaches nothing.
 * When a tool is removed its usages stay, and count again when a tool with the same id is added.
 *
 * A usage may have a key, any name that its client gives it: a second usage of that client with the same key is not
 * recorded, so that who does not know whether a usage arrived sends it again, and how it ended can be told later
 * (wt_set_usage_outcome). Keys are kept as long as their usages.
 *
 * A usage may keep what each tool was called with, too: a JSON object, kept compact and otherwise as it is given, in
 * the store file alone, so secrets do not belong there. Members whose names are those of credentials, where the tool's
 * schema has no such property, are not kept: whoever calls the tool holds them, and schemas are stored without them. */

typedef struct wt_usage_tool {
    const char *id;        /* as in wt_tool; what was recorded when no tool had that name */
    int known;             /* the store has this tool now */
    const char *arguments; /* what it was called with: compact JSON of an object; NULL: not told */
} wt_usage_tool;

typedef struct wt_usage {
    int64_t id; /* grows with every usage */
    const char *request;
    const char *outcome; /* "ok", "failed", or "" when not told */
    int64_t time;
    size_t tool_count;
    const wt_usage_tool *const *tools; /* in the order of their use */
    const char *client;                /* "" when not told */
    const char *key;                   /* "" when it has none */
} wt_usage;

typedef struct wt_record_options {
    size_t size;
    const char *outcome; /* "ok" (or "success", "succeeded", "true"), "failed" (or "failure", "error", "false"); NULL or
                            "": not told */
    int64_t time;        /* when it was; 0: now */
    int no_vectors;      /* do not encode now (saves some milliseconds); wt_learn_usage or a later record does */
    const char *client;  /* whose request it was: UTF-8, at most WT_MAX_CLIENT_BYTES; NULL or "": not told */
    const char *const *arguments; /* [count] what each tool was called with: JSON of an object, at most
                                     WT_MAX_ARGUMENTS_BYTES, NULL or "" where it is not told; NULL: none is told */
    const char *key; /* what the client calls this usage: UTF-8, at most WT_MAX_USAGE_KEY_BYTES; NULL or "": nothing */
} wt_record_options;

WT_INIT(wt_record_options_init, wt_record_options)

/* Records one usage. request: valid UTF-8 without NUL and not blank. tools: [count] names as in wt_get, 1 to
 * WT_MAX_USAGE_TOOLS; the same tool twice counts once, with the first arguments that are told.
 * Returns how many of the names no tool has: the usage is then recorded with the others. WT_ENOTFOUND: no tool has any
 * of them. Other errors: WT_EFORMAT (the request, the client or arguments), WT_ETOOLONG, WT_EINVAL (no tools, a name
 * that several tools have, a bad outcome or time), WT_ESTORE, WT_EREADONLY, WT_EBUSY, WT_EFULL, WT_ENOMEM. On any error
 * nothing was recorded. */
WT_API int wt_record_usage(wt_engine *engine, const char *request, size_t request_len, const char *const *tools,
                           size_t count, const wt_record_options *options, wt_error *err);

/* Tells how the usage of this key and client (NULL or "": of none) ended: "ok", "failed" or "". What was learned of one
 * that turns out to have failed, or not to have, is made anew by the next wt_learn_usage. Errors: WT_ENOTFOUND (no
 * usage has the key), WT_EINVAL (the outcome, or no key), WT_EFORMAT, WT_ETOOLONG, those of the store. */
WT_API int wt_set_usage_outcome(wt_engine *engine, const char *key, const char *client, const char *outcome,
                                wt_error *err);

typedef struct wt_add_usage_options {
    size_t size;
    const char *split;       /* of a BEIR folder: qrels/SPLIT.tsv; NULL: "train" */
    const char *source_name; /* wt_add_usage: how messages name the source; NULL: "input" */
    int strict;              /* a bad usage, bad arguments or an unknown tool fail the whole import with WT_EFORMAT */
    int no_vectors;          /* do not encode now; wt_learn_usage does */
    wt_progress_fn progress;
    void *progress_context;
} wt_add_usage_options;

WT_INIT(wt_add_usage_options_init, wt_add_usage_options)

typedef struct wt_usage_report {
    size_t added;         /* usages */
    size_t skipped;       /* usages that were not taken: bad, or no tool of theirs is known */
    size_t unknown_tools; /* names of tools that no tool has, in usages that were taken */
    size_t learned;       /* requests encoded */
    const char *notice;   /* one line on what is missing (no model), or NULL */
    size_t issue_count;   /* the first WT_MAX_ISSUES of them are kept */
    const wt_add_issue *const *issues;
    size_t repeated; /* usages whose key their client has used, and outcomes that were told before */
    size_t outcomes; /* usages whose outcome was changed */
    size_t missing;  /* outcomes of keys that no usage has */
} wt_usage_report;

WT_API void wt_usage_report_free(wt_usage_report *report);

/* Imports usages from memory or a file, as JSON Lines:
 *   {"request": "book a table", "tools": ["tables/book_table"], "outcome": "ok", "time": "2026-11-22T08:30:00Z",
 *    "client": "c17"}
 * outcome, time, client and key may be missing; time may also be a number of seconds; other members are ignored. A line
 * {"key": "run-17/3", "client": "c17", "outcome": "failed"} tells how a usage ended that came before. A tool may
 * also be {"tool": "tables/book_table", "arguments": {"people": 2}}: arguments that are no object, or longer than
 * WT_MAX_ARGUMENTS_BYTES, are reported, and the usage is recorded without them. Or from a BEIR folder: queries.jsonl
 * with qrels/SPLIT.tsv, where a query used the tools whose source id is judged over 0. One transaction: all of it or,
 * on failure, nothing. A name that no tool has is reported, and the usage is recorded with the others; a usage of which
 * no tool is known, or that makes no sense, is reported and skipped. Errors as in wt_add_path. With WT_ECANCELLED after
 * the transaction, *out is set. */
WT_API int wt_add_usage(wt_engine *engine, const char *bytes, size_t len, const wt_add_usage_options *options,
                        wt_usage_report **out, wt_error *err);
WT_API int wt_add_usage_path(wt_engine *engine, const char *path, const wt_add_usage_options *options,
                             wt_usage_report **out, wt_error *err);

/* Brings what the store has learned of its usages up to date: encodes the requests that were not encoded yet with the
 * current model, and adds them to the vectors of the tools that they used. Recording and importing do so by
 * themselves; a stop in between loses nothing. Returns how many requests were encoded.
 * Errors: WT_EMODEL (no model), WT_ESTORE, WT_EREADONLY, WT_ECANCELLED, WT_ENOMEM. */
WT_API int64_t wt_learn_usage(wt_engine *engine, wt_progress_fn progress, void *context, wt_error *err);

/* How many usages were recorded and not yet trained on, where it is time to tell a person: there are ten or more in the
 * store, and twice as many as at the last training and as when it was last told. Else 0, as in a store that is in
 * memory or open for reading only. What it returns counts as told, so it is to be asked by who tells. Any thread.
 * Errors: WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int64_t wt_training_due(wt_engine *engine, wt_error *err);

typedef struct wt_usages {
    size_t len;
    const wt_usage *const *items;
} wt_usages;

WT_API void wt_usages_free(wt_usages *usages);

/* Which usages. All zero: every one. */
typedef struct wt_usage_filter {
    size_t size;
    const char *tool;   /* that used this tool: a name as in wt_get, or what a usage calls a tool that is gone */
    int64_t before;     /* recorded before this time; 0: at any time */
    int64_t after_id;   /* with an id over this: the id of the last one seen, for the next page */
    size_t limit;       /* the first so many; 0: all */
    const char *client; /* of this client; NULL or "": of any, and of none */
} wt_usage_filter;

WT_INIT(wt_usage_filter_init, wt_usage_filter)

/* In the order of recording. Errors: WT_ENOTFOUND (neither a tool nor a usage has that name), WT_EINVAL (several tools
 * have it), WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_list_usage(wt_engine *engine, const wt_usage_filter *filter, wt_usages **out, wt_error *err);

/* Takes the next bytes; a non-zero return ends the export with WT_ECANCELLED. */
typedef int (*wt_write_fn)(void *context, const char *bytes, size_t len);

/* Writes usages as the JSON Lines that wt_add_usage reads, characters that nobody sees as \uXXXX. Returns how many.
 * Errors as in wt_list_usage. */
WT_API int64_t wt_export_usage(wt_engine *engine, const wt_usage_filter *filter, wt_write_fn write, void *context,
                               wt_error *err);

/* Removes usages for good, limit and after_id not regarded: those that used filter->tool, those recorded before
 * filter->before, those of filter->client, or those that are all of what is named. A filter that names none of them is
 * WT_EINVAL unless `all` is set. What was
 * learned of a usage goes with it: the vectors of its tools are made anew by the next wt_learn_usage, which this call
 * does not wait for. Returns how many there were. Other errors: as in wt_list_usage, WT_EREADONLY, WT_EFULL. */
WT_API int64_t wt_forget_usage(wt_engine *engine, const wt_usage_filter *filter, int all, wt_error *err);

typedef struct wt_usage_info {
    size_t size;
    uint64_t usages;
    uint64_t pending;    /* usages that are not learned yet, or sums that must be made anew; 0 without a model */
    uint64_t generation; /* grows with every change of the usages */
} wt_usage_info;

WT_INIT(wt_usage_info_init, wt_usage_info)

/* Errors: as of wt_info. */
WT_API int wt_get_usage_info(wt_engine *engine, wt_usage_info *out, wt_error *err);

/* Seconds since 1970 of an RFC 3339 time ("2026-11-22T08:30:00Z") or a date, whose midnight in UTC is meant.
 * Errors: WT_EINVAL. */
WT_API int wt_read_time(const char *text, int64_t *seconds, wt_error *err);

/* ---------------------------------------------------------------- finding tools */

/* Which tools may be found: those of `providers` (of all, where that is empty) that match one of `only` (likewise),
 * less those of `excluded_providers` and those that match one of `excluded`. What may not be found is passed over
 * within the search: as many hits come out as were asked for, and no recipe, reranker, set or past use brings it back.
 *
 * A pattern is matched against the whole name, as "delete_*" or "issues/create*", and one with a '/' against
 * the whole id, too, as "github/delete_*" or "mail?/send". '*' stands for any run of characters, '/' included, '?' for
 * one; everything else for itself, letters by their case.
 *
 * Of names and patterns that no tool has, the result's notice tells, with what may have been meant; where no tool has
 * any of `providers`, or none matches any of `only`, it is WT_ENOTFOUND. The first search with a filter looks at every
 * provider, or with patterns at every name (a million: docs/retrieval.md); later ones with the same filter, until the
 * catalogue changes, do not. A list of more than WT_MAX_FILTER_ITEMS, a NULL in one, or a pattern of more than
 * WT_MAX_PATTERN_BYTES is WT_EINVAL. Lists and strings are borrowed for the call. */
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
    /* One more condition, which no list can say: whether the tool of this id may be found. It is asked once of each
     * tool, from the thread that searches, and not again for a filter of the same lists and condition_name, until the
     * catalogue changes: so a condition that changes takes another name. Both or neither is given. */
    int (*condition)(void *context, const char *id);
    void *condition_context;
    const char *condition_name;
} wt_filter;

WT_INIT(wt_filter_init, wt_filter)

typedef struct wt_find_options {
    size_t size;
    size_t k;                /* hits wanted, at most WT_MAX_K; 0: 5 */
    const char *recipe;      /* a name of wt_recipe_at; NULL or "auto": the best that this store can run */
    const char *provider;    /* only this provider's tools: one more of filter->providers; NULL: none more */
    size_t max_per_provider; /* 0: no cap */
    int explain;             /* fill stages and matches of each hit */
    double abstain;          /* as in wt_pick_options, but 0: never. With "auto" alone */
    int copies;              /* copies of hits have places of their own, too: tools of other providers that are the same
                                word for word, or named alike and nearly the same as an older one (docs/floods.md) */
    wt_progress_fn progress; /* heard between the stages, while a reranker reads, and while models are loaded or the
                                index is made or waited for; may be called from a thread of the library's */
    void *progress_context;
    unsigned time_limit_ms;  /* then it ends with WT_ETIMEOUT, when progress is next heard; 0: none */
    const wt_filter *filter; /* which tools may be found; NULL: all */
    /* A budget for the hits' definitions: in their order, each that fits beside those before it comes out, and notice
     * tells of the others. Tokens are estimated as a quarter of the bytes that wt_export makes of the tool alone
     * (docs/retrieval.md has how far that is off); of a format that answers a client's search, in the format of the
     * definitions that it loads. */
    size_t max_tokens;  /* 0: none */
    const char *format; /* of those definitions, as in wt_export; NULL: "openai" */
    int as_typed;       /* no word of the request is corrected, and a long one is read whole (wt_hits.read_as) */
    int none_if_unsure; /* weak hits (wt_hit.weak) are left out, so that there may be none */
    /* A conversation whose next step needs tools, as JSON: the messages of OpenAI's and Anthropic's APIs, or plain ones
     * (docs/json.md). The user's last turn is the request; one that is given beside it is a turn more. The turns before
     * it and the tools that they called are context (docs/retrieval.md). Text parts alone are read. A message that
     * makes no sense is left out, and notice tells. NULL: none */
    const char *messages;
    size_t messages_len;
    const char *const *have; /* [have_count] tools that the caller has loaded, named as in wt_get, at most WT_MAX_KEPT.
                                They stay in the result, as those do that the conversation called: wt_hit.kept */
    size_t have_count;
} wt_find_options;

WT_INIT(wt_find_options_init, wt_find_options)

/* What one stage of the recipe said of a hit. */
typedef struct wt_stage_score {
    const char *stage; /* "bm25", "dense", ... */
    size_t rank;       /* 1-based; 0: beyond the stage's candidates */
    double score;      /* the stage's own scale */
    double share;      /* what it added to the hit's score */
    double weight;     /* that its evidence has in that score; 0: it is not weighed, but orders anew */
} wt_stage_score;

/* A word of the request that a hit matched. */
typedef struct wt_match {
    const char *word;   /* as analysed (lower case, stemmed) */
    const char *fields; /* "name description", the fields of the tool that hold it */
    double score;       /* what it added to the lexical score */
} wt_match;

typedef struct wt_hit {
    const wt_tool *tool;
    double score; /* higher is better; comparable within one result only */
    size_t stage_count, match_count;
    const wt_stage_score *const *stages; /* with explain, else none */
    const wt_match *const *matches;      /* with explain, else none; best first */
    double probability; /* that the request needs the tool, 0 to 1, comparable between requests; NaN where nothing tells
                           it: with "ptr" and "bundle", and for a tool that a reranker brought in. At most
                           1 - no_answer_probability where that is told; where usages of this very request have a say,
                           at least the tool's share of these and one more. It is of requests of which one in five needs
                           no tool of the catalogue, and of the default model, until `whichtool train all` calibrates
                           it, for which it takes 20 dev requests, some 200 usages (docs/retrieval.md) */
    size_t tokens;      /* of its definition, estimated; 0 without options->max_tokens */
    int weak; /* 1: of wt_find, a hit that shares no more than one common word with the request and is not like it
                 in meaning (docs/retrieval.md); else 0 */
    int kept; /* 1: the conversation called it, or the caller has it. Such hits take no place of options->k, no budget
                 and no doubt leaves them out, and those that were not found come last, with a score of 0 and a
                 probability of NaN; else 0. What the filter leaves out is not kept either */
    const char *const *more_like_it; /* [more_listed] ids of copies that share its place: tools of other providers that
                                        are the same word for word, or near-copies of it that are younger and were
                                        found, too (docs/floods.md); the first WT_MAX_MORE_LIKE_IT */
    size_t more_listed;
    size_t more_count; /* how many there are, up to 1,000 word for word; none with options->copies */
} wt_hit;

typedef struct wt_hits {
    size_t len; /* 0 is not an error: nothing matched */
    const wt_hit *const *items;
    const char *recipe; /* what ran; differs from the one asked for only for "auto" */
    const char *notice; /* one line on what was missing (no model, tools without vectors), or NULL */
    double encode_ms, search_ms, total_ms;
    const char *why;                   /* with "auto": how its choice was found, one sentence; else NULL */
    double multi_provider_probability; /* with "toolrerank": that the request needs tools of several providers, by its
                                          classifier (docs/toolrerank.md); NaN where none looked */
    double no_answer_probability;      /* with options->abstain: that no tool fits; else NaN */
    size_t copies;                     /* that share the places of these hits: the sum of more_count */
    size_t tokens;                     /* of all hits together; 0 without options->max_tokens */
    size_t over_budget;                /* hits that did not fit in those, and are not here */
    const char *encoder; /* what read the request: a model's name, "encoder" for one that was trained here; "": none */
    const char *better;  /* WT_BASE_MODEL where it was to be used and is not installed: it finds better than the
                            built-in encoder, which was; else NULL */
    const char *read_as; /* the request as it was searched for, where words of it that nothing knows were read as those
                            that they were probably meant to be, or where it is long and its ends were read
                            (docs/retrieval.md); NULL: as it was typed */
    const char *const *unknown_words; /* [unknown_count] words of the request that no tool has, where no hit is likely
                                         to be needed, or the request is nothing but a few keywords */
    size_t unknown_count;             /* else 0 */
    size_t weak;                      /* hits that options->none_if_unsure left out */
    const char *last_turn;            /* with options->messages: the turn that was searched for; else NULL */
    size_t kept;                      /* hits that are kept (wt_hit.kept) */
} wt_hits;

WT_API void wt_hits_free(wt_hits *hits);

/* The tools that a request needs, best first.
 * request: at most WT_MAX_REQUEST_BYTES; may be NULL with a length of 0 where options->messages has a turn of the user.
 * Invalid UTF-8 is read as replacement characters.
 * Errors: WT_EEMPTY (no tools in the store), WT_ENOTFOUND (no tool has the providers or the names of the filter),
 * WT_ERECIPE, WT_EMODEL (the recipe needs a model), WT_ETOOLONG, WT_EINVAL, WT_EFORMAT (options->messages: no JSON, cut
 * short, no messages, or the user says nothing), WT_ESTORE, WT_ECANCELLED, WT_ETIMEOUT, WT_ENOMEM. */
WT_API int wt_find(wt_engine *engine, const char *request, size_t request_len, const wt_find_options *options,
                   wt_hits **out, wt_error *err);

typedef struct wt_recipe {
    const char *name;
    const char *summary; /* one line */
    int needs_model;     /* non-zero: needs an encoder */
    int needs_training;  /* non-zero: needs what wt_train of that name leaves; rerank-N: what dpr and cross do */
    int picks;           /* non-zero: gives a set, by wt_pick; set-N: that is complete with N %. Not for wt_find */
    double complete;     /* of such a set: as in wt_pick_options */
} wt_recipe;

/* The recipes that this library knows, by index from 0; NULL past the last. Static. */
WT_API const wt_recipe *wt_recipe_at(size_t index);

/* ---------------------------------------------------------------- picking a set */

typedef struct wt_pick_options {
    size_t size;
    double complete; /* 0: the set of the greatest expected TRACC; else, below 1: one that shall hold all that is
                        needed for this share of requests, and is as small as that allowed on dev, at most
                        WT_MAX_COMPLETE tools. It takes training */
    double abstain;  /* pick nothing rather than something wrong, at the price of so many of 100 requests that have a
                        tool, as a share: 0: 0.05; negative: never */
    const char *provider; /* only this provider's tools: one more of filter->providers; NULL: none more */
    int explain;          /* fill stages and matches of each hit; with "ptr" and "bundle" wt_picked.trace instead */
    const char *recipe;   /* one of wt_recipe_at that picks; NULL: "set", for which alone are complete and abstain */
    /* Of "ptr" and "bundle" alone: */
    const char *base_retriever; /* the recipe that finds the tools that are added; NULL: "auto" */
    const char *ablate;         /* ablation: leave out some of bundle, dsa, hqc and cte, with commas between */
    size_t k;                   /* tools, or past requests, of every view (docs/ptr.md), at most 32; 0: 7 */
    /* Of every recipe: */
    wt_progress_fn progress; /* heard as in wt_find_options, and about once a second while a model answers; may be
                                called from a thread of the library's */
    void *progress_context;
    unsigned time_limit_ms;  /* then it ends with WT_ETIMEOUT, when progress is next heard; 0: none */
    const wt_filter *filter; /* which tools may be found; NULL: all */
    size_t max_tokens; /* as in wt_find_options. A set that is cut so holds no promise: tracc and complete are NaN. With
                       `complete` that no promise can be kept for is no error then: the first tools that fit come out */
    const char *format;   /* the same */
    int as_typed;         /* the same */
    const char *messages; /* the same, of "set" alone, as the next two: WT_EINVAL with "ptr" and "bundle" */
    size_t messages_len;
    const char *const *have; /* [have_count] */
    size_t have_count;
} wt_pick_options;

WT_INIT(wt_pick_options_init, wt_pick_options)

typedef struct wt_picked {
    size_t len;                   /* 0 is not an error: no tool fits */
    const wt_hit *const *items;   /* likeliest first; score: the probability that the request needs it, if it
                                     needs any tool */
    double no_answer_probability; /* probability that no tool fits; NaN where there is no model to tell it by */
    double tracc;                 /* expected TRACC of the set; NaN with `complete` and for an empty set */
    double complete;              /* probability that the set holds all that is needed: options->complete, or, without
                                     that, as the chooser sees it */
    const char *recipe;           /* what found the tools that it chose from */
    const char *notice;           /* one line on what was missing, or NULL */
    double encode_ms, search_ms, total_ms;
    /* Of "ptr" and "bundle", for which no_answer_probability, tracc and complete are NaN, and the score of a tool is 1,
     * or the share of the views that hold it where it was added to what was used before: */
    const char *trace; /* with explain: every list, decision, question and answer, stage by stage, as a JSON object
                          (docs/ptr.md); else NULL */
    size_t questions;  /* put to the language model, and answered; recorded answers count */
    uint64_t prompt_tokens, completion_tokens; /* of those, where the server tells */
    double model_ms;                           /* how long the answers took, recorded ones when they were recorded */
    size_t tokens, over_budget;                /* as in wt_hits */
    const char *encoder;                       /* the same */
    const char *read_as;                       /* the same; NULL with "ptr" and "bundle" */
    const char *const *unknown_words;          /* [unknown_count] the same; none with those */
    size_t unknown_count;
    const char *last_turn; /* as in wt_hits */
    size_t kept;           /* the same; what is said of the set is said of it without those that were not picked */
} wt_picked;

WT_API void wt_picked_free(wt_picked *picked);

/* The set of tools that a request needs, no more and no less, by default without a language model
 * (docs/recommend.md).
 * Probabilities are calibrated by `whichtool train all`; without that they are those of other catalogues, and notice
 * says so. With options->complete: the set grows as far as that share of the dev requests took to have all their
 * tools, apart for tools that somebody used before and tools that nobody did (conformal prediction). On new requests
 * that share is met about, and not guaranteed: training chose other things by the same dev requests
 * (docs/recommend.md); notice says how many requests it was measured on. Where nothing was trained, dev had too few
 * requests for it, they did not find all their tools, or this request takes more than WT_MAX_COMPLETE tools, there is
 * no set but WT_ERECIPE, whose message says what share can be promised; with options->max_tokens the first tools that
 * fit, and notice says so. options->abstain goes first where something was trained: what is taken for a request that no
 * tool fits gets nothing.
 *
 * "bundle" gives the set of tools, of those that past requests used together, that is most like the request; it needs
 * `whichtool train neighbours`. "ptr" has a language model correct that set (docs/ptr.md), or find one without it where
 * nothing was trained.
 *
 * Errors: those of wt_find; WT_EINVAL (an option out of range, or of another recipe). Of "ptr" also those of its
 * language model: WT_ENETWORK (no answer, or no libcurl), WT_EINVAL (no model was named, a bad address, no key),
 * WT_ENOTFOUND (replay_path is not there, or lacks an answer), WT_EREADONLY, WT_EIO, WT_EFULL. */
WT_API int wt_pick(wt_engine *engine, const char *request, size_t request_len, const wt_pick_options *options,
                   wt_picked **out, wt_error *err);

/* ---------------------------------------------------------------- vectors */

/* Dimension D of the current encoder, or WT_EMODEL. */
WT_API int wt_dimension(wt_engine *engine, wt_error *err);

/* Unit vectors of texts, as of requests: behind the prompt that the model has for those. lens: [count] bytes. out:
 * [count, D], the caller's. Long texts are cut at the model's limit of tokens. Errors: WT_EMODEL, WT_ENOMEM. */
WT_API int wt_embed(wt_engine *engine, const char *const *texts, const size_t *lens, size_t count, float *out,
                    wt_error *err);

/* ---------------------------------------------------------------- models */

/* Where no model is named, the first is used, which comes with whichtool; where its files are not there, the second, of
 * which the first was tuned and which wt_model_pull fetches. */
#define WT_DEFAULT_MODEL "whichtool-minilm-v1"
#define WT_BASE_MODEL "all-MiniLM-L6-v2"
/* A static encoder that is part of the library: there without a file and without a network. */
#define WT_BUILT_IN_MODEL "whichtool-static-v1"

#define WT_MAX_MERGED 64 /* models of one wt_model_merge */
/* What meaning may weigh in hybrid, beside words, which weigh 1. */
#define WT_MAX_DENSE_WEIGHT 10.0

typedef struct wt_model {
    const char *name;
    const char *path;         /* directory, whether or not it is there; "": it is built in */
    const char *architecture; /* "bert"; "" when not installed */
    const char *license;
    int installed;                                    /* every file of the manifest is there with its size */
    int packed;                                       /* the packed cache is there and current */
    size_t dimension, layers, max_tokens, parameters; /* 0 when not installed */
    uint64_t bytes;
    int built_in;         /* it is part of the library */
    int included;         /* it is one of those that came with whichtool */
    const char *revision; /* of one that was pulled from the hub: its commit there, or, where the server did not tell
                             it, what was asked for; "" for others */
} wt_model;

typedef struct wt_models {
    size_t len;
    const wt_model *const *items;
} wt_models;

WT_API void wt_models_free(wt_models *models);

/* The name of the model that is used where none is named. models_dir: as in wt_open_options. Static. */
WT_API const char *wt_default_model(const char *models_dir);

/* Models of the manifests and directories under models_dir (NULL: as in wt_open_options), those that came with
 * whichtool, and the built-in one. */
WT_API int wt_model_list(const char *models_dir, wt_models **out, wt_error *err);

/* One model, by name or directory. Errors: WT_ENOTFOUND, WT_EMODEL (files unreadable). */
WT_API int wt_model_info(const char *models_dir, const char *name, wt_models **out, wt_error *err);

/* Fetches a model by its manifest, checks the SHA-256 of every file, and puts it under models_dir in one rename.
 * "ORG/NAME" or "ORG/NAME@REVISION" is a model of the Hugging Face hub ($HF_ENDPOINT in its place, where that is set),
 * which goes to models_dir/ORG/NAME: the first time its hashes are recorded, and from then on it is held to them.
 * $HF_TOKEN is sent to that host alone (docs/encoders.md, "Other models").
 * What was fetched before a stop is kept and used. A model that is there and right is left alone (returns 0;
 * 1 when it was fetched); one that came with whichtool is checked where it is. Errors: WT_ENOTFOUND (no manifest of
 * that name, no such model or revision), WT_EINVAL (no such name can be; another revision is here), WT_ENETWORK,
 * WT_EMODEL (a hash is wrong; it is gated, has no safetensors, or is of a kind that does not run), WT_ETOOLONG,
 * WT_EFULL, WT_EREADONLY, WT_ECANCELLED. Runs child processes (never a shell). */
WT_API int wt_model_pull(const char *models_dir, const char *name, wt_progress_fn progress, void *context,
                         wt_error *err);

/* Writes the packed cache that makes loading quick, unless it is current. wt_open does so by itself, and does without
 * one where none can be written; here that is the error (WT_EFULL, WT_EREADONLY, WT_EIO, ...). */
WT_API int wt_model_pack(const char *models_dir, const char *name, wt_error *err);

/* Writes the weighted mean of count models (2 to 64, names or folders) to the folder out, which may not hold a model
 * yet: fp32 weights, all else of the first one's, and in config.json below "whichtool" what was merged. They must have
 * one architecture, the same dimensions and the same tokenizer. weights: [count], each from 0 to 1 and their sum 1;
 * NULL: the plain mean. Any thread. Errors: WT_EINVAL (count, weights, or out is a model), WT_ENOTFOUND (one is not
 * there), WT_EMODEL (they do not fit together, or cannot be read), WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
WT_API int wt_model_merge(const char *models_dir, const char *const *names, const double *weights, size_t count,
                          const char *out, wt_error *err);

/* Writes a model in less room to the folder out, which may not hold a model yet: precision "int8" (a byte a number and
 * an F32 scale a row; NULL: the same) or "fp16", of matrices alone; all else as it is. What is read of it is fp32 as
 * ever. Any thread. Errors: WT_EINVAL (no such precision, or out is a model), WT_ENOTFOUND, WT_EMODEL (unreadable, or
 * holds numbers that the precision does not), WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
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
