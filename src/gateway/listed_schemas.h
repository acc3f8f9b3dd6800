/* listed_schemas.h: repair of listed tools whose schemas do not compile. */
#ifndef WT_GATEWAY_LISTED_SCHEMAS_H
#define WT_GATEWAY_LISTED_SCHEMAS_H

#include "mcp/mend.h"

/* Appends the tools of list, written by wt__mcp_mend_items, to out. A tool stays if its input schema does not compile,
 * and a note says how far its arguments are checked. An output schema that does not compile is removed, since clients
 * compile every output schema of a list. Returns 0 or WT_ENOMEM. */
int wt__listed_schemas_repair(struct str list, struct buffer *out, struct mcp_mends *mends, wt_error *err);

#endif
