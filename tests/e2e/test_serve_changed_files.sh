#!/bin/bash
# A server whose files change: an emptied index, and a store that a newer whichtool updates or another program damages.
# It keeps running, refuses requests with a message, and does not reveal file names to clients.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
served=
trap '[ -z "$served" ] || kill "$served" 2>/dev/null; rm -rf "$work"' EXIT

expect 0 "a catalogue" add --provider town "$source_root/tests/import/formats/mcp/example.json"
"$WHICHTOOL" --json serve --listen 127.0.0.1:0 >listening 2>log &
served=$!
wait_until says_or_has_ended listening "$served"
url=$("$python" -c 'import json; print(json.load(open("listening"))["listening"])') || { cat log; exit 1; }
ask() { # STATUS NAME METHOD PATH BODY
    what=$2
    checks=$((checks + 1))
    "$python" "$here/ask.py" "$url" "$3" "$4" "$5" "Content-Type: application/json" >out 2>err
    [ "$(head -1 out)" = "$1" ] || fail "status $(head -1 out), wanted $1"
    lacks out "$work|tools\.wt"
}
is_ready() {
    "$python" "$here/ask.py" "$url" GET /health | grep -q '"ready":true'
}

wait_until is_ready
ask 200 "a find" POST /v1/find '{"query": "what is the weather"}'
for file in "$WHICHTOOL_STORE-index"/*; do : >"$file"; done
for query in "what is the weather" "another request" "book a table for two"; do
    ask 200 "finds go on when the index was emptied" POST /v1/find "{\"query\": \"$query\"}"
    prints '"hits":\[\{'
done
ask 200 "and a new index is made" POST "/v1/tools?provider=late" \
    '{"tools": [{"name": "milk_cow", "description": "milks a cow", "inputSchema": {"type": "object"}}]}'
ask 200 "which has what is new" POST /v1/find '{"query": "milk a cow"}'
prints 'late/milk_cow'

version() {
    "$python" -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1]); c.execute(f"pragma user_version = {sys.argv[2]}"); c.commit()' "$WHICHTOOL_STORE" "$1"
}
old=$("$python" -c 'import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute("pragma user_version").fetchone())' "$WHICHTOOL_STORE")
version 9999
ask 500 "a newer store is not written" POST "/v1/tools?provider=late" \
    '{"tools": [{"name": "shear_sheep", "description": "shears a sheep", "inputSchema": {"type": "object"}}]}'
prints '"code":"store_newer"'
prints 'restart the server with that version'
what="the log has the whole sentence"
checks=$((checks + 1))
wait_until grep -qF "$WHICHTOOL_STORE was updated by a newer whichtool while this one ran (store version 9999; this one uses $old)" log
version "$old"
ask 200 "and is when it is its own again" POST "/v1/tools?provider=late" \
    '{"tools": [{"name": "shear_sheep", "description": "shears a sheep", "inputSchema": {"type": "object"}}]}'

: >"$WHICHTOOL_STORE"
ask 500 "a store that was emptied" POST "/v1/tools?provider=late" \
    '{"tools": [{"name": "feed_hen", "description": "feeds a hen", "inputSchema": {"type": "object"}}]}'
what="it has not ended"
checks=$((checks + 1))
kill -0 "$served" || fail "it has"
kill -TERM "$served"
wait "$served"
same "and ends well" 0 $?
served=
finish
