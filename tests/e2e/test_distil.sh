#!/bin/bash
# Distilling a model of two layers, from a store and from data sets. Ctrl-C leaves no files.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

"$python" "$here/tiny_model.py" "$work/models/tiny"
forty_tools 0
weights() { sha256sum <"$1/model.safetensors"; }
member() { "$python" -c 'import json, sys; d = json.load(open(sys.argv[1] + "/config.json")); print(eval(sys.argv[2]))' "$@"; }

expect 2 "no model is named" distil --out made
expect 2 "no folder" distil tiny
says "missing --out FOLDER"
expect 4 "no store" distil tiny --out made
expect 0 "tools" add --no-vectors tools.jsonl
expect 2 "no number" distil tiny --out made --epochs many
says "--epochs takes a number above 0, not \"many\""
expect 2 "no step" distil tiny --out made --ablate everything
says "unknown step \"everything\" to leave out; choose from: weights, fit, likeness, contrast, merge"
expect 5 "no such teacher" distil nowhere --out made
expect 3 "no such data" distil tiny --data nowhere --out made
expect 2 "more dimensions than there are" distil tiny --dimension 17 --out made
says "vectors of 16 dimensions; it cannot be distilled to 17"
[ ! -e made ] || fail "something was left"

expect 0 "tools alone" distil tiny --out made
prints "^89 tokens of 16 dimensions, 0.0 MB, distilled from tiny with [0-9]+ texts and 0 requests"
prints "^ *made$"
same "its kind" "model2vec 16 True" "$(member made 'd["model_type"], d["hidden_dim"], d["normalize"]' | tr -d "(),'")"
[ -f made/vocab.txt ] || fail "no tokenizer"
same "how it was made" "0.001 100.0 10.0" \
    "$(member made '"%s %s %s" % tuple(d["whichtool"]["options"][k] for k in ("smoothing", "epochs", "contrast_epochs"))')"
expect 0 "its vectors" vectors --model "$work/made"
prints "new vectors: 40 of tools"
expect 0 "it finds" find --model "$work/made" --recipe dense --format json -k 1 weather forecast
same "by meaning" "made 1" "$(json_of '"%s %d" % (d["encoder"], len(d["hits"]))')"
expect 5 "it is no teacher" distil "$work/made" --out second
says "made is a static encoder itself; name a transformer to distil"
expect 2 "it is not replaced" distil tiny --out made
says "there is a model in made already; name another folder, or remove it first"
expect 0 "requests too, as JSON" usage add --no-vectors usages.jsonl
expect 0 "requests too, as JSON" distil tiny --out used --json --dimension 8 --threads 1
json_lines
same "what it says" "89 8 True True True" \
    "$(json_of 'd["tokens"], d["dimension"], d["requests"] > 0, -1 <= d["cosine"] <= 1, d["teacher"] == "tiny"' | tr -d '(),')"
same "what it remembers" "distil tiny" \
    "$(member used 'd["whichtool"]["lesson"], d["whichtool"]["teacher"]["name"]' | tr -d "(),'")"
expect 0 "the same again" distil tiny --out again --dimension 8 --threads 2
same "the same bytes" "$(weights used)" "$(weights again)"
same "and words" "$(sha256sum <used/config.json)" "$(sha256sum <again/config.json)"

# Data sets, one of them a catalogue without requests; config.json contains no paths.
six_tools 60 1 1 train=0,1,2 dev=3
mkdir catalogue
cp data/corpus.jsonl catalogue/
: >catalogue/queries.jsonl
expect 0 "two data sets" distil "$work/models/tiny" --data data --data "$work/catalogue" --out both --json
same "what it learned from" "['data', 'catalogue']" "$(member both 'd["whichtool"]["data"]["sources"]')"
expect 0 "a catalogue" distil tiny --data catalogue --out one --json
same "no requests" "0 None" "$(json_of '"%s %s" % (d["requests"], d["cosine"])')"

# Names with invalid UTF-8 or control characters.
hostile=$'bad\xff\e[31m"name'
cp -r catalogue "$hostile"
cp -r models/tiny "models/$hostile"
expect 0 "hostile names" distil "$hostile" --data "$hostile" --out "out $hostile"
lacks out $'\e'
same "they are told as text" "True True" "$(member "out $hostile" \
    '"%s %s" % (d["whichtool"]["teacher"]["name"].startswith("bad\ufffd"), "\ufffd" in d["whichtool"]["data"]["sources"][0])')"

# Ctrl-C in the middle of a very long run.
set -m # a background job ignores SIGINT, unless it has its own process group
"$WHICHTOOL" distil tiny --data data --out stopped --epochs 10000 --contrast-epochs 10000 >out 2>err &
pid=$!
sleep 0.5
kill -INT $pid 2>/dev/null
{ wait $pid; } 2>/dev/null
code=$?
what="Ctrl-C"
case $code in
130) [ ! -s err ] || says "stopped; no model was written" ;; # before the command handles it, the signal ends the process
*) fail "exit $code" ;;
esac
[ ! -e stopped ] || fail "something was left"
finish
