/* service.h: an MCP server without its wires: what is served, and who holds it together. It speaks the legacy revisions
 * (2025-11-25 and older: `initialize`, sessions) and the modern one (2026-07-28: every request stands for itself), the
 * era of a client seen by each request. stdio.h and streamable_http.h carry its messages.
 *
 * What is served is a struct of functions, so that a table of four tools (table.h) and ten thousand that come and go
 * are the same to it. Each function gets the call that it answers (call.h). They run on many threads at once.
 *
 * What waits for others (a client that is asked, a server behind this one) says so and runs on a thread that does
 * nothing else meanwhile, of which there are MCP_WAITING_MAX; all else runs where the request was read, and must be
 * quick. */
#ifndef WT_SERVE_MCP_SERVICE_H
#define WT_SERVE_MCP_SERVICE_H

#include "base/error.h"
#include "serve/mcp/call.h"
#include "serve/mcp/input.h"

enum {
    MCP_MESSAGE_BYTES_MAX = 4 << 20,  /* of one message of a client */
    MCP_WAITING_MAX = 512,            /* calls that wait at once, each on a thread; shared by holders (shares.h) */
    MCP_SESSIONS_MAX = 20000,         /* of legacy clients over HTTP, shared by principals */
    MCP_SESSION_IDLE_MS = 30 * 60000, /* then a session is forgotten */
    MCP_STATE_MS = 5 * 60000,         /* that a client may take to answer what a call asks it, in both eras */
    MCP_STATE_BYTES_MAX = 64 << 10,   /* of a requestState, sealed: what a call keeps, and all answers so far */
    MCP_ROUNDS_MAX = 10,              /* of questions in one call */
    MCP_QUESTIONS_MAX = 16,           /* in one round */
    MCP_PAGE_ITEMS = 1000,            /* of a list; the rest comes by its cursor */
    MCP_PAGE_BYTES = 1 << 20,         /* likewise; one item alone may be larger */
    MCP_NAME_BYTES_MAX = 4096,        /* of a tool's or prompt's name, and of a URI, that is asked for */
    MCP_LISTENERS_MAX = 20000,        /* open streams of change notices, shared by holders */
    MCP_SUBSCRIPTIONS_MAX = 1000,     /* resources that one client watches */
    MCP_KEEP_ALIVE_MS = 15000,        /* a stream that says nothing says a comment */
    MCP_RUNNING_MAX = 1024,           /* requests of one client that run at once */
};

/* A tool that was found by its name. */
struct mcp_tool {
    const struct mcp_input *input; /* arguments are checked by it before `run`; NULL: not here */
    bool repairs;                  /* arguments that do not fit are repaired without loss, and single values wrapped */
    bool mirrors_only;             /* only headers that repeat arguments are checked here; `run` checks the rest */
    bool refuses_nul;              /* `run` reads arguments as C strings: NUL in them is refused */
    bool waits;
    void *handle; /* the finder's own, as is number: for `run`, and for `drop` afterwards */
    size_t number;
};

/* What is served. Strings, functions and contexts live as long as the service. A group whose `list` is NULL is not
 * offered at all, and neither are completions or templates without their function.
 *
 * Lists: all items behind the one whose key is `after` ("": from the beginning), in an order that stays the same
 * between changes and for all connections, one wt__mcp_add_item each until it says that the page is full. An `after`
 * that was never a key: wt__mcp_refuse_cursor. A list may depend on the principal, and is then cached privately.
 *
 * What has no such name or URI: wt__mcp_refuse_unknown. */
struct mcp_features {
    const char *name, *version;
    const char *title, *instructions; /* NULL: none */
    unsigned ttl_ms;                  /* how long lists, and resources that say nothing else, may be kept */
    bool private_lists;               /* they depend on who asks: cacheScope is private */
    bool changes;                     /* the lists change while it runs: wt__mcp_service_changed will tell */
    void *context;                    /* the first argument of every function */
    const char *store_path;           /* taken out of errors before clients are told of them; NULL: none */
    /* An error of which a client is not told everything (wire/failure.h), for a log. NULL: no log wants it. */
    void (*failed)(void *context, const wt_error *err);
    /* Instructions that change, appended for each client that opens; in place of those above. NULL: those above. */
    void (*write_instructions)(void *context, const char *principal, struct buffer *out);

    struct {
        void (*list)(void *context, struct mcp_call *call, struct str after);
        /* 0, WT_ENOTFOUND, or another error, which the client is told. */
        int (*find)(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err);
        void (*run)(void *context, struct mcp_call *call, const struct mcp_tool *tool);
        void (*drop)(void *context, const struct mcp_tool *tool); /* NULL: nothing to drop */
    } tools;
    struct {
        void (*list)(void *context, struct mcp_call *call, struct str after);
        void (*templates)(void *context, struct mcp_call *call, struct str after);
        void (*read)(void *context, struct mcp_call *call, struct str uri);
        bool waits;   /* to read one */
        bool watched; /* clients may subscribe: wt__mcp_service_resource_updated will tell */
        /* The call's client begins to watch a resource, which others may watch already; it must be quick. False: no
         * notices of the resource will come, and `why` is a sentence. NULL: the client hears of all resources. */
        bool (*watch)(void *context, struct mcp_call *call, struct str uri, wt_error *why);
    } resources;
    struct {
        void (*list)(void *context, struct mcp_call *call, struct str after);
        void (*get)(void *context, struct mcp_call *call, struct str name);
        bool waits;
    } prompts;
    struct {
        void (*complete)(void *context, struct mcp_call *call, const struct mcp_completion *what);
        bool waits;
    } completions;

    /* A request is over; for logs, audits and figures. NULL: nobody wants to know. */
    void (*record)(void *context, const struct mcp_record *record);
};

struct mcp_service_options {
    const unsigned char *key; /* [32], which seals requestState, the same for all replicas; NULL: a random one */
    double (*now_ms)(void);   /* NULL: wt__now_ms */
    unsigned waiting_max;     /* 0: MCP_WAITING_MAX */
    size_t sessions_max;      /* 0: MCP_SESSIONS_MAX */
    size_t page_items;        /* 0: MCP_PAGE_ITEMS */
};

struct mcp_service;

/* options: NULL for the defaults. features is copied, its strings and tables are not. WT_EINVAL (features that lack a
 * function), WT_EIO (no random numbers), WT_ENOMEM. */
int wt__mcp_service_open(struct mcp_service **out, const struct mcp_features *features,
                         const struct mcp_service_options *options, wt_error *err);

/* What clients are told, each in its way. From any thread. */
enum mcp_change { MCP_TOOLS_CHANGED, MCP_RESOURCES_CHANGED, MCP_PROMPTS_CHANGED };
void wt__mcp_service_changed(struct mcp_service *service, enum mcp_change change);
void wt__mcp_service_resource_updated(struct mcp_service *service, struct str uri);

/* Ends all streams of notices with their final word and cancels what waits; new requests are refused. For a graceful
 * end, before the HTTP server stops. From any thread, not from a signal handler. */
void wt__mcp_service_stop(struct mcp_service *service);

/* Stops it and waits for the calls that run. Transports are closed before. NULL is a no-op. */
void wt__mcp_service_close(struct mcp_service *service);

#endif
