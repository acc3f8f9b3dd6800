# A client with a server, for docs/gateway.md.
mkdir -p "$HOME/.cursor"
echo '{"mcpServers": {"time": {"command": "mcp-server-time"}}}' >"$HOME/.cursor/mcp.json"
