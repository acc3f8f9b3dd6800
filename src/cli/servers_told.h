/* servers_told.h: `whichtool mcp status`, how the servers of a store are, and `whichtool mcp audit`, what was decided
 * of calls. Both read what a gateway wrote, so that one may run or not. */
#ifndef WT_CLI_SERVERS_TOLD_H
#define WT_CLI_SERVERS_TOLD_H

#include "cli/cli.h"

int wt__mcp_status(struct cli *cli);
int wt__mcp_audit(struct cli *cli);

#endif
