#!/bin/bash
# Models that came with the program, beside the manifests: found by name behind those of the models folder, listed, checked
# and not fetched; the first of them is the default, and a store of the one before is brought up to date and says so.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
own=whichtool-minilm-v1 before=all-MiniLM-L6-v2
export WHICHTOOL_MANIFESTS=$work/program HF_ENDPOINT=http://127.0.0.1:9
mkdir program
"$python" "$here/tiny_model.py" "$work/program/along"
mkdir program/noweights && cp program/along/config.json program/noweights/

expect 0 "they are listed" model list
prints "^along: here, came with whichtool; bert, 2 layers"
prints "^  $work/program/along$"
lacks out "noweights"
expect 0 "one is shown" model info along --json
same "as what it is" "(True, True, '$work/program/along')" "$(json_of '(d["installed"], d["included"], d["path"])')"
expect 0 "nothing is fetched" model pull along
says "along came with whichtool, and is here and right"
add_catalogue
expect 0 "it makes vectors" vectors --model along
expect 0 "and finds" find --recipe dense --model along rain
expect 0 "status names it" status --model along
prints "by the model along, which came with whichtool$"
same "its folder stays as it was put there" "config.json model.safetensors vocab.txt" "$(cd program/along && echo *)"
same "its packed model is in the cache folder" 1 "$(find home/.cache -name '*packed*.wtm' | grep -c .)"
for manifests in "$work/program/" "$work/program//"; do
    WHICHTOOL_MANIFESTS=$manifests expect 0 "a slash behind the folder" model list
    prints "^along: here, packed, came with whichtool"
    WHICHTOOL_MANIFESTS=$manifests WHICHTOOL_MODELS=$work/program expect 0 "one folder for both" model list
    lacks out "came with whichtool"
done
expect 5 "what has no weights is no model" find --recipe dense --model noweights rain
says "the model noweights is not installed"

# Without a home there is no models folder; what is included is found all the same.
what="no home" checks=$((checks + 1))
env -u HOME -u WHICHTOOL_MODELS "$WHICHTOOL" find --recipe dense --model along rain >out 2>err || fail "exit $?"

# One of that name in the models folder comes first.
cp -r program/along models/along
expect 0 "the models folder comes first" model info along --json
same "its own" "(False, '$work/models/along')" "$(json_of '(d["included"], d["path"])')"
rm -rf models/along

# A manifest says what is right.
"$python" "$source_root/tools/model-manifest" program/along/ Apache-2.0 >program/along.json || fail "no manifest"
expect 0 "right by its manifest" model pull along
says "is here and right"
printf x >>program/along/vocab.txt
expect 5 "another size" model pull along
says "$work/program/along, which came with whichtool, is not as the manifest has it: install whichtool again"
expect 0 "is not taken for it" model info along
prints "^along: not here"
printf 'X' | dd of=program/along/model.safetensors bs=1 seek=5000 conv=notrunc 2>/dev/null
truncate -s -1 program/along/vocab.txt
expect 5 "another byte" model pull along
says "install whichtool again"
rm -rf program/along program/along.json "$WHICHTOOL_STORE"*

# The default: what it was tuned from until it is there. A store that has vectors of that is searched by them until an
# add or `vectors`.
"$python" "$here/tiny_model.py" "$work/models/$before"
add_catalogue
expect 0 "vectors of the old default" vectors
prints "all 6 tools have vectors of $before"
expect 0 "are searched" find --json rain
same "in hybrid, and nothing is lacking" "('hybrid', None)" "$(json_of '(d["recipe"], d["notice"])')"
cp -r "models/$before" "program/$own"
rm -f "program/$own"/packed* # other numbers, or it would be the same encoder
printf '\001' | dd of="program/$own/model.safetensors" bs=1 seek=9000 conv=notrunc 2>/dev/null
expect 0 "the new default" status
prints "^vectors +0 of 6 tools, by the model $own, which came with whichtool; .whichtool vectors. makes the others$"
prints "^encoder +$before, which has vectors of more tools; .whichtool vectors. makes those of $own$"
expect 0 "what has vectors finds" find --json rain
same "by meaning" "('hybrid', '$before')" "$(json_of '(d["recipe"], d["encoder"])')"
says "^Note: searching with $before until there are vectors of $own; .whichtool vectors. makes them"
echo '[{"name": "send", "description": "Sends a letter"}]' >mail.json
expect 0 "the next add makes them all" add --provider mail mail.json --json
same "seven" 7 "$(json_of 'd["embedded"]')"
expect 0 "and it finds" find --json rain
same "alone" "('$own', None)" "$(json_of '(d["encoder"], d["notice"])')"
expect 0 "nothing is missing" vectors
prints "all 7 tools have vectors of $own"
expect 0 "those of the old one are there, too" status --model "$before"
prints "^vectors +6 of 7 tools, by the model $before; "
expect 0 "and searched where it is named" find --model "$before" rain
says "1 of 7 tools have no vector yet"
rm -rf "program/$own"
expect 0 "without the new one, the old one is the default again" status
prints "by the model $before; "

# Those of this repository are as their manifests have them, and have a card.
export WHICHTOOL_MANIFESTS=$source_root/models
for folder in "$source_root"/models/*/; do
    [ -d "$folder" ] || continue
    name=$(basename "$folder")
    expect 0 "$name of the repository" model pull "$name"
    says "$name came with whichtool, and is here and right"
    same "its card" yes "$([ -s "$folder/README.md" ] && echo yes)"
done
finish
