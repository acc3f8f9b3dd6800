/* approvals.h: `whichtool mcp approve` and `whichtool mcp lock`: what waits for approval is shown, approved, pinned. */
#ifndef WT_CLI_APPROVALS_H
#define WT_CLI_APPROVALS_H

#include "cli/cli.h"

int wt__mcp_approve(struct cli *cli);
int wt__mcp_lock(struct cli *cli);

#endif
