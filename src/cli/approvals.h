/* approvals.h: `whichtool mcp approve`, `lock` and `forget`: show, approve and pin definitions, and forget servers. */
#ifndef WT_CLI_APPROVALS_H
#define WT_CLI_APPROVALS_H

#include "cli/cli.h"

int wt__mcp_approve(struct cli *cli);
int wt__mcp_lock(struct cli *cli);
int wt__mcp_forget(struct cli *cli);

#endif
