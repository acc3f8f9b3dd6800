/* clients.h: actions of `whichtool mcp` that move the servers of clients' files behind it, and back. */
#ifndef WT_CLI_CLIENTS_H
#define WT_CLI_CLIENTS_H

#include "cli/cli.h"

int wt__mcp_init(struct cli *cli);
int wt__mcp_undo(struct cli *cli);

#endif
