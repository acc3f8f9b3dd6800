/* server.h: an MCP server as configured: a program to start, or a URL. */
#ifndef WT_MCP_SERVER_H
#define WT_MCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "net/process.h"
#include "net/http_client.h"

enum mcp_era { MCP_ERA_UNKNOWN, MCP_ERA_LEGACY, MCP_ERA_MODERN };

/* Strings belong to the configuration. Environment, headers and URL may hold secrets, and must not reach messages, logs
 * or the store. */
struct mcp_server {
    const char *name;               /* in the configuration; "" if it has no name */
    const char *const *argv;        /* ends in NULL; NULL if the server is at url */
    const char *const *environment; /* configured "NAME=value" strings, ends in NULL; NULL if absent */
    const char *folder;             /* working directory; NULL for that of this process */
    const char *url;                /* NULL if the server is a program */
    const struct http_header *headers;
    size_t header_count;
    unsigned start_timeout_ms, call_timeout_ms; /* 0 if not configured */
    enum mcp_era protocol;      /* the only era to use ("protocol"); MCP_ERA_UNKNOWN if not configured */
    const char *const *allowed; /* names of the tools to offer, ends in NULL; NULL for all */
    const char *const *denied;  /* names of the tools to leave out, ends in NULL; NULL if absent */
    const char *note;           /* warning about the server's entry; NULL if the entry is sound */
    bool disabled;
    bool itself;         /* the program is whichtool; refusal is MCP_ITSELF */
    const char *refusal; /* why the server cannot be used; NULL if it can */
};

#define MCP_ITSELF "it is whichtool itself"
/* Environment variable that lists the server files of the gateways that started this process, separated by colons. A
 * gateway adds its own file for the programs that it starts. It starts no servers if the list already has its file. */
#define MCP_GATEWAY_VARIABLE "WHICHTOOL_GATEWAY"

/* Returns the environment of the server's program: a few variables of this process (docs/mcp.md) and the configured
 * ones. Ends in NULL. Returns NULL if out of memory. */
const char *const *wt__mcp_environment(struct arena *arena, const struct mcp_server *server);

/* True if the configuration lets the server offer the tool. `denied` overrides `allowed`. */
bool wt__mcp_offers(const struct mcp_server *server, struct str tool);

/* True if the text begins with http:// or https://. */
bool wt__mcp_is_url(const char *text);

/* Returns scheme, host and port of a URL, without the parts that may be secret. NULL if out of memory. */
const char *wt__mcp_shown_url(struct arena *arena, const char *url);

/* Replaces configured values of at least 4 bytes by ***: environment, headers, and user, path and query of the URL.
 * Replaces control characters by spaces. room: size of text. */
void wt__mcp_hide_secrets(char *text, size_t room, const struct mcp_server *server);

/* Appends the last output of a program, which often gives the reason: "...; it said last: words". Hides secrets. */
void wt__mcp_add_last_output(wt_error *err, const char *words, const struct mcp_server *server);

/* Returns a short provider name, made from `said` (the server's own name, may be ""), else from its package or program,
 * else from its host. Drops words such as "mcp" and "server" ("@modelcontextprotocol/server-memory" becomes memory).
 * Returns "mcp" if no name is left, or NULL if out of memory. */
const char *wt__mcp_short_name(struct arena *arena, const struct mcp_server *server, struct str said);

#endif
