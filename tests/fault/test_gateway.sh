#!/bin/bash
# Each allocation of a starting gateway, and of a call through it, fails in turn: it exits with a message or keeps
# serving, the store is intact, and no server is left running. Then each of its writes fails, once and as on a full
# disk, and it is killed before each: every call that reaches the server has a line in the audit log.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"

cat >"$folder/server.sh" <<SH
exec 3>"$folder/alive"
while read -r request; do
    id=\${request#*'"id":'}
    id=\${id%%,*}
    case "\$request" in
        *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'\$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}';;
        *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'\$id',"result":{"tools":[{"name":"t","description":"does it","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}';;
        *'"tools/call"'*) echo had >>"$folder/had"; echo '{"jsonrpc":"2.0","id":'\$id',"result":{"content":[{"type":"text","text":"it is done"}]}}';;
        *'"id":'*) echo '{"jsonrpc":"2.0","id":'\$id',"error":{"code":-32601,"message":"what"}}';;
    esac
done
SH
echo "{\"mcpServers\": {\"s\": {\"command\": \"sh\", \"args\": [\"$folder/server.sh\"]}}}" >"$folder/mcp.json"
echo '{"rules": [{"effects": ["read"]}], "profiles": {"p": {"face": "search", "rules": [{}]}}}' >"$folder/policy.json"
touch "$folder/alive"

# Sends a client's messages, and ends the input after the last answer or the end of the command. A failed allocation may
# lose an answer; then it stops waiting.
client() {
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"does it"}}}' \
        '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"call_read","arguments":{"name":"s__t","arguments":{}}}}'
    for _ in $(seq 40); do
        ! grep -q '"id":3' "$folder/out" && [ ! -s "$folder/err" ] || return
        sleep 0.05
    done
}
serve() { # NAME=VALUE...
    : >"$folder/out"
    : >"$folder/err"
    run "$@" mcp --model "" --list-wait 60 --servers "$folder/mcp.json" --policy "$folder/policy.json" --face search \
        --audit "$folder/audit" < <(client 2>/dev/null)
}
alive() { # true if a process has the file open
    local link
    for link in /proc/[0-9]*/fd/3; do
        [ "$(readlink "$link" 2>/dev/null)" != "$folder/alive" ] || return 0
    done
    return 1
}

serve # the server's tools are in the store
serve
grep -q "it is done" "$folder/out" || fail "without a fault: $(cat "$folder/out" "$folder/err")"
cp "$store" "$folder/old.wt"
serve FAULT_COUNTS="$folder/counts"
read -r allocations calls <"$folder/counts"
served=0
for n in $(points "$allocations" 60 60); do
    restore "$folder/old.wt"
    serve FAULT_ALLOC="$n"
    is_told "$rc" || fail "allocation $n: exit $rc: $(cat "$folder/err")"
    [ "$rc" -eq 0 ] || [ -s "$folder/err" ] || fail "allocation $n: exit $rc without a word"
    grep -q "it is done" "$folder/out" && served=$((served + 1))
    check_store "allocation $n" 1
    ! alive || fail "allocation $n: the server is still running"
done
[ "$served" -gt 10 ] || fail "a call came through $served times alone"
restore "$folder/old.wt"
run mcp audit "$folder/audit"
[ "$rc" -eq 0 ] || fail "the audit: $(cat "$folder/err")"

calls_had() { grep -c had "$folder/had" 2>/dev/null || true; }
served=0 told=0
for how in EIO ENOSPC KILL; do
    for n in $(points "$calls" 0 40); do
        restore "$folder/old.wt"
        rm -f "$folder/audit" "$folder/audit.head" "$folder/had"
        last=$n
        [ $how != ENOSPC ] || last=1000000
        serve FAULT_IO="$n" FAULT_HOW=$how FAULT_LAST=$last
        while alive; do sleep 0.05; done # the keeper ends it after a kill
        had=$(calls_had) lines=$(grep -c '"decision":"allowed"' "$folder/audit" 2>/dev/null || true)
        [ "${had:-0}" -le "${lines:-0}" ] || fail "$how at $n: $had calls, and $lines lines of them"
        served=$((served + ${had:-0}))
        ! grep -q "calls and reads are refused until the audit can be written" "$folder/err" || told=$((told + 1))
        if [ -s "$folder/audit" ]; then
            run mcp audit "$folder/audit"
            [ "$rc" -eq 0 ] || fail "$how at $n, the audit: $(cat "$folder/err")"
        fi
    done
done
[ "$served" -gt 10 ] || fail "with writes that fail a call came through $served times alone"
[ "$told" -gt 0 ] || fail "nobody was told that the audit cannot be written"

# A rotation that fails or is killed at any point leaves one chain, in one file or two, and the next rotation continues it.
restore "$folder/old.wt"
rm -f "$folder/audit" "$folder/audit.head"
serve
cp "$folder/audit" "$folder/log.old"
cp "$folder/audit.head" "$folder/head.old"
chain() { # WHAT: all files, the oldest first
    local first last
    last=$folder/log
    first=$(grep -l '"seq":1,' "$folder"/log.2* 2>/dev/null | head -1)
    if head -1 "$last" | grep -q '"continues"'; then run mcp audit "$first" "$last"; else run mcp audit "$last"; fi
    [ "$rc" -eq 0 ] || fail "$1: the chain: $(cat "$folder/err")"
    grep -q "earlier file" "$folder/out" && fail "$1: the first file is missing"
    return 0
}
log_again() {
    rm -f "$folder"/log "$folder"/log.2* "$folder/log.head"
    cp "$folder/log.old" "$folder/log"
    cp "$folder/head.old" "$folder/log.head"
}
log_again
counts mcp audit "$folder/log" --rotate
for how in EIO ENOSPC KILL TEAR; do
    for n in $(points "$calls" 100 1); do
        log_again
        run FAULT_IO="$n" FAULT_HOW=$how mcp audit "$folder/log" --rotate
        chain "call $n of a rotation, $how"
        rm -f "$folder"/log.2*.kept
        for kept in "$folder"/log.2*; do [ ! -e "$kept" ] || mv "$kept" "$kept.kept"; done # the next rotation happens in the same second
        run mcp audit "$folder/log" --rotate
        [ "$rc" -eq 0 ] || fail "call $n of a rotation, $how, then another: $(cat "$folder/err")"
    done
done
conclude
