/* gateway.h: many MCP servers behind one.
 *
 *   servers   are kept alive, each by itself (upstream.h); what they list goes into the catalogue
 *   view      the tools of the catalogue that can be called, and by which definition (view.h)
 *   face      what a client sees of it: a search with tools that call, or all tools (face.h)
 *   call      is checked, audited, and relayed to its server, whose questions go to the client (relay.h)
 *
 * No server can be added, and no program started, by what a client or a server says: what is behind the gateway is the
 * operator's to write down. */
#ifndef WT_GATEWAY_GATEWAY_H
#define WT_GATEWAY_GATEWAY_H

#include "gateway/upstream.h"
#include "whichtool.h"

enum {
    GATEWAY_LOOK_MS = 500,           /* between two looks whether the catalogue changed under another process */
    GATEWAY_DIRECT_MOST = 20,        /* tools up to which `auto` shows all of them */
    GATEWAY_RESULT_BYTES = 48 << 10, /* of a result; the rest is read on by its handle */
    GATEWAY_START_WAIT_MS = 30000,   /* that a call waits for a server that starts */
    GATEWAY_CALLS_MAX = 512,         /* requests to servers that are under way, shared by servers (base/shares.h) */
    GATEWAY_PARKED_MAX = 512,        /* calls that wait for a modern client's answer between two of its requests, shared
                                        by clients and by servers */
};

struct gateway;
struct policy;
struct audit_log;

struct gateway_options {
    bool bare_names;             /* tools are shown by their servers' own names where no other has it */
    size_t result_bytes;         /* 0: GATEWAY_RESULT_BYTES */
    unsigned start_timeout_ms;   /* of a server; 0: MCP_CONNECT_MS */
    unsigned call_timeout_ms;    /* without a word of a server about a call; 0: MCP_REQUEST_MS */
    unsigned list_wait_ms;       /* that a list of tools waits for servers of which nothing is known yet: a client that
                                    lists once, at its first start, sees them. 0: it does not */
    const char *state_path;      /* where the state of the servers is written for others; NULL: nowhere */
    const char *lock_path;       /* held as long as it is there, so that others know the state for one of now; NULL */
    bool review_first;           /* even what a server lists first waits until somebody approves of it; what has
                                    findings of wt_audit_listing does in any case */
    const char *approve;         /* the command that approves of a server's tools, but for its name; NULL: as by
                                    default */
    struct str lock;             /* pins (wt_lock): what they do not name waits, whatever was approved. Empty: none */
    const struct policy *policy; /* NULL: everybody may do everything. Outlives the gateway, as does the next */
    struct audit_log *audit;     /* NULL: none */
    /* Tells whoever runs it; NULL: nobody is told. From any thread. failing: nothing works until it is mended. */
    void (*told)(void *context, bool failing, const char *sentence);
    void *told_context;
    double (*now_ms)(void); /* by which what is kept for clients goes; NULL: wt__now_ms */
    bool learn;             /* what is called after a search is recorded as use */
};

/* servers [count], and the engine, live longer. A server without a name, and one whose name another has, is refused
 * (WT_EINVAL). Errors: WT_ESTORE, WT_ENOMEM, ... */
int wt__gateway_open(struct gateway **out, wt_engine *engine, const struct mcp_server *servers, size_t count,
                     const struct gateway_options *options, wt_error *err);
/* Starts the servers, and does not wait for them. */
int wt__gateway_start(struct gateway *gateway, wt_error *err);
/* Calls that wait for servers end. Before the services of its faces are closed. */
void wt__gateway_stop(struct gateway *gateway);
/* Ends the servers. After the services of its faces. NULL is a no-op. */
void wt__gateway_close(struct gateway *gateway);

struct upstream *wt__gateway_server(const struct gateway *gateway, size_t index);
/* What the state file holds: an object as JSON. */
void wt__gateway_write_state(struct gateway *gateway, struct buffer *out);

/* The service is told of changes until it is taken back. */
int wt__gateway_attach(struct gateway *gateway, struct mcp_service *service, wt_error *err);
void wt__gateway_detach(struct gateway *gateway, struct mcp_service *service);

#endif
