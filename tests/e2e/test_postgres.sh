#!/bin/bash
# A store in PostgreSQL with the command: import, search, recorded use, and a tenant with a store of its own, which is a
# schema of the same database.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
server=$work-server # outside of $work, which the user postgres cannot enter
if ! WHICHTOOL_STORE=$("$source_root/tests/postgres.sh" start "$server"); then
    echo "skipped: $WHICHTOOL_STORE"
    exit 77
fi
export WHICHTOOL_STORE
trap '"$source_root/tests/postgres.sh" stop "$server"; rm -rf "$work"' EXIT
cat >tools.jsonl <<'LINES'
{"provider": "weather", "name": "get_forecast", "description": "weather forecast of a city"}
{"provider": "tables", "name": "book_table", "description": "books a table in a restaurant"}
LINES
printf '{"provider": "office", "name": "brew_coffee", "description": "starts the coffee machine"}\n' >own.jsonl

expect 0 "import" add --model "" tools.jsonl
prints '2 added'
expect 0 "find" find --model "" book a table
prints 'tables/book_table'
expect 0 "status" status --model ""
prints 'postgres://postgres@/postgres'
expect 0 "usage" usage add --model "" --request "dinner for two" --tool tables/book_table
expect 0 "usage is listed" usage list
prints 'tables/book_table: dinner for two'

expect 0 "a tenant, whose file is in a folder that does not exist yet" tenants add acme -p weather --own
expect 0 "it adds a tool" add --model "" --tenant acme own.jsonl
expect 0 "and finds it" find --model "" --tenant acme coffee machine
prints 'office/brew_coffee'
expect 0 "it sees the shared tools" list --tenant acme
prints 'weather/get_forecast'
lacks out 'book_table'
expect 1 "the shared store lacks its tool" find --model "" coffee machine
expect 0 "it records use" usage add --model "" --tenant acme --request "a flat white" --tool office/brew_coffee
expect 0 "its status" status --model "" --tenant acme
prints 'schema=whichtool_tenant_[0-9a-f]+'
expect 0 "the shared usage is as before" --json usage list
same "one usage" 1 "$(wc -l <out | tr -d ' ')"
finish
