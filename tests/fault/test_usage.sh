#!/bin/bash
# Recorded use: each allocation and each I/O call of an import and of forgetting fails in turn, the process is killed
# before or in the middle of each, or gets Ctrl-C. All usages are recorded or none, and the catalogue is unchanged.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"

make_catalogue "$folder/tools.json" 1 6
for i in $(seq 1 40); do
    tool="\"tool_$((i % 6 + 1))\""
    [ $((i % 3)) -ne 0 ] || tool="{\"tool\": $tool, \"arguments\": {\"n\": $i, \"api_key\": \"k\"}}"
    echo "{\"request\": \"do thing number $((i % 7)) for me, $i\", \"tools\": [$tool, \"gone\"], \"time\": $i}"
done >"$folder/log.jsonl"
run add "$folder/tools.json"
cp "$store" "$folder/old.wt"
run usage add "$folder/log.jsonl"
[ "$rc" -eq 0 ] || fail "usage add: exit $rc: $(cat "$folder/err")"
cp "$store" "$folder/used.wt"
run usage export
cp "$folder/out" "$folder/expected"
[ "$(grep -c '"arguments":{"n":[0-9]*}}' "$folder/out")" -eq 13 ] || fail "usage export: not the 13 calls, without credentials"

# check_usages WHAT COUNT...: the store is undamaged, with its six tools and one of these numbers of usages
check_usages() {
    local what=$1 there
    shift
    check_store "$what" 6
    there=$("$WHICHTOOL" -s "$store" usage export 2>"$folder/err" | wc -l)
    case " $* " in *" $there "*) ;; *) fail "$what: $there usages, not one of: $*" ;; esac
}

# sweep FAULT HOW LAST ALL ABOUT STORE BEFORE AFTER VERB...
sweep() {
    local fault=$1 how=$2 last=$3 all=$4 about=$5 from=$6 before=$7 after=$8 n what total
    shift 8
    restore "$from"
    counts "$@"
    total=$calls
    [ "$fault" = FAULT_IO ] || total=$allocations
    for n in $(points "$total" "$all" "$about"); do
        what="$fault $n, $how, of $*"
        restore "$from"
        run "$fault=$n" FAULT_HOW="${how:-EIO}" FAULT_LAST="${last:-$n}" "$@"
        if [ "$rc" -eq 0 ]; then
            check_usages "$what" "$after"
            continue
        fi
        case $how$rc in
        KILL137 | TEAR137 | INT130) ;;
        KILL* | TEAR* | INT*) fail "$what: exit $rc: $(cat "$folder/err")" ;;
        *)
            is_told "$rc" || fail "$what: exit $rc: $(cat "$folder/err")"
            [ -s "$folder/err" ] || fail "$what: exit $rc without a word"
            ;;
        esac
        check_usages "$what" "$before" "$after"
    done
}

add=(usage add "$folder/log.jsonl")
forget=(usage forget --yes --before 1970-01-01T00:00:21Z)
sweep FAULT_ALLOC "" "" 30 90 "$folder/old.wt" 0 40 "${add[@]}"
sweep FAULT_ALLOC "" "" 10 40 "$folder/used.wt" 40 20 "${forget[@]}"
sweep FAULT_IO EIO "" 0 30 "$folder/old.wt" 0 40 "${add[@]}"
sweep FAULT_IO ENOSPC 1000000 0 30 "$folder/old.wt" 0 40 "${add[@]}"
sweep FAULT_IO KILL "" 0 30 "$folder/old.wt" 0 40 "${add[@]}"
sweep FAULT_IO TEAR "" 0 30 "$folder/old.wt" 0 40 "${add[@]}"
sweep FAULT_IO INT "" 0 30 "$folder/old.wt" 0 40 "${add[@]}"
sweep FAULT_IO KILL "" 0 30 "$folder/used.wt" 40 20 "${forget[@]}"

# an export is complete, or an error is reported
restore "$folder/used.wt"
counts usage export
for n in $(points "$allocations" 20 60); do
    run FAULT_ALLOC="$n" usage export
    is_told "$rc" || fail "allocation $n of usage export: exit $rc: $(cat "$folder/err")"
    [ "$rc" -ne 0 ] || is_as_expected || fail "allocation $n of usage export: another export"
done
conclude
