/* clients.h: `whichtool mcp init` and `undo`: move the servers of clients' files behind whichtool, and back. */
#ifndef WT_CLI_CLIENTS_H
#define WT_CLI_CLIENTS_H

#include "cli/cli.h"

int wt__mcp_init(struct cli *cli);
int wt__mcp_undo(struct cli *cli);

#endif
