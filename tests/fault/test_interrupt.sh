#!/bin/bash
# Ctrl-C and kill -9 in the middle of an import: at each I/O call, and at moments of a longer import.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"

make_catalogue "$folder/tools.json" 1 20
run add "$folder/tools.json"
cp "$store" "$folder/old.wt"
make_catalogue "$folder/tools.json" 11 40 "other words" # the same source, changed

restore "$folder/old.wt"
counts add "$folder/tools.json"
interrupted=0
for n in $(points "$calls" 0 40); do
    restore "$folder/old.wt"
    run FAULT_IO="$n" FAULT_HOW=INT add "$folder/tools.json"
    [ "$rc" -eq 130 ] || [ "$rc" -eq 0 ] || fail "Ctrl-C at call $n: exit $rc: $(cat "$folder/err")"
    [ "$rc" -ne 130 ] || interrupted=$((interrupted + 1))
    if [ "$rc" -eq 0 ]; then check_store "Ctrl-C at call $n" 40; else check_store "Ctrl-C at call $n" 20 40; fi
done
[ $interrupted -gt 0 ] || fail "Ctrl-C never interrupted an import"

make_catalogue "$folder/tools.json" 1 4000 "many words, so that writing them takes a while"

# moments SIGNAL: sends the signal at later and later moments of an import of 4,000 tools
moments() {
    local signal=$1 i began pid step
    restore "$folder/old.wt"
    began=$(date +%s%N)
    "$WHICHTOOL" -s "$store" add "$folder/tools.json" >/dev/null 2>&1 || fail "add of many: exit $?"
    step=$((($(date +%s%N) - began) / 1000000 / 8 + 1))
    for i in 1 2 3 4 5 6 7 8; do
        restore "$folder/old.wt"
        "$WHICHTOOL" -s "$store" add "$folder/tools.json" >/dev/null 2>"$folder/err" &
        pid=$!
        sleep "$((step * i / 1000)).$(printf '%03d' $((step * i % 1000)))"
        kill -"$signal" $pid 2>/dev/null
        { wait $pid; } 2>/dev/null
        rc=$?
        runs=$((runs + 1))
        case $signal$rc in
        INT0 | KILL0) check_store "$signal after $((step * i)) ms" 4000 ;;
        INT130 | KILL137) check_store "$signal after $((step * i)) ms" 20 4000 ;;
        *) fail "$signal after $((step * i)) ms: exit $rc: $(cat "$folder/err")" ;;
        esac
    done
    "$WHICHTOOL" -s "$store" add "$folder/tools.json" >/dev/null 2>&1 || fail "add after $signal: exit $?"
    check_store "add after $signal" 4000
}
set -m # a background job ignores SIGINT, unless it has its own process group
moments KILL
moments INT
conclude
