#!/bin/bash
# The built-in encoder: finding by meaning without a model folder, the messages about it, and its separation from a
# model that is installed later.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
default=all-MiniLM-L6-v2 built_in=whichtool-static-v1
rmdir models
mkdir manifests # an empty folder
export WHICHTOOL_MANIFESTS=$work/manifests
catalogue

expect 0 "tools have vectors without any model" add --json weather.json money.json tables.json
same "each" "[2, 2, 2]" "$(json_of '[r["embedded"] for r in l]')"
silent err
[ ! -e models ] || fail "a models folder was made"
expect 0 "they are found by meaning" find --recipe dense --json -k 6 rain in the city
same "all of them, by it" "6 $built_in None" "$(json_of '"%d %s %s" % (len(d["hits"]), d["encoder"], d["notice"])')"
expect 0 "words and meaning together" find --explain -k 1 rain in the city
prints "words \(bm25\): rank 1"
prints "meaning \(dense\): rank "
says "with the recipe hybrid"
says "^The request was encoded by $built_in; .whichtool model pull $default. gets a better encoder\.$"
expect 8 "a filter that leaves a weak tool only: a question" call --abstain 0 --only money/convert_currency rain in Oslo
prints "^question +No tool clearly fits\. Should this one be called: money/convert_currency "
expect 0 "a set" pick --json book a table in a restaurant
same "by it, too" "$built_in" "$(json_of 'd["encoder"]')"
# pick and find mark the same hits as weak.
echo '[{"name": "create_issue", "description": "Creates an issue in a repository"}]' >issue.json
expect 0 "a store of one tool" -s one.wt add issue.json
echo '[{"name": "send", "description": "Sends a letter"}, {"name": "play", "description": "Plays a song"}]' >more.json
expect 0 "a store of nine tools" -s nine.wt add weather.json money.json tables.json issue.json more.json
while IFS='|' read -r store weak request; do
    expect 0 "$store, $request: picked" -s "$store.wt" pick --abstain 0 --json "$request"
    picked=$(json_of '{h["id"]: h["weak"] for h in d["hits"]}')
    same "$store, $request: some are weak" "$weak" "$(json_of 'any(h["weak"] for h in d["hits"])')"
    for recipe in auto hybrid; do
        expect 0 "$store, $request: found with $recipe" -s "$store.wt" find --recipe $recipe -k 50 --json "$request"
        same "$store, $request: pick agrees with $recipe" True \
            "$(json_of "all({h[\"id\"]: h[\"weak\"] for h in d[\"hits\"]}[id] == weak for id, weak in $picked.items())")"
    done
done <<'ROWS'
one|False|create an issue in the repository
one|True|hello there
one|True|create a linear issue
nine|False|book a table in a restaurant
nine|True|hello there
nine|True|create a linear issue
ROWS

expect 0 "no missing vectors" vectors
prints "All 6 tools have vectors of $built_in"
expect 0 "its status" status
prints "^vectors +6 of 6 tools, with the model $built_in$"
prints "^encoder +$built_in, which is built in; get a better one with .whichtool model pull $default.$"
prints "^recipe +hybrid"
expect 0 "as JSON" status --json
same "what is in use" "('$built_in', True, '$built_in', 6, '$default')" \
    "$(json_of '(d["model"], d["model_installed"], d["encoder"], d["encoder_embedded"], d["better"])')"
expect 0 "models" model list
prints "^$built_in: built in; model2vec, 0 layers, dimension [0-9]+, 512 tokens, [0-9,]+ parameters"
expect 0 "one model" model info $built_in --json
same "of the library" "(True, True, True, '')" "$(json_of '(d["built_in"], d["installed"], d["packed"], d["path"])')"
expect 0 "packing does nothing" model pack $built_in
HF_ENDPOINT=http://127.0.0.1:9 expect 0 "nor to fetch" model pull $built_in
says "^$built_in is included with whichtool, and its files are valid\.$"
for action in "merge $built_in $built_in" "quantize $built_in"; do
    expect 5 "no model is made from it" model $action --out made
    says "^whichtool: cannot make a model from the built-in model $built_in; name the folder of a model$"
done
expect 0 "no model by choice" find --model "" --json rain
same "words alone" "hybrid " "$(json_of '"%s %s" % (d["recipe"], d["encoder"])')"
for recipe in dense auto; do
    expect 1 "a request of unknown words" find --recipe $recipe "☃ ꙮ"
    says "No tool fits"
done
expect 0 "its own name" find --model $built_in --explain -k 1 rain
says "^The request was encoded by $built_in\.$"
forty_tools 0
expect 0 "recorded use" -s use.wt add -q tools.jsonl
expect 0 "is learned with it" -s use.wt usage add -q usages.jsonl
no_layers="$built_in is a static encoder, which has no layers to train; begin with another model"
for lesson in encoder mlc+refiner cross; do
    expect 5 "what needs layers does not begin with it" -s use.wt train $lesson
    says "$no_layers"
done
expect 0 "all that can be trained on it is" -s use.wt train all
prints "^auto: recall@5 on dev from [0-9.]+ to [0-9.]+ %"
for lesson in encoder tool2vec\\+refiner mlc\\+refiner; do says "^Note: $lesson: $no_layers"; done
expect 0 "and finds" -s use.wt find --recipe tool2vec --json book a table
same "by it" "$built_in" "$(json_of 'd["encoder"]')"

# The default model is installed; an incomplete copy is not used.
"$python" "$here/tiny_model.py" "$work/models/$default"
mv "models/$default/model.safetensors" .
expect 0 "half a model" find --json rain in the city
same "has no notice" "hybrid $built_in None" "$(json_of '"%s %s %s" % (d["recipe"], d["encoder"], d["notice"])')"
expect 0 "and is not promised" status
prints "^vectors +6 of 6 tools, with the model $built_in$"
mv model.safetensors "models/$default/"

# A damaged model is reported, and finding by meaning still works.
cp "models/$default/model.safetensors" .
truncate -s 1000 "models/$default/model.safetensors"
for store in "$WHICHTOOL_STORE" words.wt; do
    [ -e "$store" ] || expect 0 "a store without vectors" -s "$store" add --no-vectors weather.json
    expect 0 "a damaged model" -s "$store" find --json rain in the city
    same "stands aside" "hybrid $built_in" "$(json_of '"%s %s" % (d["recipe"], d["encoder"])')"
    says "model.safetensors: the file is truncated"
done
mv model.safetensors "models/$default/"

# Its vectors are missing, and vectors of both models are not mixed.
until_then="searching with $built_in until there are vectors of $default; .whichtool vectors. makes them"
expect 0 "a model that has just come" find --json -k 6 --recipe dense rain in the city
same "waits" "6 $built_in" "$(json_of '"%d %s" % (len(d["hits"]), d["encoder"])')"
says "^Note: $until_then"
expect 0 "and is told" status
prints "^vectors +0 of 6 tools, with the model $default; compute the others with .whichtool vectors.$"
prints "^encoder +$built_in, because more tools have its vectors; compute the vectors of $default with .whichtool vectors.$"
expect 0 "its vectors" vectors --json
same "are made for all" "('$default', 6)" "$(json_of '(d["model"], d["made"])')"
expect 0 "from then on it finds" find --json rain in the city
same "alone" "$default None" "$(json_of '"%s %s" % (d["encoder"], d["notice"])')"
expect 0 "what was trained with the other" -s use.wt find --json book a table
same "is not used" "hybrid $built_in" "$(json_of '"%s %s" % (d["recipe"], d["encoder"])')"
expect 0 "a status without a second encoder" status
lacks out "^encoder"
echo '[{"name": "send", "description": "Sends a letter"}]' >mail.json
expect 0 "one more tool, without a vector" add --no-vectors --provider mail mail.json
expect 0 "is no reason to go back" find --json rain in the city
same "still it" "$default" "$(json_of 'd["encoder"]')"
says "1 of 7 tools have no vector yet"

# It is removed, and installed again before an import.
mv models away
expect 0 "without it" find --json rain in the city
same "the built-in one finds" "$built_in" "$(json_of 'd["encoder"]')"
says "1 of 7 tools have no vector yet"
expect 0 "and gets what it lacks" vectors --json
same "one vector" "('$built_in', 1)" "$(json_of '(d["model"], d["made"])')"
mv away models
expect 0 "another store, made without it" -s other.wt add --model $built_in weather.json
echo '[{"name": "tell", "description": "Tells a joke"}]' >joke.json
expect 0 "an import" -s other.wt add --json joke.json
same "makes the vectors of all" "3" "$(json_of 'd["embedded"]')"
expect 0 "with the model" -s other.wt find --json rain in the city
same "that is there" "$default None" "$(json_of '"%s %s" % (d["encoder"], d["notice"])')"
expect 0 "the store is sound" -s other.wt check
finish
