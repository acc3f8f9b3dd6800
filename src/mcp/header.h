/* header.h: any text as the value of a header of the modern revision (Mcp-Name, Mcp-Param-...). */
#ifndef WT_MCP_HEADER_H
#define WT_MCP_HEADER_H

#include "base/arena.h"
#include "base/str.h"

/* As it is, or as "=?base64?...?=" where a header may not have it, where its blanks would get lost, where it is empty,
 * or where it looks like base64 itself. In the arena; NULL when memory is out. */
const char *wt__mcp_header_text(struct arena *arena, struct str text);

#endif
