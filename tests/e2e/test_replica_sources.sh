#!/bin/bash
# What a replica gets from its writer: trained models, and a store in PostgreSQL; and what a writer gets that is killed
# after it has applied a segment of usage, and before it has answered.
# start() assigns the variables NAME_at and NAME_pid.
# shellcheck disable=SC2154
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/replicas.sh
. "$here/replicas.sh"

# Trained models.
"$python" "$here/tiny_model.py" "$work/models/tiny"
forty_tools 0
expect 0 "tools" add -q --model tiny tools.jsonl
expect 0 "recorded use" usage add --model tiny usages.jsonl
expect 0 "an encoder is trained" train encoder --model tiny --batch 16 --lr 0.003 --epochs 1 --threads 2
expect 0 "and the vectors of use" train tool2vec --model tiny
expect 0 "its store is published" --json publish --model tiny published
find published -name 'file-*' | grep -q . || fail "no model was published"
finds() { # OPTION...: the answer of the trained encoder, without times
    expect 0 "a trained find" --json -q find --model tiny --recipe tool2vec "$@" "book a table"
    timeless <out
}
want=$(finds)
same "equal answers of the trained models" "$want" "$(finds --follow published --cache cache)"
models() { (cd "$1" && find . -name '*.safetensors' -exec sha256sum {} + | sort); }
same "the same models" "$(models tools.wt-models)" "$(models cache/store.wt-models/)"
start replica "$WHICHTOOL" --json serve --model tiny --log off --listen 127.0.0.1:0 --follow published --cache cache --poll 50
expect 0 "another training" train mlc --model tiny
expect 0 "is published" --json publish --model tiny published
same "with other models only" "0 0 False" "$(json_of 'str(d["rows"]) + " " + str(d["deleted"]) + " " + str(d["whole"])')"
has_new_models() { [ "$(models tools.wt-models)" = "$(models cache/store.wt-models/)" ]; }
what="a server gets the new models"
checks=$((checks + 1))
wait_until has_new_models || fail "it does not"
asked='{"query":"book a table","recipe":"mlc"}'
start writer "$WHICHTOOL" --json serve --model tiny --log off --listen 127.0.0.1:0
answers_alike() { [ "$(answer "$replica_at" POST /v1/find "$asked" | timeless)" = "$wanted" ]; }
wanted=$(answer "$writer_at" POST /v1/find "$asked" | timeless)
what="and answers with them"
checks=$((checks + 1))
grep -q '^200 .*"recipe":"mlc"' <<<"$wanted" || fail "the writer has $wanted"
wait_until answers_alike || fail "it does not"
kill "$replica_pid" "$writer_pid"
await_end "$replica_pid"
await_end "$writer_pid"

# A writer that is killed after it has applied a segment.
export WHICHTOOL_STORE=$work/killed.wt
forty_tools 0
expect 0 "tools" add -q "${model[@]}" tools.jsonl
tool=$("$WHICHTOOL" --json list -q | head -1 | "$python" -c 'import json,sys; print(json.loads(sys.stdin.readline())["id"])')
start writer "$WHICHTOOL" --json serve "${model[@]}" --log off --listen 127.0.0.1:0
echo "$writer_at" >writer
start proxy "$python" "$here/cutting_proxy.py" "$writer_at" "$writer_pid"
expect 0 "the address of the writer is a proxy" publish "${model[@]}" --writer "$proxy_at" killed-published
start replica "$WHICHTOOL" --json serve "${model[@]}" --log off --listen 127.0.0.1:0 --follow killed-published --cache killed-cache
answer "$replica_at" POST /v1/usage "{\"request\":\"only once\",\"tools\":[\"$tool\"]}" >out
what="the replica accepts a usage"
prints '^200 .*"recorded":1'
what="the writer applies it, and is killed"
checks=$((checks + 1))
wait_until test -s cut || fail "it is not"
cp cut out
prints '^200 .*"applied":true'
wait_until has_ended "$writer_pid"
same "the segment waits" 1 "$(find killed-cache/usage -name '*.jsonl' | wc -l)"
start writer "$WHICHTOOL" --json serve "${model[@]}" --log off --listen 127.0.0.1:0
echo "$writer_at" >writer
what="it is delivered again"
checks=$((checks + 1))
is_delivered() { [ -z "$(find killed-cache/usage -name '*.jsonl')" ]; }
wait_until is_delivered || fail "it is not"
cp passed out
what="and was applied before"
prints '^200 .*"applied":false'
same "the usage counts once" 1 "$("$WHICHTOOL" usage export | grep -c 'only once')"

# A writer that cannot record now may be able to later, so its segments wait. Here it is a replica itself.
expect 0 "a publication with another writer" publish "${model[@]}" --writer "$replica_at" other-published
start other "$WHICHTOOL" --json serve "${model[@]}" --log off --listen 127.0.0.1:0 --follow other-published --cache other-cache
answer "$other_at" POST /v1/usage "{\"request\":\"later\",\"tools\":[\"$tool\"]}" >out
what="the writer refuses it"
checks=$((checks + 1))
wait_until grep -q 'cannot deliver usage to the writer: .* answered 409' other.log || fail "it does not"
same "the segment waits" 1 "$(find other-cache/usage -name '*.jsonl' | wc -l)"
for name in other replica writer; do
    pid=${name}_pid
    kill "${!pid}"
    await_end "${!pid}"
done

# A store in PostgreSQL.
database=$work.postgres # not in $work, which the user postgres cannot read
if url=$("$source_root/tests/postgres.sh" start "$database"); then
    trap 'for p in "${started[@]}"; do kill "$p" 2>/dev/null; done; "$source_root/tests/postgres.sh" stop "$database"; rm -rf "$work"' EXIT
    export WHICHTOOL_STORE=$url
    expect 0 "tools in the database" add -q "${model[@]}" tools.jsonl
    expect 0 "their store is published" --json publish "${model[@]}" pg-published
    expect 0 "find in the database" --json -q find "${model[@]}" "book a table"
    timeless <out >want
    expect 0 "find on a replica of it" --json -q find "${model[@]}" --follow pg-published --cache pg-cache "book a table"
    same "equal answers" "$(cat want)" "$(timeless <out)"
    start publisher "$WHICHTOOL" publish "${model[@]}" --watch pg-published
    expect 0 "a new tool" add -q "${model[@]}" --provider p - <<<'{"tools":[{"name":"sail","description":"Sails a boat.","inputSchema":{"type":"object"}}]}'
    arrives() { "$WHICHTOOL" -q find "${model[@]}" --follow pg-published --cache pg-cache "sail a boat" 2>err | grep -q p/sail; }
    what="a publisher that watches sees it"
    checks=$((checks + 1))
    wait_until arrives || fail "it does not"
    kill "$publisher_pid"
    await_end "$publisher_pid"
else
    skip "a store in PostgreSQL: $url"
fi
finish
