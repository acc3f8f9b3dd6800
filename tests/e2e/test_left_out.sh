#!/bin/bash
# A gateway reports skipped and repaired items on standard error and in mcp status: entries of the configuration, and
# malformed definitions of a server.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
unset NOT_SET

cat >malformed.py <<'PYTHON'
import json, sys
TOOLS = [{"name": "good", "inputSchema": {"type": "object"}},
         {"name": "mended", "inputSchema": {"type": "OBJECT", "properties": {"n": {"type": "int"}}}},
         {"name": 7, "inputSchema": {"type": "object"}}]
for line in sys.stdin:
    message = json.loads(line)
    result = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "m", "version": "1"}},
              "tools/list": {"tools": TOOLS},
              "tools/call": {"content": [{"type": "text", "text": "called"}]}}.get(message["method"])
    if "id" in message:
        body = {"result": result} if result else {"error": {"code": -32601, "message": "unknown"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
PYTHON
cat >servers.json <<JSON
{"mcpServers": {
  "unset": {"command": "cat", "env": {"K": "\${NOT_SET}"}},
  "input": {"command": "cat", "args": ["\${input:token}"]},
  "list": {"command": "cat", "env": ["A=b"]},
  "nested": {"transport": {"type": "stdio", "command": "cat"}},
  "m": {"command": "$python", "args": ["$work/malformed.py"]}
}}
JSON
cat >session.txt <<'EOS'
> {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
> {"id": 2, "method": "tools/list"}
= result.tools.0.name "m__good"
= result.tools.1.name "m__mended"
= result.tools.1.inputSchema.type "object"
> {"id": 3, "method": "tools/call", "params": {"name": "m__mended", "arguments": {"n": 1}}}
= result.content.0.text "called"
~ result._meta "whichtool/unchecked"
> {"id": 4, "method": "tools/call", "params": {"name": "m__mended", "arguments": {"n": "x"}}}
= result.isError true
EOS
same "what clients see" "" "$("$python" "$here/mcp_session.py" session.txt "$WHICHTOOL" mcp --model "" --list-wait 60 --face direct \
    --servers servers.json 2>err)"
says "unset: left out: it needs a variable that is not set: NOT_SET$"
says "input: left out: it needs an input that only its client can ask for: input:token$"
says "list: left out: its .env. is not an object"
says "nested: left out: its .transport. is an object"
says "m lists malformed definitions: 1 repaired, 1 left out, 1 with a schema that does not compile; .whichtool mcp status. names them$"
says "m: tool .mended.: inputSchema does not compile; arguments are checked against its valid part: schema /properties/n: .type."
expect 0 "status" mcp status
prints "it needs a variable that is not set: NOT_SET"
prints 'tool "mended": inputSchema/type is read as "object"'
prints 'tool: name is not a string; it is left out'
expect 0 "for programs" mcp status --json
prints '"name":"m",.*"malformed":\["tool \\"mended\\": .*","tool: name is not a string; it is left out",.*\]'
finish
