/* pages.h: what a server lists (tools/list, resources/list, ...), gathered page by page. Items stay byte for byte as
 * the server wrote them. */
#ifndef WT_MCP_PAGES_H
#define WT_MCP_PAGES_H

#include "base/arena.h"
#include "base/map.h"
#include "mcp/message.h"
#include "mcp/server.h"

enum {
    MCP_TOOLS_MAX = 20000,          /* items of one list */
    MCP_TOOLS_BYTES_MAX = 32 << 20, /* of them together */
    MCP_PAGES_MAX = 1000,
    MCP_CURSOR_BYTES_MAX = 16 << 10,
};

struct mcp_pages {
    const char *method, *member;     /* "tools/list", "tools"; set them and server, the rest is zero */
    const struct mcp_server *server; /* whose configuration leaves tools out; NULL: nothing is left out */
    struct buffer items;             /* joined by commas */
    size_t item_count, page_count;
    struct str cursor;   /* of the page that is next, as JSON; empty: of the first one */
    bool is_odd;         /* the cursor is not one that the protocol knows: it may lead nowhere */
    const char *warning; /* why the list ended early; NULL if it did not */
    size_t first_bytes;  /* of the items of the first page */
    struct map cursors;  /* of pages that were asked for */
    struct arena arena;
};

/* Appends the members of the params of the next request; "" for the first. */
void wt__mcp_pages_params(const struct mcp_pages *pages, struct buffer *out);
/* Ends the list after a page that the server refused. True if what came before is kept, because the cursor was odd. */
bool wt__mcp_pages_refused(struct mcp_pages *pages);
/* Takes the result of that request. A cursor that is no text ("", a number) is followed once; a page that comes again,
 * a cursor that comes again, and one of another type end the list with a warning. Returns 1 when another page follows,
 * 0 when that was the last, WT_ENETWORK (it makes no sense), WT_ETOOLONG, WT_ENOMEM. */
int wt__mcp_pages_take(struct mcp_pages *pages, struct str result, wt_error *err);
void wt__mcp_pages_dispose(struct mcp_pages *pages);

#endif
