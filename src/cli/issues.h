/* issues.h: what an import passed over, for people and for programs. */
#ifndef WT_CLI_ISSUES_H
#define WT_CLI_ISSUES_H

#include "cli/cli.h"

/* The first of them as notes on stderr, "FILE:LINE: POINTER: REASON", and how many more were met: count of them were
 * kept. */
void wt__issues_tell(const struct cli *cli, const wt_add_issue *const *issues, size_t count, size_t met);

/* "issues": [...], as a member of an object. */
void wt__issues_json(struct buffer *out, const wt_add_issue *const *issues, size_t count);

#endif
