/* listed_schemas.h: schemas that a server lists with its tools and that do not compile. */
#ifndef WT_GATEWAY_LISTED_SCHEMAS_H
#define WT_GATEWAY_LISTED_SCHEMAS_H

#include "mcp/mend.h"

/* Appends the tools of list, which wt__mcp_mend_items has written, to out. A tool whose input schema does not compile
 * stays, and a note says that its arguments are checked in part or not at all. An output schema that does not compile is
 * removed, since clients compile all of them when they read a list. Errors: WT_ENOMEM. */
int wt__listed_schemas_mend(struct str list, struct buffer *out, struct mcp_mends *mends, wt_error *err);

#endif
