"""An MCP server of 2025-06-18 with three tools of different effects, for tests of gateways.

    python3 notes_server.py NAME [mute]

A mute one answers no call. It appends a line to the file `called` for each call, and a line to the file `cancelled` for
each cancelled call. The server starts a child process, and appends both process ids to the file `started`. `drop_note`
exits at once.
"""
import json
import os
import subprocess
import sys

name = sys.argv[1]
kept = subprocess.Popen(["sleep", "900"])
with open("started", "a", encoding="utf-8") as file:
    file.write(f"{os.getpid()} {kept.pid}\n")


def tool(verb, hints):
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    text = f"{verb}s a note of {name} by its title"
    return {"name": f"{verb}_note", "description": text, "inputSchema": schema, "annotations": hints}


tools = [tool("read", {"readOnlyHint": True}), tool("write", {"destructiveHint": False}), tool("drop", {})]

for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if method == "notifications/cancelled":
        with open("cancelled", "a", encoding="utf-8") as file:
            file.write(f"{params['requestId']}\n")
    if method == "tools/call" and sys.argv[2:] == ["mute"]:
        with open("called", "a", encoding="utf-8") as file:
            file.write(f"{message['id']}\n")
        continue
    if "id" not in message:
        continue
    answer = {"error": {"code": -32601, "message": "what"}}
    if method == "initialize":
        answer = {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                             "serverInfo": {"name": name, "version": "1"}}}
    elif method == "tools/list":
        answer = {"result": {"tools": tools}}
    elif method == "tools/call":
        if params["name"] == "drop_note":
            os._exit(1)
        text = f"{name}: {params['name']} {params['arguments']['title']}"
        answer = {"result": {"content": [{"type": "text", "text": text}]}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
