#!/bin/bash
# Models: none here, none by that name, damaged ones; and the default model where one is installed.
installed=${WHICHTOOL_MODELS:-${XDG_DATA_HOME:-$HOME/.local/share}/whichtool/models}
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
catalogue

"$WHICHTOOL" model list --json >out 2>err
[ ! -s out ] || json_lines
expect 5 "a model that is not known" model info nope
says "nope"
silent out
expect 5 "pulling a model that is not known" model pull nope
says "nope"
expect 5 "packing a model that is not here" model pack
mkdir -p manifests
cat >manifests/far.json <<'JSON'
{"name": "far", "license": "none", "architecture": "bert", "dimension": 384,
 "files": [{"path": "config.json", "bytes": 2, "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}],
 "sources": [{"type": "hub", "repo": "no/where", "revision": "main"}]}
JSON
export WHICHTOOL_MANIFESTS=$PWD/manifests HF_ENDPOINT=http://127.0.0.1:9
expect 6 "a pull into the usual place, without a network" model pull far
says "127.0.0.1"
mkdir -p manifests/far/pooling
echo '{"pooling": true}' >manifests/far/pooling/config.json
expect 0 "models that were pulled into the folder of the manifests, as with PREFIX=~/.local, are none themselves" model list
prints "^far: not here"
unset WHICHTOOL_MANIFESTS HF_ENDPOINT
for verb in info pack; do
    expect 2 "$verb of no name" model $verb ""
    says "no model was named"
done
expect 2 "list takes no name" model list all-MiniLM-L6-v2
expect 0 "tools are added without a model" add --model gone --provider weather weather.json
says "model pull"
expect 5 "dense needs it" find --model gone --recipe dense rain
expect 0 "words do not" find --model gone rain
expect 5 "a model by a wrong path" find --recipe dense --model "$work/nowhere" rain
says "the model $work/nowhere is not installed: there is no such folder"
expect 0 "its status" status --model "$work/nowhere"
prints "by the model $work/nowhere, which is not installed: there is no such folder"
mkdir -p models/all-MiniLM-L6-v2
printf 'garbage' >models/all-MiniLM-L6-v2/model.safetensors
printf '{' >models/all-MiniLM-L6-v2/config.json
expect 5 "a damaged model" find --recipe dense rain
silent out
expect 0 "words do without it, too" find --recipe bm25 rain

if [ -f "$installed/all-MiniLM-L6-v2/model.safetensors" ]; then
    rm -rf models
    cp -r "$installed" models
    expect 0 "the model is here" model info --json
    same "its dimension" "(True, 384)" "$(json_of '(d["installed"], d["dimension"])')"
    expect 0 "vectors are made by the next import" add --provider weather weather.json --json
    same "two of them" 2 "$(json_of 'd["embedded"]')"
    silent err
    expect 0 "meaning finds what words do not" find --recipe dense -k 1 "do I need an umbrella"
    prints "weather/get_forecast"
    expect 0 "both stages give reasons" find --explain --json -k 1 "forecast: do I need an umbrella"
    same "their names" "['bm25', 'dense']" "$(json_of 'sorted(s["stage"] for s in d["hits"][0]["stages"])')"
    expect 0 "no model by choice" find --model "" -k 1 rain
    says "by the recipe bm25"
else
    skip "all-MiniLM-L6-v2 is not installed: nothing was encoded"
fi
finish
