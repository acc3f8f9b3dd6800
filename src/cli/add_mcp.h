/* add_mcp.h: `add --mcp`. */
#ifndef WT_CLI_ADD_MCP_H
#define WT_CLI_ADD_MCP_H

#include "cli/cli.h"

/* The words are MCP servers and configurations that name some. An exit code. */
int wt__add_mcp(struct cli *cli);

#endif
