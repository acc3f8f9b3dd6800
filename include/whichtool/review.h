/* whichtool/review.h: which definitions of an MCP server somebody approved of, and what waits for that.
 *
 *   wt_review_options_init(&options);
 *   options.trust_first = 1;
 *   options.instructions = instructions;                             what the server says of itself
 *   wt_review(engine, "github", listing, len, &options, &report, &err);   {"tools":[...]}, as it came
 *   wt_list_waiting(engine, "github", &waiting, &err);               what changed, in words
 *   wt_approve(engine, "github", &approval, &report, &err);
 *
 * What is not approved is not in the catalogue: a definition that is new, or is not what was approved any more, waits
 * in a table of its own, which nothing that finds, lists, shows, exports, picks or calls reads. A tool whose definition
 * changed leaves the catalogue with its old definition, too, since that is not what a call would meet.
 *
 * A definition is approved as a whole, by the SHA-256 of its canonical JSON (compact, keys sorted): annotations,
 * outputSchema, title, icons, _meta and members that nobody knows count as the description does; the order of keys and
 * white space do not. What is in the catalogue are the bytes that were approved. A definition that comes back to what
 * was approved is active again. A server's instructions, prompts, resources and resource templates are approved in the
 * same way; they are in no catalogue.
 *
 * A provider that was reviewed is reserved for the server of its name: wt_add, wt_remove, wt_rename_provider and their
 * variants return WT_EINVAL for it. So an import can neither add a tool to the approved ones nor replace one.
 *
 * The conventions are those of whichtool.h, which includes this header. From any thread. docs/gateway.md has the why.
 */
#ifndef WHICHTOOL_REVIEW_H
#define WHICHTOOL_REVIEW_H

#include "../whichtool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits. A server may make others wait for it, but not fill the store: what is beyond these is not in the catalogue
 * either, and is counted alone. */
enum {
    WT_MAX_WAITING = 1000,                /* definitions of one provider that wait */
    WT_MAX_WAITING_BYTES = 16 << 20,      /* of all of them together */
    WT_MAX_INSTRUCTIONS_BYTES = 64 << 10, /* of one server's instructions */
    WT_MAX_CHANGES = 50,                  /* sentences of one definition's changes */
    WT_MAX_CHANGE_BYTES = 600,            /* of one of them */
    WT_NEW_TOOL_DAYS = 7                  /* that a tool counts as new after it was approved, unless it is called */
};

/* Kinds of definitions that are reviewed. Their numbers never change. */
enum {
    WT_REVIEW_TOOL = 0, /* with the server's instructions, whose name is "" */
    WT_REVIEW_PROMPT = 1,
    WT_REVIEW_RESOURCE = 2,
    WT_REVIEW_TEMPLATE = 3
};

/* ---------------------------------------------------------------- whose provider it is */

/* Reserves a provider for the MCP server of that name before it has listed anything. Tools that others imported into it
 * stay in the catalogue until the server's first list replaces them. Reserving it again does nothing.
 * Errors: WT_EINVAL (no provider can have that name), WT_EREADONLY, WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_reserve_provider(wt_engine *engine, const char *provider, wt_error *err);

/* Ends the reservation: forgets the server with its tools, its approvals and what waits. Its next list is a first one.
 * Returns how many tools left the catalogue. Errors: WT_ENOTFOUND (the provider is not reserved), WT_EREADONLY, ... */
WT_API int64_t wt_release_provider(wt_engine *engine, const char *provider, wt_error *err);

/* The provider's tools that may be shown and called: those of its server's last list whose definitions in the catalogue
 * are byte for byte what was approved. A provider that is not reserved has none. *out ends with wt_tools_free. */
WT_API int wt_list_approved(wt_engine *engine, const char *provider, wt_tools **out, wt_error *err);

/* ---------------------------------------------------------------- what a server lists */

typedef struct wt_review_options {
    size_t size;
    const char *source_name; /* the scope of sync, as in wt_add_options; NULL: "mcp:PROVIDER" */
    int trust_first;         /* the first list that a provider ever gives is approved at once: the baseline. An empty
                                list is one, too */
    const char *lock;        /* [lock_len] pins, as wt_lock gives them: what they name by its hash is approved and all
                                else waits, whatever was approved before; NULL: what was approved counts */
    size_t lock_len;
    const char *instructions; /* what the server says of itself now; "": nothing; NULL: not told, and left as it was */
    int no_vectors;           /* do not encode now */
    wt_progress_fn progress;
    void *progress_context;
    const char *prompts; /* all that the server lists of them, as JSON arrays of their definitions; NULL: not told, and
                            left as they were. The first list of each is a baseline of its own */
    const char *resources;
    const char *templates;
} wt_review_options;

WT_INIT(wt_review_options_init, wt_review_options)

typedef struct wt_review_report {
    size_t approved;        /* tools that are listed, approved and in the catalogue now */
    size_t returned;        /* of those, that had changed and are what was approved again */
    size_t waiting_new;     /* tools that wait and never were approved */
    size_t waiting_changed; /* tools that wait and are not what was approved */
    size_t beyond;          /* tools beyond the limits: they do not even wait */
    size_t removed;         /* tools that left the catalogue: changed, or not listed any more */
    size_t skipped;         /* listed tools that no catalogue can take, as of wt_add_report */
    int instructions_wait;  /* so do the server's instructions */
    size_t waiting_count;   /* of both kinds */
    const char *const *ids; /* [waiting_count] as in wt_waiting.id; without the instructions */
    size_t embedded;        /* vectors made */
    int changed;            /* the catalogue is another one than before */
    size_t issue_count;     /* why tools were skipped: the first WT_MAX_ISSUES */
    const wt_add_issue *const *issues;
    const char *notice;    /* one line on what is missing (no model), or NULL */
    size_t offers_waiting; /* prompts, resources and templates that wait, or are beyond the limits */
} wt_review_report;

WT_API void wt_review_report_free(wt_review_report *report);

/* Takes what a server lists now, compares it with what was approved of the provider, imports what is approved (those
 * that are not listed any more go, as by sync) and leaves the others waiting, all in one transaction: at no moment,
 * whatever ends the process, is in the catalogue what is not approved. Then vectors, and the index, where anything
 * changed. listing: {"tools":[...]}, or pages of such, the bytes as the server wrote them; NULL: the tools are not
 * told, and are left as they were. Tools that another source brought into the provider leave the catalogue. Errors:
 * WT_EINVAL (provider is empty), WT_EFORMAT (the listing breaks off, or is none; the lock is no file of pins): nothing
 * was changed then; those of wt_add. With WT_ECANCELLED after the transaction, *out is set. */
WT_API int wt_review(wt_engine *engine, const char *provider, const char *listing, size_t len,
                     const wt_review_options *options, wt_review_report **out, wt_error *err);

/* ---------------------------------------------------------------- what waits */

/* What waits, and why. The numbers stay. */
enum {
    WT_WAITING_NEW = 1,    /* nothing of that name was ever approved */
    WT_WAITING_CHANGED = 2 /* something else was */
};

/* Texts are the server's, but for id and changes: hostile, as they came. */
typedef struct wt_waiting {
    const char *id;       /* as in wt_tool; the provider's name, of its instructions */
    const char *provider; /* as wt_review was given it */
    const char *name;     /* of the tool or prompt, the resource's URI, the template; "": the server's instructions */
    int kind;             /* WT_WAITING_... */
    int64_t since;        /* when it was first seen like this, seconds since 1970 */
    const char *offered;  /* the definition, or the instructions, that waits */
    size_t offered_len;
    const char *sha256;   /* of its canonical JSON (of instructions: of their bytes), 64 hexadecimal digits */
    const char *approved; /* what was approved; NULL: nothing ever was */
    size_t approved_len;
    const char *approved_sha256; /* of that; NULL */
    int64_t approved_since;      /* 0: never */
    size_t change_count;
    const char *const *changes; /* [change_count] what changed, a line each: plain text in which every character that is
                                   not seen is spelled out. Of a new one: what it says */
    size_t more_changes;        /* that are not told: at most WT_MAX_CHANGES are */
    int what;                   /* WT_REVIEW_... */
} wt_waiting;

typedef struct wt_waiting_list {
    size_t len;
    const wt_waiting *const *items; /* [len] by provider, what it is and name; instructions first */
} wt_waiting_list;

WT_API void wt_waiting_list_free(wt_waiting_list *list);

/* What waits, of one provider or (NULL) of all. None is no error. Errors: WT_ENOTFOUND (nothing of that provider was
 * ever reviewed), WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_list_waiting(wt_engine *engine, const char *provider, wt_waiting_list **out, wt_error *err);

/* ---------------------------------------------------------------- approving */

typedef struct wt_approve_options {
    size_t size;
    size_t name_count;          /* tools to approve */
    const char *const *names;   /* [name_count] their names, as in wt_waiting.name; "": the instructions */
    const char *const *sha256s; /* [name_count] what was shown of each, as in wt_waiting.sha256: the approval is for
                                   that alone; NULL, or NULL for one of them: for whatever waits now */
    int all;                    /* everything of the provider that waits, in place of names */
    int no_vectors;             /* do not encode now */
    wt_progress_fn progress;
    void *progress_context;
    const int *whats; /* [name_count] what each name is of, WT_REVIEW_...; NULL: all are tools' */
} wt_approve_options;

WT_INIT(wt_approve_options_init, wt_approve_options)

/* Moves what waits into the catalogue, all of it or nothing, in one transaction; the report tells how many tools are
 * approved by this call (approved), and what still waits. A tool that is approved so takes at most one place of a list
 * of hits, together with other such tools of its provider, until a usage of it was recorded, or WT_NEW_TOOL_DAYS have
 * passed. Errors: WT_ENOTFOUND (nothing of that name waits), WT_EINVAL (what waits is not what was shown any more; nor
 * names nor all), WT_EREADONLY, those of wt_add. With WT_ECANCELLED after the transaction, *out is set. */
WT_API int wt_approve(wt_engine *engine, const char *provider, const wt_approve_options *options,
                      wt_review_report **out, wt_error *err);

/* The instructions of the provider's server, where what it says now is what was approved; else "". *out ends with
 * wt_string_free. Errors: WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_approved_instructions(wt_engine *engine, const char *provider, char **out, wt_error *err);

/* The definitions of a provider's prompts, resources or templates (what: WT_REVIEW_...) that its server lists now and
 * that were approved, as a JSON array in order of their names. *out ends with wt_string_free. Errors: WT_EINVAL (what
 * is none of these), WT_ESTORE, WT_EBUSY, WT_ENOMEM. */
WT_API int wt_approved_offers(wt_engine *engine, const char *provider, int what, char **out, wt_error *err);

/* Pins of what is approved, of one provider or (NULL) of all: a file for wt_review_options.lock, to be kept beside what
 * uses the servers. A line a tool, sorted, as wt_audit_pins writes them, and one for each server's instructions,
 * prompt, resource and template. *out ends with wt_string_free. Errors: WT_ENOTFOUND (nothing of that provider was ever
 * reviewed), WT_ESTORE, ... */
WT_API int wt_lock(wt_engine *engine, const char *provider, char **out, wt_error *err);

/* ---------------------------------------------------------------- what it would take */

enum {
    WT_MAX_PREVIEW_REQUESTS = 300, /* requests that are searched, and searched again */
    WT_PREVIEW_RECORDED = 20,      /* recorded requests from which on those are searched, and none are made */
    WT_MAX_PREVIEW_TOOLS = 200000  /* of a catalogue that is copied for it */
};

typedef struct wt_preview_options {
    size_t size;
    size_t name_count;        /* 0: all that waits of the provider */
    const char *const *names; /* [name_count] tools that wait, as in wt_waiting.name */
    wt_progress_fn progress;
    void *progress_context;
} wt_preview_options;

WT_INIT(wt_preview_options_init, wt_preview_options)

/* Shares are of 1. Of places: those among the first 5 of the requests that are not the provider's own, but for the
 * places of tools that a request is known to be for. */
typedef struct wt_preview {
    size_t waiting;     /* tools that wait and were looked at */
    size_t requests;    /* that were searched */
    int recorded;       /* they were recorded, the newest ones; 0: made of the descriptions of others' tools */
    double places_now;  /* share of the first places that the provider's tools take */
    double places_then; /* with what waits */
    double tools_now;   /* the provider's share of the catalogue's tools */
    double tools_then;
    int far;              /* places_then is far beyond tools_then, as a flood's would be (docs/audit.md, "capture") */
    const char *sentence; /* all that, for people */
    const char *recipe;   /* that searched */
} wt_preview;

WT_API void wt_preview_free(wt_preview *preview);

/* What tools that wait would take of others, were they approved: the newest recorded requests, or, where there are too
 * few, the descriptions of other tools, are searched in a private copy of the catalogue, without and with them. Nothing
 * is changed. Takes seconds: the copy, and two searches a request. Errors: WT_ENOTFOUND (nothing of that provider, or
 * by that name, waits), WT_EEMPTY (no requests can be made: there are no other tools), WT_ETOOLONG (over
 * WT_MAX_PREVIEW_TOOLS), those of wt_add and wt_find. */
WT_API int wt_preview_waiting(wt_engine *engine, const char *provider, const wt_preview_options *options,
                              wt_preview **out, wt_error *err);

#ifdef __cplusplus
}
#endif

#endif
