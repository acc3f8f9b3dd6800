/* issues.h: what an import passed over, for people and for programs. */
#ifndef WT_CLI_ISSUES_H
#define WT_CLI_ISSUES_H

#include "cli/cli.h"

/* The first of them as notes on stderr, "FILE:LINE: POINTER: REASON"; count of them were kept, more may have been met.
 */
void wt__issues_tell(const struct cli *cli, const wt_add_issue *issues, size_t count);

/* "issues": [...], as a member of an object. */
void wt__issues_json(struct buffer *out, const wt_add_issue *issues, size_t count);

#endif
