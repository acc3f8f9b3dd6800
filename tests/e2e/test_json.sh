#!/bin/bash
# The JSON of find, pick, call and check has all members of the tables in docs/json.md, with their types.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
"$python" "$here/tiny_model.py" "$work/models/tiny"
add_catalogue

cat >holds.py <<'PYTHON'
import json
import re
import sys

tables, table = {}, None
for line in open(sys.argv[1], encoding="utf-8"):
    if line.startswith("## "):
        table = tables.setdefault(line[3:].strip(), {})
    row = re.match(r"\| `(\w+)` \| ([^|]+) \|", line)
    if row:
        table[row[1]] = row[2].strip()
types = {"string": str, "number": (int, float), "object": dict, "array": list, "null": type(None), "boolean": bool}


def hold(where, value, table, explain):
    wanted = {k: t for k, t in tables[table].items() if explain or "--explain" not in t}
    for key in set(value) ^ set(wanted):
        if key != "trace":
            sys.exit(f"{where}: {key} is in one of the two alone")
    for key, kind in wanted.items():
        if kind == "any":
            continue
        kinds = tuple(types[t] for t in re.findall(r"\w+", kind.split(",")[0]) if t in types)
        if key in value and (not isinstance(value[key], kinds) or (isinstance(value[key], bool) and bool not in kinds)):
            sys.exit(f"{where}.{key} is {value[key]!r}, not {kind}")


def check_call(d, explain):
    hold("call", d, "What `call` prints", explain)
    for one in d["verified"]:
        hold("check", one, "A check of a call", explain)
    steps = d.get("steps")
    if steps:
        hold("steps", steps, "The steps of a call", explain)
        for one in steps["candidates"]:
            hold("candidate", one, "A candidate", explain)
        for one in steps["arguments"]:
            hold("argument", one, "An argument", explain)


def check(d, explain):
    hold("result", d, "The result", explain)
    if d["language_model"] is not None:
        hold("language_model", d["language_model"], "The language model", explain)
    for i, hit in enumerate(d["hits"]):
        hold("hit", hit, "A hit", explain)
        assert hit["rank"] == i + 1
        for stage in hit.get("stages", []):
            hold("stage", stage, "A stage", explain)
        for match in hit.get("matches", []):
            hold("match", match, "A match", explain)


def check_audit(d, explain):
    hold("audit", d, "What `check` prints", explain)
    assert d["findings"] and d["costs"]
    for one in d["findings"]:
        hold("finding", one, "A finding", explain)
    for one in d["costs"]:
        hold("cost", one, "A cost", explain)


lines = sys.stdin.read().splitlines()
assert len(lines) == 1, f"{len(lines)} lines"
{"call": check_call, "check": check_audit}.get(sys.argv[2], check)(json.loads(lines[0]), "--explain" in sys.argv[2:])
PYTHON

while IFS='|' read -r code arguments; do
    for form in --json "--format json"; do
        # shellcheck disable=SC2086
        expect "$code" "$arguments" $arguments $form "book a table, then the weather forecast"
        # shellcheck disable=SC2086
        "$python" holds.py "$source_root/docs/json.md" $arguments <out 2>why || fail "$(tail -1 why)"
    done
done <<'ROWS'
0|find --model ""
0|find --model tiny
0|find --model tiny --explain
0|find --model tiny --explain --have weather/get_tides --have money/list_invoices
0|pick --model tiny --have weather/get_tides
0|find --model tiny --abstain 0.01 --max-tokens 100000
1|find --model tiny --max-tokens 1 --explain
0|find --model tiny -k 1 --all-copies --recipe bm25
0|pick --model tiny --abstain 0
0|pick --model tiny --abstain 0 --explain
0|pick --model tiny --abstain 0 --max-tokens 100000
1|pick --model tiny --abstain 0 --max-tokens 1
1|pick --model tiny --abstain 0.99
8|call --model ""
8|call --model "" --explain
8|call --tool tables/book_table
8|call --tool money/convert_currency --explain
8|call --tool money/list_invoices --explain
1|call --model tiny --abstain 0.99 --explain
ROWS

for form in --json "--format json"; do
    # shellcheck disable=SC2086
    expect 0 "check $form" check --model tiny $form
    "$python" holds.py "$source_root/docs/json.md" check <out 2>why || fail "$(tail -1 why)"
done
finish
