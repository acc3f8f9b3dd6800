/* whichtool/usage.h: records past requests with the tools that they used.
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_USAGE_H
#define WHICHTOOL_USAGE_H

#include "add.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A usage is a past request with the tools that it used and its outcome. Usages improve search: tools are then also
 * found by the requests that they served, and not only by their descriptions (see wt_learn_usage).
 *
 * Requests: stored word for word, in the store file only.
 *
 * Outcome: a failed usage is stored and listed, but not learned from.
 *
 * Times: seconds since 1970, UTC.
 *
 * Removed tools: usages of a removed tool stay. They count again when a tool with the same id is added.
 *
 * Client: any name that the caller chooses, such as an account, a session or a hash. The name is stored as given, so do
 * not pass personal names. Without a client, a usage recorded twice counts twice. With a client, a tool counts once per
 * client and request, however often the client repeats the request.
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
 * Returns the number of names that no tool has. These names are recorded, too, and count once a tool with this id is
 * added.
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
 * is recorded if another of its tools is known. A malformed usage, or one without a known tool, is reported and
 * skipped.
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

/* Returns the number of usages since the last training if it is time to remind a person to train, else 0. A reminder is
 * due if the store has at least ten usages, and at least twice as many as at the last training and as at the last
 * reminder. Returns 0 for a store that is in memory or read-only.
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

#ifdef __cplusplus
}
#endif
#endif
