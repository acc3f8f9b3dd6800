#!/bin/bash
# Requests for sets of tools with verdicts, the verdicts over a data set, and the comparison of two, with a server that
# answers by rules; stopped, resumed, replayed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
unset OPENAI_BASE_URL OPENAI_API_KEY
model=(--model whichtool-static-v1)
make=(generate rectools "${model[@]}" --combinations 4 --requests 3 --largest 5 --duplicate 0.99)

expect 0 "a catalogue" add "${model[@]}" "$source_root/samples/catalogue"
expect 2 "no data set" generate verdicts --out set
says "--data FOLDER"
expect 2 "no first one" generate comparison --out set
says "--first FOLDER"
expect 2 "an option of another" "${make[@]}" --out set --labels x
says "--labels belongs to .generate comparison."
expect 2 "an option of several" generate comparison --first set --out set --dev 0
says "belongs to .generate toolbank. and .generate fine-tuning. and .generate rectools."

start_server
expect 0 "requests for sets" "${make[@]}" "${at[@]}" --out set --record answers.jsonl --json
json_lines
same "members as documented" "True" "$(generate_members)"
same "the report is the file" "True" "$(json_of 'd["report"] == json.load(open("set/report.json"))')"
same "what qualifies is kept" "True" "$(json_of 'd["rows"] == d["report"]["verdicts"]["qualified"] > 30')"
same "each size" "1 2 3 4 5" "$(json_of '" ".join(d["report"]["verdicts"]["by_tools"])')"
same "beside the paper" "0.0634 0.551 0.613" "$(json_of '" ".join(str(v) for v in d["report"]["paper"]["exact_solving_test"].values())')"
same "the paper's temperature, and 0 for verdicts" "0 0.8" "$(cut -d' ' -f1 asked | sed 's/^0\.0$/0/' | sort -u | tr '\n' ' ' | sed 's/ $//')"
same "as many tools as its size" "True" "$("$python" -c '
import json
queries = {q["_id"]: q["metadata"] for q in map(json.loads, open("set/queries.jsonl"))}
tools, rows = {json.loads(line)["_id"] for line in open("set/corpus.jsonl")}, {}
for s in ("train", "dev", "test"):
    try: lines = open(f"set/qrels/{s}.tsv").read().splitlines()[1:]
    except FileNotFoundError: continue
    for line in lines:
        query, tool, score = line.split("\t")
        rows.setdefault(query, []).append(tool)
print(set(rows) == set(queries) and all(len(rows[q]) == m["tools"] and m["qualified"] and m["one_removed"]["tool"] in rows[q]
      and set(rows[q]) <= tools for q, m in queries.items()))')"
kept=$(json_of 'd["rows"]')
expect 0 "also the others, without questions" "${make[@]}" "${at[@]}" --out set --keep-all --json
same "all" "True 0" "$(json_of "\"%s %d\" % (d['rows'] == d['report']['verdicts']['requests'] > $kept, d['requests'])")"
expect 0 "as a table" "${make[@]}" "${at[@]}" --out set
prints "Verdicts of rules:"
prints "RecTools 61.3 %"
cp set/queries.jsonl first.jsonl

# Verdicts over it, and over the same data without the model's own questions.
expect 0 "verdicts" generate verdicts --data set --split train "${at[@]}" --out verdicts --json
json_lines
same "members as documented, again" "True" "$(generate_members)"
same "of all that qualify most do again" "True" "$(json_of 'd["report"]["verdicts"]["exact_share"] > 0.8 and d["report"]["model"] == "rules"')"
expect 0 "of some" generate verdicts --data set --split train --limit 5 "${at[@]}" --out few --json
same "five" 5 "$(json_of 'd["rows"]')"
expect 3 "no such split" generate verdicts --data set --split other "${at[@]}" --out few

# The judge compares requests with drafts, and one set with another.
expect 0 "a set with a polish" generate toolbank "${model[@]}" --usages 2 "${at[@]}" --out polished
expect 0 "against its drafts" generate comparison --first polished "${at[@]}" --out drafts --limit 30 --json
json_lines
same "members as documented, once more" "True" "$(generate_members)"
same "rewritten is longer, so it wins" "True" "$(json_of 'd["report"]["criteria"]["fluency"]["wins"]["count"] == d["report"]["judged"] > 20')"
expect 0 "against another" generate comparison --first set --second polished "${at[@]}" --out two --limit 30
prints "Verdicts of rules on the first data set:"
"$python" - <<'PYTHON' # a person who mostly agrees with the rules
rows = [line.rstrip("\n").split("\t") for line in open("two/sheet.tsv")][1:]
with open("labels.tsv", "w") as out:
    print("pair\tverdict", file=out)
    for i, (pair, _, a, b) in enumerate(rows):
        print(pair, "tie" if i % 10 == 0 or len(a) == len(b) else "a" if len(a) > len(b) else "b", sep="\t", file=out)
PYTHON
expect 0 "beside a person" generate comparison --first set --second polished "${at[@]}" --out two --limit 30 --labels labels.tsv --json
same "kappa" "True" "$(json_of '0.6 < d["report"]["agreement"]["overall"]["kappa"] < 1 and d["requests"] == 0')"
echo "1	better" >labels.tsv
expect 3 "no verdict" generate comparison --first set --second polished "${at[@]}" --out two --limit 30 --labels labels.tsv
says "labels.tsv:1: .better. is not a verdict"

# Interrupted and resumed; then replayed.
touch slowly
: >asked
"$WHICHTOOL" "${make[@]}" "${at[@]}" --out stopped >out 2>err &
pid=$!
until [ "$(wc -l <asked)" -gt 30 ] || ! kill -0 $pid; do sleep 0.05; done
kill -KILL $pid
wait $pid 2>/dev/null
[ ! -e stopped/queries.jsonl ] || fail "half a data set"
rm -f slowly
kill $server
wait $server 2>/dev/null
start_server
expect 0 "gone on with" "${make[@]}" "${at[@]}" --out stopped
diff -r -x answers.jsonl -x .lock set stopped >differs || fail "other bytes than without a stop: $(head -c 300 differs)"
kill $server
wait $server 2>/dev/null
expect 0 "its answers are enough" "${make[@]}" --chat-model rules --replay answers.jsonl --out again
cmp -s first.jsonl again/queries.jsonl || fail "other requests than the server's"
finish
