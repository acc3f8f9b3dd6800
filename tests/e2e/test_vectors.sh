#!/bin/bash
# vectors: only missing vectors are computed, an interrupted run loses none, and a missing model is reported with a
# remedy.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

expect 4 "no store" vectors
says "is empty: add tools with"
silent out
add_catalogue
expect 5 "no model" vectors --model gone
says 'the model gone is not installed; get it with `whichtool model pull gone`'
silent out

"$python" "$here/tiny_model.py" "$work/models/tiny"
echo '{"request": "rain?", "tools": ["weather/get_forecast"]}' | "$WHICHTOOL" -q usage add --no-vectors - >/dev/null || exit 1
expect 0 "find says which verb makes them" find --model tiny rain
says '6 of 6 tools have no vector yet; `whichtool vectors` makes them'
expect 0 "a model that came later" vectors --model tiny
prints "^new vectors: 6 of tools, 1 of requests; [0-9.]+ s$"
silent err
expect 0 "no missing vectors" vectors --model tiny
prints "^All 6 tools have vectors of tiny\.$"
expect 0 "find has all vectors" find --model tiny rain
lacks err "no vector"
echo '[{"name": "send", "description": "Sends a letter"}]' >mail.json
"$WHICHTOOL" -q add --no-vectors --provider mail mail.json >/dev/null || exit 1
expect 0 "one more, as JSON" vectors --model tiny --json
same "one vector" "('tiny', 1, 0, 7, 7)" \
    "$(json_of '(d["model"], d["made"], d["requests"], d["tools"], d["embedded"])')"
expect 2 "it takes no arguments" vectors mail.json
expect 0 "a store of one's own is left as it is" -s other.wt add -q --no-vectors mail.json
chmod a-w other.wt && [ ! -w other.wt ] && {
    expect 4 "a store that cannot be written" -s other.wt vectors --model tiny
    says "reading only"
}

# A store of an earlier version: its vectors are used until the next add or `vectors` replaces them.
kind() { sed -n 's/.*wt__document_'"$1"'kind\[\] = "\(.*\)";/\1/p' "$source_root/src/retrieve/document.c"; }
kinds() { "$python" -c '
import sqlite3, sys
c = sqlite3.connect("tools.wt")
if sys.argv[1:]:
    c.execute("update vector set kind = ? where kind = ?", sys.argv[1:])
    c.execute("update meta set value = value + 1 where key = ?", ["generation"])
    c.commit()
print(c.execute("select kind, count(*) from vector where model = (select id from model where name = ?) group by kind",
    ["tiny"]).fetchall())' "$@"; }
expect 0 "all are new" vectors --model tiny
expect 0 "found" find --model tiny --recipe dense --json "a letter"
before=$(json_of '[(t["id"], round(t["score"], 4)) for t in d["hits"]]')
same "an old store" "[('$(kind former_)', 7)]" "$(kinds "$(kind former_)" "$(kind '')")"
expect 0 "it is searched" find --model tiny --recipe dense --json "a letter"
same "as before" "$before" "$(json_of '[(t["id"], round(t["score"], 4)) for t in d["hits"]]')"
says "^Note: 7 of 7 tools have vectors of an earlier version; .whichtool vectors. makes them$"
expect 0 "status" status --model tiny
prints "^vectors +0 of 7 tools, with the model tiny; compute the others with .whichtool vectors.; until then, vectors of an earlier"
lacks out "^encoder"
expect 0 "they are made anew" vectors --model tiny
prints "^new vectors: 7 of tools"
same "in place of the old ones" "[('$(kind '')', 7)]" "$(kinds)"
expect 0 "which are searched" find --model tiny --recipe dense --json "a letter"
same "alone" "None" "$(json_of 'd["notice"]')"

# Ctrl-C at later and later moments: finished vectors stay, and the next run computes the rest.
"$python" -c '
import json
for i in range(30000): print(json.dumps({"name": f"tool_{i}", "description": "weather forecast for a city " * 8 + str(i)}))' >many.jsonl
"$WHICHTOOL" -q -s many.wt add --no-vectors many.jsonl >/dev/null || exit 1
set -m # a background job ignores SIGINT, unless it has its own process group
stops=0
for wait in .02 .05 .1 .2; do
    "$WHICHTOOL" -s many.wt vectors --model tiny >out 2>err &
    pid=$!
    sleep $wait
    kill -INT $pid 2>/dev/null
    { wait $pid; } 2>/dev/null
    code=$? what="Ctrl-C after $wait s" checks=$((checks + 1))
    if [ "$code" = 130 ]; then
        stops=$((stops + 1))
        [ -s err ] || continue # before it was handled
        says "stopped; [0-9]+ new vectors are stored, and [0-9]+ of 30000 tools have one"
        silent out
    else
        [ "$code" = 0 ] || fail "exit $code"
    fi
done
[ "$stops" -gt 0 ] || skip "it was never stopped in time"
expect 0 "the rest" -s many.wt vectors --model tiny --json
same "all have one" "30000" "$(json_of 'd["embedded"]')"
expect 0 "the store is sound" -s many.wt check --damage
finish
