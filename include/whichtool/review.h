/* whichtool/review.h: approves the definitions of MCP servers, and lists those that wait for approval.
 *
 *   wt_review_options_init(&options);
 *   options.trust_first = 1;
 *   options.instructions = instructions;                             the server's own instructions
 *   wt_review(engine, "github", listing, len, &options, &report, &err);   {"tools":[...]}, as received
 *   wt_list_waiting(engine, "github", &waiting, &err);               what changed, in words
 *   wt_approve(engine, "github", &approval, &report, &err);
 *
 * - Only approved definitions are in the catalogue. A new definition, or a changed one, waits in a separate table. The
 *   functions that find, list, show, export, pick or call tools never read this table.
 * - When a definition changes, the tool leaves the catalogue together with its old definition, because a call would
 *   reach the changed tool.
 * - A definition is approved as a whole, by the SHA-256 of its canonical JSON (compact, sorted keys). Annotations,
 *   outputSchema, title, icons, _meta and unknown members count as much as the description. Key order and white space
 *   do not count.
 * - The catalogue has the approved bytes. A definition that returns to its approved state is active again.
 * - Instructions, prompts, resources and resource templates are approved in the same way. They are in no catalogue.
 * - A reviewed provider is reserved for the server of its name. wt_add, wt_remove, wt_rename_provider and their
 *   variants return WT_EINVAL for it, so an import can neither add to the approved tools nor replace one.
 *
 * Any thread. docs/gateway.md gives the reasons.
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_REVIEW_H
#define WHICHTOOL_REVIEW_H

#include "add.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits that keep a server from filling the store. Definitions beyond them do not enter the catalogue either, and are
 * only counted. */
enum {
    WT_MAX_WAITING = 1000,                /* waiting definitions of one provider */
    WT_MAX_WAITING_BYTES = 16 << 20,      /* total size of these definitions */
    WT_MAX_INSTRUCTIONS_BYTES = 64 << 10, /* instructions of one server */
    WT_MAX_CHANGES = 50,                  /* changes listed per definition */
    WT_MAX_CHANGE_BYTES = 600,            /* size of one listed change */
    WT_NEW_TOOL_DAYS = 7                  /* days for which an approved tool counts as new, unless it is called */
};

/* Kinds of reviewed definitions. The numbers are stable. */
enum {
    WT_REVIEW_TOOL = 0, /* also the server's instructions, under the name "" */
    WT_REVIEW_PROMPT = 1,
    WT_REVIEW_RESOURCE = 2,
    WT_REVIEW_TEMPLATE = 3
};

/* ---------------------------------------------------------------- reserving a provider */

/* Reserves a provider for the MCP server of that name before its first list. Tools imported from elsewhere stay until
 * the first list replaces them. No-op if already reserved.
 * Errors: WT_EINVAL (not a valid name), WT_EREADONLY, WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_reserve_provider(wt_engine *engine, const char *provider, wt_error *err);

/* Ends the reservation: removes the server's tools, approvals and waiting definitions. Its next list counts as the
 * first. Returns the number of tools that left the catalogue.
 * Errors: WT_ENOTFOUND (not reserved), WT_EREADONLY, ... */
WT_API int64_t wt_release_provider(wt_engine *engine, const char *provider, wt_error *err);

/* Lists the provider's tools that may be shown and called: those in the server's latest list whose definition in the
 * catalogue is byte for byte the approved one. Empty if the provider is not reserved.
 * *out: freed with wt_tools_free. */
WT_API int wt_list_approved(wt_engine *engine, const char *provider, wt_tools **out, wt_error *err);

/* ---------------------------------------------------------------- reviewing a list */

typedef struct wt_review_options {
    size_t size;
    const char *source_name; /* scope of sync, as in wt_add_options; NULL: "mcp:PROVIDER" */
    int trust_first;         /* approve the provider's first list, even an empty one, at once as the baseline */
    const char *lock; /* [lock_len] output of wt_lock: definitions with a hash in it are approved, and all others wait,
                         regardless of earlier approvals. NULL: earlier approvals count */
    size_t lock_len;
    const char *instructions; /* the server's current instructions, or ""; NULL: unknown, keep the stored ones */
    int no_vectors;           /* do not encode now */
    wt_progress_fn progress;
    void *progress_context;
    const char *prompts; /* complete lists of the server, each a JSON array of definitions; NULL: unknown, keep the
                            stored ones. The first list of each kind has a baseline of its own */
    const char *resources;
    const char *templates;
} wt_review_options;

WT_INIT(wt_review_options_init, wt_review_options)

/* Report of wt_review and wt_approve. */
typedef struct wt_review_report {
    size_t approved;        /* tools listed, approved and in the catalogue */
    size_t returned;        /* tools among these that had changed and returned to their approved definition */
    size_t waiting_new;     /* waiting tools, never approved */
    size_t waiting_changed; /* waiting tools with another approved definition */
    size_t beyond;          /* tools beyond the limits, not even stored as waiting */
    size_t removed;         /* tools removed from the catalogue, because they changed or are no longer listed */
    size_t skipped;         /* malformed tools, as in wt_add_report */
    int instructions_wait;  /* true if the server's instructions wait */
    size_t waiting_count;   /* waiting_new + waiting_changed */
    const char *const *ids; /* [waiting_count] ids as in wt_waiting.id, without the instructions */
    size_t embedded;        /* vectors computed */
    int changed;            /* true if the catalogue changed */
    size_t issue_count;     /* issues of skipped tools, at most WT_MAX_ISSUES */
    const wt_add_issue *const *issues;
    const char *notice;    /* anything missing, such as the model, in one line; NULL if complete */
    size_t offers_waiting; /* waiting prompts, resources and templates, including those beyond the limits */
} wt_review_report;

WT_API void wt_review_report_free(wt_review_report *report);

/* Compares a server's list with the approved definitions. In one transaction:
 * - imports the listed tools with an approved definition,
 * - stores the other listed definitions as waiting, and
 * - removes tools no longer listed (like sync).
 *
 * An unapproved definition is never in the catalogue, not even if the process is killed. Vectors and index are updated
 * afterwards if the catalogue changed.
 *
 * listing: {"tools":[...]}, or pages of it, as received from the server; NULL: unknown, keep the stored tools. Tools
 * that another source brought into the provider leave the catalogue.
 *
 * Errors: WT_EINVAL (empty or invalid provider), WT_EFORMAT (truncated or not a listing; malformed lock), those of
 * wt_add. With WT_EINVAL and WT_EFORMAT nothing changes. With WT_ECANCELLED after the transaction, *out is set. */
WT_API int wt_review(wt_engine *engine, const char *provider, const char *listing, size_t len,
                     const wt_review_options *options, wt_review_report **out, wt_error *err);

/* ---------------------------------------------------------------- waiting definitions */

/* Reasons for waiting. The numbers are stable. */
enum {
    WT_WAITING_NEW = 1,    /* no definition of that name was ever approved */
    WT_WAITING_CHANGED = 2 /* a different definition is approved */
};

/* A waiting definition. Except for id and changes, the texts are the server's own and may be hostile. */
typedef struct wt_waiting {
    const char *id;       /* id as in wt_tool; for instructions, the name of the provider */
    const char *provider; /* provider as given to wt_review */
    const char *name;     /* name of the tool or prompt, URI of the resource, or URI template; "" for instructions */
    int kind;             /* WT_WAITING_... */
    int64_t since;        /* time when this version was first seen, seconds since 1970 */
    const char *offered;  /* waiting definition or instructions */
    size_t offered_len;
    const char *sha256; /* SHA-256 of its canonical JSON, or of the bytes of the instructions, 64 hexadecimal digits */
    const char *approved; /* approved definition; NULL if never approved */
    size_t approved_len;
    const char *approved_sha256; /* its SHA-256, or NULL */
    int64_t approved_since;      /* time of the approval, seconds since 1970; 0 if never approved */
    size_t change_count;
    const char *const
        *changes;        /* [change_count] changes, one line of plain text each, with invisible characters spelled
                            out. For a new definition, its content */
    size_t more_changes; /* further changes that are not listed */
    int what;            /* WT_REVIEW_... */
} wt_waiting;

typedef struct wt_waiting_list {
    size_t len;
    const wt_waiting *const *items; /* [len] sorted by provider, what and name; instructions first */
} wt_waiting_list;

WT_API void wt_waiting_list_free(wt_waiting_list *list);

/* Lists the waiting definitions of one provider, or of all (NULL). An empty list is not an error.
 * Errors: WT_ENOTFOUND (the provider was never reviewed), WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_list_waiting(wt_engine *engine, const char *provider, wt_waiting_list **out, wt_error *err);

/* ---------------------------------------------------------------- approving */

typedef struct wt_approve_options {
    size_t size;
    size_t name_count;        /* definitions to approve */
    const char *const *names; /* [name_count] names as in wt_waiting.name; "" for the instructions */
    const char *const
        *sha256s;   /* [name_count] wt_waiting.sha256 of the version seen by the approver; the approval holds
                       for that version only. NULL, or NULL for an item: approve the version that waits now */
    int all;        /* approve all waiting definitions of the provider, and ignore names */
    int no_vectors; /* do not encode now */
    wt_progress_fn progress;
    void *progress_context;
    const int *whats; /* [name_count] WT_REVIEW_... of each name; NULL: all are tools */
} wt_approve_options;

WT_INIT(wt_approve_options_init, wt_approve_options)

/* Approves waiting definitions and moves the tools among them into the catalogue, all or nothing, in one transaction.
 * The report counts the tools approved by this call.
 *
 * Newly approved tools of a provider together take at most one place of a list of hits. A tool counts as newly approved
 * until a usage of it is recorded or WT_NEW_TOOL_DAYS have passed.
 *
 * Errors:
 * - WT_ENOTFOUND: no such waiting definition.
 * - WT_EINVAL: the waiting version is not the one that was seen, or neither names nor all are given.
 * - WT_EREADONLY, and those of wt_add. With WT_ECANCELLED after the transaction, *out is set. */
WT_API int wt_approve(wt_engine *engine, const char *provider, const wt_approve_options *options,
                      wt_review_report **out, wt_error *err);

/* Returns the server's instructions if the current ones are approved, else "". *out: freed with wt_string_free.
 * Errors: WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_approved_instructions(wt_engine *engine, const char *provider, char **out, wt_error *err);

/* Returns the approved definitions that the server currently lists, as a JSON array sorted by name.
 *
 * what: WT_REVIEW_PROMPT, WT_REVIEW_RESOURCE or WT_REVIEW_TEMPLATE. *out: freed with wt_string_free.
 * Errors: WT_EINVAL (any other value of what), WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_approved_offers(wt_engine *engine, const char *provider, int what, char **out, wt_error *err);

/* Writes pins of the approved definitions of one provider, or of all (NULL), for wt_review_options.lock. Keep the file
 * under version control with the configuration of the servers.
 *
 * The lines are sorted by provider, kind and name. Each tool has a line as from wt_audit_pins. The instructions of a
 * server, and each prompt, resource and template, also have a line. *out: freed with wt_string_free.
 * Errors: WT_ENOTFOUND (the provider was never reviewed), WT_ESTORE, ... */
WT_API int wt_lock(wt_engine *engine, const char *provider, char **out, wt_error *err);

/* ---------------------------------------------------------------- preview */

enum {
    WT_MAX_PREVIEW_REQUESTS = 300, /* requests searched without and with the waiting tools */
    WT_PREVIEW_RECORDED = 20,      /* minimum recorded requests; with fewer, requests are made from descriptions */
    WT_MAX_PREVIEW_TOOLS = 200000  /* maximum tools of the copied catalogue */
};

typedef struct wt_preview_options {
    size_t size;
    size_t name_count;        /* 0: all waiting tools of the provider */
    const char *const *names; /* [name_count] waiting tools, as in wt_waiting.name */
    wt_progress_fn progress;
    void *progress_context;
} wt_preview_options;

WT_INIT(wt_preview_options_init, wt_preview_options)

/* Shares from 0 to 1. "First places" are the first 5 hits of requests for other providers' tools, except the tools
 * known to be needed. */
typedef struct wt_preview {
    size_t waiting;     /* waiting tools examined */
    size_t requests;    /* requests searched */
    int recorded;       /* true if the requests were recorded; 0 if made from descriptions of other providers' tools */
    double places_now;  /* share of first places taken by the provider's tools */
    double places_then; /* the same with the waiting tools */
    double tools_now;   /* the provider's share of the tools in the catalogue */
    double tools_then;  /* the same with the waiting tools */
    int far;            /* true if places_then is far above tools_then, as in a flood (docs/audit.md, "capture") */
    const char *sentence; /* summary for people */
    const char *recipe;   /* recipe of the searches */
} wt_preview;

WT_API void wt_preview_free(wt_preview *preview);

/* Predicts the share of first places that waiting tools would take if approved. Copies the catalogue into memory and
 * searches requests without and with the tools. The requests are the latest recorded requests, or descriptions of other
 * providers' tools if there are too few of these. Leaves the store unchanged. Takes seconds.
 *
 * Errors: WT_ENOTFOUND (no such waiting tools), WT_EEMPTY (no requests: no tool of another provider has a description),
 * WT_ETOOLONG (more than WT_MAX_PREVIEW_TOOLS), those of wt_add and wt_find. */
WT_API int wt_preview_waiting(wt_engine *engine, const char *provider, const wt_preview_options *options,
                              wt_preview **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
