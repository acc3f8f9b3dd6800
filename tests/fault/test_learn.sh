#!/bin/bash
# Training, evaluation, picking (also with recorded answers of a language model) and fetching a model, all with two
# layers: each allocation and I/O call fails in turn, or the process is killed before it. A run that succeeds has the
# result of a run without faults, or reports why not; after any failure, the next run succeeds.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.sh"
python=${WT_PYTHON:-python3}
command -v "$python" >/dev/null || skip "no $python to make a model"
"$python" "$here/../e2e/tiny_model.py" "$folder/models/tiny"
cd "$folder" || exit 1

make_catalogue tools.json 1 6 "weather"
words=(rain wind tides money table booking)
for i in $(seq 120); do
    t=$((i % 6)) more=$(((i + i / 6) % 6))
    other=
    [ $((i % 3)) -ne 0 ] || [ $more -eq $t ] || other=", \"tool_$((more + 1))\""
    echo "{\"request\": \"${words[$t]}${other:+ and ${words[$more]}} $i\", \"tools\": [\"tool_$((t + 1))\"$other]}"
done >log.jsonl
run add --no-vectors tools.json
run usage add --no-vectors log.jsonl
[ "$rc" -eq 0 ] || fail "usage add: exit $rc: $(cat err)"
cp "$store" used.wt

"$python" - <<'PYTHON'
import json, os
os.makedirs("data/qrels")
log = [json.loads(line) for line in open("log.jsonl")]
with open("data/corpus.jsonl", "w") as file:
    for tool in json.load(open("tools.json"))["tools"]:
        print(json.dumps({"_id": tool["name"], "title": tool["name"], "text": tool["description"]}), file=file)
with open("data/queries.jsonl", "w") as file:
    for i, usage in enumerate(log):
        print(json.dumps({"_id": f"q{i}", "text": usage["request"]}), file=file)
for split, part in (("train", range(80)), ("dev", range(80, 100)), ("test", range(100, 120))):
    with open(f"data/qrels/{split}.tsv", "w") as file:
        print("query-id\tcorpus-id\tscore", file=file)
        for i in part:
            for tool in log[i]["tools"]:
                print(f"q{i}\t{tool}\t1", file=file)
PYTHON

server=
start_server() { # SCRIPT: which writes its port to the file "port"
    rm -f port
    "$python" "$1" &
    server=$!
    for _ in $(seq 200); do [ -f port ] && return; sleep 0.1; done
    fail "$1 does not begin"
}
stop_server() {
    kill $server
    wait $server 2>/dev/null
    server=
}
trap '[ -z "$server" ] || kill $server; finish' EXIT

# Removes parts that differ in every run.
settled() { sed -E 's/[0-9.]+ s$//; s/"(seconds|[a-z_]*ms)":(\{[^}]*\}|[0-9.e+-]+)//g' "$1"; }
# run before and after every run of a sweep, by verb; the latter checks the result of the former
begin() { :; }
sweep() { # ALL ABOUT VERB...: each kind of fault at ALL points and about ABOUT further ones
    local all=$1 about=$2 n fault how total what
    shift 2
    begin
    counts "$@"
    settled out >expected
    for fault in FAULT_ALLOC FAULT_IO/EIO FAULT_IO/KILL; do
        how=${fault#*/} total=$calls
        [ "$fault" != FAULT_ALLOC ] || total=$allocations
        for n in $(points "$total" "$all" "$about"); do
            what="$fault $n of $*"
            begin
            run "${fault%/*}=$n" FAULT_HOW="$how" "$@"
            case $how$rc in
            EIO0) settled out | cmp -s - expected || grep -q "Input/output error" err || fail "$what: another answer" ;;
            *0) settled out | cmp -s - expected || fail "$what: another answer: $(cat err)" ;;
            KILL137) ;;
            *)
                is_told "$rc" || fail "$what: exit $rc: $(cat err)"
                [ -s err ] || fail "$what: exit $rc without a word"
                ;;
            esac
            check_store "$what" 6
            if [ "$rc" -ne 0 ] && [ $((n % 3)) -eq 0 ]; then
                run "$@"
                settled out | cmp -s - expected || fail "$what, then again: exit $rc: $(cat err)"
            fi
        done
    done
}

begin() {
    restore used.wt
    rm -rf s.wt-models cache
}
model=(--model tiny)
sweep 0 12 train encoder --epochs 2 --threads 1 "${model[@]}"
sweep 0 30 train all --epochs 1 --threads 1 "${model[@]}"

# evaluation leaves trained models unchanged
restore used.wt
rm -rf trained
run train all --data data --out trained --cache trained-cache --epochs 1 --threads 1 "${model[@]}"
[ "$rc" -eq 0 ] || fail "train: exit $rc: $(cat err)"
begin() { rm -rf cache; }
sweep 0 20 eval data --json --trained trained --cache eval-cache --recipe hybrid,auto,set --bootstrap 10 "${model[@]}"

# picking with recorded answers of a language model
cat >server.py <<'PYTHON'
import http.server, json, os
class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        answer = {"requirements": ["rain", "money"]} if "<<<request" in text else {"tool": None}
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": json.dumps(answer)},
                                        "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Server)
print(server.server_port, file=open("port.part", "w"), flush=True)
os.rename("port.part", "port")
server.serve_forever()
PYTHON
restore used.wt
run train all --epochs 1 --threads 1 "${model[@]}"
start_server server.py
pick=(pick --json --explain --recipe ptr --chat-model rules "${model[@]}")
run "${pick[@]}" --chat-url "http://127.0.0.1:$(cat port)/v1" --record answers.jsonl rain and money
[ "$rc" -eq 0 ] || fail "pick: exit $rc: $(cat err)"
stop_server
begin() { :; }
sweep 0 30 "${pick[@]}" --replay answers.jsonl rain and money
sweep 0 20 pick --json --abstain 0 "${model[@]}" rain and money

# a model from a hub
mkdir -p manifests hub/some/where/resolve
cp -r models/tiny hub/some/where/resolve/main
rm -f hub/some/where/resolve/main/packed*
"$python" - <<'PYTHON'
import hashlib, json, os
folder = "hub/some/where/resolve/main"
files = []
for name in sorted(os.listdir(folder)):
    content = open(f"{folder}/{name}", "rb").read()
    files.append({"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
json.dump({"name": "far", "license": "none", "architecture": "bert", "dimension": 16, "files": files,
           "sources": [{"type": "hub", "repo": "some/where", "revision": "main"}]}, open("manifests/far.json", "w"))
PYTHON
cat >hub.py <<'PYTHON'
import functools, http.server, os
class Hub(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Hub, directory="hub"))
print(server.server_port, file=open("port.part", "w"), flush=True)
os.rename("port.part", "port")
server.serve_forever()
PYTHON
start_server hub.py
HF_ENDPOINT=http://127.0.0.1:$(cat port)
export HF_ENDPOINT WHICHTOOL_MANIFESTS=$folder/manifests
begin() { rm -rf models/far; }
sweep 0 30 model pull far
stop_server
conclude
