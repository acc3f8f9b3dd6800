#!/bin/bash
# Replicas: publish to a folder and over HTTP, follow with find, serve and mcp, refuse changes, deliver usage to the writer.
# shellcheck disable=SC2154
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/replicas.sh
. "$here/replicas.sh"

cat >tools.json <<'JSON'
{"tools": [
 {"name": "count_sheep", "description": "Counts sheep on a meadow.", "inputSchema": {"type": "object"}},
 {"name": "book_table", "description": "Books a table in a restaurant.", "inputSchema": {"type": "object"}}
]}
JSON
expect 0 "the writer's tools" add "${model[@]}" tools.json
expect 0 "a key that may apply segments" serve --keys keys --new-key replica --scopes write
grep -o 'wt_[A-Za-z0-9_-]*' out >replica.key
start writer "$WHICHTOOL" --json serve "${model[@]}" --log off --listen 127.0.0.1:0 --keys keys
expect 0 "a key for everything" serve --keys keys --new-key admin --scopes admin
admin=$(grep -o 'wt_[A-Za-z0-9_-]*' out)
kill -HUP "$writer_pid"

# A folder, once.
expect 0 "a store is published" publish "${model[@]}" --writer "$writer_at" published
prints "Published generation [0-9]+ to published: [0-9]+ rows? written"
expect 0 "an unchanged store is published again" --json publish "${model[@]}" --writer "$writer_at" published
same "nothing was written" "0 0" "$(json_of 'str(d["rows"]) + " " + str(d["deleted"])')"
expect 0 "find on the store" --json -q find "${model[@]}" "count the sheep"
timeless <out >want
expect 0 "find on a replica" --json -q find "${model[@]}" --follow published --cache cache "count the sheep"
same "equal answers" "$(cat want)" "$(timeless <out)"
mv published away
expect 0 "the publisher is away" --json find "${model[@]}" --follow published --cache cache "count the sheep"
says "cannot follow; the replica stays at its generation: cannot read published/manifest.json: No such file"
same "answers of the cache" "$(cat want)" "$(timeless <out)"
expect 3 "an empty cache needs the publisher" find "${model[@]}" --follow published --cache other "count the sheep"
says "cannot read published/manifest.json"
mv away published
expect 5 "another encoder" find --follow published --cache cache --model "" --recipe hybrid "count the sheep"
says "the vectors of the publication at published are of the model whichtool-static-v1"
expect 2 "--follow and -s" -s x.wt find --follow published "count"
says "leave -s out"
expect 2 "--cache alone" find --cache cache "count"
says "--cache needs --follow"

# The store of a replica refuses changes.
expect 4 "add" -s cache/store.wt add tools.json
says "this store is a replica and cannot be changed; make the change at the writer, $writer_at"
expect 4 "train" -s cache/store.wt train "${model[@]}" all
says "this store is a replica"
expect 2 "publish a replica" -s cache/store.wt publish "${model[@]}" elsewhere
says "cache/store.wt is a replica; publish the writer's store at $writer_at"

# A server that follows over HTTP, and a publisher that watches.
for way in "" --no-range --no-etag; do
    # shellcheck disable=SC2086 # one option or none
    start files "$python" "$here/static_server.py" published $way
    start publisher "$WHICHTOOL" publish "${model[@]}" --watch --writer "$writer_at" published
    start replica "$WHICHTOOL" --json serve "${model[@]}" --log off --listen 127.0.0.1:0 --follow "$files_at" \
        --cache "cache$way" --writer-key replica.key
    name=milk$RANDOM
    answer "$writer_at" POST "/v1/tools?provider=dairy&source=$name" \
        "{\"tools\":[{\"name\":\"$name\",\"description\":\"Milks a cow $way.\",\"inputSchema\":{\"type\":\"object\"}}]}" "$admin" >out
    what="a new tool arrives${way:+ with $way}"
    checks=$((checks + 1))
    wait_until answers_with "$replica_at" POST /v1/find '{"query":"milk the cow"}' "dairy/$name" || fail "it does not"
    same "equal answers$way" "$(answer "$writer_at" POST /v1/find '{"query":"count the sheep"}' "$admin" | timeless)" \
        "$(answer "$replica_at" POST /v1/find '{"query":"count the sheep"}' | timeless)"
    same "a tool's definition$way" "$(answer "$writer_at" GET "/v1/tools/dairy/$name" "" "$admin")" \
        "$(answer "$replica_at" GET "/v1/tools/dairy/$name")"
    answer "$replica_at" DELETE "/v1/tools/dairy/$name" >out
    what="a change is refused$way"
    prints "^409 .*this store is a replica and cannot be changed; make the change at the writer, $writer_at"
    answer "$replica_at" GET /metrics >out
    what="metrics$way"
    prints "^whichtool_replica_refused_total 0"
    prints "^whichtool_replica_bytes_total [1-9]"

    # Usage goes to the writer.
    answer "$replica_at" POST /v1/usage "{\"request\":\"milk $name\",\"tools\":[\"dairy/$name\"]}" >out
    what="usage is accepted$way"
    prints '^200 .*"recorded":1'
    checks=$((checks + 1))
    what="usage arrives at the writer$way"
    arrives() { "$WHICHTOOL" usage export | grep -q "milk $name"; }
    wait_until arrives || fail "it does not"
    kill "$replica_pid" "$publisher_pid" "$files_pid"
    await_end "$replica_pid"
    await_end "$publisher_pid"
    same "no segment is left$way" "" "$(find "cache$way/usage" -name '*.jsonl')"
done

# mcp on a replica.
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
    '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"count the sheep"}}}' |
    "$WHICHTOOL" mcp "${model[@]}" --follow published --cache cache >out 2>err
what="mcp finds on a replica"
prints "count_sheep"

# Segments from a folder, each once.
mkdir segments
line='{"client":"c","key":"","time":7,"usage":{"request":"how many sheep","tools":["count_sheep"]}}'
echo "$line" >segments/000000000001-0123456789abcdef0123456789abcdef.jsonl
expect 0 "a segment" usage import-segments segments
prints "^0123456789abcdef0123456789abcdef: 1 recorded, 0 repeated, 0 refused"
same "the file is gone" "" "$(ls segments)"
echo "$line" >segments/000000000001-0123456789abcdef0123456789abcdef.jsonl
expect 0 "the same segment" --json usage import-segments segments
same "it was applied before" "False" "$(json_of 'd["applied"]')"
same "one usage" 1 "$("$WHICHTOOL" usage export | grep -c 'how many sheep')"
echo '{"usage":' >segments/000000000002-0123456789abcdef0123456789abcdee.jsonl
expect 3 "a malformed segment" usage import-segments segments
says "line 1 of the segment"

# A server that accepts PUT.
mkdir uploaded
start files "$python" "$here/static_server.py" uploaded --put
expect 0 "a store is uploaded" publish "${model[@]}" "$files_at"
expect 0 "find on the uploaded store" --json -q find "${model[@]}" --follow "$files_at" --cache uploaded-cache "count the sheep"
prints count_sheep
expect 0 "another tool" add "${model[@]}" -q --provider p - <<<'{"tools":[{"name":"sail","description":"Sails a boat.","inputSchema":{"type":"object"}}]}'
expect 0 "the change is uploaded" publish "${model[@]}" "$files_at"
expect 0 "the change is found" --json -q find "${model[@]}" --follow "$files_at" --cache uploaded-cache "sail a boat"
prints "p/sail"

# A server that is away for a while gets the change when it is back, without another change.
kill "$files_pid"
await_end "$files_pid"
expect 0 "another tool" add "${model[@]}" -q --provider p - <<<'{"tools":[{"name":"row","description":"Rows a boat.","inputSchema":{"type":"object"}}]}'
"$WHICHTOOL" publish "${model[@]}" --watch "$files_at" >publisher.out 2>publisher.log &
publisher_pid=$!
started+=("$publisher_pid")
checks=$((checks + 1))
what="a publisher cannot upload"
wait_until test -s publisher.log || fail "it can"
start files "$python" "$here/static_server.py" uploaded --put --port "${files_at##*:}"
arrives() { "$WHICHTOOL" -q find "${model[@]}" --follow "$files_at" --cache uploaded-cache "row a boat" 2>err | grep -q p/row; }
checks=$((checks + 1))
what="the change is uploaded later"
wait_until arrives || fail "it is not"
kill "$publisher_pid"
await_end "$publisher_pid"
same "SIGTERM ends the publisher" 0 $?
finish
