/* add_mcp.h: `add --mcp`. */
#ifndef WT_CLI_ADD_MCP_H
#define WT_CLI_ADD_MCP_H

#include "cli/cli.h"

/* Runs `add --mcp`: the words name MCP servers or configuration files. Returns an exit code. */
int wt__add_mcp(struct cli *cli);

#endif
