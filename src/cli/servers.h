/* servers.h: the gateway to MCP servers of `whichtool mcp` and `whichtool serve`, created from the options of these
 * verbs: configuration, policy and audit log. */
#ifndef WT_CLI_SERVERS_H
#define WT_CLI_SERVERS_H

#include "cli/cli.h"
#include "gateway/gateway.h"
#include "mcp/config.h"

/* The gateway and its parts; all zero without --servers. */
struct servers {
    struct mcp_config config;
    struct policy *policy;
    struct audit_log *audit;
    char *lock;              /* content of the file of --lock; NULL without this option */
    struct gateway *gateway; /* NULL without --servers */
};

/* Prepares to end child processes together with this process. Call before any thread starts. Returns 0, or an exit code
 * after reporting the error. */
int wt__servers_prepare(struct cli *cli);
/* Opens the gateway without starting servers. list_wait_ms: as in gateway_options. Returns 0, or an exit code after
 * reporting the error. */
int wt__servers_open(struct cli *cli, wt_engine *engine, unsigned list_wait_ms, struct servers *out);
/* Notes an error whose details are hidden from the client (callback of catalogue_options). */
void wt__note_hidden_error(void *cli, const wt_error *err);
/* Returns the options of a face; kind is the default of --face. */
struct face_options wt__servers_face(const struct cli *cli, enum face_kind kind);
void wt__servers_close(struct servers *servers);

/* Returns the path of the servers' state; NULL for a store in memory, or if out of memory. */
const char *wt__servers_state_path(struct cli *cli);
/* Returns the path of the lock that a running gateway of the store holds; NULL for a store in memory, or if out of
 * memory. */
const char *wt__servers_lock_path(struct cli *cli);

#endif
