# shellcheck shell=bash
# shellcheck disable=SC2154 # lib.sh assigns them
# replicas.sh: shared by the scripts about replicas, after lib.sh: starts and asks servers. start() assigns the variables
# NAME_at and NAME_pid.
need_python
started=()
trap 'for p in "${started[@]}"; do kill "$p" 2>/dev/null; done; rm -rf "$work"' EXIT
# shellcheck disable=SC2034 # scripts use it
model=(--model whichtool-static-v1)

start() { # NAME COMMAND...: starts a server, whose first line has its address: ${NAME}_at is the address
    local name=$1
    shift
    rm -f "$name.out"
    "$@" >"$name.out" 2>"$name.log" &
    started+=($!)
    printf -v "${name}_pid" %s $!
    wait_until says_or_has_ended "$name.out" $!
    printf -v "${name}_at" %s "$(grep -o 'http://[0-9.:]*' "$name.out")"
}
answer() { # ADDRESS METHOD PATH [BODY [KEY]]: prints status and body
    "$python" - "$@" <<'PYTHON'
import sys, urllib.request, urllib.error
address, method, path = sys.argv[1:4]
request = urllib.request.Request(address + path, sys.argv[4].encode() if len(sys.argv) > 4 else None, method=method)
request.add_header("Content-Type", "application/json")
if len(sys.argv) > 5: request.add_header("Authorization", "Bearer " + sys.argv[5])
try:
    with urllib.request.urlopen(request) as reply: print(reply.status, reply.read().decode())
except urllib.error.HTTPError as error: print(error.code, error.read().decode())
PYTHON
}
timeless() { # removes the times of an answer
    sed -E 's/"[a-z_]*_ms":[0-9.e+-]+//g'
}
answers_with() { # ADDRESS METHOD PATH BODY PATTERN
    answer "$1" "$2" "$3" "$4" | grep -qE -- "$5"
}
