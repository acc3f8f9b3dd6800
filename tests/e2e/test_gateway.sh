#!/bin/bash
# The gateway before two servers: on standard input and output, over HTTP with keys as principals of a policy, and after
# it is killed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
served=
trap '[ -z "$served" ] || kill -9 "$served" 2>/dev/null; rm -rf "$work"' EXIT

cat >servers.json <<JSON
{"mcpServers": {
  "home": {"command": "$python", "args": ["$here/notes_server.py", "home"]},
  "work": {"command": "$python", "args": ["$here/notes_server.py", "work"]},
  "dead": {"command": "false"}
}}
JSON
cat >policy.json <<'JSON'
{"rules": [{"servers": ["home"]}, {"keys": ["boss"]}, {"tools": ["drop_*"], "deny": true}],
 "profiles": {"reading": {"face": "direct", "rules": [{"effects": ["read"]}]}}}
JSON
hello='> {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}'
session() { # NAME OPTION...: the session of standard input
    local name=$1
    shift
    cat >session.txt
    same "$name" "" "$("$python" "$here/mcp_session.py" session.txt "$WHICHTOOL" -q mcp --model "" --list-wait 60 --servers servers.json "$@" 2>&1)"
}
call() { # ID TOOL ARGUMENTS
    printf '> {"id": %s, "method": "tools/call", "params": {"name": "%s", "arguments": %s}}' "$@"
}
is_gone() { # PID: of a server or its child, and not of another process that got the number since
    has_ended "$1" || ! grep -qaE 'notes_server|sleep' "/proc/$1/cmdline"
}
nothing_is_left() { # NAME: waits until all processes of the servers have ended
    what=$1
    checks=$((checks + 1))
    [ -s started ] || fail "no server was started"
    while read -r pid child; do
        wait_until is_gone "$pid"
        wait_until is_gone "$child"
    done <started
    rm -f started
}

session "few tools are shown as they are" <<EOS
$hello
> {"id": 2, "method": "tools/list"}
~ result.tools "name": "home__read_note"
~ result.tools "name": "work__write_note"
$(call 3 home__read_note '{"title": "milk"}')
= result.content.0.text "home: read_note milk"
$(call 4 work__read_note '{"titel": "milk"}')
= result.isError true
~ result.content title
$(call 5 nobody__read_note '{}')
? error
EOS
nothing_is_left "its end is the servers' end"

WHICHTOOL_STORE=$work/early.wt session "a call before any list waits for the server" --face direct <<EOS
$hello
$(call 2 home__read_note '{"title": "milk"}')
= result.content.0.text "home: read_note milk"
EOS
nothing_is_left "its end is the servers' end"

WHICHTOOL_STORE=$work/earlier.wt session "so does a call by name" --face search <<EOS
$hello
$(call 2 call_read '{"name": "home__read_note", "arguments": {"title": "milk"}}')
= result.content.0.text "home: read_note milk"
$(call 3 call_read '{"name": "home__no_note", "arguments": {}}')
= result.isError true
EOS
nothing_is_left "its end is the servers' end"

mv servers.json all.json
echo '{"mcpServers": {"silent": {"command": "sh", "args": ["-c", "cat >/dev/null"]}}}' >servers.json
WHICHTOOL_STORE=$work/earliest.wt session "a search says that a server is starting" --face search <<EOS
$hello
$(call 2 search_tools '{"query": "read a note"}')
= result.isError true
= result.content.0.text "some servers are still starting; search again in a few seconds"
EOS
mv all.json servers.json

session "many are searched for, and called by what they may do" --face search --audit audit.jsonl <<EOS
$hello
> {"id": 2, "method": "tools/list"}
= result.tools.0.name "search_tools"
= result.tools.5.name "read_more"
$(call 3 search_tools '{"query": "reads a note of work", "k": 2}')
= result.structuredContent.tools.0.name "work__read_note"
= result.structuredContent.tools.0.call_with "call_read"
$(call 4 call_read '{"name": "work__read_note", "arguments": {"title": "plan"}}')
= result.content.0.text "work: read_note plan"
$(call 5 call_read '{"name": "work__write_note", "arguments": {"title": "plan"}}')
= result.isError true
~ result.content call work__write_note with call_write
$(call 6 call_destructive '{"name": "home__drop_note", "arguments": {"title": "plan"}}')
= result.isError true
$(call 7 call_read '{"name": "work__read_note", "arguments": {"title": "plan"}}')
= result.content.0.text "work: read_note plan"
EOS
nothing_is_left "a server that died is started again, and ends with the others"
same "each call has its line, and one of what came of it" "allowed ok wrong_tool allowed failed allowed ok" "$("$python" -c '
import json
lines = map(json.loads, open("audit.jsonl"))
print(*[line.get("decision") or line["outcome"] for line in lines])')"
expect 0 "the audit holds" mcp audit audit.jsonl
prints '7 lines, with an intact chain: 3 allowed, 0 denied'
head -6 audit.jsonl >unended.jsonl
expect 0 "a call without a recorded end" mcp audit unended.jsonl
prints '1 allowed entries have no recorded end'
prints 'The lines have no HMAC: anyone with write access to the file could have forged them'
expect 0 "a log is rotated" mcp audit audit.jsonl --rotate
prints 'audit.jsonl.20[0-9T]+Z contains the lines before number 8; later lines go to audit.jsonl'
kept=$(ls audit.jsonl.20*Z)
expect 0 "both files are one chain" mcp audit "$kept" audit.jsonl
prints '8 lines, with an intact chain: 3 allowed, 0 denied'
expect 0 "the new one by itself" mcp audit audit.jsonl
prints 'The first line continues an earlier file'
expect 3 "but not in another order" mcp audit audit.jsonl "$kept"
says 'does not follow from the line before it'
expect 2 "only one is rotated" mcp audit "$kept" audit.jsonl --rotate
sed -i 's/wrong_tool/allowed/' "$kept"
expect 3 "and not when a word of it was changed" mcp audit "$kept" audit.jsonl
says "$kept: line 3 does not follow"

# With a key, which appears in no output.
printf '0123456789abcdef%.0s' 1 2 3 4 >audit.key
chmod 640 audit.key
expect 2 "others can read the key" mcp --servers servers.json --audit keyed.jsonl --audit-key audit.key </dev/null
says 'others can access the key in audit.key; run chmod 600'
chmod 600 audit.key
session "lines have an HMAC" --face search --audit keyed.jsonl --audit-key audit.key <<EOS
$hello
$(call 2 call_read '{"name": "work__read_note", "arguments": {"title": "plan"}}')
? result
EOS
expect 0 "the key checks them" mcp audit keyed.jsonl --audit-key audit.key
lacks out 0123456789abcdef
expect 2 "a keyed log needs the key to be checked" mcp audit keyed.jsonl
says 'line 1 and later lines have an HMAC; give their key with --audit-key FILE'
expect 2 "a keyed log needs the key to be continued" mcp --servers servers.json --audit keyed.jsonl </dev/null
says 'give its key with --audit-key FILE'
expect 3 "a log without HMACs is rejected with a key" mcp audit audit.jsonl --audit-key audit.key
says 'no line of the log has an HMAC'
expect 2 "--audit-key without --audit" mcp --servers servers.json --audit-key audit.key </dev/null
says 'audit-key needs --audit FILE'
mv keyed.jsonl away.jsonl
expect 3 "a log that was moved" mcp --servers servers.json --audit keyed.jsonl --audit-key audit.key </dev/null
says 'keyed.jsonl, which ended with line [0-9]+, was moved or removed; put the file back'

session "a policy, and a profile of it" --policy policy.json --profile reading <<EOS
$hello
> {"id": 2, "method": "tools/list"}
= result.tools.0.name "home__read_note"
! result.tools.1
$(call 3 home__write_note '{"title": "a"}')
? error
$(call 4 work__read_note '{"title": "a"}')
? error
EOS
rm -f started

expect 0 "their state is kept" --json mcp status
prints '"name":"home","state":"ended"'
prints '"name":"dead"'
expect 0 "without a gateway, servers have ended" mcp status
prints '^home +ended +legacy +[0-9]+ tools$'
says '^No gateway is running; this is the state of the servers at 20[-0-9T:]+Z\.$'
cp "$WHICHTOOL_STORE-servers.json" kept.json
echo '{"servers":[],"audit_error":"cannot write a.jsonl: No space left on device"}' >"$WHICHTOOL_STORE-servers.json"
expect 0 "and that the audit cannot be written" mcp status
prints 'Calls and reads are refused, because the audit log cannot be written:'
prints 'cannot write a.jsonl: No space left on device'
expect 0 "the same for programs" --json mcp status
prints '{"audit_error":"cannot write a.jsonl: No space left on device"}'
mv kept.json "$WHICHTOOL_STORE-servers.json"

# Killed, with its servers running.
mkfifo in
"$WHICHTOOL" -q mcp --model "" --list-wait 60 --servers servers.json <in >answers 2>/dev/null &
served=$!
exec 4>in
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"home__read_note","arguments":{"title":"x"}}}' >&4
wait_until grep -q "home: read_note x" answers
is_home_ready() { "$WHICHTOOL" mcp status 2>/dev/null | grep -q '^home *ready '; } # written shortly after the answer
wait_until is_home_ready
expect 0 "with one they do" mcp status
prints '^home +ready '
lacks err "No gateway"
kill -9 "$served"
await_end "$served"
served=
exec 4>&-
nothing_is_left "kill -9 leaves none of their processes"

# Standard error names waiting definitions and the command that approves them.
"$WHICHTOOL" -s other.wt mcp --model "" --list-wait 60 --servers servers.json --review-first <in >answers 2>log &
served=$!
exec 4>in
# shellcheck disable=SC2016 # the command is text
wait_until grep -qF 'whichtool: home: 3 tools wait for approval: `whichtool -s other.wt mcp approve home`' log
wait_until grep -q '^whichtool: cannot start dead, trying again: ' log
exec 4>&-
await_end "$served"
same "and it ends with its client" 0 $?
served=
nothing_is_left "and its servers with it"

# Over HTTP, with one key for each principal.
for who in boss clerk; do
    expect 0 "a key for $who" serve --keys keys --new-key "$who" --scopes find,call
    cp out "$who"
done
expect 0 "a key that only finds" serve --keys keys --new-key finder
cp out finder
expect 0 "a key that reports use" serve --keys keys --new-key reporter --scopes usage
cp out reporter
"$WHICHTOOL" --json serve --model "" --listen 127.0.0.1:0 --keys keys --servers servers.json --policy policy.json \
    --audit served.jsonl >listening 2>log &
served=$!
wait_until says_or_has_ended listening "$served"
url=$("$python" -c 'import json; print(json.load(open("listening"))["listening"])') || { cat log; exit 1; }
modern='"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}'
post() { # STATUS NAME WHO PATH METHOD PARAMS [NAME-HEADER]
    local want=$1 who=$3 path=$4 method=$5 params=$6 named=${7:-}
    what=$2
    checks=$((checks + 1))
    "$python" "$here/ask.py" "$url" POST "$path" \
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"$method\", \"params\": {$modern$params}}" \
        "Authorization: Bearer $(grep -o 'wt_[A-Za-z0-9_-]*' "$who" | head -1)" "Content-Type: application/json" \
        "Accept: application/json, text/event-stream" "MCP-Protocol-Version: 2026-07-28" "Mcp-Method: $method" \
        ${named:+"Mcp-Name: $named"} >out 2>err
    [ "$(head -1 out)" = "$want" ] || fail "status $(head -1 out), wanted $want"
}
say() { # PATTERN: waits up to a minute for the lists of servers
    grep -qE -- "$1" out || fail "no \"$1\""
}
what="keys of before are told of"
checks=$((checks + 1))
wait_until grep -qF "1 key has the scope find without call: it finds tools of the servers and cannot call them. To let a key \
call, write find,call in its line of keys and send SIGHUP." log
post 200 "one may use all" boss /mcp/all tools/list ""
say '"home__read_note"'
say '"work__write_note"'
lacks out drop_note
post 200 "another what is at home" clerk /mcp/all tools/list ""
say '"home__write_note"'
lacks out 'work__|drop_note'
post 200 "a profile reads" boss /mcp/p/reading tools/list ""
say '"work__read_note"'
lacks out write_note
post 200 "and narrows" clerk /mcp/p/reading tools/list ""
say '"home__read_note"'
lacks out 'work__|write_note'
post 404 "there is no other profile" boss /mcp/p/writing tools/list ""
post 200 "a search is at /mcp" clerk /mcp tools/list ""
say '"search_tools"'
post 200 "it finds what is allowed" clerk /mcp tools/call ', "name": "search_tools", "arguments": {"query": "a note of work", "k": 50}' search_tools
lacks out 'work__'
post 200 "a call of it" boss /mcp tools/call ', "name": "call_read", "arguments": {"name": "work__read_note", "arguments": {"title": "z"}}' call_read
say 'work: read_note z'
post 200 "and one that is denied" clerk /mcp tools/call ', "name": "call_read", "arguments": {"name": "work__read_note", "arguments": {"title": "z"}}' call_read
say 'unknown tool'
post 200 "a key that only finds calls nothing" finder /mcp tools/call ', "name": "call_read", "arguments": {"name": "home__read_note", "arguments": {"title": "z"}}' call_read
say 'the key finder lacks the scope'
post 200 "but finds" finder /mcp tools/call ', "name": "search_tools", "arguments": {"query": "a note of home", "k": 50}' search_tools
say '"home__read_note"'
usage() { # ANSWER-FILE TOOL: prints the answer to its call
    "$python" "$here/ask.py" "$url" POST /v1/usage "{\"request\": \"a note\", \"tools\": [\"$2\"]}" \
        "Authorization: Bearer $(grep -o 'wt_[A-Za-z0-9_-]*' reporter | head -1)" >"$1" 2>err
}
usage hidden work/read_note
usage absent work/no_such_tool
same "with a policy a report tells of no tool" "$(cat absent)" "$(cat hidden)"
same "and is taken" 200 "$(head -1 hidden)"
same "the audit says who" "boss allowed clerk denied finder denied" "$("$python" -c '
import json
lines = [line for line in map(json.loads, open("served.jsonl")) if "decision" in line]
print(*[line[key] for line in lines for key in ("principal", "decision")])')"
kill -TERM "$served"
await_end "$served"
same "it ends well" 0 $?
served=
nothing_is_left "and its servers with it"

# A configuration that contains whichtool, under any name, does not start a second one.
mkdir called
ln -s "$WHICHTOOL" called/whichtool
ln -s "$WHICHTOOL" called/other
"$python" - "$work" "$python" "$here/notes_server.py" <<'PYTHON'
import json, sys
work, python, notes = sys.argv[1:]
home = {"command": python, "args": [notes, "home"]}
def gateway(name, file):
    return {"command": f"{work}/called/{name}", "args": ["-q", "mcp", "--model", "", "--list-wait", "60", "--servers", f"{work}/{file}"]}
for file, servers in {"circle.json": {"tools": gateway("whichtool", "circle.json"), "home": home},
                      "wrapped.json": {"tools": gateway("other", "wrapped.json"), "home": home},
                      "outer.json": {"inner": gateway("other", "inner.json")},
                      "inner.json": {"home": home}}.items():
    with open(file, "w") as f:
        json.dump({"mcpServers": servers}, f)
PYTHON
lists() { # TOOL: asks for the list; true once the tool was in one
    echo '{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}' >&4
    grep -qF "\"$1\"" answers
}
list_tools() { # NAME SERVERS TOOL: the list contains the tool; messages go to log
    what=$1
    checks=$((checks + 1))
    : >answers # else those of an earlier gateway are there until the shell truncates the file
    "$WHICHTOOL" -s "$2.wt" mcp --model "" --list-wait 60 --servers "$2" --face direct <in >answers 2>log &
    served=$!
    exec 4>in
    printf '%s\n' "${hello#> }" | sed 's/^{/{"jsonrpc": "2.0", /' >&4
    wait_until lists "$3"
    whichtools=$(pgrep -c -P "$served" -f called/)
}
end_it() {
    exec 4>&-
    await_end "$served"
    served=
}
list_tools "the other servers of one that holds itself are there" circle.json home__read_note
same "and it has started no other" 0 "$whichtools"
expect 0 "its state says why" -s circle.json.wt mcp status
prints '^tools +disabled '
prints '^ +it is whichtool itself$'
end_it
same "the skipped server is reported" "whichtool: tools: left out: it is whichtool itself" "$(grep left log)"
list_tools "by another name, too" wrapped.json home__read_note
wait_until grep -q '^whichtool: cannot start tools, trying again: ' log
end_it
same "the second one says what to do" 1 "$(grep -c 'which would start the servers of that file again: remove the server that starts whichtool from the file' log)"
WHICHTOOL_GATEWAY=/x:$work/wrapped.json expect 3 "its exit code" mcp --servers wrapped.json </dev/null
says 'a server of wrapped.json started this whichtool'
WHICHTOOL_GATEWAY=$work/wrapped.json expect 3 "and over HTTP" serve --listen 127.0.0.1:0 --servers wrapped.json
says 'a server of wrapped.json started this whichtool'
list_tools "one gateway may stand behind another, of other servers" outer.json inner__home_read_note
end_it
nothing_is_left "all ends"

# Error messages contain a remedy.
expect 2 "a policy without servers" mcp --policy policy.json </dev/null
says "policy needs --servers FILE"
expect 2 "a profile that there is not" mcp --servers servers.json --policy policy.json --profile writing </dev/null
says "the policy has no profile writing"
expect 2 "a profile without a policy" mcp --servers servers.json --profile reading </dev/null
says "profile reading"
echo '{"rules": [{"tool": ["x"]}]}' >wrong.json
expect 3 "a misspelt policy" mcp --servers servers.json --policy wrong.json </dev/null
says 'wrong.json, /rules/0: unknown member "tool"'
echo '{}' >wrong.json
expect 3 "no servers" mcp --servers wrong.json </dev/null
says "wrong.json"
echo 'no audit' >wrong.json
expect 3 "an invalid audit log" mcp --servers servers.json --audit wrong.json </dev/null
says "wrong.json: line 1 is not a line of an audit log"
same "and is left as it was" "no audit" "$(cat wrong.json)"
expect 2 "an unknown face" mcp --servers servers.json --face all </dev/null
says "search"

# Mutated results of a server: each call ends, and the client gets valid messages.
checks=$((checks + 1))
"$python" "$here/../../bench/gateway_results.py" "$WHICHTOOL" --count 300 --seed 7 >results.txt || fail "$(cat results.txt)"
finish
