#!/bin/bash
# Each allocation of add, find, list, status, show, remove and check fails in turn. A run that succeeds has the output
# of a run without faults, and a failure never looks like "nothing found".
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"

make_catalogue "$folder/tools.json" 1 6
run add "$folder/tools.json"
cp "$store" "$folder/old.wt"
make_catalogue "$folder/tools.json" 4 9 "other words" # the same source, changed

sweep_reading() { # ALL ABOUT VERB...
    local all=$1 about=$2 n
    shift 2
    restore "$folder/old.wt"
    run "$@" # builds the snapshot first, so that the sweep covers other code
    counts "$@"
    cp "$folder/out" "$folder/expected"
    for n in $(points "$allocations" "$all" "$about"); do
        run FAULT_ALLOC="$n" "$@"
        is_told "$rc" || fail "allocation $n of $*: exit $rc: $(cat "$folder/err")"
        [ "$rc" -ne 0 ] || cmp -s "$folder/out" "$folder/expected" || fail "allocation $n of $*: another answer"
        [ "$rc" -eq 0 ] || [ -s "$folder/err" ] || fail "allocation $n of $*: exit $rc without a word"
    done
    check_store "$*" "${holds:-6}"
}

sweep_writing() { # ALL ABOUT BEFORE AFTER VERB...
    local all=$1 about=$2 before=$3 after=$4 n
    shift 4
    restore "$folder/old.wt"
    counts "$@"
    for n in $(points "$allocations" "$all" "$about"); do
        restore "$folder/old.wt"
        run FAULT_ALLOC="$n" "$@"
        is_documented "$rc" || fail "allocation $n of $*: exit $rc: $(cat "$folder/err")"
        if [ "$rc" -eq 0 ]; then check_store "allocation $n of $*" "$after"
        else check_store "allocation $n of $*" "$before" "$after"; fi
    done
}

sweep_reading 30 90 find -k 3 "thing number five"
sweep_reading 30 60 find -k 4 --only "*_*" --exclude "t*_9" --exclude-provider nobody --max-tokens 90 "thing number five"
cat >"$folder/chat.json" <<'JSON'
[{"role": "user", "content": "thing number five"}, {"role": "assistant", "content": [{"type": "text", "text": "thing four?"},
 {"type": "tool_use", "name": "tool_3"}]}, {"role": "pope"}, {"role": "user", "content": "yes"}]
JSON
sweep_reading 40 90 find -k 2 --messages "$folder/chat.json" --have tool_1 --have nothing
sweep_reading 20 40 list
sweep_reading 20 40 list 'tool_?'
sweep_reading 30 60 status
sweep_reading 20 40 show tool_5 --json
sweep_writing 30 90 6 9 add "$folder/tools.json"
sweep_writing 10 40 6 5 remove tool_5
cp "$folder/tools.json" "$folder/other.json" # three with names of other sources
sweep_writing 10 40 6 12 add --provider tools "$folder/other.json"
sweep_writing 10 40 6 6 rename tools things

# an operation of OpenAPI with what it inherits, and its pin
cat >"$folder/api.yaml" <<'YAML'
openapi: 3.1.0
info: {title: Billing}
servers: [{url: 'https://billing.example.com'}]
security: [{token: []}]
paths: {/refunds: {servers: [{url: 'https://path.example.com'}], post: {operationId: refund, security: [{token: []}]}}}
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
YAML
sweep_writing 20 60 6 7 add "$folder/api.yaml"
restore "$folder/old.wt"
run add "$folder/api.yaml"
run check --pin "$folder/tools.pins"
cp "$store" "$folder/old.wt"
holds=7 sweep_reading 20 40 check --pin "$folder/tools.pins"
holds=7 sweep_reading 30 60 check --against "$folder/tools.pins" --rule pin-changed --ignore pin-changed:none

# a new store
restore
counts add "$folder/tools.json"
for n in $(points "$allocations" 20 40); do
    restore
    run FAULT_ALLOC="$n" add "$folder/tools.json"
    is_documented "$rc" || fail "allocation $n of a new store: exit $rc: $(cat "$folder/err")"
    check_store "allocation $n of a new store" 0 6
done
conclude
