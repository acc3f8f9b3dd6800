#!/bin/bash
# --pass-header: a client's header reaches HTTP servers with the client's own calls, and no other header does.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
running=()
trap 'kill "${running[@]}" 2>/dev/null; rm -rf "$work"' EXIT
for era in legacy modern; do
    "$python" "$here/header_server.py" "$era" >"$era.url" 2>"$era.err" &
    running+=($!)
    wait_until says_or_has_ended "$era.url" $!
done
cat >servers.json <<JSON
{"mcpServers": {"legacy": {"url": "$(cat legacy.url)", "headers": {"X-Own": "of the entry"}},
                "modern": {"url": "$(cat modern.url)", "headers": {"X-Own": "of the entry"}}}}
JSON

while IFS='|' read -r name why; do
    expect 2 "refused: $name" serve --servers servers.json --pass-header "$name"
    says "$why"
done <<'ROWS'
Host|cannot forward .Host.
content-length|cannot forward
Mcp-Session-Id|cannot forward
MCP-Protocol-Version|cannot forward
Proxy-Authorization|cannot forward
X Tenant|cannot forward
X-Tenant: a|cannot forward
ROWS
expect 0 "a key" serve --keys keys --new-key a --scopes find,call
expect 2 "clients' own keys" serve --servers servers.json --keys keys --pass-header authorization
says "keys for this server"
expect 2 "no servers" serve --pass-header X-Tenant
says "pass-header needs --servers FILE"
mapfile -t many < <(printf -- '--pass-header\nX-%d\n' {1..17})
expect 2 "too many" serve --servers servers.json "${many[@]}"
says "at most 16 times"

"$WHICHTOOL" --json -q serve --model "" --listen 127.0.0.1:0 --servers servers.json --list-wait 60 \
    --pass-header X-Tenant --pass-header X-Own --pass-header Authorization >listening 2>log &
served=$!
running+=("$served")
wait_until says_or_has_ended listening "$served"
"$python" - listening >out 2>err <<'PYTHON'
import http.client, json, sys
from urllib.parse import urlsplit

place = urlsplit(json.load(open(sys.argv[1]))["listening"])
meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}

def ask(method, params, more=(), name=None):
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}})
    connection.putrequest("POST", "/mcp/all")
    fields = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
              ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Content-Length", str(len(body))), *more]
    for key, value in fields + ([("Mcp-Name", name)] if name else []):
        connection.putheader(key, value)
    connection.endheaders(body.encode())
    answer = connection.getresponse()
    text = answer.read().decode()
    if text.startswith("event:") or "\ndata:" in text or text.startswith("data:"):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    return json.loads(text)["result"]

def headers_of(server, more):
    result = ask("tools/call", {"name": server + "__headers", "arguments": {}}, more, server + "__headers")
    return dict(line.split(": ", 1) for line in result["content"][0]["text"].splitlines())

ask("tools/list", {})
for server in ("legacy", "modern"):
    one = headers_of(server, [("X-Tenant", "blue"), ("X-Other", "no"), ("X-Own", "of the client"),
                              ("Authorization", "Bearer of-the-client")])
    print(server, "named", one.get("x-tenant"), one.get("authorization"))
    print(server, "not named", one.get("x-other"))
    print(server, "of the entry", one.get("x-own"))
    two = headers_of(server, [])
    print(server, "another client", two.get("x-tenant"), two.get("authorization"))
    three = headers_of(server, [("X-Tenant", "blue"), ("X-Tenant", "red")])
    print(server, "sent twice", three.get("x-tenant"))
PYTHON
for era in legacy modern; do
    what=$era
    prints "^$era named blue Bearer of-the-client$"
    prints "^$era not named None$"
    prints "^$era of the entry of the entry$"
    prints "^$era another client None None$"
    prints "^$era sent twice None$"
done
silent err
kill -TERM "$served"
wait "$served"
same "the server ends well" 0 $?
finish
