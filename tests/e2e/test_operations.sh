#!/bin/bash
# Operation of a server: metrics, health and readiness, the log, traces through a gateway, and a drain under load.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
add_catalogue
served='' others=''
trap '[ -z "$served" ] || kill -9 "$served" 2>/dev/null; [ -z "$others" ] || kill $others 2>/dev/null; rm -rf "$work"' EXIT
page=$source_root/docs/operations.md

begin() { # OPTION...: starts a server and sets $url
    rm -f served
    "$WHICHTOOL" --json serve --listen 127.0.0.1:0 "$@" >served 2>log &
    served=$!
    wait_until says_or_has_ended served "$served"
    url=$("$python" -c 'import json; print(json.load(open("served"))["listening"])') || { cat log; exit 1; }
}
stop() { # SIGNAL: sends it and waits
    kill "-$1" "$served"
    await_end "$served"
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
is_ready() { "$python" "$here/ask.py" "$url" GET /readyz >out 2>err && [ "$(head -1 out)" = 200 ]; }

# ---------------------------------------------------------------- metrics, health, log

"$WHICHTOOL" -q serve --keys keys --new-key laptop --scopes find,metrics >key
key="Authorization: Bearer $(cat key)"
begin --keys keys --log json --log-level warning
wait_until is_ready
ask 200 "liveness needs no key" GET /healthz
prints '^\{"status":"ok"\}$'
ask 200 "readiness needs no key" GET /readyz
prints '^\{"ready":true\}$'
ask 421 "a probe under another name is refused" GET /readyz "" "Host: 10.0.0.7:8642"
ask 401 "metrics need one" GET /metrics
ask 200 "a find" POST /v1/find '{"query": "rain"}' "$key" "X-Request-Id: mine-1"
ask 400 "a wrong find" POST /v1/find '{"query": 1}' "$key" "X-Request-Id: mine-2"
ask 404 "a request with hostile texts" GET '/nothing/%22%0a' "" "$key" "X-Request-Id: no spaces allowed"
ask 200 "metrics" GET /metrics "" "$key"
sed -i '$d' out # the newline of ask.py
same "the metrics keep to the format, and the page names them" "" "$("$python" "$here/metrics_check.py" out "$page")"
prints '^whichtool_ready 1$'
prints '^whichtool_http_requests_total\{route="find",status="400"\} 1$'
prints '^whichtool_stage_duration_seconds_count\{stage="retrieve"\} 1$'
prints '^whichtool_encoder_info\{name="[^"]+",hash="[0-9a-f]{64}",dimensions="[0-9]+"\} 1$'
generation=$(grep -o '^whichtool_catalogue_generation .*' out)
same "the index is as new as the catalogue" "${generation#* }" "$(sed -n 's/^whichtool_index_generation //p' out)"
what="the alerts name metrics that exist"
for metric in $(grep -oE '\b(whichtool|process)_[a-z_]+' "$source_root/samples/serving/alerts.yaml" | sed 's/_bucket$//' | sort -u); do
    checks=$((checks + 1))
    grep -q "\`$metric\`" "$page" || fail "not $metric"
done
for alert in $(sed -n 's/.*- alert: //p' "$source_root/samples/serving/alerts.yaml"); do
    checks=$((checks + 1))
    grep -q "^| \`$alert\` |" "$page" || fail "the page lacks $alert"
done
if have promtool; then
    checks=$((checks + 1))
    promtool check metrics <out >promtool 2>&1 || fail "promtool: $(cat promtool)"
    promtool check rules "$source_root/samples/serving/alerts.yaml" >promtool 2>&1 || fail "promtool: $(cat promtool)"
fi
stop TERM
same "SIGTERM ends it well" 0 "$ended"
cp log out
json_lines
same "the log has what the level asks for" "mine-2 find 400 laptop" \
    "$("$python" -c '
import json
lines = [line for line in map(json.loads, open("log")) if line.get("route") == "find"]
print(*[line[key] for line in lines for key in ("request_id", "route", "status", "key")])')"
lacks log '"asked"|rain|no spaces|wt_[A-Za-z0-9]'
expect 2 "a level that does not exist" serve --log-level loud
says 'log-level is one of: info warning error'

# ---------------------------------------------------------------- a server that is not ready

cp tools.wt broken.wt
begin -s broken.wt --model no-such-model
what="a model that is missing"
checks=$((checks + 1))
wait_until grep -q 'not ready' log
ask 200 "it is alive" GET /healthz
ask 503 "and says why it is not ready" GET /readyz
prints '"code":"model"'
lacks out "$work"
ask 200 "health agrees" GET /health
prints '"ready":false'
stop INT
same "SIGINT ends it well" 0 "$ended"

# ---------------------------------------------------------------- traces through a gateway

"$python" "$here/otlp_collector.py" spans >collector &
others=$!
"$python" "$here/header_server.py" modern >modern &
others="$others $!"
"$python" "$here/header_server.py" legacy >legacy &
others="$others $!"
for file in collector modern legacy; do wait_until [ -s $file ]; done
cat >servers.json <<JSON
{"mcpServers": {"modern": {"url": "$(cat modern)"}, "legacy": {"url": "$(cat legacy)"}}}
JSON
parent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
call() { # SERVER MEMBERS-OF-_META [FIELD: VALUE ...]: calls the tool `headers` over MCP
    local name=$1__headers meta=$2
    shift 2
    ask 200 "a call" POST /mcp/all "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"$name\",
        \"arguments\": {}, \"_meta\": {$meta \"io.modelcontextprotocol/protocolVersion\": \"2026-07-28\",
        \"io.modelcontextprotocol/clientCapabilities\": {}}}}" "Content-Type: application/json" \
        "Accept: application/json, text/event-stream" "MCP-Protocol-Version: 2026-07-28" "Mcp-Method: tools/call" \
        "Mcp-Name: $name" "$@"
    json_of 'd["result"]["content"][0]["text"]' >heard
}
has_tools() {
    "$python" "$here/ask.py" "$url" GET /v1/tools >out 2>err && grep -q 'modern/headers' out && grep -q 'legacy/headers' out
}

begin -s gateway.wt --servers servers.json
wait_until has_tools
call modern "\"traceparent\": \"$parent\", \"tracestate\": \"a=b\", \"baggage\": \"c=d\","
what="without a collector, the context of the client is passed on"
holds heard "^traceparent: $parent\$"
holds heard "\"traceparent\": \"$parent\""
holds heard '"tracestate": "a=b"'
holds heard '"baggage": "c=d"'
call legacy "" "traceparent: $parent" "tracestate: e=f"
what="also from the headers"
holds heard "^traceparent: $parent\$"
holds heard '^tracestate: e=f$'
holds heard "\"traceparent\": \"$parent\".*\"tracestate\": \"e=f\""
call modern ""
what="no context is made up"
lacks heard traceparent

# Searches over MCP count as well. A stream of notices lasts as long as its client wants, so it has no duration.
modern() { # METHOD PARAMS: prints a request of the revision 2026-07-28
    echo "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"$1\", \"params\": {$2,
        \"_meta\": {\"io.modelcontextprotocol/protocolVersion\": \"2026-07-28\",
        \"io.modelcontextprotocol/clientCapabilities\": {}}}}"
}
mcp_fields=("Content-Type: application/json" "Accept: application/json, text/event-stream" "MCP-Protocol-Version: 2026-07-28")
ask 200 "a search over MCP" POST /mcp "$(modern tools/call '"name": "search_tools", "arguments": {"query": "rain"}')" \
    "${mcp_fields[@]}" "Mcp-Method: tools/call" "Mcp-Name: search_tools"
prints '"none_fits":'
modern subscriptions/listen '"notifications": {"toolsListChanged": true}' >listen.json
cat >listen.py <<'PYTHON'
import http.client, sys
host, fields = sys.argv[1].split("//")[1], dict(field.split(": ", 1) for field in sys.argv[2:])
connection = http.client.HTTPConnection(host, timeout=60)
connection.request("POST", "/mcp", open("listen.json"), {**fields, "Mcp-Method": "subscriptions/listen"})
answer = connection.getresponse()
print(answer.status, b"acknowledged" in answer.readline() + answer.readline())
PYTHON
same "a stream of notices" "200 True" "$("$python" listen.py "$url" "${mcp_fields[@]}")"
counts_both() { ask 200 "metrics" GET /metrics && grep -q '^whichtool_http_requests_total{route="mcp",status="200"} 2$' out; }
wait_until counts_both
what="one search, its time, and no time of the stream"
prints '^whichtool_finds_total\{recipe="[a-z0-9+-]+"\} 1$'
prints '^whichtool_http_request_duration_seconds_count\{route="mcp"\} 1$'
stop TERM

export OTEL_EXPORTER_OTLP_HEADERS="X-Team=tools%20team" OTEL_SERVICE_NAME=gateway
OTEL_EXPORTER_OTLP_ENDPOINT=$(cat collector) begin -s gateway.wt --servers servers.json
wait_until has_tools
call modern "\"traceparent\": \"$parent\", \"tracestate\": \"a=b\","
upstream=$(sed -n 's/^traceparent: //p' heard)
ask 200 "a find" POST /v1/find '{"query": "headers of a request"}'
ask 200 "a probe" GET /readyz
ask 200 "metrics" GET /metrics
sed -i '$d' out
same "the metrics of a gateway keep to the format, too" "" "$("$python" "$here/metrics_check.py" out "$page")"
prints '^whichtool_upstream_requests_total\{server="modern",outcome="ok"\} 1$'
prints '^whichtool_upstream_state\{server="legacy",state="ready"\} 1$'
stop TERM
same "the collector has no complaints" "" "$(cat spans.problems 2>/dev/null)"
cat >spans.py <<'PYTHON'
import json, sys
parent, upstream = sys.argv[1:]
spans = [json.loads(line) for line in open("spans")]
def named(name):
    return [span for span in spans if span["name"] == name]
call, relayed, find = named("POST /mcp/all")[0], named("upstream modern")[0], named("POST /v1/find")[0]
encode, = named("encode")
print(call["traceId"] == parent.split("-")[1], call["parentSpanId"] == parent.split("-")[2],
      call["attributes"]["mcp.method.name"] == "tools/call", call["attributes"]["http.response.status_code"] == 200,
      relayed["parentSpanId"] == call["spanId"], relayed["kind"] == 3, relayed["traceId"] == call["traceId"],
      upstream == f"00-{relayed['traceId']}-{relayed['spanId']}-01",
      encode["traceId"] == find["traceId"] != call["traceId"] and encode["parentSpanId"] == find["spanId"],
      "parentSpanId" not in find, {span["resource"]["service.name"] for span in spans} == {"gateway"},
      {span["header"] for span in spans} == {"tools team"},
      not named("GET /readyz") and not named("GET /metrics"), "headers of a request" not in open("spans").read())
PYTHON
same "the spans belong together, and say nothing of the request" \
    "True True True True True True True True True True True True True True" "$("$python" spans.py "$parent" "$upstream")"
rm spans
OTEL_TRACES_SAMPLER=always_off begin --otlp-endpoint "$(cat collector)" --model ""
ask 200 "a find that is not sampled" POST /v1/find '{"query": "rain"}'
stop TERM
same "nothing is exported" no "$([ -e spans ] && echo yes || echo no)"
begin --otlp-endpoint "$(cat collector)" --trace-requests --model ""
ask 200 "a find" POST /v1/find '{"query": "rain"}'
stop TERM
same "the text is exported on demand" 1 "$(grep -c 'whichtool.request": "{\\"query\\": \\"rain\\"}"' spans)"
unset OTEL_EXPORTER_OTLP_HEADERS OTEL_SERVICE_NAME
# A collector that is away changes nothing but the counts.
begin --otlp-endpoint http://127.0.0.1:9 --model ""
ask 200 "a find" POST /v1/find '{"query": "rain"}'
what="a collector that is away"
checks=$((checks + 1))
wait_until grep -q 'cannot export traces: .*the OTLP endpoint' log
stop TERM
same "the end does not wait for it" 0 "$ended"
OTEL_EXPORTER_OTLP_PROTOCOL=grpc expect 2 "another protocol" serve --otlp-endpoint http://127.0.0.1:9
says 'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", but whichtool exports http/json only'
expect 2 "an address without a scheme" serve --otlp-endpoint 127.0.0.1:4318
says 'the OTLP endpoint must begin with http:// or https://'

# ---------------------------------------------------------------- drain

# Clients like those of a load balancer: they send requests without a pause, over new and over kept connections, until
# /readyz is 503. Every request that they send must be answered.
cat >load.py <<'PYTHON'
import http.client, json, os, signal, sys, threading, time
host, pid = sys.argv[1].split("//")[1], int(sys.argv[2])
draining, failed, counts = threading.Event(), [], {}
def ask(connection, method="POST", path="/v1/find", body='{"query": "book a table"}', headers={}):
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.getheader("Connection")
def watch():
    while True:
        status, text, _ = ask(http.client.HTTPConnection(host, timeout=60), "GET", "/readyz", None)
        if status == 503:
            counts["reason"] = json.loads(text)["error"]["code"]
            draining.set()
            return
        time.sleep(0.02)
def load(keeps):
    connection = http.client.HTTPConnection(host, timeout=60)
    while not draining.is_set():
        try:
            status, _, closes = ask(connection)
            counts[keeps] = counts.get(keeps, 0) + 1
            if status != 200:
                failed.append(status)
            if closes == "close" or not keeps:
                connection.close()
                connection = http.client.HTTPConnection(host, timeout=60)
        except Exception as error:
            failed.append(repr(error))
MODERN = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
          "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
listener = http.client.HTTPConnection(host, timeout=60)
listener.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": {
    "notifications": {"toolsListChanged": True}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                                                            "io.modelcontextprotocol/clientCapabilities": {}}}}), MODERN)
stream = listener.getresponse()
first = stream.readline() + stream.readline()
threads = [threading.Thread(target=load, args=(i % 2 == 0,)) for i in range(8)] + [threading.Thread(target=watch)]
[thread.start() for thread in threads]
while counts.get(True, 0) < 100 or counts.get(False, 0) < 100:
    time.sleep(0.01)
os.kill(pid, signal.SIGTERM)
[thread.join() for thread in threads]
status, _, closes = ask(http.client.HTTPConnection(host, timeout=60)) # a new connection is still accepted
rest = stream.read()
print(failed[:3], counts["reason"], status, closes, b'"id":7,"result"' in first + rest)
PYTHON
echo "{\"mcpServers\": {\"notes\": {\"command\": \"$python\", \"args\": [\"$here/notes_server.py\", \"notes\"]}}}" >notes.json
begin --model "" --log off --drain-seconds 3 --servers notes.json
wait_until is_ready
same "no request is lost in a drain, and a listener gets its final result" "[] draining 200 close True" \
    "$("$python" load.py "$url" "$served" 2>&1)"
await_end "$served"
same "it ends well" 0 $?
served=

begin --model "" --drain-seconds 3600
wait_until is_ready
kill -TERM "$served"
drains() { "$python" "$here/ask.py" "$url" GET /readyz >out 2>err && [ "$(head -1 out)" = 503 ]; }
wait_until drains
kill -INT "$served"
await_end "$served"
same "a second signal ends it at once" 130 $?
served=
expect 2 "a drain that is too long" serve --drain-seconds 3601
finish
