/* client_server.h: whether a server of a client's file can be started by whichtool in the client's place, and what it
 * is then: its definition with the members that say how it is reached, and no others.
 *
 * What only the client can do keeps a server where it is: what the client asks its user for, files of variables,
 * signing in, leaving out some of its tools, and every member that is not known here. For a server that moves must
 * neither fail for want of what the client did for it, nor be able to do what the client kept it from. */
#ifndef WT_SETUP_CLIENT_SERVER_H
#define WT_SETUP_CLIENT_SERVER_H

#include "base/json.h"
#include "setup/clients.h"
#include "mcp/server.h"

enum { CLIENT_VARIABLES_MAX = 64 };

struct client_server {
    const char *why;                             /* it stays: why; NULL: it can move. Lives as long as the arena */
    json_t *definition;                          /* of one that can move, owned; else NULL */
    const char *variables[CLIENT_VARIABLES_MAX]; /* of the client's environment that its texts name */
    size_t variable_count;
};

/* server: the same entry as config.h reads it. Returns 0 or WT_ENOMEM. */
int wt__client_server(struct client_server *out, struct arena *arena, const struct client_place *place,
                      const struct mcp_server *server, const json_t *entry, wt_error *err);

/* Whether an entry starts whichtool before the servers of this file. */
bool wt__client_entry_is_ours(const json_t *entry, const char *servers_path);

#endif
