#!/bin/bash
# A conversation as the request of find and pick: all formats give the same result, called and loaded tools stay, and
# invalid conversations are reported.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
add_catalogue

cat >openai.json <<'JSON'
[{"role": "system", "content": "You convert currency. convert_currency, convert_currency!"},
 {"role": "user", "content": "Book a table in the restaurant Luna for four guests"},
 {"role": "assistant", "content": null, "tool_calls":
   [{"id": "c1", "type": "function", "function": {"name": "tables__book_table", "arguments": "{\"q\": \"invoices\"}"}}]},
 {"role": "tool", "tool_call_id": "c1", "content": "{\"weather\": \"forecast rain wind city\"}"},
 {"role": "assistant", "content": "The table is booked."},
 {"role": "user", "content": "ah no, cancel it"}]
JSON
cat >anthropic.json <<'JSON'
{"system": "You convert currency.", "messages": [
 {"role": "user", "content": "Book a table in the restaurant Luna for four guests"},
 {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "tables__book_table", "input": {"q": "invoices"}}]},
 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "forecast rain wind city"}]},
 {"role": "assistant", "content": [{"type": "text", "text": "The table is booked."}]},
 {"role": "user", "content": [{"type": "text", "text": "ah no, cancel it"}]}]}
JSON
"$python" -c 'import json
for message in json.load(open("openai.json")): print(json.dumps(message))' >lines.jsonl
cat >texts.json <<'JSON'
["Book a table in the restaurant Luna for four guests", "The table is booked.", "ah no, cancel it"]
JSON

for form in openai.json anthropic.json lines.jsonl; do
    expect 0 "$form" find --messages $form -k 2 --json
    same "$form: the turn that leads" "ah no, cancel it" "$(json_of 'd["request"]')"
    same "$form: first" tables/cancel_booking "$(json_of 'd["hits"][0]["id"]')"
    same "$form: what was called stays" "['tables/book_table']" "$(json_of '[h["id"] for h in d["hits"] if h["kept"]]')"
    same "$form: how many" 1 "$(json_of 'd["kept"]')"
    json_of '[(h["id"], round(h["score"], 6)) for h in d["hits"]]' >now
    [ -f before ] || cp now before
    cmp -s before now || fail "another form of the same says something else"
done
expect 0 "texts by turns" find --messages texts.json -k 2 --json
same "texts: the first" tables/cancel_booking "$(json_of 'd["hits"][0]["id"]')"
same "texts: no calls" 0 "$(json_of 'd["kept"]')"
what="standard input" checks=$((checks + 1))
"$WHICHTOOL" find --messages - -k 1 --json <openai.json >out 2>err || fail "exit $?"
same "standard input: the first" tables/cancel_booking "$(json_of 'd["hits"][0]["id"]')"

# Loaded tools do not use the k places; those without a match come last.
expect 0 "tools that are had" find --messages openai.json --have weather__get_tides --have money/list_invoices -k 1 --json
same "those that are kept" "['money/list_invoices', 'tables/book_table', 'weather/get_tides']" \
    "$(json_of 'sorted(h["id"] for h in d["hits"] if h["kept"])')"
same "one that is new" "['tables/cancel_booking']" "$(json_of '[h["id"] for h in d["hits"] if not h["kept"]]')"
same "the last ones" "[0, None]" "$(json_of '[d["hits"][-1]["score"], d["hits"][-1]["probability"]]')"
expect 0 "as a table" find --messages openai.json -k 1
prints "\+ +tables/book_table"
says "^\+: called in the conversation, or named by --have.$"
expect 0 "with reasons" find --messages openai.json -k 1 --explain
prints "^ +the conversation \(context\): rank [0-9]+, score [0-9.]+, weight [0-9.]+, adds [0-9.]+$"
expect 0 "definitions" find --messages anthropic.json -k 1 --format openai
same "their names" "['tables__book_table', 'tables__cancel_booking']" "$(json_of 'sorted(t["function"]["name"] for t in d)')"
expect 0 "a request beside it" find --messages openai.json -k 1 --json "the weather forecast for a city please"
same "it leads" weather/get_forecast "$(json_of '[h["id"] for h in d["hits"] if not h["kept"]][0]')"
expect 0 "a filter" find --messages openai.json --exclude '*table' --json
same "what may not be found is not kept" False "$(json_of '"tables/book_table" in [h["id"] for h in d["hits"]]')"
expect 0 "a set" pick --messages openai.json --abstain 0 --json
same "it keeps the tool" True "$(json_of '"tables/book_table" in [h["id"] for h in d["hits"] if h["kept"]]')"

# One invalid message is skipped; an invalid conversation is reported.
cat >mixed.json <<'JSON'
[{"role": "user", "content": "Book a table"}, {"role": "pope", "content": "?"},
 {"role": "assistant", "tool_calls": [{"function": {"name": "bash\u001b[2J"}}]}, {"role": "user", "content": "cancel the booking"}]
JSON
expect 0 "a bad message" find --messages mixed.json -k 1
says "Note: .*1 message is left out of the conversation: /1: its \"role\" is not one of user"
says "cannot keep \"bash\\\\x1b\[2J\""
echo '{"text": "hi"}' >none.json
printf '[\n"hi",\n' >cut.json
"$python" -c 'print("[" + ",".join(["\"a\""] * 10001) + "]")' >many.json
"$python" -c 'print("[\"" + "a" * (16 << 20) + "\"]")' >large.json
while IFS='|' read -r code says arguments; do
    # shellcheck disable=SC2086
    expect "$code" "$arguments" $arguments </dev/null
    holds err "$says"
    silent out
done <<'ROWS'
3|none.json: the object has no "messages"; a conversation is an array of messages|find --messages none.json
3|cut.json: line 3: .*; send the whole conversation|find --messages cut.json
3|standard input: the conversation is empty|find --messages -
3|the conversation has more than 10000 messages; send the last ones|find --messages many.json
3|large.json|find --messages large.json
3|no_such.json|find --messages no_such.json
2|`find` needs REQUEST..., or a conversation: --messages FILE|find
2|only one of REQUEST and --messages can be -|find --messages - -
2|the recipe bundle does not support conversations or tools to keep|pick --recipe bundle --messages openai.json
ROWS
expect 2 "an empty request beside it" find --messages openai.json ""
says "the request is empty"

finish
