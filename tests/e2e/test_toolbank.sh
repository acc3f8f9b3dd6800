#!/bin/bash
# From a catalogue to trained recipes: requests by a language model (a server that answers by rules) are used for
# training, evaluated and recorded as use; the gate rejects useless models; runs are stopped, resumed and replayed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
unset OPENAI_BASE_URL OPENAI_API_KEY
member() { # FILE EXPRESSION over d
    "$python" -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}
model=(--model whichtool-static-v1)
make=(generate toolbank "${model[@]}" --usages 3)

expect 0 "a catalogue" add "${model[@]}" "$source_root/samples/catalogue"
expect 2 "no folder" "${make[@]}" --chat-model rules
says "--out FOLDER"
expect 2 "an option of another" "${make[@]}" --out set --notes
says "--notes belongs to .generate fine-tuning."
expect 2 "an option of two others" "${make[@]}" --out set --related 2
says "belongs to .generate toolselect. and .generate fine-tuning."
expect 2 "an option of this one alone" generate toolselect --within any --out set
says "--within belongs to .generate toolbank."

start_server
expect 0 "requests" "${make[@]}" "${at[@]}" --out set --record answers.jsonl --json
json_lines
same "members as documented" "True" "$(generate_members)"
same "the report is the file" "True" "$(json_of 'd["report"] == json.load(open("set/report.json"))')"
same "every tool has its requests" "0 True" "$(json_of '"%d %s" % (d["report"]["usages"]["tools_short"], d["report"]["usages"]["least"] >= 3)')"
same "each part" "True" "$(json_of 'd["train"] > 5 * d["dev"] > 0 < d["test"] and d["train"] + d["dev"] + d["test"] == d["rows"]')"
same "no set of tools in two splits" "0 True" "$(json_of '"%d %s" % (d["report"]["combinations_in_two_splits"], d["report"]["combinations_share"] > 0.9)')"
same "the paper's temperature" "0.9" "$(cut -d' ' -f1 asked | sort -u)"
same "BEIR" "True" "$("$python" -c '
import json
tools = {json.loads(line)["_id"] for line in open("set/corpus.jsonl")}
texts = {q["_id"]: q["text"] for q in map(json.loads, open("set/queries.jsonl"))}
rows = [line.split("\t") for s in ("train", "dev", "test") for line in open(f"set/qrels/{s}.tsv").read().splitlines()[1:]]
print(len(tools) == 167 and len(set(texts.values())) == len(texts) and {r[0] for r in rows} == set(texts)
      and all(r[1] in tools and r[2] == "1" for r in rows))')"
cp set/queries.jsonl first.jsonl

# The session: train, evaluate, and record the requests as use.
expect 0 "trained on it" train all "${model[@]}" --data set --out trained
expect 0 "measured" eval set "${model[@]}" --recipe hybrid,auto --trained trained --json
json_lines
same "all of test, and no worse for it" "True" "$(json_of 'len(l) == 2 and l[0]["queries"] == json.load(open("set/report.json"))["test"] and l[1]["metrics"]["recall@5"] >= l[0]["metrics"]["recall@5"] - 0.1')"
expect 0 "recorded" usage add "${model[@]}" set
prints "[0-9]+ (requests|usages)? ?added"
expect 0 "and learned from" train neighbours "${model[@]}"
expect 0 "and found by" find "${model[@]}" --recipe neighbours "$("$python" -c 'import json; print(json.loads(open("set/queries.jsonl").readline())["text"][:80])')"

# The gate.
for mode in repeats breaks; do
    echo $mode >mode
    expect 5 "a model that $mode" "${make[@]}" "${at[@]}" --out "gate-$mode"
    says "of 50 trial answers"
    says "one-tool"
    [ ! -e "gate-$mode/queries.jsonl" ] || fail "requests of a model that is of no use"
    same "its report" "True" "$(member "gate-$mode/report.json" 'd["trial"]["refused"] and not d["complete"]')"
done
expect 5 "with one tool as well" "${make[@]}" "${at[@]}" --out gate-one --one-tool
says "Use a larger model; --trial 0"
rm mode
expect 0 "a model that does for one tool" "${make[@]}" "${at[@]}" --out one --one-tool --round-trip 10 --json
same "single ones, found again" "True" "$(json_of 'list(d["report"]["sizes"]) == ["1"] and d["report"]["polish"] == {"good": 0, "rewritten": 0}')"
expect 0 "no gate" "${make[@]}" "${at[@]}" --out gate-repeats --trial 0 # the answers so far belong to the gate
same "which drops them all the same" "True" "$(member gate-repeats/report.json 'd["stages"][0]["refused"]["repeats_prompt"] > 40 and d["requests"] > 100')"

# Unanswerable requests, for one provider each.
expect 0 "some that no tool fits" "${make[@]}" "${at[@]}" --out none --within provider --unanswerable 0.2 --json
same "marked" "True" "$(json_of 'd["unanswerable"] > 10 and d["tools"] < 167 and d["report"]["within"]["provider"] == d["rows"]')"
expect 0 "are judged, and left out" eval none "${model[@]}" --recipe bm25 --json
same "said so" "True" "$(json_of '"no relevant tool" in (d["notice"] or "")')"
expect 0 "measure abstention" eval none "${model[@]}" --recipe bm25 --out-of-domain none/none

# Interrupted, killed and resumed; then replayed.
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
    [ ! -e stopped/queries.jsonl ] || fail "half a data set"
    [ $signal = KILL ] || same "Ctrl-C" 130 $code
    rm -f slowly
    kill $server # the unanswered ones
    wait $server 2>/dev/null
    start_server
    expect 0 "gone on with after $signal" "${make[@]}" "${at[@]}" --out stopped
    diff -r -x answers.jsonl -x .lock set stopped >differs || fail "other bytes than without a stop: $(head -c 300 differs)"
done
kill $server
wait $server 2>/dev/null
expect 0 "its answers are enough" "${make[@]}" --chat-model rules --replay answers.jsonl --out again
cmp -s first.jsonl again/queries.jsonl || fail "other requests than the server's"
finish
