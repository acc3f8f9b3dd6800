#!/bin/bash
# Reviews and approvals of listings: each allocation and each I/O call fails in turn, and the process is killed before
# or in the middle of each. The operation is complete or absent, and only approved definitions are ever in the
# catalogue.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"
WHICHTOOL=$WT_TEST_BUILD/review_driver
[ -x "$WHICHTOOL" ] || skip "reviews (review_driver is not built)"

make_catalogue "$folder/first.json" 1 12
make_catalogue "$folder/changed.json" 7 20 "other words"
make_catalogue "$folder/same.json" 3 6
"${PYTHON:-python3}" - "$folder" <<'PY' || skip "reviews (no Python)"
import json, sys
lists = [json.load(open(f"{sys.argv[1]}/{name}.json"))["tools"] for name in ("same", "changed")]
json.dump({"tools": lists[0] + lists[1]}, open(f"{sys.argv[1]}/second.json", "w"))
PY
run review "$folder/first.json"
[ "$rc" -eq 0 ] || fail "review: exit $rc: $(cat "$folder/err")"
cp "$store" "$folder/old.wt"
run review "$folder/second.json"
cp "$store" "$folder/reviewed.wt"

verify() { # WHAT STATE...: "TOOLS WAITING"
    local what=$1 state said
    shift
    said=$("$WHICHTOOL" -s "$store" verify 2>&1)
    for state in "$@"; do
        [ "$said" != "$state" ] || return
    done
    fail "$what: $said, not one of: $*"
}
verify "without a fault" "4 14"
restore "$folder/old.wt"
verify "before" "12 0"

# sweep FAULT HOW LAST ALL ABOUT STORE BEFORE AFTER VERB...
sweep() {
    local fault=$1 how=$2 last=$3 all=$4 about=$5 from=$6 before=$7 after=$8 n what total
    shift 8
    restore "$from"
    counts "$@"
    total=$calls
    [ "$fault" = FAULT_IO ] || total=$allocations
    for n in $(points "$total" "$all" "$about"); do
        what="$fault $n, $how, of $1"
        restore "$from"
        run "$fault=$n" FAULT_HOW="${how:-EIO}" FAULT_LAST="${last:-$n}" "$@"
        case $how$rc in
        KILL137 | TEAR137 | *0) ;;
        KILL* | TEAR*) fail "$what: exit $rc: $(cat "$folder/err")" ;;
        *) is_told "$rc" && [ -s "$folder/err" ] || fail "$what: exit $rc: $(cat "$folder/err")" ;;
        esac
        if [ "$rc" -eq 0 ]; then verify "$what" "$after"; else verify "$what" "$before" "$after"; fi
    done
}

review=(review "$folder/second.json")
sweep FAULT_ALLOC "" "" 30 120 "$folder/old.wt" "12 0" "4 14" "${review[@]}"
sweep FAULT_IO EIO "" 0 40 "$folder/old.wt" "12 0" "4 14" "${review[@]}"
sweep FAULT_IO ENOSPC 1000000 0 30 "$folder/old.wt" "12 0" "4 14" "${review[@]}"
sweep FAULT_IO KILL "" 0 60 "$folder/old.wt" "12 0" "4 14" "${review[@]}"
sweep FAULT_IO TEAR "" 0 60 "$folder/old.wt" "12 0" "4 14" "${review[@]}"
sweep FAULT_ALLOC "" "" 30 80 "$folder/reviewed.wt" "4 14" "18 0" approve
sweep FAULT_IO KILL "" 0 60 "$folder/reviewed.wt" "4 14" "18 0" approve
sweep FAULT_IO TEAR "" 0 40 "$folder/reviewed.wt" "4 14" "18 0" approve
conclude
