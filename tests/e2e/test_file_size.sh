#!/bin/bash
# With a limit of the file size (ulimit -f), a write fails as on a full disk: the command reports the error and exits
# with 7 instead of dying by the signal, nothing is changed, and it works without the limit.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
add_catalogue
"$python" "$here/tiny_model.py" "$work/models/tiny"
"$python" - <<'PYTHON'
import json
words = "weather forecast for a city rain wind and tides water at harbour convert currency".split()
with open("many.jsonl", "w") as tools, open("log.jsonl", "w") as log, open("short.jsonl", "w") as short:
    for i in range(3000):
        text = " ".join(words[(i * 7 + j * j) % len(words)] for j in range(9))
        print(json.dumps({"name": f"tool_{i}", "description": text}), file=tools)
        print(json.dumps({"request": f"{text} {i}", "tools": ["get_forecast"]}), file=log if i > 100 else short)
PYTHON
expect 0 "some usage is recorded" usage add --no-vectors short.jsonl
content() { { "$WHICHTOOL" list && "$WHICHTOOL" usage export; } 2>&1 | sha256sum; }
before=$(content)

limited() { # KIB WHAT ARGUMENT...: with this limit, the command fails with a message and changes nothing
    local limit=$1 name=$2 code
    shift 2
    what=$name
    checks=$((checks + 1))
    (ulimit -f "$limit" && exec "$WHICHTOOL" "$@" >out 2>err)
    code=$?
    [ "$code" = 7 ] || fail "exit $code, wanted 7: whichtool $*"
    says "^whichtool: .*File too large; raise the limit of a file's size \(ulimit -f\)"
    [ -z "$(find . -name '*.unfinished-*')" ] || fail "an unfinished file is left"
    same "$name: the store" "$before" "$(content)"
}
limited 200 "an import" add --no-vectors many.jsonl
limited 200 "recorded use" usage add --no-vectors log.jsonl
limited 4 "a packed model" model pack tiny
[ ! -e models/tiny/packed-f32.wtm ] || fail "a part of a packed model is there"
expect 0 "a packed model without the limit" model pack tiny
limited 40 "training" train encoder --model tiny --epochs 1 --batch 16
[ ! -e tools.wt-models/encoder ] || fail "a part of a trained model is there"
expect 0 "an import without the limit" add --no-vectors many.jsonl
prints "3,000 added"
finish
