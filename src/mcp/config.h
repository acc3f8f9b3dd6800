/* config.h: which MCP servers a client of MCP is configured with, as docs/mcp.md tells: `mcpServers` of Claude, Cursor,
 * Windsurf and most others, `servers` of VS Code, also within its settings, `context_servers` of Zed, `mcp` of
 * OpenCode, and a map or a list of servers alone. JSON with comments and commas too many is taken, for VS Code writes
 * such.
 *
 * ${NAME}, ${NAME:-default}, ${env:NAME} and OpenCode's {env:NAME} stand for variables of this process. A variable of
 * "env" written as ${NAME:-} is left out if NAME is unset. A server cannot be asked, with the reason, if only its client
 * knows a value. */
#ifndef WT_MCP_CONFIG_H
#define WT_MCP_CONFIG_H

#include "mcp/server.h"

enum {
    MCP_CONFIG_BYTES_MAX = 16 << 20,
    MCP_SERVERS_MAX = 256,
};

struct mcp_config {
    struct mcp_server *servers; /* [count], in the order of the file */
    size_t count;
    struct arena arena;
};

/* file: how errors name it. WT_EFORMAT (no JSON, with its place, or no servers in it), WT_ETOOLONG, WT_ENOMEM; *out is
 * disposed of on failure. */
int wt__mcp_config_parse(struct mcp_config *out, struct str text, const char *file, wt_error *err);
int wt__mcp_config_read(struct mcp_config *out, const char *path, wt_error *err);
void wt__mcp_config_dispose(struct mcp_config *config);

#endif
