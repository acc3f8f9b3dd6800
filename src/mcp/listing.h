/* listing.h: lists the tools of an MCP server, and collects the pages of a list.
 *
 * Nearly all servers are legacy, and some of them exit if a request comes before `initialize`. So `initialize` is sent
 * first. Only a server that refuses it is treated as modern (`server/discover`, then requests with their revision). The
 * specification recommends the other order, but it would cost most servers a round trip. */
#ifndef WT_MCP_LISTING_H
#define WT_MCP_LISTING_H

#include "base/arena.h"
#include "base/map.h"
#include "base/progress.h"
#include "mcp/message.h"
#include "mcp/server.h"

enum {
    MCP_NAME_BYTES = 257, /* maximum size of a server's own name, with the NUL */
};

/* The caller disposes of tools. */
struct mcp_listing {
    struct buffer tools; /* {"tools":[...]}: each tool byte for byte as the server wrote it */
    size_t tool_count, page_count;
    char name[MCP_NAME_BYTES]; /* the server's own name; "" if absent or too long */
    bool modern;
};

/* Connects to the server, lists its tools and disconnects, also on failure. timeout_ms covers everything but the
 * disconnect. Error messages contain no secrets of the server. Errors: WT_EINVAL (server->refusal), WT_ENOTFOUND (no
 * such program), WT_ENETWORK (the server ends, refuses, or sends an invalid answer), WT_ETIMEOUT, WT_ETOOLONG,
 * WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
int wt__mcp_list_tools(struct mcp_listing *out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err);

enum {
    MCP_TOOLS_MAX = 20000,          /* maximum items of a list */
    MCP_TOOLS_BYTES_MAX = 32 << 20, /* maximum size of all items */
    MCP_PAGES_MAX = 1000,
    MCP_CURSOR_BYTES_MAX = 16 << 10,
};

/* Pages of a list (tools/list, resources/list, ...). Items stay byte for byte as the server wrote them. */
struct mcp_pages {
    const char *method, *member;     /* "tools/list", "tools"; the caller sets these and server */
    const struct mcp_server *server; /* server whose configuration may leave tools out; NULL to keep all */
    struct buffer items;             /* joined by commas */
    size_t item_count, page_count;
    struct str cursor;   /* cursor of the next page, as JSON; empty for the first page */
    bool is_odd;         /* the cursor is "" or a number, which the protocol does not allow */
    const char *warning; /* fault of the list, or NULL */
    size_t first_bytes;  /* length of the items of the first page */
    struct map cursors;  /* all cursors so far */
    struct arena arena;
};

/* Appends the params of the next request, which are empty for the first page. */
void wt__mcp_pages_params(const struct mcp_pages *pages, struct buffer *out);
/* Handles a refusal of the next page. True if the list ends with the pages so far, because the cursor was odd. */
bool wt__mcp_pages_refused(struct mcp_pages *pages);
/* Adds the next page from the result of its request. An odd cursor ("" or a number) is followed. The list ends with a
 * warning after a copy of the first page, a repeated cursor, a cursor of another type or one that is too long, and a
 * list that is null. Returns 1 if another page follows, 0 if this was the last one, WT_ENETWORK (invalid answer),
 * WT_ETOOLONG, WT_ENOMEM. */
int wt__mcp_pages_take(struct mcp_pages *pages, struct str result, wt_error *err);
void wt__mcp_pages_dispose(struct mcp_pages *pages);

#endif
