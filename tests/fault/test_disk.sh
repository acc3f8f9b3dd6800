#!/bin/bash
# Each write, sync, rename, truncation, opening for writing and mapping of an import fails in turn: once, or from then
# on as on a full disk; the process is killed before or in the middle of it. Then a really full disk, and a read-only
# store.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"

make_catalogue "$folder/tools.json" 1 20
run add "$folder/tools.json"
cp "$store" "$folder/old.wt"
make_catalogue "$folder/tools.json" 11 40 "other words" # the same source, changed
restore "$folder/old.wt"
run add "$folder/tools.json"
run find -k 3 "thing number 33"
cp "$folder/out" "$folder/expected"

# Afterwards the import succeeds, with the usual result.
recover() { # WHAT
    run add "$folder/tools.json"
    [ "$rc" -eq 0 ] || fail "$1, then add: exit $rc: $(cat "$folder/err")"
    check_store "$1, then add" 40
    run find -k 3 "thing number 33"
    is_as_expected || fail "$1, then find: exit $rc, another answer"
}

sweep() { # HOW LAST ABOUT: sweeps an import into a store with tools
    local n what
    restore "$folder/old.wt"
    counts add "$folder/tools.json"
    for n in $(points "$calls" 0 "$3"); do
        what="call $n of add, $1"
        restore "$folder/old.wt"
        run FAULT_IO="$n" FAULT_HOW="$1" FAULT_LAST="${2:-$n}" add "$folder/tools.json"
        case $1 in
        KILL) [ "$rc" -eq 137 ] || fail "$what: exit $rc" ;;
        TEAR) [ "$rc" -eq 137 ] || [ "$rc" -eq 0 ] || fail "$what: exit $rc" ;;
        *) is_documented "$rc" || fail "$what: exit $rc: $(cat "$folder/err")" ;;
        esac
        if [ "$rc" -eq 0 ]; then check_store "$what" 40; else check_store "$what" 20 40; fi
        [ "$rc" -eq 0 ] || [ "$rc" -eq 137 ] || [ -s "$folder/err" ] || fail "$what: exit $rc without a word"
        [ $((n % 7)) -ne 0 ] || recover "$what"
    done
}

sweep EIO "" 40
sweep ENOSPC 1000000 40
sweep KILL "" 60
sweep TEAR "" 60

# a new store: killed before each call
restore
counts add "$folder/tools.json"
for n in $(points "$calls" 0 40); do
    restore
    run FAULT_IO="$n" FAULT_HOW=KILL add "$folder/tools.json"
    check_store "new store killed at call $n" 0 30
    run add "$folder/tools.json"
    [ "$rc" -eq 0 ] || fail "new store killed at call $n, then add: exit $rc: $(cat "$folder/err")"
    check_store "new store killed at call $n, then add" 30
done

# a find that builds the snapshot: the same answer, or an error message
restore "$folder/old.wt"
run add "$folder/tools.json"
cp "$store" "$folder/whole.wt"
restore "$folder/whole.wt"
counts find -k 3 "thing number 33"
for n in $(points "$calls" 0 12); do
    for how in EIO ENOSPC KILL TEAR; do
        restore "$folder/whole.wt"
        run FAULT_IO="$n" FAULT_HOW=$how find -k 3 "thing number 33"
        case $how$rc in
        *0) cmp -s "$folder/out" "$folder/expected" || fail "call $n of find, $how: another answer" ;;
        KILL137 | TEAR137) ;;
        *) is_told "$rc" || fail "call $n of find, $how: exit $rc: $(cat "$folder/err")" ;;
        esac
        run find -k 3 "thing number 33"
        is_as_expected || fail "call $n of find, $how, then find: exit $rc"
        [ -z "$(find "$store"-index -name '*.unfinished-*')" ] || fail "call $n of find, $how, then find: a file is left"
    done
done

# a read-only store can be read
read_only() { # WHERE FAULT...
    local where=$1
    shift
    run "$@" find -k 3 "thing number 33"
    is_as_expected || fail "find $where: exit $rc: $(cat "$folder/err")"
    run "$@" list
    [ "$(wc -l <"$folder/out")" -eq 40 ] || fail "list $where: exit $rc: $(cat "$folder/err")"
    run "$@" add "$folder/tools.json"
    is_refused 4 s.wt || fail "add $where: exit $rc: $(cat "$folder/err")"
    check_store "$where" 40
}
restore "$folder/whole.wt"
read_only "where nothing can be written" FAULT_IO=1 FAULT_LAST=1000000 FAULT_HOW=EROFS

mkdir "$folder/small"
if mount -t tmpfs -o size=512k none "$folder/small" 2>/dev/null; then
    mounted=$folder/small
    store=$folder/small/s.wt
    cp "$folder/whole.wt" "$store"
    make_catalogue "$folder/many.json" 100 3000
    run add "$folder/many.json"
    is_refused 7 "the disk is full" || fail "full disk: exit $rc: $(cat "$folder/err")"
    check_store "full disk" 40
    run find -k 3 "thing number 33"
    is_as_expected || fail "find on a full disk: exit $rc: $(cat "$folder/err")"
    rm -rf "$store"-*
    mount -o remount,ro "$folder/small"
    read_only "on a file system that is mounted for reading"
else
    echo "skipped: a disk that is really full, or mounted for reading (needs root)"
fi
conclude
