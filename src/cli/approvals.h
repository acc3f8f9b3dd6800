/* approvals.h: `whichtool mcp approve`, `lock` and `forget`: what waits for approval is shown, approved, pinned; a
 * server is forgotten with its approvals. */
#ifndef WT_CLI_APPROVALS_H
#define WT_CLI_APPROVALS_H

#include "cli/cli.h"

int wt__mcp_approve(struct cli *cli);
int wt__mcp_lock(struct cli *cli);
int wt__mcp_forget(struct cli *cli);

#endif
