/* whichtool/engine.h: opens a store of tools and looks up its contents.
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_ENGINE_H
#define WHICHTOOL_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, in addition to those of error.h and validator.h. Input beyond a limit is WT_ETOOLONG, unless the function
 * says otherwise. An import of many tools skips a tool beyond a limit. The limits are constants so that a binding can
 * read them. */
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
    WT_MAX_CHAT_AT_ONCE = 64,         /* concurrent questions to a language model */
    WT_REQUEST_CACHE = 512,           /* default number of recent texts whose vectors are kept */
    WT_MAX_REQUEST_CACHE = 1000000    /* maximum of this number */
};

/* ---------------------------------------------------------------- progress */

/* Progress callback of long operations: called at the start and end of a phase, and otherwise at most about ten times a
 * second. Calls come from one thread at a time, which may be a thread of the library.
 *
 * phase: static string ("reading", "encoding", ...). total: 0 if unknown.
 *
 * Return non-zero to stop the operation. It then ends soon with WT_ECANCELLED and leaves all data consistent. */
typedef int (*wt_progress_fn)(void *context, const char *phase, uint64_t done, uint64_t total);

/* Cancels operations from any thread, without a callback of the caller:
 *
 *   wt_canceller_new(&canceller, NULL, NULL, &err);
 *   options.progress = wt_canceller_progress;
 *   options.progress_context = canceller;
 *   wt_find(engine, request, len, &options, &hits, &err);    in one thread
 *   wt_canceller_cancel(canceller);                          in another: wt_find returns WT_ECANCELLED
 *
 * Several operations may share a canceller. */
typedef struct wt_canceller wt_canceller;

/* Creates a canceller. progress: callback to forward to, with its context; may be NULL. Errors: WT_ENOMEM. */
WT_API int wt_canceller_new(wt_canceller **out, wt_progress_fn progress, void *context, wt_error *err);

/* Frees a canceller that no operation uses; NULL is a no-op. */
WT_API void wt_canceller_free(wt_canceller *canceller);

/* Ends all current and future operations that use the canceller. Each ends when it next reports progress. Any thread;
 * safe in a signal handler. */
WT_API void wt_canceller_cancel(wt_canceller *canceller);

/* The progress callback to pass with a canceller as its context. */
WT_API int wt_canceller_progress(void *canceller, const char *phase, uint64_t done, uint64_t total);

/* Kinds of remarks in a `notice`. A result's notice_codes is the bitwise or of the kinds that its notice mentions. */
enum {
    WT_NOTICE_NO_ENCODER = 1 << 0,       /* the encoder is missing or unusable: search by words only */
    WT_NOTICE_NO_VECTORS = 1 << 1,       /* some tools or usages have no current vector yet */
    WT_NOTICE_UNUSED_MODEL = 1 << 2,     /* a trained model does not fit and is not used */
    WT_NOTICE_UNCALIBRATED = 1 << 3,     /* probabilities come from other catalogues, since this one is not trained */
    WT_NOTICE_UNFAMILIAR = 1 << 4,       /* the request is unlike those of the training, so the training is not used */
    WT_NOTICE_LANGUAGE = 1 << 5,         /* the request is in a language that the encoder does not read */
    WT_NOTICE_FILTER = 1 << 6,           /* a name or pattern of the filter has no tool */
    WT_NOTICE_OVER_BUDGET = 1 << 7,      /* hits omitted because of max_tokens */
    WT_NOTICE_CONVERSATION = 1 << 8,     /* messages or names of loaded tools were skipped */
    WT_NOTICE_NEED_UNMET = 1 << 9,       /* no tool was found for a part of the request */
    WT_NOTICE_COMPLETENESS = 1 << 10,    /* basis of a completeness target, or why it is not met */
    WT_NOTICE_NO_RECORDED_USE = 1 << 11, /* the recipe lacks past use, or ignores part of it */
    WT_NOTICE_STAND_IN = 1 << 12,        /* an evaluation's stand-in answered, not a language model */
    WT_NOTICE_ANSWER_UNUSABLE = 1 << 13, /* the language model's answer was unusable */
    WT_NOTICE_SCHEMA = 1 << 14,          /* the tool's schema cannot validate arguments */
    WT_NOTICE_INCOMPLETE_SOURCE = 1 << 15, /* the source was not read to its end, so sync removed nothing */
    WT_NOTICE_KEPT = 1 << 16,              /* tools kept by sync because the source has them in a broken form */
    WT_NOTICE_COLLISION = 1 << 17,         /* tools imported under another name */
    WT_NOTICE_EMPTY_SOURCE = 1 << 18,      /* the source has no tools */
    WT_NOTICE_ABSENT_SERVICE = 1 << 19     /* the request names a service that no tool mentions */
};

/* Returns the name of one WT_NOTICE_... code, such as "no_encoder"; NULL if unknown. Static. */
WT_API const char *wt_notice_name(unsigned code);

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
    unsigned threads;    /* threads for parallel work, such as batch encoding; 0: one per processor */
    unsigned busy_ms;    /* maximum wait for another writer, in milliseconds; 0: 10,000 */
    const char *trained; /* folder of the models from wt_train; NULL: STORE-models; "": no trained models */
    /* Language model for the recipe "ptr", wt_call and wt_generate_... (docs/language-model.md). Opening the engine
     * sends no request. */
    const char *chat_url;    /* base URL of a server with OpenAI's chat completions API, such as
                                "http://127.0.0.1:8080/v1"; NULL: $OPENAI_BASE_URL, else https://api.openai.com/v1 */
    const char *chat_model;  /* name of the model on the server */
    const char *chat_key;    /* API key; NULL: $OPENAI_API_KEY, or no key if unset; "": no key */
    const char *record_path; /* file of recorded answers: looked up first, new answers appended; NULL: not recorded.
                                Excludes replay_path */
    const char *replay_path; /* file of recorded answers used instead of a server; NULL: ask the server */
    unsigned chat_at_once;   /* concurrent questions of wt_generate_..., at most WT_MAX_CHAT_AT_ONCE; 0: 4. Does not
                                change the output */
    /* Maximum number of recent requests and sub-queries whose vectors are kept, up to WT_MAX_REQUEST_CACHE. 0:
     * WT_REQUEST_CACHE. -1: keep no vectors. A repeated request is then not encoded again; the results are the same. A
     * vector of the default model takes 1.5 KB. The engine keeps hashes of the texts, not the texts. */
    int request_cache;
} wt_open_options;

WT_INIT(wt_open_options_init, wt_open_options)

/* Opens the store at path. Creates it and its parent folders if missing, unless read_only.
 *
 * path: borrowed for the call. ":memory:" opens a private store that ends with wt_close. A URL
 * postgres://USER@HOST/DATABASE names a store in PostgreSQL, which needs libpq (docs/postgresql.md).
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

/* Fills *out, which the caller has initialised. Opens the encoder, so the first call may take long. wt_get_status does
 * not open the encoder. Errors: WT_EINVAL (out lacks its _init), WT_ESTORE, WT_EBUSY. */
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
    const char *store; /* path, or URL without the password */
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
 * bounds of the index. Changes nothing. A missing index is valid. Any thread; calls that change the store wait.
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

#ifdef __cplusplus
}
#endif
#endif
