#!/bin/bash
# list, show and remove.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

expect 4 "list of no store" list
says "is empty"
add_catalogue

expect 0 "all tools, in the order of import" list
same "six tools" 6 "$(grep -c . out)"
same "the first" "weather/get_forecast" "$(head -1 out | cut -d' ' -f1)"
expect 0 "a page" list --offset 2 --limit 1
same "the third tool" "money/convert_currency" "$(cut -d' ' -f1 out)"
expect 0 "one provider" list --provider tables --json
json_lines
same "its tools" "['book_table', 'cancel_booking']" "$(json_of '[t["name"] for t in l]')"
expect 1 "a provider that is not there" list --provider nobody
says "no tool has the provider .nobody.$"
expect 1 "a provider that is mistyped" list --provider tabels
says "no tool has the provider .tabels.; did you mean .tables.\?"
expect 1 "one to be removed" remove --yes --provider tabels
says "did you mean .tables.\?"
expect 1 "a tool that is mistyped" show tables/bok_table
says "no tool is named .tables/bok_table.; did you mean .tables/book_table.\?"
expect 1 "one to be removed, of another provider" remove weather/book_table
says "did you mean .tables/book_table.\?"
expect 1 "one that was used" usage list --tool book_tabel
says "did you mean .tables/book_table.\?"
expect 1 "a provider for a tool" show money
says 'no tool is named "money"; it is the name of a provider$'
expect 1 "a provider that is mistyped, for another name" rename tabels meals
says "did you mean .tables.\?"
cat >issues.json <<'JSON'
[{"name": "issues/create", "description": "Opens one", "inputSchema": {}},
 {"name": "pulls/create", "description": "Opens one", "inputSchema": {}}]
JSON
"$WHICHTOOL" -q -s issues.wt add --provider github issues.json >out 2>err
expect 1 "a name with a slash in it" -s issues.wt show github/issue/create
says "did you mean .github/issues/create.\?"
expect 1 "as it is exported" -s issues.wt show github__isues_create
says "did you mean .github/issues/create.\?"
expect 1 "beyond the end" list --offset 100
says "the catalogue has 6"
expect 1 "a pattern without a match" list zebra
says 'No tools match "zebra"; the catalogue has 6 tools.'
while IFS='|' read -r want arguments; do
    # shellcheck disable=SC2086
    set -f
    expect 0 "list $arguments" list $arguments
    set +f
    same "list $arguments: tools" "$want" "$(cut -d' ' -f1 out | tr '\n' ' ')"
done <<'ROWS'
weather/get_forecast weather/get_tides |weather/*
weather/get_forecast |*_forecast
weather/get_forecast weather/get_tides |get_*
weather/get_tides |weather/get_????s
tables/book_table tables/cancel_booking |BOOK
tables/cancel_booking |book --offset 1
tables/book_table |book --limit 1
tables/cancel_booking |cancel --provider tables
ROWS
expect 0 "providers of what a pattern leaves" list --providers book
prints "^ +2  tables$"
expect 0 "providers" list --providers
prints "^ +2  weather$"
expect 0 "providers as JSON" list --providers --json
same "their tools" "[2, 2, 2]" "$(json_of '[p["tools"] for p in l]')"
COLUMNS=40 expect 0 "forty columns" list
same "no line is longer" "" "$(awk 'length > 40 && !/…/ || length > 42' out)"

expect 0 "by id" show weather/get_forecast
prints "^tool +weather/get_forecast"
prints "city \(string, required\) Name of the city"
prints "days \(integer, optional\)"
expect 0 "by bare name" show book_table
expect 0 "the schema" show --schema book_table
same "it is JSON" "object" "$(json_of 'd["type"]')"
expect 0 "the definition, byte for byte" show --definition weather/get_tides
same "it is the source's" "True" "$("$python" -c '
print(open("out", "rb").read() in open("weather.json", "rb").read())')"
expect 0 "for another API" show --format anthropic get_forecast
same "its form" "weather__get_forecast" "$(json_of 'd[0]["name"]')"
expect 0 "all of it" show --json get_forecast
json_lines
same "with its definition" "get_forecast" "$(json_of 'json.loads(d["definition"])["name"]')"
expect 1 "a tool that is not there" show nothing
says "nothing"
silent out
"$WHICHTOOL" -q add --provider other weather.json >/dev/null
expect 2 "a bare name of two tools" show get_forecast
says "other/get_forecast"

expect 1 "an unknown name removes no tool" remove weather/get_tides nothing
expect 0 "it is still there" show weather/get_tides
expect 0 "one tool" remove weather/get_tides
prints "^1 removed$"
expect 1 "it is gone" show weather/get_tides
expect 0 "a provider" remove --provider other --json
prints '^\{"removed":2\}$'
expect 1 "it is gone, too" remove --provider other
expect 0 "two names for one tool" remove money/list_invoices money__list_invoices
prints "^1 removed$"
if have_terminal "asking before tools are removed"; then
    code=0
    script -qec "$WHICHTOOL remove --provider tables" /dev/null >out <<<"n" 2>err || code=$?
    same "a no on a terminal" 1 "$code"
    prints "Remove 2 tools\? \[y/N\]"
    expect 0 "they are still there" show book_table
    script -qec "$WHICHTOOL remove --provider tables" /dev/null >out <<<"y" 2>err
    expect 1 "a yes on a terminal" show book_table
else
    expect 0 "without a terminal" remove --yes --provider tables
fi
expect 0 "the last ones" remove --yes money/convert_currency weather/get_forecast
expect 4 "an empty catalogue" list
says "is empty: add tools with"
expect 4 "find in an empty catalogue" find rain
says "is empty: add tools with"
finish
