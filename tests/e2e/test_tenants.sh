#!/bin/bash
# Tenants: the verb, the option of the verbs that search, and every surface of a server and of a gateway with keys of
# tenants. A tool of another tenant must appear on none of them.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
add_catalogue
served=
trap '[ -z "$served" ] || kill "$served" 2>/dev/null; rm -rf "$work"' EXIT

# ---------------------------------------------------------------- the command
expect 1 "no tenants yet" tenants
says 'has no tenants; add one with `whichtool tenants add'
expect 0 "a tenant is added" tenants add acme --provider weather --only money/convert_currency
says 'The tenant acme was added to .*tools.wt-tenants.jsonl'
expect 0 "another one" tenants add bolt -p tables -p money --exclude '*invoices'
expect 0 "they are listed" tenants list
prints '^acme  1 provider, 1 tool or pattern$'
prints '^bolt  2 providers, 1 exclusion$'
expect 0 "as JSON" --json tenants
json_lines
prints '"tenant":"bolt"'
expect 0 "one is shown" tenants show acme
prints '^provider weather$'
prints '^3 tools are visible now$'
expect 0 "as JSON" --json tenants show bolt
same "with the number of its tools" 3 "$(json_of 'd["visible"]')"
expect 1 "an unknown one" tenants show nobody
says 'has no tenant "nobody"'
expect 2 "a bad name" tenants add 'a b'
says 'the name of a tenant must be 1 to 64 letters'
expect 2 "no name" tenants show
expect 0 "the file is checked" tenants check
prints '2 tenants with 2 different selections'

expect 1 "find" find --model "" --tenant acme book a table
says 'No tool contains the words "book" and "table"'
lacks out 'tables/'
expect 0 "find of the other" find --model "" --tenant bolt book a table
prints 'tables/book_table'
expect 1 "show a hidden tool" show --tenant acme tables/book_table
says 'no tool is named "tables/book_table"$'
expect 1 "nothing hidden is suggested" show --tenant acme tables/book_tabel
lacks err 'book_table"'
expect 0 "a misspelt tool of its own" show --tenant acme weather/get_forecast
expect 0 "list" list --tenant acme
same "it lists its tools" 3 "$(wc -l <out | tr -d ' ')"
expect 8 "a call" call --model "" --tenant acme convert 5 EUR to USD
prints 'convert_currency'
expect 3 "an unknown tenant" find --tenant nobody book a table
says 'there is no tenant "nobody"'
printf '{"tenant": "x", "tool": []}\n' >bad.jsonl
expect 3 "a bad file" find --tenants bad.jsonl --tenant x book
says 'bad.jsonl:1: unknown member; members are tenant, providers, tools, exclude and own'
expect 3 "and the check says so" tenants check --tenants bad.jsonl
says 'bad.jsonl:1: unknown member'

# ---------------------------------------------------------------- a store of its own
printf '{"name": "brew_coffee", "description": "starts the coffee machine of the office"}\n' >own.jsonl
expect 0 "a tenant with a store of its own" tenants add own --provider weather --own
prints_own() { "$WHICHTOOL" tenants list | grep -q '^own  1 provider, its own store$'; }
same "it is listed" yes "$(prints_own && echo yes)"
expect 0 "it sees the shared tools" list --tenant own
prints 'weather/get_forecast'
lacks out 'tables'
expect 4 "a tenant without one cannot add tools" add --model "" --tenant bolt own.jsonl
says 'a tenant needs a store of its own'
expect 0 "it adds a tool" add --model "" --tenant own -p office own.jsonl
expect 0 "and finds it" find --model "" --tenant own coffee machine
prints 'office/brew_coffee'
expect 1 "no other finds it" find --model "" --tenant bolt coffee machine
expect 1 "nor does the shared catalogue" find --model "" coffee machine
expect 0 "it records use" usage add --model "" --tenant own --request "a flat white" --tool office/brew_coffee
expect 0 "which is in its store" usage list --tenant own
prints 'office/brew_coffee: a flat white'
expect 1 "and not in the shared one" usage list
expect 2 "a shared tool stays" remove --tenant own weather/get_forecast
says 'exclude it in the file of tenants'
expect 0 "its status" status --model "" --tenant own
prints 'tools.wt-tenants/own.wt'
prints '3 tools of 2 providers'
expect 0 "it shows what it sees" tenants show own
prints '^3 tools are visible now$'

# ---------------------------------------------------------------- keys
expect 2 "a key of a tenant cannot be of an administrator" serve --keys keys --new-key evil --scopes admin --tenant acme
same "nor is it written" no "$([ -s keys ] && echo yes || echo no)"
new_key() { "$WHICHTOOL" -q serve --keys keys --new-key "$@"; }
acme=$(new_key acme-1 --scopes find,call --tenant acme)
bolt=$(new_key bolt-1 --scopes find,call --tenant bolt)
gone=$(new_key gone-1 --tenant gone)
own=$(new_key own-1 --scopes find,call,write,usage --tenant own)
bolt_writes=$(new_key bolt-2 --scopes find,write,usage --tenant bolt)
plain=$(new_key plain)
root=$(new_key root --scopes admin)
expect 2 "keys of tenants need tenants" -s other.wt serve --keys keys --listen 127.0.0.1:0
says 'keys has keys of tenants, but there is no file of tenants: serve with --tenants'

begin() { # OPTION...: starts a server and sets $url
    rm -f served
    "$WHICHTOOL" --json serve --model "" --listen 127.0.0.1:0 --keys keys "$@" >served 2>log &
    served=$!
    for _ in $(seq 200); do [ -s served ] && break; sleep 0.05; done
    url=$("$python" -c 'import json; print(json.load(open("served"))["listening"])') || { cat log; exit 1; }
}
ask() { # STATUS NAME KEY METHOD PATH [BODY] [FIELD: VALUE ...]
    local want=$1 key=$3 method=$4 path=$5 body=${6:-}
    what=$2
    shift $(($# < 6 ? $# : 6))
    checks=$((checks + 1))
    "$python" "$here/ask.py" "$url" "$method" "$path" "$body" "Authorization: Bearer $key" "$@" >out 2>err
    [ "$(head -1 out)" = "$want" ] || fail "status $(head -1 out), wanted $want"
    sed -i 1d out
}
modern='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
mcp() { # NAME KEY METHOD NAME-FIELD PARAMS [FIELD: VALUE...]: a request to /mcp in the modern era
    local named=()
    [ -z "$4" ] || named=("Mcp-Name: $4")
    local name=$1 key=$2 method=$3 params=$5
    shift 5
    ask 200 "$name" "$key" POST "${face:-/mcp}" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\",\"params\":{$params$modern}}" \
        "Content-Type: application/json" "Accept: application/json, text/event-stream" "MCP-Protocol-Version: 2026-07-28" \
        "Mcp-Method: $method" ${named[@]+"${named[@]}"} "$@"
}
hidden='book_table|cancel_booking|list_invoices'

begin
ask 200 "find" "$acme" POST /v1/find '{"query": "book a table in a restaurant", "k": 10}'
lacks out "$hidden"
ask 200 "and what it says of words" "$acme" POST /v1/find '{"query": "restaurnt invoices"}'
lacks out "restaurant|$hidden"
ask 200 "pick" "$acme" POST /v1/pick '{"query": "book a table and list invoices"}'
lacks out "$hidden"
ask 200 "call" "$acme" POST /v1/call '{"query": "book a table for two"}'
lacks out "$hidden"
ask 404 "a filter by a hidden provider" "$acme" POST /v1/find '{"query": "a table", "filter": {"providers": ["tables"]}}'
lacks out 'did you mean'
ask 200 "list" "$acme" GET /v1/tools
same "its three tools" "3 3" "$(json_of 'd["total"], len(d["tools"])' | tr -d '(),')"
lacks out "$hidden"
ask 404 "a hidden tool" "$acme" GET /v1/tools/tables/book_table
ask 404 "by its exported name" "$acme" GET /v1/tools/tables__book_table
ask 200 "a tool of its own, exported" "$acme" GET '/v1/tools/weather/get_tides?format=openai'
ask 200 "embeddings and recipes are not of tools" "$acme" GET /v1/recipes
ask 403 "no import" "$acme" POST /v1/tools '[]'
ask 403 "no removal" "$acme" DELETE /v1/tools/weather/get_tides
ask 403 "no usage" "$acme" POST /v1/usage '{"request": "r", "tools": ["weather/get_tides"]}'
ask 403 "no metrics" "$acme" GET /metrics
ask 403 "no status" "$acme" GET /v1/status
ask 403 "another tenant cannot be named" "$acme" GET /v1/tools '' 'X-Whichtool-Tenant: bolt'
prints 'the key belongs to another tenant'
ask 200 "its own can" "$acme" GET /v1/tools '' 'X-Whichtool-Tenant: acme'
ask 403 "nor by a plain key" "$plain" GET /v1/tools '' 'X-Whichtool-Tenant: acme'
prints 'only a key with the scope admin can name a tenant'
ask 200 "a plain key sees all" "$plain" GET /v1/tools
same "six tools" 6 "$(json_of 'd["total"]')"
ask 200 "an administrator names a tenant" "$root" GET /v1/tools '' 'X-Whichtool-Tenant: bolt'
lacks out 'weather|list_invoices'
ask 404 "but an unknown one" "$root" GET /v1/tools '' 'X-Whichtool-Tenant: nobody'
ask 403 "and changes nothing for it" "$root" POST /v1/tools '[]' 'X-Whichtool-Tenant: bolt'
ask 403 "a tenant that the file lacks" "$gone" GET /v1/tools
prints 'the tenant of this key does not exist'

# A tenant with a store of its own may change it.
ask 200 "it imports" "$own" POST '/v1/tools?format=jsonl&provider=office' '{"name": "grind_beans", "description": "grinds beans"}'
prints '"added":1'
ask 200 "and finds" "$own" POST /v1/find '{"query": "grind beans", "recipe": "bm25"}'
prints 'office/grind_beans'
ask 200 "others do not" "$plain" POST /v1/find '{"query": "grind beans", "recipe": "bm25"}'
lacks out 'office/'
ask 200 "it reports use" "$own" POST /v1/usage '{"request": "fresh powder", "tools": ["office/grind_beans"]}'
prints '"recorded":1'
"$python" -c 'print("{\"request\": \"r\", \"tools\": [\"weather/get_tides\"]}\n" * 900, end="")' >many
ask 200 "it reports much" "$own" POST /v1/usage @many
ask 429 "and too much at once" "$own" POST /v1/usage @many
prints 'the client reports more than 120 usages a minute; try again in [0-9]+ s'
ask 400 "an invalid report" "$own" POST /v1/usage '{"request": "x", "tools": ["tables/book_table"]}'
ask 404 "a hidden tool" "$own" GET /v1/tools/tables/book_table
ask 400 "a shared tool stays" "$own" DELETE /v1/tools/weather/get_tides
ask 200 "it removes its own" "$own" DELETE /v1/tools/office/grind_beans
ask 403 "segments are of replicas" "$own" POST '/v1/usage/segments?id=0123456789abcdef' '{}'
prints 'a tenant cannot use this path'
ask 403 "a tenant without a store" "$bolt_writes" POST /v1/tools '[]'
prints 'the tenant has no store of its own'
ask 403 "nor records it use" "$bolt_writes" POST /v1/usage '{"request": "r", "tools": ["tables/book_table"]}'
expect 0 "the recorded use" --json usage list --tenant own
prints 'own-1.*fresh powder|fresh powder.*own-1'
expect 1 "none is in the shared store" usage list

mcp "MCP: search" "$acme" tools/call search_tools '"name":"search_tools","arguments":{"query":"book a table","k":10},'
lacks out "$hidden"
mcp "MCP: details" "$acme" tools/call get_tool_details '"name":"get_tool_details","arguments":{"names":["tables/book_table","tables__book_table","weather/get_tides"]},'
lacks out 'guests'
prints 'harbour'
mcp "MCP: write a call" "$acme" tools/call write_call '"name":"write_call","arguments":{"request":"book a table at Luigi for 4 guests","tool":"tables/book_table"},'
lacks out 'guests":|cancel_booking'
mcp "MCP: resources" "$acme" resources/list '' ''
lacks out "$hidden"
prints 'weather/get_tides'
prints '"cacheScope":"private"'
mcp "MCP: the tools and the instructions name no provider" "$acme" tools/list '' ''
lacks out 'tables|money'
mcp "MCP: discover" "$acme" server/discover '' ''
lacks out 'tables|money'
mcp "MCP: an administrator for a tenant" "$root" resources/list '' '' 'X-Whichtool-Tenant: bolt'
lacks out 'weather|list_invoices'
prints 'tables/book_table'

# The server follows the file, and keeps the tenants if the file has an error.
sees_tables() { ask 200 "list after a change" "$acme" GET /v1/tools && grep -q book_table out; }
expect 0 "the tenant gets another provider" tenants add acme -p tables
wait_until sees_tables
ask 404 "and loses the first" "$acme" GET /v1/tools/weather/get_tides
cp tools.wt-tenants.jsonl good.jsonl
printf '{"tenant": "acme"' >tools.wt-tenants.jsonl
wait_until grep -q 'cannot reload the tenants, keeping the old ones: .*:1: ' log
ask 200 "an error keeps the tenants" "$acme" GET /v1/tools/tables/book_table
cp good.jsonl tools.wt-tenants.jsonl
expect 0 "a tenant is removed" tenants remove bolt
bolt_is_out() { "$python" "$here/ask.py" "$url" GET /v1/tools "" "Authorization: Bearer $bolt" | head -1 | grep -q 403; }
wait_until bolt_is_out
kill "$served"
await_end "$served"
served=

# ---------------------------------------------------------------- gateway
cat >servers.json <<JSON
{"mcpServers": {"home": {"command": "$python", "args": ["$here/notes_server.py", "home"]},
                "work": {"command": "$python", "args": ["$here/notes_server.py", "work"]}}}
JSON
printf '{"tenant": "acme", "providers": ["home"]}\n{"tenant": "bolt", "tools": ["work/read_*"]}\n' >gateway.jsonl
printf '{"tenant": "own", "providers": ["home"], "own": true}\n' >>gateway.jsonl
begin -s gateway.wt --servers servers.json --tenants gateway.jsonl --list-wait 60 --learn
face=/mcp/all
mcp "gateway: list" "$acme" tools/list '' ''
prints 'home__read_note'
lacks out 'work'
mcp "gateway: list of the other" "$bolt" tools/list '' ''
same "one tool" 'work__read_note' "$(json_of '" ".join(t["name"] for t in d["result"]["tools"])')"
mcp "gateway: a call" "$acme" tools/call home__read_note '"name":"home__read_note","arguments":{"title":"milk"},'
prints 'home: read_note milk'
ask 200 "gateway: a hidden call" "$acme" POST /mcp/all "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"work__read_note\",\"arguments\":{\"title\":\"milk\"},$modern}}" \
    "Content-Type: application/json" "Accept: application/json, text/event-stream" "MCP-Protocol-Version: 2026-07-28" \
    "Mcp-Method: tools/call" "Mcp-Name: work__read_note"
lacks out 'work: read_note'
face=/mcp
mcp "gateway: search" "$acme" tools/call search_tools '"name":"search_tools","arguments":{"query":"reads a note of work","k":10},'
lacks out 'work__'
prints 'home__read_note'
mcp "gateway: a hidden call by name" "$acme" tools/call call_read '"name":"call_read","arguments":{"name":"work__read_note","arguments":{"title":"milk"}},'
lacks out 'work: read_note'
mcp "gateway: instructions name no server" "$acme" server/discover '' ''
lacks out 'home|work'
call_home() { # NAME KEY: a search, and a call of what it found
    mcp "$1" "$2" tools/call search_tools '"name":"search_tools","arguments":{"query":"reads a note","k":10},'
    mcp "$1" "$2" tools/call call_read '"name":"call_read","arguments":{"name":"home__read_note","arguments":{"title":"milk"}},'
}
call_home "gateway: use of a tenant with a store" "$own"
call_home "gateway: use of a tenant without one" "$acme"
kill "$served"
await_end "$served"
served=
expect 0 "gateway: its use was recorded" -s gateway/own.wt usage list
prints 'home/read_note: reads a note'
expect 1 "gateway: that of the other was not" -s gateway.wt usage list
finish
