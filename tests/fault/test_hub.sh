#!/bin/bash
# A model of the hub is complete or absent: its first pull fails at each allocation, is killed before each I/O call or
# in the middle of a write, and the next pull completes it from the remaining files.
# shellcheck disable=SC1091,SC2015,SC2034,SC2154
. "$(dirname "$0")/common.sh"

python=${WT_PYTHON:-python3}
command -v "$python" >/dev/null || skip "fault injection into pulls of the hub (needs $python to be one)"
unset HF_TOKEN HF_HUB_OFFLINE
hub=$folder/hub
mkdir -p "$hub"
"$python" "$here/../e2e/tiny_model.py" "$hub/acme/tiny/main"
mkdir "$hub/acme/tiny/main/1_Pooling"
echo '{"pooling_mode": "cls"}' >"$hub/acme/tiny/main/1_Pooling/config.json"
echo 0123456789abcdef0123456789abcdef01234567 >"$hub/acme/tiny/main/.commit"
echo '{}' >"$hub/control.json"
mkfifo "$folder/hold"
"$python" "$here/../e2e/hub_server.py" "$hub" "$folder/port" <"$folder/hold" &
exec 9>"$folder/hold"
for _ in $(seq 200); do
    [ -f "$folder/port" ] && break
    sleep .05
done
[ -f "$folder/port" ] || skip "fault injection into pulls of the hub (no server starts here)"
HF_ENDPOINT=http://127.0.0.1:$(cat "$folder/port")
export HF_ENDPOINT
model=$folder/models/acme/tiny

sums() { (cd "$model" && find . -type f | LC_ALL=C sort | xargs sha256sum) 2>/dev/null; }
check_model() { # WHAT: it is complete or absent, and the next pull completes it
    [ ! -e "$model" ] || [ "$whole" = "$(sums)" ] || fail "$1: a part of a model is there"
    run model pull acme/tiny
    [ "$rc" -eq 0 ] && [ "$whole" = "$(sums)" ] || fail "$1, then pull: exit $rc: $(cat "$folder/err")"
    [ ! -e "$folder/models/acme/.tiny.partial" ] || fail "$1, then pull: it left something"
}

counts model pull acme/tiny
whole=$(sums)
[ "$(wc -l <<<"$whole")" -eq 5 ] || fail "the model has other files: $whole"
for n in $(points "$allocations" 20 60); do
    rm -rf "$folder/models"
    run FAULT_ALLOC="$n" model pull acme/tiny
    is_told "$rc" || fail "allocation $n of model pull: exit $rc: $(cat "$folder/err")"
    [ "$rc" -eq 0 ] || [ -s "$folder/err" ] || fail "allocation $n of model pull: exit $rc without a word"
    check_model "allocation $n"
done
for n in $(points "$calls" 10 30); do
    for how in KILL TEAR; do
        rm -rf "$folder/models"
        run FAULT_IO="$n" FAULT_HOW=$how model pull acme/tiny
        case $how$rc in KILL137 | TEAR137 | TEAR0) ;; *) fail "$how at call $n of model pull: exit $rc" ;; esac
        check_model "$how at call $n"
    done
    rm -rf "$folder/models"
    run FAULT_IO="$n" model pull acme/tiny
    is_told "$rc" || fail "call $n of model pull: exit $rc: $(cat "$folder/err")"
    check_model "call $n"
done
exec 9>&-
conclude
