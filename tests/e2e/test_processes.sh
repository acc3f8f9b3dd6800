#!/bin/bash
# Two processes on one store: both imports succeed, a reader is not blocked, and an interrupted import leaves the store
# intact.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
make_tools() { # COUNT PREFIX
    "$python" -c '
import json, sys
print(json.dumps([{"name": f"{sys.argv[2]}_{i}", "description": f"does thing number {i} for {sys.argv[2]}",
    "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}} for i in range(int(sys.argv[1]))]))' \
        "$1" "$2"
}
make_tools 2000 first >first.json
make_tools 2000 second >second.json
"$WHICHTOOL" add --provider first first.json >one 2>&1 &
one=$!
"$WHICHTOOL" add --provider second second.json >two 2>&1 &
two=$!
wait "$one"
same "the first import" 0 $?
wait "$two"
same "the second import, at the same time" 0 $?
expect 0 "both are there" list --providers --json
same "every tool" "[2000, 2000]" "$(json_of 'sorted(p["tools"] for p in l)')"

make_tools 20000 third >third.json
"$WHICHTOOL" add --provider third third.json >one 2>&1 &
one=$!
code=0
while kill -0 "$one" 2>/dev/null && [ "$code" = 0 ]; do
    "$WHICHTOOL" -q find --recipe bm25 -k 1 thing number 7 >out 2>err
    code=$?
done
same "finding while another imports" 0 "$code"
wait "$one"
same "that import" 0 $?

# Stopped at any moment, the source is imported completely or not at all, and the next import completes it.
for signal in INT KILL; do
    for delay in 0.02 0.15 0.5; do
        store=$work/stop-$signal-$delay.wt
        "$python" -c '
import os, signal, subprocess, sys, time
child = subprocess.Popen(sys.argv[3:], stdout=subprocess.DEVNULL, stderr=open("err", "w"))
time.sleep(float(sys.argv[2]))
child.send_signal(getattr(signal, "SIG" + sys.argv[1]))
code = child.wait()
sys.exit(code if code >= 0 else 128 - code)' "$signal" "$delay" "$WHICHTOOL" -s "$store" add third.json
        code=$?
        what="$signal after $delay s"
        case $signal:$code in
        INT:0 | INT:130 | KILL:0 | KILL:137) ;;
        *) fail "exit $code" ;;
        esac
        "$WHICHTOOL" -s "$store" list --json >out 2>err
        count=$(grep -c . out)
        case $count in 0 | 20000) ;; *) fail "$count tools are there" ;; esac
    done
    expect 0 "the import after $signal" -s "$store" add third.json
    expect 0 "the last tool after $signal" -s "$store" show third_19999
done
finish
