#!/bin/bash
# A gateway on a replica: it calls the tools that the writer has approved, withholds changed and unknown ones, and follows the
# published policy.
# shellcheck disable=SC2154
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/replicas.sh
. "$here/replicas.sh"

notes() { # NAME...: a list of servers named `home` and so on, whose tools are of the server NAME
    local entries=
    for name; do entries="$entries, \"${name%%=*}\": {\"command\": \"$python\", \"args\": [\"$here/notes_server.py\", \"${name#*=}\"]}"; done
    echo "{\"mcpServers\": {${entries#, }}}"
}
call() { # ADDRESS TOOL TITLE: calls a tool over MCP, and prints status and answer
    "$python" - "$@" <<'PYTHON'
import json, sys, urllib.error, urllib.request
address, tool, title = sys.argv[1:]
body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": tool, "arguments": {"title": title}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                                                          "io.modelcontextprotocol/clientCapabilities": {}}}}
request = urllib.request.Request(address + "/mcp/all", json.dumps(body).encode(), {
    "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call", "Mcp-Name": tool})
try:
    with urllib.request.urlopen(request) as reply: print(reply.status, reply.read().decode())
except urllib.error.HTTPError as error: print(error.code, error.read().decode())
PYTHON
}
calls() { call "$1" "$2" milk | grep -qE -- "$3"; }
serve() { # NAME OPTION...
    local name=$1
    shift
    start "$name" "$WHICHTOOL" --json serve "${model[@]}" --listen 127.0.0.1:0 "$@"
}
end() { # NAME
    local pid=$1_pid
    kill "${!pid}"
    await_end "${!pid}"
}

# The writer approves the first list of its server.
notes home=home >writer.json
cat >no_drop.json <<'JSON'
{"rules": [{"servers": ["*"]}, {"tools": ["drop_*"], "deny": true}]}
JSON
serve writer --servers writer.json
what="the writer's gateway calls"
checks=$((checks + 1))
wait_until calls "$writer_at" home__read_note 'home: read_note milk' || fail "it does not"
expect 0 "the store is published, with a policy" publish "${model[@]}" --writer "$writer_at" --policy no_drop.json published

# The same server here. Its tools are callable without an approval here.
serve replica --follow published --cache cache --poll 50 --servers writer.json
what="the replica calls the approved tool"
checks=$((checks + 1))
wait_until calls "$replica_at" home__read_note 'home: read_note milk' || fail "it does not"
call "$replica_at" home__drop_note milk >out
what="the published policy denies a tool"
prints 'not allowed|denied|policy|may not|no tool'
lacks out "home: drop_note"
call "$replica_at" home__read_note milk >out
what="and the server was not harmed"
prints 'home: read_note milk'
expect 4 "approvals are the writer's" -s cache/store.wt mcp approve home --all --yes --model ""
says "this store is a replica"

# A server that the writer gets later arrives with the next generation.
end writer
notes home=home work=work >writer.json
serve writer --servers writer.json
what="the writer's gateway has another server"
checks=$((checks + 1))
wait_until calls "$writer_at" work__read_note 'work: read_note milk' || fail "it does not"
end replica
notes home=house work=work >replica.json
serve replica --follow published --cache cache --poll 50 --servers replica.json
call "$replica_at" work__read_note milk >out
what="a server without approvals is withheld"
lacks out "work: read_note"
expect 0 "the approvals are published, with another policy" publish "${model[@]}" --writer "$writer_at" published
what="then it is called"
checks=$((checks + 1))
wait_until calls "$replica_at" work__read_note 'work: read_note milk' || fail "it does not"
call "$replica_at" home__read_note milk >out
what="a server whose definitions differ is withheld"
lacks out "house: read_note"
what="and reported"
cat replica.log >err
says "home"
same "no policy is published now" no "$([ -e cache/policy.json ] && echo yes || echo no)"

end replica
end writer
finish
