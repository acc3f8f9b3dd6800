#!/bin/bash
# mcp: the catalogue as an MCP server on standard input and output, with whole sessions of clients of both eras from
# files.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

expect 0 "the samples are imported" add "$source_root/samples/catalogue"
for session in "$here"/mcp/*.txt; do
    same "$(basename "$session")" "" "$("$python" "$here/mcp_session.py" "$session" "$WHICHTOOL" -q mcp 2>&1)"
done

what="the list of tools fits a prompt, and is the same after searches"
list() { # STEPS BEFORE IT
    printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' "$@" \
        '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | "$WHICHTOOL" -q mcp | grep '"id":1[,}]'
}
list >first
list '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"rain"}}}' >second
checks=$((checks + 1))
cmp -s first second || fail "it is not"
same "with the longest summary of providers the list has at most 4 KB" yes "$(printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' |
    "$WHICHTOOL" -q mcp --summary "$(printf '%0400d' 0)" | "$python" -c '
import json, sys
tools = [json.loads(line) for line in sys.stdin][1]["result"]["tools"]
size = len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False))
print("yes" if size <= 4096 else size)')"

what="a summary of one's own"
checks=$((checks + 1))
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}' |
    "$WHICHTOOL" -q mcp --summary "Tools of our shop." >out
prints "Tools of our shop\."
lacks out goodtable

expect 0 "an empty store serves, too" -s empty.wt mcp </dev/null
silent out
finish
