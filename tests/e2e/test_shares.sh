#!/bin/bash
# The gateway before two servers, one of which never answers, with two keys: one key's client cannot affect the other's.
# The long timeout keeps the waiting calls alive on a slow machine.
# SHARES_CALLS and SHARES_SESSIONS enlarge the test; the reported case had 300 and 10050.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
served=
trap '[ -z "$served" ] || kill "$served" 2>/dev/null; rm -rf "$work"' EXIT

cat >servers.json <<JSON
{"mcpServers": {
  "mute": {"command": "$python", "args": ["$here/notes_server.py", "mute", "mute"], "timeout": 3600},
  "home": {"command": "$python", "args": ["$here/notes_server.py", "home"]}
}}
JSON
for who in a b; do
    expect 0 "a key for $who" serve --keys keys --new-key "$who" --scopes find,call
    grep -o 'wt_[A-Za-z0-9_-]*' out | head -1 >"$who"
done
"$WHICHTOOL" --json -q serve --model "" --listen 127.0.0.1:0 --keys keys --servers servers.json >listening 2>log &
served=$!
wait_until says_or_has_ended listening "$served"
url=$("$python" -c 'import json; print(json.load(open("listening"))["listening"])') || { cat log; exit 1; }
"$python" "$here/shares.py" "$url" "$(cat a)" "$(cat b)" "${SHARES_CALLS:-300}" "${SHARES_SESSIONS:-300}" >out 2>err
cat out
same "one client does not affect another" "0 crossed" "$(tail -1 out)"
silent err
kill -TERM "$served"
wait "$served"
same "the server ends well" 0 $?
served=
finish
