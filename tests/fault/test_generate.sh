#!/bin/bash
# A generated data set is complete or absent: generate fails at each allocation, is killed before each I/O call or in
# the middle of a write, and the same command completes it from the remaining files.
# shellcheck disable=SC1091,SC2015,SC2034,SC2154
. "$(dirname "$0")/common.sh"

python=${WT_PYTHON:-python3}
command -v "$python" >/dev/null || skip "fault injection into generate (needs $python for a language model)"
(cd "$folder" && exec "$python" "$here/../e2e/generate_server.py") &
server=$!
for _ in $(seq 200); do
    [ -f "$folder/port" ] && break
    sleep .05
done
[ -f "$folder/port" ] || skip "fault injection into generate (no server starts here)"
set_folder=$folder/set
make=(generate toolselect --model "" --chat-model rules --tools 9 --related 1 --instructions 1 --out "$set_folder")
run "${make[@]}" --chat-url "http://127.0.0.1:$(cat "$folder/port")/v1" --record "$folder/answers.jsonl"
[ "$rc" -eq 0 ] || fail "with a server: exit $rc: $(cat "$folder/err")"
kill "$server"
make+=(--replay "$folder/answers.jsonl")
whole=$(cat "$set_folder"/samples.jsonl "$set_folder"/tools.jsonl "$set_folder"/report.json)
[ "$(wc -l <"$set_folder/samples.jsonl")" -eq 18 ] || fail "it has other rows"

is_whole() { [ "$whole" = "$(cat "$set_folder"/samples.jsonl "$set_folder"/tools.jsonl "$set_folder"/report.json 2>/dev/null)" ]; }
check_set() { # WHAT: the same command completes it
    run "${make[@]}"
    [ "$rc" -eq 0 ] && is_whole || fail "$1, then again: exit $rc: $(cat "$folder/err")"
}

rm -rf "$set_folder"
counts "${make[@]}"
for n in $(points "$allocations" 60 90); do
    rm -rf "$set_folder"
    run FAULT_ALLOC="$n" "${make[@]}"
    is_told "$rc" || fail "allocation $n: exit $rc: $(cat "$folder/err")"
    [ "$rc" -ne 0 ] || is_whole || fail "allocation $n: another data set"
    [ "$rc" -eq 0 ] || [ -s "$folder/err" ] || fail "allocation $n: exit $rc without a word"
    check_set "allocation $n"
done
for n in $(points "$calls" 20 40); do
    for how in KILL TEAR; do
        rm -rf "$set_folder"
        run FAULT_IO="$n" FAULT_HOW=$how "${make[@]}"
        case $how$rc in KILL137 | TEAR137 | TEAR0) ;; *) fail "$how at call $n: exit $rc" ;; esac
        check_set "$how at call $n"
    done
    rm -rf "$set_folder"
    run FAULT_IO="$n" "${make[@]}"
    is_told "$rc" || fail "call $n: exit $rc: $(cat "$folder/err")"
    check_set "call $n"
done

# Rows for fine-tuning of it.
tune=(generate fine-tuning --from "$set_folder" --out "$folder/tuned" --dev 0.3)
counts "${tune[@]}"
rows=$(cat "$folder"/tuned/*.jsonl)
for n in $(points "$allocations" 60 40); do
    rm -rf "$folder/tuned"
    run FAULT_ALLOC="$n" "${tune[@]}"
    is_told "$rc" || fail "allocation $n of fine-tuning: exit $rc: $(cat "$folder/err")"
    [ "$rc" -ne 0 ] || [ "$rows" = "$(cat "$folder"/tuned/*.jsonl)" ] || fail "allocation $n of fine-tuning: other rows"
done
conclude
