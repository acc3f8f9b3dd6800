#!/bin/bash
# Generating data with a language model: a server that answers by rules, stopped and resumed runs, and replay without
# the server; then rows for fine-tuning, from that data and from recorded use.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
unset OPENAI_BASE_URL OPENAI_API_KEY
none=(--model "")
make=(generate toolselect "${none[@]}" --tools 12)

expect 2 "no folder" "${make[@]}" --chat-model rules
says "--out FOLDER"
expect 2 "no language model" "${make[@]}" --out set
says "chat-model NAME"
expect 2 "an option of the other" "${make[@]}" --out set --notes
says "--notes belongs to .generate fine-tuning."
expect 2 "neither of the two" generate nothing --out set
says "toolbank rectools verdicts comparison toolselect fine-tuning"

start_server
expect 0 "a data set" "${make[@]}" "${at[@]}" --out set --record answers.jsonl --json
json_lines
cp out first.out
same "tools and rows" "36 108 True" "$(json_of '"%d %d %s" % (d["tools"], d["rows"], 10 < d["hard"] < 20)')"
same "members as documented" "True" "$(generate_members)"
same "the report is the file" "True" "$(json_of 'd["report"] == json.load(open("set/report.json"))')"
same "counts add up" "True" \
    "$(json_of 'all(s["offered"] == s["made"] + sum(s["refused"].values()) for s in d["report"]["stages"])')"
same "what was drawn" "0.7" "$(cut -d' ' -f1 asked | sort -u)"
same "rows as the paper's" "True" "$("$python" -c '
import json
rows = [json.loads(line) for line in open("set/samples.jsonl")]
print(all(list(r) == ["query", "choices", "thought", "tool"] and r["tool"] in [c["name"] for c in r["choices"]]
          and r["tool"] in r["thought"] and "###" not in json.dumps(r) for r in rows))')"
asked=$(wc -l <asked)
expect 0 "once more" "${make[@]}" "${at[@]}" --out set
prints "108 rows"
same "asks no questions" "$asked" "$(wc -l <asked)"
expect 2 "another seed in the same folder" "${make[@]}" "${at[@]}" --out set --seed 2
says "begun with other options"
expect 0 "the tools are a catalogue" -s made.wt add --model "" set/tools.jsonl
prints "36 added"

# Interrupted and killed, then resumed by the same command.
for signal in INT KILL; do
    what="stopped by $signal"
    rm -rf stopped
    touch slowly
    : >asked
    set -m # a background job ignores SIGINT, unless it has its own process group
    "$WHICHTOOL" "${make[@]}" "${at[@]}" --out stopped >out 2>err &
    pid=$!
    until [ "$(wc -l <asked)" -gt 30 ] || ! kill -0 $pid; do sleep 0.05; done
    kill -$signal $pid
    wait $pid 2>/dev/null
    code=$?
    set +m
    [ ! -e stopped/samples.jsonl ] || fail "half a data set"
    if [ $signal = INT ]; then
        same "Ctrl-C" 130 $code
        says "answers so far are kept in stopped, and the same command resumes"
        same "how far it came" "False" "$("$python" -c 'import json; print(json.load(open("stopped/report.json"))["complete"])')"
    fi
    rm -f slowly
    kill $server # the unanswered ones
    wait $server 2>/dev/null
    start_server
    expect 0 "gone on with after $signal" "${make[@]}" "${at[@]}" --out stopped
    cmp -s set/samples.jsonl stopped/samples.jsonl || fail "other rows than without a stop"
    cmp -s set/report.json stopped/report.json || fail "another report than without a stop"
done
kill $server
wait $server 2>/dev/null

expect 6 "no server" "${make[@]}" "${at[@]}" --out away
says "the same command resumes"
expect 0 "its answers are enough" "${make[@]}" --chat-model rules --replay answers.jsonl --out again
cmp -s set/samples.jsonl again/samples.jsonl || fail "other rows than the server's"
expect 3 "answers that are not there" "${make[@]}" --chat-model rules --replay answers.jsonl --out other --seed 2
says "generate-"

# Rows for fine-tuning.
expect 0 "in the layout of call" generate fine-tuning --from set --out plain --note-words 20
same "a question and its answer" "True" "$("$python" -c '
import json
rows = [json.loads(line) for line in open("plain/train.jsonl")][1:]
answers = [json.loads(r["messages"][1]["content"]) for r in rows]
print(all(list(a) == ["thought", "tool"] and "\n%d. " % a["tool"] in r["messages"][0]["content"] for a, r in zip(answers, rows)))')"
expect 2 "no such layout" generate fine-tuning --from set --out plain --layout prose
says "toolverifier"
expect 0 "of that data" generate fine-tuning --from set --out tuning --layout toolverifier --dev 0.2 --json
json_lines
same "all rows" "True" "$(json_of 'd["train"] + d["dev"] == d["rows"] == 108 and d["dev"] > 5')"
same "header, then rows" "True" "$("$python" -c '
import json
lines = [json.loads(line) for line in open("tuning/train.jsonl")]
head, rows = lines[0]["header"], lines[1:]
print(head["rows"] == len(rows) and head["settings"]["epochs"] == 3 and all(
    [m["role"] for m in r["messages"]] == ["system", "user", "assistant"] and r["loss"]["messages"] == [2]
    and r["loss"]["learned_characters"] == len(r["messages"][2]["content"])
    and r["loss"]["masked_characters"] == sum(len(m["content"]) for m in r["messages"][:2])
    and r["messages"][1]["content"].startswith("User: ") and "Act: CALLTOOL[" in r["messages"][2]["content"] for r in rows))')"
expect 3 "no samples there" generate fine-tuning --from home --out tuning
add_catalogue
expect 3 "no recorded use" generate fine-tuning "${none[@]}" --out used
says "usage add"
expect 0 "use is recorded" usage add "${none[@]}" --request "will it rain in Leith" --tool weather/get_forecast
expect 0 "of recorded use" generate fine-tuning "${none[@]}" --out used --dev 0 --hard 0.99 \
    --layout toolverifier
prints "1 row, from 6 tools: 1 for training, 0 for dev"
same "its tool" "True" "$("$python" -c '
import json
row = json.loads(open("used/train.jsonl").read().splitlines()[1])
print(row["messages"][2]["content"] == "Act: CALLTOOL[\"weather__get_forecast\"]" and "money__" in row["messages"][1]["content"])')"
expect 2 "an option of the other, again" generate fine-tuning --out used --tools 9
says "generate toolselect"
finish
