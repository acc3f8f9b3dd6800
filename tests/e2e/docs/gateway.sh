# What docs/gateway.md finds: a client with a server.
mkdir -p "$HOME/.cursor"
echo '{"mcpServers": {"time": {"command": "mcp-server-time"}}}' >"$HOME/.cursor/mcp.json"
