/* service.h: an MCP server without its transport. transport.h has the transports: pipes and streamable HTTP. The server
 * detects the era of each request:
 * - legacy: revision 2025-11-25 or older, with `initialize` and sessions
 * - modern: revision 2026-07-28, with stateless requests
 *
 * The features are a struct of functions, so that a table of four tools and ten thousand changing tools look the same
 * to the service. Each function gets the call that it answers (call.h). The functions run on many threads at once.
 *
 * Functions that wait for a client's answer or an upstream server must set `waits`. They run on separate threads, at
 * most MCP_WAITING_MAX at once. All other functions run on the transport's threads, and must be quick. */
#ifndef WT_SERVE_MCP_SERVICE_H
#define WT_SERVE_MCP_SERVICE_H

#include "base/error.h"
#include "serve/mcp/call.h"
#include "serve/mcp/input.h"

enum {
    MCP_MESSAGE_BYTES_MAX = 4 << 20,  /* maximum size of a client's message */
    MCP_WAITING_MAX = 512,            /* waiting calls at once, each on a thread; shared by holders (shares.h) */
    MCP_SESSIONS_MAX = 20000,         /* legacy sessions over HTTP, shared by principals */
    MCP_SESSION_IDLE_MS = 30 * 60000, /* idle time before a session ends */
    MCP_STATE_MS = 5 * 60000,         /* time limit for a client to answer a question, in both eras */
    MCP_STATE_BYTES_MAX = 64 << 10, /* maximum size of a sealed requestState: the call's state and all answers so far */
    MCP_ROUNDS_MAX = 10,            /* rounds of questions in one call */
    MCP_QUESTIONS_MAX = 16,         /* questions in one round */
    MCP_PAGE_ITEMS = 1000,          /* items on a page of a list */
    MCP_PAGE_BYTES = 1 << 20,       /* size of a page of a list; a single item may be larger */
    MCP_NAME_BYTES_MAX = 4096,      /* maximum length of a requested name or URI */
    MCP_LISTENERS_MAX = 20000,      /* open streams of change notices, shared by holders */
    MCP_SUBSCRIPTIONS_MAX = 1000,   /* subscribed resources of one legacy client or one notice stream */
    MCP_KEEP_ALIVE_MS = 15000,      /* interval of keep-alive comments on streams */
    MCP_RUNNING_MAX = 1024,         /* running requests of one client */
};

/* Result of tools.find. */
struct mcp_tool {
    const struct mcp_input *input; /* schema to check arguments against, or NULL */
    bool repairs;                  /* repair arguments without loss, and wrap single values */
    bool mirrors_only;             /* only compare the headers with the arguments; `run` validates the arguments */
    bool refuses_nul;              /* `run` uses C strings: refuse arguments with NUL */
    bool waits;                    /* `run` may wait */
    void *handle;                  /* private to the feature, like number, for `run` and `drop` */
    size_t number;
};

/* The features of a server. Strings, functions and contexts must outlive the service. A group without `list` is not
 * offered, nor are completions without a function. Without `templates`, the list of templates is empty.
 *
 * List functions add the items that follow the item with key `after`, or all items if `after` is "". They call
 * wt__mcp_add_item for each item until it returns false. The order must be stable between changes, and the same for all
 * connections. An unknown `after` gets wt__mcp_refuse_cursor. If lists depend on the principal, set private_lists.
 *
 * Answer unknown names and URIs with wt__mcp_refuse_unknown. */
struct mcp_features {
    const char *name, *version;
    const char *title;      /* may be NULL */
    unsigned ttl_ms;        /* cache time of lists, and of resources without a cache time of their own */
    bool private_lists;     /* lists depend on the principal: cacheScope is private */
    bool changes;           /* lists may change; announce changes with wt__mcp_service_changed */
    void *context;          /* first argument of every function */
    const char *store_path; /* path to remove from errors sent to clients, or NULL */
    /* Logs an error whose details are hidden from the client (wire/failure.h). May be NULL. */
    void (*failed)(void *context, const wt_error *err);
    /* Appends instructions for a client. May be NULL. */
    void (*write_instructions)(void *context, const char *principal, struct buffer *out);

    struct {
        void (*list)(void *context, struct mcp_call *call, struct str after);
        /* Returns 0, WT_ENOTFOUND, or another error, which is sent to the client. */
        int (*find)(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err);
        void (*run)(void *context, struct mcp_call *call, const struct mcp_tool *tool);
        void (*drop)(void *context, const struct mcp_tool *tool); /* releases a found tool; may be NULL */
    } tools;
    struct {
        void (*list)(void *context, struct mcp_call *call, struct str after);
        void (*templates)(void *context, struct mcp_call *call, struct str after);
        void (*read)(void *context, struct mcp_call *call, struct str uri);
        bool waits;   /* read may wait */
        bool watched; /* clients may subscribe; announce updates with wt__mcp_service_resource_updated */
        /* Called when a client starts to watch a resource, even if other clients already watch it. Must be quick.
         * Returns false, with a reason in `why`, if the resource cannot be watched. NULL if all resources can be
         * watched. */
        bool (*watch)(void *context, struct mcp_call *call, struct str uri, wt_error *why);
    } resources;
    struct {
        void (*list)(void *context, struct mcp_call *call, struct str after);
        void (*get)(void *context, struct mcp_call *call, struct str name); /* sets the result with wt__mcp_result */
        bool waits;
    } prompts;
    struct {
        void (*complete)(void *context, struct mcp_call *call, const struct mcp_completion *what);
        bool waits;
    } completions;
};

struct mcp_service_options {
    const unsigned char *key; /* [32], seals requestState, the same for all replicas; NULL for a random key */
    double (*now_ms)(void);   /* NULL for wt__now_ms */
    unsigned waiting_max;     /* 0 for MCP_WAITING_MAX */
    size_t sessions_max;      /* 0 for MCP_SESSIONS_MAX */
    size_t page_items;        /* 0 for MCP_PAGE_ITEMS */
};

struct mcp_service;

/* Opens a service. options: NULL for the defaults. *features is copied, its strings and tables are not. Errors:
 * WT_EINVAL (a function is missing), WT_EIO (no random numbers), WT_ENOMEM. */
int wt__mcp_service_open(struct mcp_service **out, const struct mcp_features *features,
                         const struct mcp_service_options *options, wt_error *err);

/* Sends change notices to clients, in the form of their era. Thread-safe. */
enum mcp_change { MCP_TOOLS_CHANGED, MCP_RESOURCES_CHANGED, MCP_PROMPTS_CHANGED };
void wt__mcp_service_changed(struct mcp_service *service, enum mcp_change change);
void wt__mcp_service_resource_updated(struct mcp_service *service, struct str uri);

/* Begins a graceful shutdown, before the HTTP server stops: closes notice streams with a final message, cancels calls
 * that wait for a client's answer to a question, and opens no more notice streams. Other calls may end. Thread-safe,
 * but not for signal handlers. */
void wt__mcp_service_stop(struct mcp_service *service);

/* Stops the service, cancels the calls of legacy sessions and of stdio, and waits for running calls. Close the
 * transports first. NULL is a no-op. */
void wt__mcp_service_close(struct mcp_service *service);

#endif
