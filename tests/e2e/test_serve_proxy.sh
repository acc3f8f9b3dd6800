#!/bin/bash
# The proxy configurations of samples/serving, unchanged except for addresses and TLS, in front of a server: names,
# keys, large bodies and refusals pass through.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
have nginx || have caddy || { skip "neither nginx nor caddy"; exit 77; }
add_catalogue
served='' proxy=''
trap '[ -z "$proxy" ] || kill $proxy 2>/dev/null; [ -z "$served" ] || kill "$served" 2>/dev/null; rm -rf "$work"' EXIT

expect 0 "a key" serve --keys keys --new-key root --scopes admin
key=$(cat out)
"$WHICHTOOL" -q --json serve --model "" --keys keys --listen 127.0.0.1:0 --host tools.example.com >served 2>log &
served=$!
for _ in $(seq 200); do [ -s served ] && break; sleep 0.05; done
backend=$("$python" -c 'import json; print(json.load(open("served"))["listening"].split("//")[1])')
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$python" -c 'import json
tools = [{"name": f"t{i}", "description": "word " * 400, "input_schema": {"type": "object"}} for i in range(1500)]
json.dump(tools, open("large.json", "w"))'

ask() { # STATUS NAME METHOD PATH [BODY] [FIELD: VALUE ...]
    local want=$1
    what="$through: $2"
    shift 2
    checks=$((checks + 1))
    "$python" "$here/ask.py" "http://127.0.0.1:$port" "$@" >out 2>err
    [ "$(head -1 out)" = "$want" ] || fail "status $(head -1 out), wanted $want"
}
through_proxy() { # NAME COMMAND...
    through=$1
    shift
    "$@" >proxy.out 2>&1 &
    proxy=$!
    for _ in $(seq 100); do "$python" "$here/ask.py" "http://127.0.0.1:$port" GET / >/dev/null 2>&1 && break; sleep 0.1; done
    ask 200 "health" GET /health "" "Host: tools.example.com"
    ask 401 "no key" GET /v1/recipes "" "Host: tools.example.com"
    ask 200 "find" POST /v1/find '{"query": "book a table in a restaurant"}' "Host: tools.example.com" "Authorization: Bearer $key"
    prints 'tables/book_table'
    ask 200 "a body of megabytes" POST "/v1/tools?no_vectors&provider=large" @large.json "Host: tools.example.com" "Authorization: Bearer $key"
    ask 200 "an id with a slash" GET "/v1/tools/tables/book_table" "" "Host: tools.example.com" "Authorization: Bearer $key"
    ask 200 "and an encoded one" GET "/v1/tools/tables%2Fbook_table" "" "Host: tools.example.com" "Authorization: Bearer $key"
    ask 403 "a page of another site" GET /health "" "Host: tools.example.com" "Origin: https://evil.example.com"
    ask 200 "a page of its own" GET /health "" "Host: tools.example.com" "Origin: https://tools.example.com"
    kill "$proxy" && wait "$proxy"
    proxy=
}
if have nginx; then
    mkdir -p nginx
    { # global parts that need no permissions
        [ "$(id -u)" != 0 ] || echo "user root;" # the folder is private
        echo "daemon off; pid $work/nginx/pid; error_log $work/nginx/error; events {} http { access_log off;"
        for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $work/nginx/$kind;"; done
        sed -e "s/127.0.0.1:8642/$backend/" -e "s/listen 443 ssl/listen 127.0.0.1:$port/" -e '/ssl_certificate/d' \
            "$source_root/samples/serving/nginx.conf"
        echo "}"
    } >nginx.conf
    through_proxy nginx nginx -e "$work/nginx/error" -c "$work/nginx.conf"
else
    skip "no nginx"
fi
if have caddy; then
    sed -e "s/127.0.0.1:8642/$backend/" -e "s|^tools.example.com {|http://tools.example.com:$port {|" \
        "$source_root/samples/serving/Caddyfile" >Caddyfile
    through_proxy caddy caddy run --config Caddyfile --adapter caddyfile
else
    skip "no caddy"
fi
finish
