#!/bin/bash
# Recorded use on the command line: import, list, export, forget, and messages.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

expect 4 "a store that is not there" usage add log.jsonl
says "add tools with"
add_catalogue
cat >log.jsonl <<'JSON'
{"request": "book a table for two", "tools": ["tables/book_table"], "outcome": "ok", "time": "2026-03-01T08:30:00Z"}
{"request": "отмени бронь и пришли счёт", "tools": ["cancel_booking", "money/list_invoices", "mail/send"], "time": 1772440000}
{"request": "rain?", "tools": ["weather/get_forecast"], "outcome": "failed", "time": "2026-03-03"}
JSON
expect 0 "a log is imported" usage add --model gone log.jsonl
prints "^log.jsonl: 3 added, 0 skipped, 1 unknown tools; 0 requests learned; "
says '^log.jsonl:2: /tools/2: no tool is named "mail/send"'
says "nothing was learned yet: .*model pull"
expect 0 "it is listed" usage list
prints "^2026-03-01T08:30:00Z  ok      tables/book_table: book a table for two$"
prints "^2026-03-02T08:26:40Z          tables/cancel_booking, money/list_invoices, \(mail/send\): отмени"
prints "^2026-03-03T00:00:00Z  failed  weather/get_forecast: rain"
silent err
expect 0 "as JSON" usage list --json
json_lines
same "ids, tools and outcomes" "[(1, 1, 'ok'), (2, 3, ''), (3, 1, 'failed')]" \
    "$(json_of '[(u["id"], len(u["tools"]), u["outcome"]) for u in l]')"
same "tools that are gone" "[0, 1, 0]" "$(json_of '[u["unknown_tools"] for u in l]')"
expect 0 "a page" usage list --json --after 1 --limit 1
same "of one usage" "[2]" "$(json_of '[u["id"] for u in [d]]')"
expect 0 "of a tool" usage list --tool list_invoices
same "one line" 1 "$(grep -c . out)"
expect 0 "of a tool that is gone" usage list -t mail/send --before 2026-03-03
same "one line" 1 "$(grep -c . out)"
expect 1 "of no tool" usage list --tool nobody
says 'neither a tool nor a usage has the name "nobody"'
expect 1 "before everything" usage list --before 2026-02-01
says "No usages match"

expect 0 "an export" usage export
cp out exported.jsonl
json_lines
cp "$WHICHTOOL_STORE" other.wt
expect 0 "everything is forgotten" -s other.wt usage forget --all
prints "^3 forgotten$"
what="the exported lines"
checks=$((checks + 1))
"$WHICHTOOL" -s other.wt -q usage add - <exported.jsonl >out 2>err || fail "exit $?"
prints "^standard input: 3 added"
expect 0 "the same export again" -s other.wt usage export
cmp -s out exported.jsonl || fail "another export"

# One usage, without a file.
cp "$WHICHTOOL_STORE" one.wt
expect 0 "one usage" -s one.wt usage add --request "is it wet?" --tool get_forecast --tool weather__get_tides --tool weather/get_forecast
prints "^1 usage recorded: weather/get_forecast, weather/get_tides$"
expect 0 "with all that can be told" -s one.wt usage add --request "pay it" -t list_invoices --outcome failure --client c17 --json
same "its tools" "(1, ['money/list_invoices'])" "$(json_of '(d["added"], d["tools"])')"
expect 0 "they are listed" -s one.wt usage list --after 3 --json
same "as they were given" "[('is it wet?', ['weather/get_forecast', 'weather/get_tides'], '', ''), ('pay it', ['money/list_invoices'], 'failed', 'c17')]" \
    "$(json_of '[(u["request"], u["tools"], u["outcome"], u["client"]) for u in l]')"
# Arguments of calls; here of the second of two tools, on several lines.
cp "$WHICHTOOL_STORE" called.wt
expect 0 "arguments" -s called.wt usage add --request "tides of Oslo" -t get_forecast -t get_tides --arguments "" \
    --arguments '{"place": "Oslo",
 "X-Api-Token": "hush"}'
prints "^1 usage recorded: weather/get_forecast, weather/get_tides$"
expect 0 "they are listed" -s called.wt usage list --after 3
prints ' weather/get_forecast, weather/get_tides {"place":"Oslo"}: tides of Oslo$'
expect 0 "as JSON" -s called.wt usage list --after 3 --json
same "null where they are not told" "[None, {'place': 'Oslo'}]" "$(json_of 'd["arguments"]')"
expect 0 "and exported" -s called.wt usage export --after 3
cp out called.jsonl
prints '"tools":\["weather/get_forecast",{"tool":"weather/get_tides","arguments":{"place":"Oslo"}}\]'
expect 0 "an import" -s called.wt usage add called.jsonl
expect 0 "takes them back" -s called.wt usage export --after 4
cmp -s out called.jsonl || fail "another export"
"$python" -c 'print("{\"request\": \"long\", \"tools\": [{\"tool\": \"get_tides\", \"arguments\": {\"place\": \"" + "y" * 100 + "\\u202e\"}}]}")' >long.jsonl
echo '{"request": "wrong", "tools": [{"tool": "get_tides", "arguments": "hush"}]}' >>long.jsonl
expect 0 "long ones" -s called.wt usage add long.jsonl
says "^long.jsonl:2: /tools/0/arguments: the arguments are not an object; the usage is imported without them"
expect 0 "are cut in the list" -s called.wt usage list --after 5 --limit 1
same "to forty columns" 40 "$(sed -n 's/.*get_tides \(.*\): long$/\1/p' out | tr -d '\n' | wc -m | tr -d ' ')"
expect 0 "and are whole as JSON" -s called.wt usage list --after 5 --limit 1 --json
prints 'y{100}.u202e'
expect 3 "a strict import" -s called.wt usage add --strict long.jsonl
says "long.jsonl:2: /tools/0/arguments: the arguments are not an object"
! grep -q hush err || fail "what arguments hold is told"
grep -aq hush called.wt && fail "a credential is in the store"
expect 0 "it is sound" -s called.wt check
expect 0 "what is forgotten" -s called.wt usage forget --all
"$python" -c 'import sqlite3; print(sqlite3.connect("called.wt").execute("select count(*) from usage_tool").fetchone()[0])' >out
same "is gone with them" 0 "$(cat out)"

# exit code | message | arguments
while IFS='|' read -r code sentence arguments; do
    eval "expect $code \"\$arguments\" -s one.wt usage $arguments"
    says "$sentence"
    silent out
done <<'ROWS'
1|nothing was recorded: no tool is named "get_forcast"; did you mean "[a-z]*/get_forecast"\?$|add --request x --tool get_forcast
1|nothing was recorded: no tool is named "nobody"|add --request x --tool get_forecast --tool nobody
2|needs either SOURCE... or --request TEXT with --tool NAME|add
2|needs either SOURCE... or --request TEXT with --tool NAME|add log.jsonl --request x --tool get_forecast
2|--request needs --tool NAME, once for each tool|add --request x
2|need --request|add log.jsonl --tool get_forecast
2|need --request|add log.jsonl --client c17
2|--split and --strict need a SOURCE|add --request x --tool get_forecast --strict
2|--outcome is one of: ok failed success succeeded true failure error false; not "good"|add --request x --tool get_forecast --outcome good
2|give --tool only once|list --tool get_forecast --tool get_tides
2|--request is not an option|list --request x
2|--arguments is not an option|list --arguments {}
2|need --request|add log.jsonl --arguments {}
2|more --arguments than --tool were given|add --request x --tool get_tides --arguments {} --arguments {}
3|tool 1 \("weather/get_tides"\): the arguments are not an object; give a JSON object|add --request x --tool get_tides --arguments []
3|the arguments are not valid JSON at byte [0-9]+; give|add --request x --tool get_tides --arguments {hush
3|the request is empty|add --request "" --tool get_forecast
ROWS
expect 0 "no usage was recorded" -s one.wt usage list --json
same "five usages" 5 "$(grep -c . out)"

# a tool that is added later gets its usage back
echo '[{"name": "send", "description": "Sends a letter"}]' >mail.json
expect 0 "the tool of the name that was recorded" -q add --provider mail mail.json
expect 0 "is known now" usage list --tool mail/send
prints "tables/cancel_booking, money/list_invoices, mail/send: "
expect 0 "and when it goes" remove mail/send
expect 0 "the record stays" usage list
prints "\(mail/send\)"

# invalid usages
"$python" -c '
print("{\"request\": \"x\"")
print("{\"request\": \"  \", \"tools\": [\"book_table\"]}")
print("{\"request\": \"a\\u0000b\", \"tools\": [\"book_table\"]}")
print("{\"request\": \"" + "x" * 70000 + "\", \"tools\": [\"book_table\"]}")
print("{\"request\": \"x\", \"tools\": []}")
print("{\"request\": \"x\", \"tools\": [\"nobody\"]}")' >bad.jsonl
printf '{"request": "caf\351", "tools": ["book_table"]}\n' >>bad.jsonl
expect 3 "a source without one good usage" usage add bad.jsonl
prints "^bad.jsonl: 0 added, 7 skipped"
says "^bad.jsonl:2: /request: the request is empty"
says "^bad.jsonl:4: /request: the request has 70000 bytes; at most 65536"
says "^bad.jsonl:5: /tools: \"tools\" is empty"
says "^bad.jsonl:7: not valid JSON"
expect 3 "as JSON" usage add --json bad.jsonl
same "every issue" "[1, 2, 3, 4, 5, 6, 7]" "$(json_of '[i["line"] for i in d["issues"]]')"
cat log.jsonl bad.jsonl >both.jsonl
expect 3 "a strict import" usage add --strict both.jsonl
says "^whichtool: both.jsonl:2: /tools/2: no tool is named"
silent out
expect 0 "list without options" usage list
same "three lines as before" 3 "$(grep -c . out)"
expect 3 "a source that is not there" usage add nowhere.jsonl
expect 3 "does not keep the others out" usage add nowhere.jsonl log.jsonl
prints "^log.jsonl: 3 added"
expect 3 "an empty source" usage add - </dev/null

# a BEIR folder
mkdir -p set/qrels
echo '{"_id": "9", "title": "nine", "text": "does nine", "metadata": {"provider": "n"}}' >set/corpus.jsonl
printf '{"_id": "a", "text": "nine please"}\n{"_id": "b", "text": "of the test"}\n' >set/queries.jsonl
printf 'query-id\tcorpus-id\tscore\na\t9\t1\n' >set/qrels/train.tsv
printf 'query-id\tcorpus-id\tscore\nb\t9\t1\n' >set/qrels/test.tsv
expect 0 "its tools" -q add set
expect 0 "its training split" usage add set
prints "^set: 1 added, 0 skipped, 0 unknown"
expect 0 "by source id" usage list --tool n/nine
prints "n/nine: nine please$"
expect 0 "another split" usage add --split test set
expect 3 "a split that is not there" usage add --split dev set
says "dev.tsv"

# clients
echo '{"request": "nine again", "tools": ["n/nine"], "client": "c17"}' >client.jsonl
expect 0 "of a client" usage add client.jsonl
expect 0 "once more" usage add client.jsonl
expect 0 "what a client did" usage list --client c17 --json
same "two" 2 "$(grep -c '"client":"c17"' out)"
expect 0 "as it was recorded" usage export --client c17
prints '"client":"c17"}$'
expect 1 "another client" usage list --client c1
expect 0 "a client is forgotten" usage forget --client c17
prints "^2 forgotten$"

# forgetting
expect 0 "of a tool" usage forget --tool n/nine --json
same "two" "2" "$(json_of 'd["forgotten"]')"
expect 0 "what is old" usage forget --before 2026-03-02T00:00:00Z
prints "^2 forgotten$"
expect 0 "the rest is there" usage list
same "four" 4 "$(grep -c . out)"
if have_terminal "asking before usages are forgotten"; then
    echo n | script -qec "$WHICHTOOL usage forget --all" /dev/null >out 2>err
    prints "Forget every usage\? \[y/N\]"
    prints "nothing was forgotten"
fi
expect 0 "all" usage forget --all --yes
prints "^4 forgotten$"
expect 0 "an empty export" usage export
silent out

while IFS='|' read -r sentence arguments; do
    eval "expect 2 \"\$arguments\" usage $arguments"
    says "$sentence"
    silent out
done <<'ROWS'
`usage` needs add|
is followed by one of: add list export forget import-segments|record
`usage add` needs either SOURCE... or --request TEXT|add
`usage list` takes no arguments, but "x"|list x
--strict is not an option of `usage list`|list --strict
need --request|add --tool x log.jsonl
select the usages to forget with --tool, --client or --before|forget
select the usages to forget with --tool, --client or --before|forget --all --tool x
"noon" is not a time; write it as 2026-11-22|list --before noon
--limit takes a number|list --limit 0
ROWS
COLUMNS=60 expect 0 "help of usage" help usage
same "fits" "" "$(grep -v '^  whichtool\|^  tail' out | awk 'length > 60')"
finish
