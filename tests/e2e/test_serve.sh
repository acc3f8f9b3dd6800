#!/bin/bash
# whichtool serve: messages, access, keys, the log, signals; and a catalogue that other processes change without a
# failed request.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
add_catalogue
served=
trap '[ -z "$served" ] || kill "$served" 2>/dev/null; rm -rf "$work"' EXIT

begin() { # OPTION...: starts a server and sets $url
    rm -f served # left by an earlier server until the shell truncates it
    "$WHICHTOOL" --json serve --model "" --listen 127.0.0.1:0 "$@" >served 2>log &
    served=$!
    for _ in $(seq 200); do [ -s served ] && break; sleep 0.05; done
    url=$("$python" -c 'import json; print(json.load(open("served"))["listening"])') || { cat log; exit 1; }
}
stop() { # SIGNAL: returns the server's exit code
    kill "-$1" "$served"
    wait "$served"
    ended=$?
    served=
}
ask() { # STATUS NAME METHOD PATH [BODY] [FIELD: VALUE ...]
    local want=$1
    what=$2
    shift 2
    checks=$((checks + 1))
    "$python" "$here/ask.py" "$url" "$@" >out 2>err
    [ "$(head -1 out)" = "$want" ] || fail "status $(head -1 out), wanted $want: $*"
    sed -i 1d out
}

begin
same "it says where it listens" 1 "$(grep -c "Listening at $url; stop with Ctrl-C." log)"
ask 200 "health, so that it runs" GET /health
same "and what there is to be asked" 1 "$(grep -c '/tools\.wt has [0-9]* tools\.$' log)"
ask 200 "health" GET /health
prints '"status":"ok"'
ask 200 "find" POST /v1/find '{"query": "book a table in a restaurant", "k": 1}'
prints '"id":"tables/book_table"'
# The command and the server print the same JSON, except for times.
times='s/"(encode_ms|search_ms|total_ms)":[0-9.e-]+/"\1":0/g'
sed -E "$times" out | head -1 >by_server
expect 0 "find by the command" --json find --model "" -k 1 book a table in a restaurant
same "the server says what the command says" "$(sed -E "$times" out)" "$(cat by_server)"
ask 400 "a misspelt member" POST /v1/find '{"query": "a", "recip": "bm25"}'
prints 'did you mean recipe\?'
ask 421 "another name" GET /health "" "Host: evil.example.com"
ask 403 "another site" GET /health "" "Origin: http://evil.example.com"
ask 200 "an import" POST "/v1/tools?provider=new" '[{"name": "brew_tea", "description": "Brews tea", "input_schema": {"type": "object"}}]'
prints '"added":1'
ask 200 "what was imported is found" POST /v1/find '{"query": "brew tea", "k": 1}'
prints 'new/brew_tea'
ask 200 "and removed" DELETE /v1/tools/new/brew_tea
ask 200 "use" POST /v1/usage '{"request": "dinner for two", "tools": ["tables/book_table"]}'
expect 0 "use over HTTP is in the store" usage list
prints 'tables/book_table: dinner for two'
ask 404 "a path of a client's own" GET /made-up
ask 404 "and a method" BREW /made-up
ask 200 "figures" GET /metrics
what="no label is a client's"
lacks out "made-up|BREW"
prints 'route="other",status="404"\} 2'
prints 'whichtool_http_requests_total\{route="find",status="200"\} 2'
prints 'whichtool_usages_reported_total\{fate="recorded"\} 1'
ask 200 "the description" GET /openapi.json
cp out openapi.json
same "the page has the tables of the server" same "$("$python" "$here/serving_tables.py" openapi.json "$source_root/docs/serving.md")"
expect 0 "its own reader reads it" -s openapi.wt add --no-vectors openapi.json
prints '\(openapi\): 2[0-9] added'
grep -q '"/v1/find" 200' log || { what="the log"; fail "no line of a find: $(cat log)"; }
if grep -q "book a table" log; then what="the log"; fail "it holds what was asked"; fi
# Names in a request never cause a file to be read.
ask 400 "a path is no source" POST /v1/tools '"/etc/passwd"'

# Another process adds and removes tools, and every request is answered.
cat >loads.py <<'PYTHON'
import http.client, json, subprocess, sys, threading
host = sys.argv[1].split("//")[1]
failed, done, ended = [], 0, threading.Event()
def ask():
    global done
    connection = http.client.HTTPConnection(host, timeout=60)
    while not ended.is_set():
        connection.request("POST", "/v1/find", json.dumps({"query": "book a table in a restaurant", "k": 1}))
        answer = connection.getresponse()
        text = answer.read()
        done += 1
        if answer.status != 200 or json.loads(text)["hits"][0]["id"] != "tables/book_table":
            failed.append((answer.status, text))
threads = [threading.Thread(target=ask) for _ in range(4)]
[thread.start() for thread in threads]
tool = '[{"name": "passing_%d", "description": "It comes and goes", "input_schema": {"type": "object"}}]'
for i in range(10):
    add = subprocess.run([sys.argv[2], "-q", "add", "--no-vectors", "--provider", "p", "-"], input=(tool % i).encode(), capture_output=True)
    connection, seen = http.client.HTTPConnection(host, timeout=60), False
    for _ in range(1000): # while the index is built, the earlier one answers
        connection.request("POST", "/v1/find", json.dumps({"query": "comes and goes", "k": 1}))
        hits = json.loads(connection.getresponse().read())["hits"]
        seen = bool(hits) and hits[0]["id"] == f"p/passing_{i}"
        if seen:
            break
    if not seen:
        failed.append(("nobody sees it", add.stderr))
    subprocess.run([sys.argv[2], "-q", "remove", f"p/passing_{i}"], capture_output=True)
ended.set()
[thread.join() for thread in threads]
print(len(failed), failed[:2] if failed else "", done > 10)
PYTHON
same "a catalogue that changes fails no request" "0  True" "$("$python" loads.py "$url" "$WHICHTOOL")"
stop TERM
same "SIGTERM ends it well" 0 "$ended"

# The request is logged as JSON on demand.
begin --log json --log-requests
ask 200 "find" POST /v1/find '{"query": "book a table in a restaurant"}'
stop INT
same "SIGINT too" 0 "$ended"
grep '^{' log >out
json_lines
prints '"asked":"\{\\"query\\": \\"book a table in a restaurant\\"\}"'
begin --log off
ask 200 "find" POST /v1/find '{"query": "book a table in a restaurant"}'
stop TERM
lacks log find

# The examples of the page.
blocks() { # LANGUAGE: prints its block with the server's address
    awk -v mark="<!-- serve: $1 -->" '$0 == mark {marked = 1; next} marked && /^```/ {if (inside) exit; inside = 1; next} inside' \
        "$source_root/docs/serving.md" | sed "s|http://127.0.0.1:8642|$url|g"
}
example() { # LANGUAGE PROGRAM...
    local language=$1
    shift
    have "$1" || { skip "no $1 to run an example with"; return; }
    what="the example in $language"
    checks=$((checks + 1))
    blocks "$language" >"example.$language"
    "$@" "example.$language" >out 2>err || fail "exit $?"
    prints skycast/
    lacks out '"error"'
}
cp -r "$source_root/samples" .
expect 0 "the samples" -q add samples/catalogue
begin
if have curl; then example sh bash -e; else skip "no curl to run an example with"; fi
example python "$python"
blocks javascript >example.mjs
have node && { what="the example in javascript"; checks=$((checks + 1)); node example.mjs >out 2>err || fail "exit $?"; prints skycast/; }
have node || skip "no node to run an example with"
stop TERM

# Keys.
expect 0 "a key" serve --keys keys --new-key finder
key=$(cat out)
expect 0 "another" --json serve --keys keys --new-key root --scopes admin
root=$(json_of 'd["key"]')
expect 2 "its name is taken" serve --keys keys --new-key root
expect 2 "an unknown scope" serve --keys keys --new-key x --scopes all
says 'unknown scope "all"'
expect 2 "no file for it" serve --new-key x
if grep -qF "$key" keys; then what="the file"; fail "it holds a key"; fi
begin --keys keys
ask 200 "health takes none" GET /health
ask 401 "find takes one" POST /v1/find '{"query": "a table"}'
ask 401 "not any" POST /v1/find '{"query": "a table"}' "Authorization: Bearer $key."
"$python" -c 'print("[" + "0," * 50000 + "0]")' >long.json
ask 401 "a long body is not read for a stranger" POST /v1/tools @long.json
ask 403 "nor for who may not write" POST /v1/tools @long.json "Authorization: Bearer $key"
ask 200 "this one" POST /v1/find '{"query": "a table"}' "Authorization: Bearer $key"
ask 403 "not for that" DELETE /v1/tools/tables/book_table "" "Authorization: Bearer $key"
ask 200 "root may" GET /metrics "" "Authorization: Bearer $root"
expect 0 "a third" serve --keys keys --new-key late
late=$(cat out)
ask 401 "not known yet" GET /v1/recipes "" "Authorization: Bearer $late"
kill -HUP "$served"
sleep 0.2
ask 200 "known after SIGHUP" GET /v1/recipes "" "Authorization: Bearer $late"
stop TERM
what="the log"
for secret in "$key" "$root" "$late"; do grep -qF "$secret" log && fail "it holds a key"; done
grep -q ' finder POST "/v1/find" 200' log || fail "it does not name the key: $(cat log)"

# Client data is not forwarded: the language model does not get the client's key, and references in imports are not
# fetched.
cat >hears.py <<'PYTHON'
import http.server, os
class Hears(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        with open("heard", "a") as out:
            print(self.command, self.path, self.headers, body, file=out)
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_GET = do_POST
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Hears)
with open("port.new", "w") as out:
    out.write(str(server.server_port))
os.rename("port.new", "port")
server.serve_forever()
PYTHON
"$python" hears.py &
hearing=$!
trap 'kill $hearing $served 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -f port ] && break; sleep 0.1; done
there=http://127.0.0.1:$(cat port)
begin --keys keys --chat-model first --chat-url "$there/v1"
ask 404 "no language model for a tool that is none" POST /v1/call '{"query": "a table", "tool": "nothing", "language_model": true}' "Authorization: Bearer $root"
ask 502 "the language model has no answer" POST /v1/call '{"query": "a table for two at seven", "tool": "tables/book_table", "language_model": true}' \
    "Authorization: Bearer $root"
same "it was asked" yes "$(grep -q "POST /v1/chat/completions" heard && echo yes)"
what="what it heard"
if grep -qF "$root" heard; then fail "the key of the client"; fi
grep -c . heard >before
ask 200 "a tool whose schema points there" POST "/v1/tools?provider=pointing" \
    "[{\"name\": \"pointing\", \"description\": \"d\", \"input_schema\": {\"type\": \"object\", \"\$schema\": \"$there/s\", \"properties\": {\"a\": {\"\$ref\": \"$there/c.json\"}}}}]" \
    "Authorization: Bearer $root"
for source in "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"t\", \"version\": \"1\"}, \"servers\": [{\"url\": \"$there\"}], \"paths\": {\"/a\": {\"\$ref\": \"$there/a.json\"}, \"/b\": {\"get\": {\"operationId\": \"b\", \"parameters\": [{\"\$ref\": \"$there/b.json\"}], \"responses\": {}}}}}" \
    "{\"mcpServers\": {\"x\": {\"url\": \"$there/mcp\"}}}" "$there/tools.json"; do
    "$python" "$here/ask.py" "$url" POST "/v1/tools?provider=pointing" "$source" "Authorization: Bearer $root" >out 2>err
    checks=$((checks + 1))
done
"$python" "$here/ask.py" "$url" POST /v1/call '{"query": "a", "tool": "pointing/pointing"}' "Authorization: Bearer $root" >out 2>err
same "no download" "$(cat before)" "$(grep -c . heard)"
stop TERM
kill $hearing

# A Unix socket; configured names and origins.
"$WHICHTOOL" -q serve --model "" --listen "unix:$work/socket" --host tools.example.com --origin https://app.example.com >served 2>log &
served=$!
for _ in $(seq 100); do [ -S socket ] && break; sleep 0.05; done
url=unix:$work/socket
same "the socket is its owner's" 600 "$(stat -c %a socket)"
ask 200 "a configured name" GET /health "" "Host: tools.example.com"
ask 200 "a configured origin" GET /health "" "Origin: https://app.example.com"
ask 403 "no other" GET /health "" "Origin: https://app.example.org"
stop TERM
silent log

# Errors of serving are reported.
expect 2 "no address" serve --listen nonsense
says '"nonsense" is not a listen address'
expect 2 "everybody, without keys" serve --listen 0.0.0.0:0
says 'other machines can reach'
expect 3 "no such keys" serve --keys nothing
expect 2 "scopes alone" serve --scopes find
expect 2 "an origin with a path" serve --origin https://app.example.com/
touch nobody
begin -s typo.wt --keys nobody
ask 200 "health" GET /health
stop TERM
same "an empty store is told" 1 "$(grep -c 'typo\.wt has no tools yet; add some with `whichtool -s .*typo\.wt add FILE`\.' log)"
same "missing keys are reported" 1 "$(grep -c 'There are no keys' log)"
begin
expect 6 "address already in use" serve --listen "${url#http://}"
stop TERM
finish
