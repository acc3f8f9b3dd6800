#!/bin/bash
# Models included with the program, beside the manifests: found by name after those of the models folder, listed,
# verified and never downloaded. The first one is the default, and a store with the earlier default is updated with a
# note.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
own=whichtool-minilm-v2 before=all-MiniLM-L6-v2
export WHICHTOOL_MANIFESTS=$work/program HF_ENDPOINT=http://127.0.0.1:9
mkdir program
"$python" "$here/tiny_model.py" "$work/program/along"
mkdir program/noweights && cp program/along/config.json program/noweights/

expect 0 "they are listed" model list
prints "^along: installed, included with whichtool; bert, 2 layers"
prints "^  $work/program/along$"
lacks out "noweights"
expect 0 "one is shown" model info along --json
same "as what it is" "(True, True, '$work/program/along')" "$(json_of '(d["installed"], d["included"], d["path"])')"
expect 0 "no download" model pull along
says "along is included with whichtool, and its files are valid"
add_catalogue
expect 0 "it makes vectors" vectors --model along
expect 0 "and finds" find --recipe dense --model along rain
expect 0 "status names it" status --model along
prints "with the model along, included with whichtool$"
same "its folder stays as it was put there" "config.json model.safetensors vocab.txt" "$(cd program/along && echo *)"
same "its packed model is in the cache folder" 1 "$(find home/.cache -name '*packed*.wtm' | grep -c .)"
for manifests in "$work/program/" "$work/program//"; do
    WHICHTOOL_MANIFESTS=$manifests expect 0 "a slash behind the folder" model list
    prints "^along: installed, packed, included with whichtool"
    WHICHTOOL_MANIFESTS=$manifests WHICHTOOL_MODELS=$work/program expect 0 "one folder for both" model list
    lacks out "came with whichtool"
done
expect 5 "what has no weights is no model" find --recipe dense --model noweights rain
says "the model noweights is not installed"

# Without a home there is no models folder, but included models are found.
what="no home" checks=$((checks + 1))
env -u HOME -u WHICHTOOL_MODELS "$WHICHTOOL" find --recipe dense --model along rain >out 2>err || fail "exit $?"

# A model of that name in the models folder takes precedence.
cp -r program/along models/along
expect 0 "the models folder comes first" model info along --json
same "its own" "(False, '$work/models/along')" "$(json_of '(d["included"], d["path"])')"
rm -rf models/along

# The manifest verifies the files.
"$python" "$source_root/tools/model-manifest" program/along/ Apache-2.0 >program/along.json || fail "no manifest"
expect 0 "right by its manifest" model pull along
says "and its files are valid"
printf x >>program/along/vocab.txt
expect 5 "another size" model pull along
says "$work/program/along, which came with whichtool, is damaged; install whichtool again"
expect 0 "is not taken for it" model info along
prints "^along: not installed"
printf 'X' | dd of=program/along/model.safetensors bs=1 seek=5000 conv=notrunc 2>/dev/null
truncate -s -1 program/along/vocab.txt
expect 5 "another byte" model pull along
says "install whichtool again"
rm -rf program/along program/along.json "$WHICHTOOL_STORE"*

# The default is the base model until the tuned one is installed. A store with vectors of the base model is searched by
# them until an add or `vectors`.
"$python" "$here/tiny_model.py" "$work/models/$before"
add_catalogue
expect 0 "vectors of the old default" vectors
prints "All 6 tools have vectors of $before"
expect 0 "are searched" find --json rain
same "by hybrid, without a notice" "('hybrid', None)" "$(json_of '(d["recipe"], d["notice"])')"
cp -r "models/$before" "program/$own"
rm -f "program/$own"/packed* # different numbers, so that it is a different encoder
printf '\001' | dd of="program/$own/model.safetensors" bs=1 seek=9000 conv=notrunc 2>/dev/null
expect 0 "the new default" status
prints "^vectors +0 of 6 tools, with the model $own, included with whichtool; compute the others with .whichtool vectors.$"
prints "^encoder +$before, because more tools have its vectors; compute the vectors of $own with .whichtool vectors.$"
expect 0 "what has vectors finds" find --json rain
same "by meaning" "('hybrid', '$before')" "$(json_of '(d["recipe"], d["encoder"])')"
says "^Note: searching with $before until there are vectors of $own; .whichtool vectors. makes them"
echo '[{"name": "send", "description": "Sends a letter"}]' >mail.json
expect 0 "the next add makes them all" add --provider mail mail.json --json
same "seven" 7 "$(json_of 'd["embedded"]')"
expect 0 "and it finds" find --json rain
same "alone" "('$own', None)" "$(json_of '(d["encoder"], d["notice"])')"
expect 0 "no missing vectors" vectors
prints "All 7 tools have vectors of $own"
expect 0 "those of the old one are there, too" status --model "$before"
prints "^vectors +6 of 7 tools, with the model $before; "
expect 0 "and searched where it is named" find --model "$before" rain
says "1 of 7 tools have no vector yet"
rm -rf "program/$own"
expect 0 "without the new one, the old one is the default again" status
prints "with the model $before; "

# The models of this repository match their manifests and have a card.
export WHICHTOOL_MANIFESTS=$source_root/models
for folder in "$source_root"/models/*/; do
    [ -d "$folder" ] || continue
    name=$(basename "$folder")
    expect 0 "$name of the repository" model pull "$name"
    says "$name is included with whichtool, and its files are valid"
    same "its card" yes "$([ -s "$folder/README.md" ] && echo yes)"
done
finish
