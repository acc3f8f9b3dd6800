/* servers.h: opens the gateway to MCP servers for `whichtool mcp` and `whichtool serve`. The options of these verbs
 * name the gateway's configuration, policy, audit log and lock file. */
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
    char *lock;              /* content of the --lock file; NULL without --lock */
    struct gateway *gateway; /* NULL without --servers */
};

/* Refuses a configuration that an ancestor process already serves. Then starts the process that ends the servers when
 * this process ends. Does nothing without --servers. Call before any thread starts. Returns 0, or an exit code after
 * reporting the error. */
int wt__servers_prepare(struct cli *cli);
/* Opens the gateway without starting servers. list_wait_ms: as in gateway_options, unless --list-wait is given. Returns
 * 0, or an exit code after reporting the error. tenants: as in gateway_options. */
int wt__servers_open(struct cli *cli, wt_engine *engine, wt_tenants *tenants, unsigned list_wait_ms,
                     struct servers *out);
/* Prints an error whose details the client does not get (callback of catalogue_options). cli: a struct cli. */
void wt__note_hidden_error(void *cli, const wt_error *err);
/* Reads the options of a face. kind: kind of the face without --face. */
struct face_options wt__servers_face(const struct cli *cli, enum face_kind kind);
void wt__servers_close(struct servers *servers);

/* Returns the path of the file in which a gateway stores the state of its servers; NULL for a store in memory, or if
 * out of memory. */
const char *wt__servers_state_path(struct cli *cli);
/* Returns the path of the lock that a running gateway of the store holds; NULL for a store in memory, or if out of
 * memory. */
const char *wt__servers_lock_path(struct cli *cli);

#endif
