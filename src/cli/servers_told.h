/* servers_told.h: `whichtool mcp status`, the state of a store's servers, and `whichtool mcp audit`, the log of
 * decisions. Both read files that a gateway wrote; a gateway need not be running. */
#ifndef WT_CLI_SERVERS_TOLD_H
#define WT_CLI_SERVERS_TOLD_H

#include "cli/cli.h"

int wt__mcp_status(struct cli *cli);
int wt__mcp_audit(struct cli *cli);

#endif
