#!/bin/bash
# Each allocation of add --mcp fails in turn, with a server that answers: its tools are imported completely or not at
# all, a failure is reported, and no server is left running.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"

make_catalogue "$folder/old.json" 1 6
make_catalogue "$folder/new.json" 4 9 "other words" # three, in addition to those of their names
run add --provider new "$folder/old.json"
cp "$store" "$folder/old.wt"
tools=$(tr -d '\n' <"$folder/new.json")
cat >"$folder/server.sh" <<SH
exec 3>"$folder/alive"
read -r request
echo '{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}},"serverInfo":{"name":"new"}}}'
read -r notification
read -r request
echo '{"jsonrpc":"2.0","id":2,"result":$tools}'
cat >/dev/null
SH
echo "{\"mcpServers\": {\"new\": {\"command\": \"sh\", \"args\": [\"$folder/server.sh\"]}}}" >"$folder/mcp.json"
touch "$folder/alive"

alive() { # true if a process has the file open
    local link
    for link in /proc/[0-9]*/fd/3; do
        [ "$(readlink "$link" 2>/dev/null)" != "$folder/alive" ] || return 0
    done
    return 1
}

restore "$folder/old.wt"
counts add --mcp "$folder/mcp.json"
check_store "no fault" 12
for n in $(points "$allocations" 80 40); do
    restore "$folder/old.wt"
    run FAULT_ALLOC="$n" add --mcp "$folder/mcp.json"
    is_told "$rc" || fail "allocation $n: exit $rc: $(cat "$folder/err")"
    [ "$rc" -eq 0 ] || [ -s "$folder/err" ] || fail "allocation $n: exit $rc without a word"
    if [ "$rc" -eq 0 ]; then check_store "allocation $n" 12
    else check_store "allocation $n" 6 12; fi
    ! alive || fail "allocation $n: the server is still running"
done
conclude
