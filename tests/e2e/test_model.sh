#!/bin/bash
# Models: missing, unknown and damaged ones, and the default model.
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
expect 5 "packing a missing model" model pack all-MiniLM-L6-v2
mkdir -p manifests
cat >manifests/far.json <<'JSON'
{"name": "far", "license": "none", "architecture": "bert", "dimension": 384,
 "files": [{"path": "config.json", "bytes": 2, "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}],
 "sources": [{"type": "hub", "repo": "no/where", "revision": "main"}]}
JSON
export HF_ENDPOINT=http://127.0.0.1:9
WHICHTOOL_MANIFESTS=$PWD/manifests expect 6 "a pull into the usual place, without a network" model pull far
says "127.0.0.1"
mkdir -p manifests/far/pooling
echo '{"pooling": true}' >manifests/far/pooling/config.json
WHICHTOOL_MANIFESTS=$PWD/manifests expect 0 "folders of pulled models among the manifests are not listed as included models" model list
prints "^far: not installed"
unset HF_ENDPOINT
for verb in info pack; do
    expect 2 "$verb of no name" model $verb ""
    says "the name of the model is empty"
done
expect 2 "list takes no name" model list all-MiniLM-L6-v2
expect 0 "tools are added without a model" add --model gone --provider weather weather.json
says "model pull"
expect 5 "dense needs it" find --model gone --recipe dense rain
expect 0 "words do not" find --model gone rain
expect 5 "a model by a wrong path" find --recipe dense --model "$work/nowhere" rain
says "the model $work/nowhere is not installed: no such folder"
expect 0 "its status" status --model "$work/nowhere"
prints "with the model $work/nowhere, which is not installed: the folder does not exist"
mkdir -p models/all-MiniLM-L6-v2
printf 'garbage' >models/all-MiniLM-L6-v2/model.safetensors
printf '{' >models/all-MiniLM-L6-v2/config.json
expect 5 "a damaged model" find --recipe dense rain
silent out
expect 0 "words do without it, too" find --recipe bm25 rain

"$python" "$here/tiny_model.py" "$work/models/tiny"
expect 0 "a model merged with itself" model merge tiny models/tiny/ --weight .25 --out merged
says "2 models were merged in merged"
expect 0 "the mean of three" model merge tiny ./models/tiny ./merged --out mean
expect 0 "is a model" model info ./mean
prints "^mean: installed; bert, 2 layers, dimension 16"
for precision in int8 fp16; do
    expect 0 "quantized to $precision" model quantize tiny --precision $precision --out $precision
    says "tiny was quantized in $precision"
    expect 0 "makes vectors" vectors --model "./$precision"
    expect 0 "runs" find --recipe dense --model "./$precision" rain
done
same "int8 is smaller than fp16" yes "$([ "$(stat -c %s int8/model.safetensors)" -lt "$(stat -c %s fp16/model.safetensors)" ] && echo yes)"
while IFS='|' read -r code words sentence; do
    # shellcheck disable=SC2086 # words are words
    expect "$code" "model $words" model $words
    says "$sentence"
done <<'ROWS'
2|merge|needs at least two models
2|merge tiny|needs at least two models
2|merge tiny tiny|missing --out FOLDER
2|merge tiny tiny --weight 2 --out new|--weight takes a number from 0 to 1, not "2"
2|merge tiny tiny --weight x --out new|not "x"
2|merge tiny tiny --weight nan --out new|not "nan"
2|merge tiny tiny tiny --weight .5 --out new|needs exactly two models, not 3
2|merge tiny tiny --out merged|there is a model in merged already
5|merge tiny nope --out new|the model nope is not installed
5|merge tiny all-MiniLM-L6-v2 --out new|all-MiniLM-L6-v2
2|info tiny --weight 1|--weight is not an option of `model info`
2|pack --out new|--out is not an option of `model pack`
2|merge tiny tiny --out new --precision int8|--precision is not an option of `model merge`
2|pack tiny tiny|takes one name
2|quantize --out new|takes one model
2|quantize tiny tiny --out new|takes one name
2|quantize tiny|missing --out FOLDER
2|quantize tiny --out new --precision int4|int4
2|quantize tiny --out merged|there is a model in merged already
5|quantize nope --out new|the model nope is not installed
ROWS
[ ! -e new ] || fail "a merge that failed left something"

rm -rf models
unset WHICHTOOL_MANIFESTS # tests have none of the included models otherwise
expect 0 "the default model is here" model info --json
same "its dimension" "(True, 384)" "$(json_of '(d["installed"], d["dimension"])')"
expect 0 "vectors are made by the next import" add --provider weather weather.json --json
same "two of them" 2 "$(json_of 'd["embedded"]')"
silent err
expect 0 "meaning finds what words do not" find --recipe dense -k 1 "do I need an umbrella"
prints "weather/get_forecast"
expect 0 "both stages give reasons" find --explain --json -k 1 "forecast: do I need an umbrella"
same "their names" "['bm25', 'dense', 'name', 'scorer']" "$(json_of 'sorted(s["stage"] for s in d["hits"][0]["stages"])')"
expect 0 "no model by choice" find --model "" -k 1 rain
says "with the recipe hybrid"
finish
