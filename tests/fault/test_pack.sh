#!/bin/bash
# A packed model is complete or absent: packing is killed before each I/O call, or in the middle of a write, and packing
# again removes the remains.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"

python=${WT_PYTHON:-python3}
command -v "$python" >/dev/null || skip "fault injection into packing (needs $python to make a model)"
mkdir "$folder/models"
"$python" "$here/../e2e/tiny_model.py" "$folder/models/tiny"
model=$folder/models/tiny
run model pack tiny
[ "$rc" -eq 0 ] || fail "model pack: exit $rc: $(cat "$folder/err")"
packed=$(sha256sum <"$model/packed-f32.wtm")
files=$(ls -A "$model")

left=0
rm "$model/packed-f32.wtm"
counts model pack tiny
for n in $(seq "$calls"); do
    for how in KILL TEAR; do
        rm -f "$model/packed-f32.wtm"
        run FAULT_IO="$n" FAULT_HOW=$how model pack tiny
        case $how$rc in KILL137 | TEAR137 | TEAR0) ;; *) fail "$how at call $n of model pack: exit $rc" ;; esac
        [ ! -e "$model/packed-f32.wtm" ] || [ "$packed" = "$(sha256sum <"$model/packed-f32.wtm")" ] ||
            fail "$how at call $n of model pack: a part of a packed model is there"
        [ -z "$(find "$model" -name '*.unfinished-*')" ] || left=$((left + 1))
        rm -f "$model/packed-f32.wtm"
        run model pack tiny
        [ "$rc" -eq 0 ] && [ "$packed" = "$(sha256sum <"$model/packed-f32.wtm")" ] ||
            fail "$how at call $n, then model pack: exit $rc: $(cat "$folder/err")"
        [ "$files" = "$(ls -A "$model")" ] || fail "$how at call $n, then model pack: $(ls -A "$model")"
    done
done
[ $left -gt 0 ] || fail "no death left an unfinished file"
conclude
