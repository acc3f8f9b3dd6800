#!/bin/bash
# Training a model of two layers: results and messages, Ctrl-C, kill -9, and resuming.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

"$python" "$here/tiny_model.py" "$work/models/tiny"
model=(--model tiny)

forty_tools 0
weights() { sha256sum <"$1/encoder/model.safetensors"; }
options=(--batch 16 --lr 0.003 --epochs 4 --threads 2 "${model[@]}")

expect 4 "no store" train encoder "${model[@]}"
expect 0 "tools" add --no-vectors tools.jsonl
expect 3 "no recorded use" train encoder "${model[@]}"
says "no recorded use; record some with .whichtool usage add"
expect 0 "usages" usage add --no-vectors usages.jsonl
expect 2 "no such lesson" train nonsense
expect 2 "no number" train encoder --epochs many
says "--epochs takes a number above 0, not \"many\""
expect 2 "a learning rate of 0" train encoder --lr 0
expect 2 "no folder" train encoder --data "$work/data"
says "--data needs --out"
expect 2 "no such loss" train encoder --loss hinge "${model[@]}"
says "it has: contrast triplet"
expect 2 "no teacher" train encoder --loss likeness "${model[@]}"
says "the loss needs a teacher \(--teacher MODEL\)"
expect 2 "too many siblings" train encoder --siblings 9 "${model[@]}"
says "--siblings takes a number from 1 to 8, not \"9\""
expect 2 "siblings of another model" train cross --siblings 1 "${model[@]}"
says "siblings work with \"encoder\", not with \"cross\""
expect 5 "no such model" train encoder --model nowhere
expect 7 "too little memory" train encoder --memory 1 "${options[@]}"
says "training would take [0-9]+ MB, and there are 1 MB"

expect 0 "a model" train encoder "${options[@]}"
prints "^encoder: recall@5 by description and use on dev from [0-9.]+ to [0-9.]+ %; [0-9]+ steps, [0-9.]+ epochs"
[ -f tools.wt-models/encoder/config.json ] || fail "no model"
[ ! -e tools.wt-models/encoder.state ] || fail "a state is left"
first=$(weights tools.wt-models)
[ "$first" != "$(sha256sum <models/tiny/model.safetensors)" ] || fail "it was not trained"
expect 0 "the same again, as JSON" train encoder --json --out again "${options[@]}"
json_lines
same "one model" "encoder True True" "$(json_of '"%s %s %s" % (d["model"], d["after"] >= d["before"], d["steps"] > 0)')"
same "the same seed and threads" "$first" "$(weights again)"
expect 0 "it had ended" train encoder --resume --out again "${options[@]}"
says "had already ended"
expect 0 "the model is used" find --model "$work/again/encoder" -k 1 book a table
same "what it remembers" "encoder 40 1" "$("$python" -c '
import json
w = json.load(open("again/encoder/config.json"))["whichtool"]
print(w["lesson"], w["data"]["tools"], w["seed"])')"

# Ctrl-C and kill -9 in the middle; both resume to the same bytes.
set -m # a background job ignores SIGINT, unless it has its own process group
long=(--batch 16 --lr 0.003 --epochs 60 --threads 2 "${model[@]}")
expect 0 "a long training" train encoder --out whole "${long[@]}"
whole=$(weights whole)
for signal in INT KILL; do
    for pause in 0.2 0.6 1.2; do
        rm -rf part
        "$WHICHTOOL" train encoder --out part "${long[@]}" >out 2>err &
        pid=$!
        for _ in $(seq 200); do # a busy machine may not have started yet
            [ -e part ] && break
            sleep 0.05
        done
        sleep $pause
        kill -$signal $pid 2>/dev/null
        { wait $pid; } 2>/dev/null
        code=$?
        what="$signal after $pause s"
        case $signal$code in
        INT130) says "stopped|interrupted" ;;
        KILL137 | INT0 | KILL0) ;;
        *) fail "exit $code" ;;
        esac
        expect 0 "going on after $signal at $pause s" train encoder --resume --out part "${long[@]}"
        same "the same bytes after $signal at $pause s" "$whole" "$(weights part)"
    done
done

# A data set, and the model in the reference library.
six_tools 60 1 1 train=0,1,2 dev=3
expect 0 "a data set" train encoder --data data --out learned "${options[@]}"
prints "^encoder: recall@5"
expect 2 "no such set" train encoder --data data --most other=5 --out joined "${options[@]}"
says "no data set is called \"other\""
expect 2 "no such dev" train encoder --data data --dev words --out joined "${options[@]}"
expect 2 "no such keep" train encoder --data data --keep best,last --out joined "${options[@]}"
expect 2 "too many joined" train encoder --data data --join 1 --out joined "${options[@]}"
says "the share of joined requests must be 0 to 0.9"
expect 0 "joined, by hybrid, the last" train encoder --data data --most 50 --most data=40 --join 0.3 --dev hybrid \
    --dev-tools 5 --keep last --json --out joined "${options[@]}"
says "^encoder: dev [0-9.]+ % at step"
same "each measurement" "recall@5 of hybrid True data 1" "$(json_of '"%s %s %s %d" % (d["figure"],
    d["measurements"][-1]["figure"] == d["after"], d["measurements"][0]["sets"][0]["set"],
    len(d["measurements"][0]["sets"]))')"
cp -r data more
expect 0 "two data sets" train encoder --data data --data more --most 20 --json --out both "${options[@]}"
same "what it learned from" "12 40 True" "$("$python" -c '
import json
w = json.load(open("both/encoder/config.json"))["whichtool"]["data"]
print(w["tools"], w["requests"], w["source"].endswith("data, more"))')"
expect 2 "two catalogues" train mlc --data data --data more --out both "${model[@]}"
says "takes one catalogue, not 2 data sets"

# Synthetic requests need only long enough descriptions.
expect 3 "they say too little" train encoder --synthetic 20 --out made "${options[@]}"
says "are all shorter than 25 bytes"
expect 2 "not for every lesson" train dpr --synthetic 20 "${model[@]}"
"$python" - <<'PYTHON'
import json
names = "weather forecast rain wind tides harbour currency money invoices customer table restaurant".split()
with open("described.jsonl", "w") as f:
    for i, name in enumerate(names):
        print(json.dumps({"provider": f"p{i // 3}", "name": name, "description": f"get the {name} of one city to book"}), file=f)
PYTHON
expect 0 "tools with descriptions" -s described.wt add --no-vectors described.jsonl
expect 0 "no usage is needed" -s described.wt train encoder --synthetic 20 --json "${options[@]}"
same "what it remembers of that" "20 True" "$("$python" -c '
import json
w = json.load(open("described.wt-models/encoder/config.json"))["whichtool"]
print(w["options"]["synthetic"], w["data"]["source"].startswith("descriptions of "))')"

# Providers: find shows the probability that a request needs several, and eval its accuracy.
"$python" - <<'PYTHON'
import json
names = "weather forecast rain wind tides harbour currency money invoices customer table restaurant".split()
with open("asked.jsonl", "w") as f:
    for i in range(120):
        a, b = i % 12, (i % 12 // 3 * 3 + (i + 1) % 3 if i % 2 else (i + 4) % 12)
        text = f"get the {names[a]} of city {i}. also book the {names[b]} of another"
        print(json.dumps({"request": text, "tools": [f"p{a // 3}/{names[a]}", f"p{b // 3}/{names[b]}"]}), file=f)
PYTHON
expect 0 "their usages" -s described.wt usage add --no-vectors asked.jsonl
for lesson in dpr toolrerank; do expect 0 "$lesson" -s described.wt train $lesson "${model[@]}"; done
request="get the rain of one city. also book the money of another"
expect 0 "one provider or several" -s described.wt find --recipe toolrerank --format json "${model[@]}" "$request"
same "a probability" True "$(json_of '0 <= d["several_providers_probability"] <= 1')"
expect 0 "the same for people" -s described.wt find --recipe toolrerank --explain "${model[@]}" "$request"
says "Probability that the request needs tools of several providers: [0-9]+ %"
expect 0 "other stores print no such note" -s described.wt find --recipe dpr --format json "${model[@]}" "$request"
same "no probability" None "$(json_of 'd["several_providers_probability"]')"
# Twelve dev requests are too few for a chooser of sets: no model is written, with a note.
for lesson in tool2vec mlc neighbours auto; do expect 0 "$lesson" -s described.wt train $lesson "${model[@]}"; done
expect 0 "too little for sets" -s described.wt train set "${model[@]}"
prints "^ *no model was written"
says "too few dev requests"
expect 0 "the same as JSON" -s described.wt train set --json "${model[@]}"
same "its path" "" "$(json_of 'd["path"]')"
[ ! -e described.wt-models/set ] || fail "a chooser was left all the same"
mkdir -p kinds/qrels
"$python" - <<'PYTHON'
import json
tools = [json.loads(line) for line in open("described.jsonl")]
with open("kinds/corpus.jsonl", "w") as f:
    for i, t in enumerate(tools):
        tool = {"_id": f"t{i}", "title": t["name"], "text": t["description"], "metadata": {"provider": t["provider"]}}
        print(json.dumps(tool), file=f)
asked = [json.loads(line) for line in open("asked.jsonl")][:24]
with open("kinds/queries.jsonl", "w") as f:
    f.writelines(json.dumps({"_id": f"q{i}", "text": one["request"]}) + "\n" for i, one in enumerate(asked))
numbers = {f"{t['provider']}/{t['name']}": i for i, t in enumerate(tools)}
with open("kinds/qrels/test.tsv", "w") as f:
    f.write("query-id\tcorpus-id\tscore\n")
    f.writelines(f"q{i}\tt{numbers[tool]}\t1\n" for i, one in enumerate(asked) for tool in one["tools"])
PYTHON
expect 0 "how often that is right" eval kinds --trained described.wt-models --recipe toolrerank,dpr --json "${model[@]}"
same "shares of requests" "True False" \
    "$(json_of '"%s %s" % (all(0 <= l[0]["kind"][k] <= 1 for k in ("accuracy", "brier")), "kind" in l[1])')"
cp described.wt-models/dpr/config.json dpr.json
head -c 100 dpr.json >described.wt-models/dpr/config.json
expect 5 "a damaged model is named" eval kinds --trained described.wt-models --recipe dpr "${model[@]}"
says "dpr/config.json: not valid JSON"
mv dpr.json described.wt-models/dpr/config.json

if "$python" -c "import torch, transformers" 2>/dev/null; then
    what="the reference library loads it"
    checks=$((checks + 1))
    "$python" -c '
import torch, transformers
model, told = transformers.AutoModel.from_pretrained("learned/encoder", output_loading_info=True, add_pooling_layer=False)
assert not told["missing_keys"], told
with torch.no_grad():
    assert model(input_ids=torch.tensor([[2, 5, 6, 3]])).last_hidden_state.isfinite().all()' >out 2>err || fail "it does not"
else
    skip "no torch and transformers in $python to load the model with"
fi
finish
