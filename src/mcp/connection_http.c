/* stub */
#include "mcp/connection_inside.h"
int wt__mcp_open_http_link(struct mcp_link **out, struct mcp_connection *connection, unsigned timeout_ms, wt_error *err)
{
    (void)connection, (void)timeout_ms;
    *out = NULL;
    return wt__fail(err, WT_ENETWORK, "not yet");
}
