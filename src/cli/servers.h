/* servers.h: the MCP servers behind `whichtool mcp` and `whichtool serve`, as their options say: a client's
 * configuration, a policy, an audit, and the gateway that is made of them. */
#ifndef WT_CLI_SERVERS_H
#define WT_CLI_SERVERS_H

#include "cli/cli.h"
#include "gateway/gateway.h"
#include "mcp/config.h"

/* All zero is none. */
struct servers {
    struct mcp_config config;
    struct policy *policy;
    struct audit_log *audit;
    char *lock;
    struct gateway *gateway; /* NULL: --servers was not given */
};

/* Before there are threads: what servers start shall end with this process. 0, or an exit code with the reason told. */
int wt__servers_prepare(struct cli *cli);
/* The same. Nothing is started yet. list_wait_ms: as in gateway_options. */
int wt__servers_open(struct cli *cli, wt_engine *engine, unsigned list_wait_ms, struct servers *out);
/* Tells whoever runs the server an error of which a client was not told everything; of catalogue_options. */
void wt__servers_tell_error(void *cli, const wt_error *err);
/* What a face is by the options; kind: where they do not say. */
struct face_options wt__servers_face(const struct cli *cli, enum face_kind kind);
void wt__servers_close(struct servers *servers);

/* Where the state of a store's servers is written; NULL: nowhere, or memory is out. */
const char *wt__servers_state_path(struct cli *cli);
/* What a gateway of the store holds as long as it is there; NULL as well. */
const char *wt__servers_lock_path(struct cli *cli);

#endif
