#!/bin/bash
# status: its text on terminals and its JSON. Its speed is not tested, but that it opens no model and writes none.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

expect 4 "no store" status
says "is empty: add tools with"
silent out
add_catalogue
printf '%s\n' '[{"name": "evil", "description": "x"}]' >evil.json
"$WHICHTOOL" -q add --provider "$(printf 'red\342\200\256x')" evil.json >/dev/null || exit 1
expect 0 "without a model" status --model gone
prints "^store +$WHICHTOOL_STORE, store version [0-9]+; whichtool [0-9.]+$"
prints "^tools +7 tools of 4 providers$"
prints "^ +2 money$"
prints '^ +1 red\\u\{202e\}x$'
prints '^vectors +0 of 7 tools, with the model gone, which is not installed; get it with `whichtool model pull gone`$'
prints '^usages +0 recorded usages; record some with `whichtool usage add`'
prints '^trained +no model'
prints "^recipe +hybrid: words alone: the model is not installed$"
prints "^on disk +store [0-9.]+ MB, index [0-9.]+ MB"
silent err

"$python" "$here/tiny_model.py" "$work/models/tiny"
cat >log.jsonl <<'JSON'
{"request": "rain?", "tools": ["weather/get_forecast"]}
{"request": "rain?", "tools": ["weather/get_forecast"], "outcome": "ok"}
{"request": "a table", "tools": ["tables/book_table"], "outcome": "failed"}
JSON
"$WHICHTOOL" -q usage add --no-vectors log.jsonl >/dev/null || exit 1
expect 0 "with a model that was never used" status --model tiny --json
json_lines
same "what there is" "(7, 4, 'tiny', True, 0, 3, 2, 1, 'hybrid')" \
    "$(json_of '(d["tools"], len(d["providers"]), d["model"], d["model_installed"], d["embedded"], d["usages"], d["teaching"], d["untrained"], d["recipe"])')"
same "most tools first" "[2, 2, 2, 1]" "$(json_of '[p["tools"] for p in d["providers"]]')"
same "the model was not packed for it" "" "$(ls models/tiny/*.wtm home/.cache 2>/dev/null)"
expect 0 "vectors" vectors --model tiny
expect 0 "are counted" status --model tiny
prints "^vectors +7 of 7 tools, with the model tiny$"
prints '^usages +3 recorded usages, of which 2 can be used for training; 1 request was not used for training yet; run `whichtool train all`$'
mv models/tiny away
expect 0 "of a model that is gone, too" status --model tiny --json
same "as the store knows them" "(False, 7, 'hybrid')" "$(json_of '(d["model_installed"], d["embedded"], d["recipe"])')"
mv away models/tiny
expect 0 "no model by choice" status --model ""
prints "^vectors +0 of 7 tools$"
prints "opened without a model"

# Many providers: the first ones, and one line for the rest.
"$python" -c '
import json
for i in range(60): print(json.dumps({"provider": f"p{i * i // 120:02}", "name": f"t{i}", "description": "x"}))' >many.jsonl
expect 0 "many providers" -s many.wt add -q --no-vectors many.jsonl
expect 0 "the rest is summed" -s many.wt status
same "eight, and a line" "8 1" "$(grep -cE '^ +[0-9]+ p[0-9]+$' out) $(grep -cE '^ +[0-9]+ of [0-9]+ others' out)"
for columns in 20 40 60 80; do
    COLUMNS=$columns expect 0 "$columns columns" -s many.wt status
    same "$columns columns: no line is longer" "" "$(awk -v most="$columns" 'length > most' out)"
done

# Trained models.
forty_tools 0
expect 0 "tools" -s use.wt add -q --no-vectors tools.jsonl
expect 0 "use" -s use.wt usage add -q --model tiny usages.jsonl
expect 0 "training" -s use.wt train tool2vec --model tiny -q
expect 0 "one model" -s use.wt status --model tiny
prints "^trained +20[0-9-]+, from 400 recorded requests; metric on held-out requests before and after:$"
prints "^ +tool2vec: recall@5 "
prints "^usages +400 recorded usages$"
expect 0 "more use" -s use.wt usage add -q --no-vectors --request "something new" --tool tool_1
expect 0 "is told" -s use.wt status --model tiny --json
same "one request, of a model that fits" "(1, 'tool2vec', True, 400, True)" \
    "$(json_of '(d["untrained"], d["trained"][0]["model"], d["trained"][0]["recorded_use"], d["trained"][0]["requests"] + d["trained"][0]["dev_requests"], "stale" not in d["trained"][0])')"
sed -i 's/"hash":"[0-9a-f]/"hash":"g/' use.wt-models/tool2vec/config.json
expect 0 "another encoder since" -s use.wt status --model tiny
prints "tool2vec: .*; not used: the encoder has changed since"
echo '{' >use.wt-models/tool2vec/config.json
expect 0 "a damaged one is no model" -s use.wt status --model tiny --json
same "no trained models" "[]" "$(json_of 'd["trained"]')"
finish
