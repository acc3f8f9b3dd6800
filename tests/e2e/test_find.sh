#!/bin/bash
# find: hits, formats, and hostile texts.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

expect 4 "a store that is not there yet" find rain
says "the store .*tools.wt is empty: add tools with .whichtool add FILE."
[ ! -e "$WHICHTOOL_STORE" ] || fail "looking for a tool made a store"
expect 4 "a store whose path is mistyped" -s mistyped.wt find rain
says "the store mistyped.wt does not exist; create it with .whichtool -s mistyped.wt add FILE."
[ ! -e mistyped.wt ] || fail "looking for a tool made the mistyped store"
add_catalogue

expect 0 "the first tool fits" find --model gone will it rain in the city -k 2
prints "^ 1 .*weather/get_forecast"
says "with the recipe hybrid \([0-9.]+ ms to encode the request, [0-9.]+ ms to search\)"
says "^Note: .*model"
expect 0 "the request from standard input" find --model gone - -k 1 <<<"book a table in a restaurant"
prints "^ 1 +[01]\.[0-9]{3} +[0-9]+ %  tables/book_table"
COLUMNS=40 expect 0 "on a narrow terminal" find - -k 1 <<<"book a table in a restaurant"
prints "^ 1 +[0-9]+ %  tables/book_table"
expect 0 "one provider only" find --provider money table amount
lacks out "tables/"

# options, separated by blanks | found tools, ordered by name | message
while IFS='|' read -r options found told; do
    # shellcheck disable=SC2086
    set -f; expect 0 "find $options" find --model gone -k 9 $options --json booking a table, weather forecast, an invoice in another currency; set +f
    same "$options" "$found" "$(json_of '" ".join(sorted(h["id"] for h in d["hits"]))')"
    what="$options" && says "$told"
done <<'ROWS'
-p money -p tables|money/convert_currency money/list_invoices tables/book_table tables/cancel_booking|Note: the model
-p money -p tabels|money/convert_currency money/list_invoices|no tool has the provider .tabels.; did you mean .tables..
--exclude-provider money --exclude-provider weather|tables/book_table tables/cancel_booking|Note: the model
-p money --exclude-provider mony|money/convert_currency money/list_invoices|no tool has the provider .mony.; did you mean .money..
--exclude cancel_* --exclude */list_* --exclude weather/*|money/convert_currency tables/book_table|Note: the model
--only book_table --only mon*/*|money/convert_currency money/list_invoices tables/book_table|Note: the model
--only *table --exclude delete_*|tables/book_table|no tool matches .delete_\*.
ROWS
expect 1 "providers that are not there" find -p monny -p nobody table
says "no tool has the provider .monny.; did you mean .money.\?"
expect 1 "a pattern without a match" find --only 'delete_*' table
says "no tool matches"
expect 1 "no tool is left" find --exclude '*' table
says "excludes every tool"
expect 2 "a pattern without end" find --exclude "$(head -c 2000 /dev/zero | tr '\0' 'a')" table
says "longer than 1024 bytes"

# Misspelt and unknown words.
expect 0 "misspelt words" find --model gone -k 1 boook a tabel in a "restaruant"
prints "^ 1 .*tables/book_table"
says "^Read as: book a table in a restaurant \(disable corrections with --as-typed\)$"
expect 0 "the same for programs" find --model gone -k 1 --json boook a tabel in a "restaruant"
same "what was typed" "boook a tabel in a restaruant" "$(json_of 'd["request"]')"
same "what was read" "book a table in a restaurant" "$(json_of 'd["read_as"]')"
expect 1 "as typed" find --model gone --as-typed --json boook tabel
same "no correction" "None" "$(json_of 'd["read_as"]')"
expect 1 "quoted" find --model gone --json "'boook' \"tabel\""
same "neither" "None" "$(json_of 'd["read_as"]')"
expect 0 "a server that is not there" find --model gone linear invoices
says "^No tool contains the word .linear.\.$"
expect 0 "for programs" find --model gone --json linear zoom invoices
same "the words" "['linear', 'zoom']" "$(json_of 'd["unknown_words"]')"
expect 0 "a request that fits" find --model gone book a table for Kofi
lacks err "No tool has"
lacks err "Read as"
for verb in find pick; do
    expect 1 "$verb: neither corrected nor there" "$verb" --model gone "$(printf 'xyzzyq\033[2J qqqxq')"
    says "^No tool contains the words .xyzzyq. and .qqqxq.\.$|^No tool contains the words"
    lacks err "$(printf '\033')"
done

# Names of tools, and weak hits.
expect 0 "names alone" find --model gone -k 3 --json "list invoices, bookTable and CONVERT-CURRENCY, please"
same "in the order of the request" "money/list_invoices tables/book_table money/convert_currency" \
    "$(json_of '" ".join(h["id"] for h in d["hits"])')"
expect 0 "a name in a sentence" find --model gone -k 1 --explain "will it rain when I call mcp__tables__book_table"
prints "^ 1 .*tables/book_table"
prints "name .tables__book_table.: rank 1"
expect 0 "a weak hit" find --model gone "a restaurant of zebras, quaggas and okapis"
prints " %\? tables/book_table"
says "^\?: weak match, hardly any evidence for it; --none-if-unsure leaves such tools out\.$"
expect 1 "no weak hits" find --model gone --none-if-unsure "a restaurant of zebras, quaggas and okapis"
silent out
expect 0 "a name is never weak" find --model gone --none-if-unsure book_table
prints "^ 1 .*tables/book_table"

# what is asked: a service that is not here, a denied part, an everyday word, a mail
expect 0 "a service that no tool mentions" find --model gone "book a table in Trello"
says "the catalogue has no tool of Trello"
expect 0 "the same as JSON" find --model gone --json "book a table in Trello"
same "its code" "True True" "$(json_of '"%s %s" % ("absent_service" in d["notice_codes"], all(h["weak"] for h in d["hits"]))')"
for verb in pick "find --abstain 0.05"; do
    # shellcheck disable=SC2086
    expect 1 "no tool of it: $verb" $verb --model gone "book a table in Trello"
    says "^No tool fits\.$"
done
for verb in pick find; do
    expect 0 "a weak one with $verb --abstain 0" $verb --abstain 0 --model gone "book a table in Trello"
    prints " %\? tables/book_table"
    says "^\?: weak match, hardly any evidence for it"
done
expect 0 "a denied part" find --model gone -k 1 "show the weather of the city, don't book a table"
prints "weather/get_forecast"

expect 0 "a budget" find -k 6 --max-tokens 150 --json booking a table, weather forecast, an invoice in another currency
same "what fits" "True True True" "$(json_of '"%s %s %s" % (d["tokens"] <= 150, d["tokens"] == sum(h["tokens"] for h in d["hits"]), 0 < len(d["hits"]) < 6 == len(d["hits"]) + d["over_budget"])')"
says "of 6 tools fit in 150 tokens, with [0-9]+; left out: "
expect 0 "a budget for another form" find -k 6 --max-tokens 150 --format mcp booking a table
same "is what is printed, in quarters of bytes" True "$(json_of 'sum(-(-len(json.dumps([t], separators=(",", ":"))) // 4) for t in d) <= 150')"
expect 1 "a budget too small for any tool" find --max-tokens 1 table
silent out
says "no tool of [0-9] fits in 1 tokens: "
lacks err "No tool fits"
expect 2 "no budget" find --max-tokens 0 table
says "a number from 1"
expect 0 "a cap on each provider" find --max-per-provider 1 --json booking a table for a customer
same "no provider twice" True "$(json_of 'len(d["hits"]) == len({h["provider"] for h in d["hits"]})')"
expect 0 "reasons" find --explain -k 1 convert currency
prints "words \(bm25\): rank 1, score .*, adds "
prints "matched: .*(currenc|convert).* \(.*(name|description)"
expect 0 "the learned scorer" find --recipe hybrid --explain -k 1 convert currency
prints "money/convert_currency"
prints "scorer: rank 1, score .*, weight 0\.62, adds 0\.62"
expect 5 "without the joint scorer" find --recipe joint convert currency
says "the model whichtool-joint-v1, which comes with whichtool, is not installed"
WHICHTOOL_MANIFESTS='' expect 5 "the joint scorer as encoder" find --recipe dense --model whichtool-joint-v1 convert currency
says "is a cross-encoder, which reads a request and a tool together; it has no vectors"
WHICHTOOL_MANIFESTS='' expect 0 "with the joint scorer" find --recipe joint --explain -k 1 convert currency
prints "money/convert_currency"
prints "cross: rank 1, score "
expect 1 "no tool fits" find --recipe bm25 zzzzqqqq xyzzy
silent out
says "No tool fits"
expect 1 "a provider that is not there" find --provider nobody rain
expect 5 "a recipe that needs the model" find --model gone --recipe dense rain
says "whichtool model pull"
silent out
expect 0 "a recipe without a model prints no note about models" find --recipe bm25 rain
lacks err "model"
head -c 70000 /dev/zero | tr '\0' 'a' >long.txt
expect 3 "a request over the limit" find - <long.txt
says "the limit is 65536 bytes"
head -c 300 /dev/urandom >noise
expect 1 "bytes that are no text" find --recipe bm25 - <noise
expect 0 "text in no known language" find -k 1 "weather 天気 ☔ погода"

expect 0 "JSON" find --json --explain -k 3 unpaid invoices of a customer
json_lines
same "one line" 1 "$(wc -l <out)"
same "the whole result" "('unpaid invoices of a customer', 'hybrid')" "$(json_of '(d["request"], d["recipe"])')"
same "a hit" "(1, 'money/list_invoices', 'object')" \
    "$(json_of '(d["hits"][0]["rank"], d["hits"][0]["id"], d["hits"][0]["schema"]["type"])')"
same "how likely it is needed" True "$(json_of 'all(0 < h["probability"] < 1 for h in d["hits"])')"
same "reasons" "True" "$(json_of 'd["hits"][0]["stages"][0]["stage"] == "bm25" and len(d["hits"][0]["matches"]) > 0')"
timeless='{k: v for k, v in d.items() if not k.endswith("_ms")}'
expect 0 "by --json" find --json -k 3 unpaid invoices
as_json=$(json_of "$timeless")
expect 0 "by --format" find --format json -k 3 unpaid invoices
same "the same" "$as_json" "$(json_of "$timeless")"

# format | path of the name | path of the schema
while IFS='|' read -r format name schema; do
    expect 0 "definitions for $format" find --format "$format" -k 2 convert currency
    same "name for $format" "money__convert_currency" "$(json_of "$name")"
    same "schema for $format" "True" "$(json_of "'amount' in ${schema}['properties']")"
    expect 0 "definitions for $format, one a line" find --json --format "$format" -k 2 convert currency
    json_lines
done <<'ROWS'
openai|d[0]["function"]["name"]|d[0]["function"]["parameters"]
openai-responses|d[0]["name"]|d[0]["parameters"]
anthropic|d[0]["name"]|d[0]["input_schema"]
gemini|d[0]["functionDeclarations"][0]["name"]|d[0]["functionDeclarations"][0]["parametersJsonSchema"]
mcp|d[0]["name"]|d[0]["inputSchema"]
anthropic-inline|d[0]["tool"]["definition"]["name"]|d[0]["tool"]["definition"]["input_schema"]
openai-search|d[0]["tools"][0]["name"]|d[0]["tools"][0]["parameters"]
ROWS
expect 0 "a name that was made for a provider leads back" show money__convert_currency
prints "money/convert_currency"

# Texts that would repaint the terminal, reverse text, or print a second line.
"$python" -c '
import json
print(json.dumps([{"name": "evil", "description":
    "zebra \x1b[2J\x1b]0;owned\x07 \u202eback\u202c \x9b31m line\nbreak\r\x08 end", "input_schema": {"type": "object",
    "properties": {"a\x1b[31m": {"type": "string", "description": "\x1b[1m"}}}}]))' >evil.json
expect 0 "hostile text is imported" add --provider 'p' evil.json
for command in "find zebra" "find --explain zebra" "list" "show evil" "show --schema evil" "list --providers"; do
    # shellcheck disable=SC2086
    expect 0 "$command sends no control characters" $command
    "$python" -c '
import sys
text = open("out", encoding="utf-8").read()
assert not any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 or 0x202a <= ord(c) <= 0x202e for c in text)' ||
        fail "a control character came through"
done
expect 0 "a description is one line" find zebra
same "one line" 1 "$(grep -c evil out)"
expect 0 "as JSON" find --json zebra
json_lines
expect 1 "hostile requests" find --recipe bm25 -- "$(printf '\033[2Jqqqxyzzy')"
expect 2 "hostile options" find "--$(printf 'x\033[2J')" x
lacks err "$(printf '\033')"

# Copies of an earlier provider's tools.
"$python" "$here/tiny_model.py" "$work/models/tiny"
for provider in tables cafe; do
    echo "{\"provider\": \"$provider\", \"name\": \"find_table\", \"description\": \"find a table\"}" >"$provider.jsonl"
    expect 0 "the tool of $provider" -s copied.wt add --model tiny "$provider.jsonl"
done
expect 0 "the elder alone" -s copied.wt find --model tiny --json find a table
same "its provider" "['tables']" "$(json_of '[h["provider"] for h in d["hits"]]')"
says "^1 copy of a tool above was left out; --all-copies lists it.$"
expect 0 "for programs" -s copied.wt find --model tiny -f json find a table
same "how many" 1 "$(json_of 'd["copies"]')"
same "which" "['cafe/find_table'] 1" "$(json_of '"%s %d" % (d["hits"][0]["more_like_it"], d["hits"][0]["more_like_it_count"])')"
expect 0 "for people" -s copied.wt find --model tiny find a table
prints "^ *1 .*tables/find_table"
prints "^ *and 1 more like it: cafe/find_table$"
expect 0 "both" -s copied.wt find --model tiny --all-copies --json find a table
same "two providers" 2 "$(json_of 'len(d["hits"])')"
same "no copies" "[[], []]" "$(json_of '[h["more_like_it"] for h in d["hits"]]')"
lacks err "copy"
expect 0 "one of them" -s copied.wt pick --model tiny --abstain 0 --json find a table
same "one place" 1 "$(json_of 'len([h for h in d["hits"] if h["name"] == "find_table"])')"
expect 0 "that of a provider" -s copied.wt find --model tiny -p cafe --json find a table
same "is not hidden" "cafe/find_table []" "$(json_of '"%s %s" % (d["hits"][0]["id"], d["hits"][0]["more_like_it"])')"
expect 0 "the one asked for" -s copied.wt find --model tiny -k 1 --json find a table in the cafe
same "is shown" "cafe/find_table ['tables/find_table']" "$(json_of '"%s %s" % (d["hits"][0]["id"], d["hits"][0]["more_like_it"])')"

# One operation of a query API under two HTTP methods.
cat >query.yaml <<'YAML'
openapi: 3.0.0
info: {title: Fleet}
x-stop: &stop {description: "<p>Stops a running instance.</p>"}
paths:
  /#Action=StopInstances:
    get: {<<: *stop, operationId: GET_StopInstances}
    post: {<<: *stop, operationId: POST_StopInstances}
  /instances:
    get: {operationId: GET_instances, description: Instances.}
    post: {operationId: POST_instances, description: Instances.}
YAML
expect 0 "a query API" -s query.wt add --model "" query.yaml
expect 0 "one place for both methods" -s query.wt find --json stop a running instance
same "they share it" "['fleet/GET_StopInstances', 'fleet/POST_StopInstances']" \
    "$(json_of 'sorted([d["hits"][0]["id"], *d["hits"][0]["more_like_it"]])')"
same "without HTML" "Stops a running instance." "$(json_of 'd["hits"][0]["description"]')"
expect 0 "a path with two methods" -s query.wt find --json instances
same "reading and creating have places of their own" 2 "$(json_of 'len([h for h in d["hits"] if h["name"].endswith("_instances")])')"
finish
