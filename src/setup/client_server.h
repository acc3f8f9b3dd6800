/* client_server.h: decides if whichtool can start a server of a client's file, and extracts its definition.
 *
 * A server stays with its client if it needs its client for something: input from the user, files of
 * variables, signing in, or leaving out tools. It also stays if it has an unknown member. A moved server must neither
 * fail for lack of the client's help, nor gain abilities denied by the client. */
#ifndef WT_SETUP_CLIENT_SERVER_H
#define WT_SETUP_CLIENT_SERVER_H

#include "base/json.h"
#include "setup/clients.h"
#include "mcp/server.h"

enum { CLIENT_VARIABLES_MAX = 64 };

struct client_server {
    const char *why;                             /* why it stays, in the arena; NULL if it can move */
    json_t *definition;                          /* owned by the caller; NULL if it stays */
    const char *variables[CLIENT_VARIABLES_MAX]; /* variables of the client's environment in its texts */
    size_t variable_count;
};

/* Checks one entry. server: the same entry, as parsed by mcp/config.h. Returns 0 or WT_ENOMEM. */
int wt__client_check_server(struct client_server *out, struct arena *arena, const struct client_place *place,
                            const struct mcp_server *server, const json_t *entry, wt_error *err);

/* True if the entry starts whichtool with this file of servers. */
bool wt__client_entry_is_ours(const json_t *entry, const char *servers_path);

#endif
