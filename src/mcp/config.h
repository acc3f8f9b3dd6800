/* config.h: parses the configuration files of MCP clients (docs/mcp.md). Supported forms:
 *
 *   mcpServers        Claude, Cursor, Windsurf and most others
 *   servers           VS Code, also within its settings
 *   context_servers   Zed
 *   mcp               OpenCode
 *   a bare map or list of servers
 *
 * Comments and trailing commas are allowed, since VS Code writes them.
 *
 * ${NAME}, ${NAME:-default}, ${env:NAME} and OpenCode's {env:NAME} are replaced by variables of this process. A
 * variable of "env" written as ${NAME:-} is left out if NAME is unset. If a value is known only to the client, the
 * server cannot be used: its `refusal` is set. */
#ifndef WT_MCP_CONFIG_H
#define WT_MCP_CONFIG_H

#include "mcp/server.h"

enum {
    MCP_CONFIG_BYTES_MAX = 16 << 20,
    MCP_SERVERS_MAX = 256,
};

struct mcp_config {
    struct mcp_server *servers; /* [count], in file order */
    size_t count;
    struct arena arena;
};

/* Parses a configuration. file: the name for error messages. *out is empty on failure. Errors: WT_EFORMAT (invalid
 * JSON, with its position, or no servers), WT_ETOOLONG, WT_ENOMEM. */
int wt__mcp_config_parse(struct mcp_config *out, struct str text, const char *file, wt_error *err);
/* Reads and parses a configuration file. */
int wt__mcp_config_read(struct mcp_config *out, const char *path, wt_error *err);
void wt__mcp_config_dispose(struct mcp_config *config);

#endif
