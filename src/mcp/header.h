/* header.h: encodes header values of the modern revision (Mcp-Name, Mcp-Param-...). */
#ifndef WT_MCP_HEADER_H
#define WT_MCP_HEADER_H

#include "base/arena.h"
#include "base/str.h"

/* Returns the text in the arena, or NULL if out of memory. Encodes it as "=?base64?...?=" if it is empty, begins or
 * ends with a space, has characters that headers cannot carry, or looks encoded itself. */
const char *wt__mcp_encode_header(struct arena *arena, struct str text);

#endif
