#!/bin/bash
# add --mcp: servers of a configuration, as a command and at an address. Failed servers are reported, and no server is
# left running, even after Ctrl-C.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

# A server in a few lines of shell. It and its child processes keep the pipe `alive` open.
cat >server.sh <<'SH'
exec 3>alive
name=$1 tools=$2
read -r request
printf '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"%s"}}}\n' "$name"
read -r notification
read -r request
printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[%s]}}\n' "$tools"
cat >/dev/null
SH
mkfifo alive
exec 9<>alive # so that opening does not block
nobody() { # NAME: waits until all processes of servers have ended
    exec 9>&-
    what=$1
    checks=$((checks + 1))
    timeout 60 "$python" -c '
import os
fd = os.open("alive", os.O_RDONLY | os.O_NONBLOCK)
os.set_blocking(fd, True)
assert os.read(fd, 1) == b""' || fail "a server is still running"
    exec 9<>alive
}
tool() { printf '{"name":"%s","description":"%s"}' "$1" "$2"; }

"$python" - <<'PYTHON'
import json
def server(name, *tools):
    return {"command": "sh", "args": ["server.sh", name, ",".join(json.dumps(t) for t in tools)]}
tool = lambda name, says: {"name": name, "description": says}
weather = server("weather-server", tool("get_forecast", "Weather forecast for a city"), tool("get_tides", "High water"))
money = server("money", tool("convert", "Converts an amount of money"))
dead = {"command": "sh", "args": ["-c", "echo \"no database for $TOKEN\" >&2; exit 1"], "env": {"TOKEN": "4711-secret"}}
servers = {"weather": weather, "dead": dead, "money": money, "off": {"command": "none", "disabled": True}}
def write(path, value, comment=""):
    with open(path, "w") as f:
        f.write(comment + json.dumps(value, indent=1))
write("mcp.json", {"mcpServers": servers})
write("good.json", {"mcpServers": {"sky": weather, "coins": money}})
write("less.json", {"servers": {"coins": money}}, "// of VS Code\n")
write("c1.json", {"mcpServers": {"s": server("s", tool("go", "Goes away"))}})
write("c2.json", {"mcpServers": {"s": server("s", tool("go", "Comes back"))}})
write("many.json", {"mcpServers": {"s%d" % i: {"command": "x"} for i in range(257)}})
with open("twice.json", "w") as f:
    f.write('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}')
write("none.json", {"tools": []})
write("input.json", {"servers": {"a": {"command": "x", "args": ["${input:key}"]}}})
write("mute.json", {"mcpServers": {"mute": {"command": "sh", "args": ["-c", "exec 3>alive; trap '' TERM; sleep 900 & sleep 900"]}}})
PYTHON

expect 6 "two servers, one that is off, and a dead one" add --mcp mcp.json
prints "^weather: 2 tools: 2 added, 0 updated, 0 unchanged, 0 removed, 0 skipped$"
prints "^money: 1 tool: 1 added"
prints "^off: disabled$"
prints "^mcp.json: 2 of 3 servers answered, 3 tools; 3 vectors; [0-9.]+ s$"
says "^whichtool: dead: sh ended before it answered .initialize.; it said last: no database for \*\*\*$"
lacks err "4711"
lacks out "4711"
nobody "no server is left"
expect 0 "their tools are found" show weather/get_tides
expect 0 "by their words" find --recipe bm25 "convert money"
prints "money/convert"

expect 6 "the same again, as JSON" add --json --mcp mcp.json
json_lines
same "a line a server, and one of all" "['answered', 'failed', 'answered', 'disabled', None]" "$(json_of '[r.get("state") for r in l]')"
same "counts" "(2, 'WT_ENETWORK', 2, 1, 1, 3)" "$(json_of '(l[0]["unchanged"], l[1]["code"], l[4]["answered"], l[4]["failed"], l[4]["disabled"], l[4]["tools"])')"

echo '{"mcpServers": {"tools": {"command": "/opt/bin/whichtool", "args": ["mcp", "--servers", "self.json"]}}}' >self.json
expect 0 "whichtool itself is left out" add --mcp self.json
prints "^tools: skipped: it is whichtool itself$"
expect 0 "the same for programs" --json add --mcp self.json
same "with its reason" "('disabled', 'it is whichtool itself')" "$(json_of '(l[0]["state"], l[0]["reason"])')"

cp good.json client.json
expect 0 "one without failures" add --mcp client.json
cp less.json client.json
expect 0 "a server is gone from the configuration" add --mcp --sync client.json
prints "client.json: 1 of 1 servers answered, 1 tool, 2 removed with their servers; "

expect 6 "two configurations; what fails in the first keeps the second in" add --mcp mcp.json less.json
prints "^mcp.json: 2 of 3"
prints "^less.json: 1 of 1"

expect 2 "a provider for two servers" add --mcp --provider p good.json
says "good.json has 2 MCP servers, but a provider applies to one server only"
expect 2 "a provider for two sources" add --mcp --provider p less.json good.json
expect 3 "a name twice" add --mcp twice.json
says "twice.json: not valid JSON: duplicate object key near '\"a\"'"
expect 3 "more servers than a configuration may have" add --mcp many.json
says "many.json names more than 256 MCP servers"
mkfifo pipe.json
expect 3 "a configuration that is a pipe" add --mcp pipe.json
says "pipe.json is a pipe, not a file"
for order in "c1.json c2.json" "c2.json c1.json"; do
    rm -rf order.wt*
    # shellcheck disable=SC2086 # two words
    expect 0 "two that have a server of one name, as $order" -s order.wt add --mcp $order
    says "s/go of mcp:.*/c2.json#s is s/go~2, because mcp:.*/c1.json#s has that name"
done
printf '{"mcpServers": {"ctl\\u001b[2J": {"command": "sh", "args": ["-c", "printf \\"\\\\033[2J\\" >&2; exit 1"]}}}' >ctl.json
expect 6 "control characters" add --mcp ctl.json
lacks err "$(printf '\033')"

expect 0 "a command" add --mcp -- sh server.sh mcp-notes-server "$(tool take "Takes a note")"
prints "^notes: 1 tool: 1 added"
expect 0 "its tool" show notes/take
expect 0 "a command in one word" add --mcp "sh server.sh 'my list' '$(tool add "Adds to the list")'" --provider list
expect 0 "its tool" show list/add
expect 6 "a program that is not there" add --mcp -- no-such-program-of-ours x
says "cannot run no-such-program-of-ours: No such file or directory"
expect 2 "a quote without an end" add --mcp "sh 'x"
expect 2 "no command" add --mcp " "
expect 2 "an option of the command, without --" add --mcp npx -y x
says "write -- before words that begin with a dash"
expect 3 "a configuration that is not there" add --mcp none-such.json
says "none-such.json"
expect 3 "one that names no servers" add --mcp none.json
says "none.json names no MCP servers"
expect 6 "one that only its client can start" add --mcp input.json
says "a: it needs an input that only its client can ask for: input:key"
expect 2 "a format" add --mcp -f mcp mcp.json
expect 2 "a time limit without servers" add --timeout 3 mcp.json

expect 6 "an address without a server" add --mcp "http://me:4711@127.0.0.1:1/4711/mcp?key=4711"
prints "^http://127.0.0.1:1: 0 of 1 servers answered"
says "cannot ask http://127.0.0.1:1: "
lacks err "4711"
lacks out "4711"

expect 6 "a mute server" add --mcp --timeout 1 mute.json
says "mute: no answer came within 1 s"
nobody "a mute server is ended"

exec 9>&-
for signal in INT TERM HUP; do
    what="SIG$signal while a server is asked"
    checks=$((checks + 1))
    "$WHICHTOOL" add --mcp mute.json >out 2>err &
    pid=$!
    exec 8<alive # waits for the server
    kill -"$signal" "$pid"
    wait "$pid"
    same "SIG$signal has its exit code" 130 $?
    says "nothing of this source was imported"
    same "no server is left after SIG$signal" "" "$(timeout 60 cat <&8 || echo still running)"
    exec 8<&-
done
finish
