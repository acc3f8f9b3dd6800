/* server.h: where an MCP server is: a program to start, or an address. */
#ifndef WT_MCP_SERVER_H
#define WT_MCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "net/process.h"
#include "net/http_client.h"

enum mcp_era { MCP_ERA_UNKNOWN, MCP_ERA_LEGACY, MCP_ERA_MODERN };

/* Strings live as long as what it was read from. Environment, headers and the URL may hold secrets: no message, log or
 * store gets them. */
struct mcp_server {
    const char *name;               /* in the configuration; "" when nobody named it */
    const char *const *argv;        /* ends in NULL; NULL: at url */
    const char *const *environment; /* "NAME=value" that were written for it, ends in NULL; NULL: none */
    const char *folder;             /* to run in; NULL: this process's own */
    const char *url;
    const struct http_header *headers;
    size_t header_count;
    unsigned start_timeout_ms, call_timeout_ms; /* 0 if the file does not say */
    enum mcp_era protocol; /* the only era to speak with it ("protocol"); MCP_ERA_UNKNOWN if the file does not say */
    const char *const *allowed; /* names of the tools that it may offer, ends in NULL; NULL: all */
    const char *const *denied;  /* names of tools that it may not offer, likewise; NULL: none */
    const char *note;           /* what is odd about its entry and does not keep it from running; NULL if nothing */
    bool disabled;
    bool itself;         /* it is whichtool: left out by all that would start it, with this as its refusal */
    const char *refusal; /* why it cannot be asked; NULL: it can */
};

#define MCP_ITSELF "it is whichtool itself"
/* Lists the files whose servers are being started, parted by colons: a gateway writes its own into it for what it
 * starts, and starts nothing where its own stands there already. */
#define MCP_GATEWAY_VARIABLE "WHICHTOOL_GATEWAY"

/* All that its process gets: a few variables of this process's own (docs/mcp.md), and those that were written for it.
 * Ends in NULL; NULL when memory is out. */
const char *const *wt__mcp_environment(struct arena *arena, const struct mcp_server *server);

/* True if the configuration lets the server offer the tool. A list that denies counts more than one that allows. */
bool wt__mcp_offers(const struct mcp_server *server, struct str tool);

/* Whether it is an address, and not a file or a program: whether it begins with http:// or https://. */
bool wt__mcp_is_url(const char *text);

/* A URL without what may be secret in it: scheme, host and port. NULL when memory is out. */
const char *wt__mcp_shown_url(struct arena *arena, const char *url);

/* Takes out of text what was written for the server as environment or header, or as user or query of its URL, and
 * makes one line of it without control characters: *** stands for each. */
void wt__mcp_hide_secrets(char *text, size_t room, const struct mcp_server *server);

/* What a program said last is often why: "...; it said last: words", without secrets. */
void wt__mcp_add_words(wt_error *err, const char *words, const struct mcp_server *server);

/* A short name for a provider: of what the server calls itself, else of its package or program, else of its host, with
 * what says only that it is an MCP server left out ("@modelcontextprotocol/server-memory": memory). said may be "".
 * NULL when memory is out. */
const char *wt__mcp_short_name(struct arena *arena, const struct mcp_server *server, struct str said);

#endif
