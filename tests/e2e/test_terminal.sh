#!/bin/bash
# Terminals of all kinds, closed pipes, and full disks.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
add_catalogue
"$python" -c '
import json
print(json.dumps([{"name": f"tool_{i}", "description": "does thing number %d " % i * 5, "input_schema":
    {"type": "object", "properties": {}}} for i in range(3000)]))' >many.json
"$WHICHTOOL" -q add --no-vectors --provider many many.json >/dev/null || exit 1

widest() { "$python" -c '
import sys, unicodedata
def width(c): return 0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
print(max(sum(map(width, line)) for line in open("out", encoding="utf-8").read().splitlines()))'; }
cat >wide.json <<'JSON'
[{"name": "wetter", "description": "Wetter 天気予報を返します。雨や晴れの情報、風速、気温、湿度、そして十日先までの予報を含みます。",
  "input_schema": {"type": "object", "properties": {}}}]
JSON
"$WHICHTOOL" -q add --provider 天気 wide.json >/dev/null
for columns in 20 40 59 60 80 132; do
    for command in "find wetter table forecast" "find --explain wetter city" "list --limit 8" "show wetter" "help find"; do
        # shellcheck disable=SC2086
        COLUMNS=$columns expect 0 "$command on $columns columns" $command
        have=$(widest)
        case $command in show* | *explain* | help*) [ "$columns" -lt 60 ] && continue ;; esac
        [ "$have" -le "$columns" ] || [ "$command" = "help find" ] || fail "a line takes $have columns"
    done
done
expect 0 "output to a pipe is not cut" find wetter
prints "予報を含みます。$"

if have_terminal "what a terminal shows"; then
    export TERM=xterm
    on_terminal "stty cols 40; $WHICHTOOL find rain forecast"
    same "the terminal's own width" True "$(tr -d '\r' <out | sed 's/\x1b\[[0-9;]*m//g' >plain
        mv plain out
        [ "$(grep -v 'tools\? in\|^Note\|^?: ' out >o2; mv o2 out; widest)" -le 40 ] && echo True)"
    for _ in $(seq 12); do echo '{"request": "rain tomorrow", "tools": ["many/tool_1"]}'; done >usages.jsonl
    "$WHICHTOOL" -q usage add --no-vectors usages.jsonl || fail "no usage was added"
    on_terminal "$WHICHTOOL -q find rain; $WHICHTOOL --json find rain; $WHICHTOOL find rain; $WHICHTOOL find rain"
    same "that training is due is told once" 1 "$(grep -c '12 recorded usages are not used for training yet' out)"
    on_terminal "$WHICHTOOL find rain"
    what="colours on a terminal" && holds out "$(printf '\033')\[1m"
    for plain in "--no-color find rain" "NO_COLOR"; do
        if [ "$plain" = NO_COLOR ]; then NO_COLOR=1 on_terminal "$WHICHTOOL find rain"; else on_terminal "$WHICHTOOL $plain"; fi
        what="no colours with $plain" && lacks out "$(printf '\033')"
    done
    TERM=dumb on_terminal "$WHICHTOOL find rain"
    what="no colours on a dumb terminal" && lacks out "$(printf '\033')"
    export TERM=dumb
fi

for command in "list" "list --json" "find --json -k 1000 thing number"; do
    # shellcheck disable=SC2086
    (set -o pipefail; "$WHICHTOOL" -q $command 2>err | head -1 >out)
    what="$command | head" && silent err
    same "$command | head shows a line" 1 "$(grep -c . out)"
done
"$WHICHTOOL" list 2>err | true
what="a reader that never reads" && silent err
if [ -w /dev/full ]; then
    for command in "list" "version" "find --json rain" "show weather/get_forecast" "help"; do
        # shellcheck disable=SC2086
        "$WHICHTOOL" -q $command >/dev/full 2>err
        same "$command on a full disk" 7 $?
        what="$command on a full disk" && says "cannot write to standard output: No space left"
    done
else
    skip "no /dev/full"
fi
finish
