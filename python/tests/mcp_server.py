"""An MCP server over stdio with one tool."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    result = {
        "tools/list": {
            "tools": [{"name": "print_page", "description": "Print a page", "inputSchema": {"type": "object"}}]
        },
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "office", "version": "1"},
        },
    }.get(message.get("method"))
    if "id" in message:
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
