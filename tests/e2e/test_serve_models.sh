#!/bin/bash
# Models that are trained while a server runs: it uses its loaded models until SIGHUP, and no request fails during the
# reload, even if the new models cannot be read.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
served=
trap '[ -z "$served" ] || kill "$served" 2>/dev/null; rm -rf "$work"' EXIT

"$python" "$here/tiny_model.py" "$work/models/tiny"
forty_tools 0
expect 0 "tools" add --model tiny tools.jsonl
expect 0 "use" usage add --model tiny usages.jsonl
"$WHICHTOOL" --json serve --model tiny --listen 127.0.0.1:0 >served 2>log &
served=$!
for _ in $(seq 200); do [ -s served ] && break; sleep 0.05; done
url=$("$python" -c 'import json; print(json.load(open("served"))["listening"])') || { cat log; exit 1; }

# Runs finds with the default recipe on four connections until stopped, and prints the model of each answer in order.
cat >finds.py <<'PYTHON'
import http.client, json, os, sys, threading
host = sys.argv[1].split("//")[1]
failed, seen = [], []
def ask():
    connection = http.client.HTTPConnection(host, timeout=60)
    while not os.path.exists("enough"):
        connection.request("POST", "/v1/find", json.dumps({"query": "book a table", "k": 3}))
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200 or len(json.loads(text)["hits"]) != 3:
            failed.append((answer.status, text[:300]))
            return
        said = json.loads(text)
        by = said["recipe"] + " " + said["encoder"]
        if by not in seen:
            seen.append(by)
            with open("seen", "a") as out:
                print(by, file=out)
threads = [threading.Thread(target=ask) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(failed), failed[:2] if failed else "")
PYTHON
until_seen() { # COUNT: number of different models
    checks=$((checks + 1))
    for _ in $(seq 600); do
        [ "$(cat seen 2>/dev/null | wc -l)" -ge "$1" ] && return
        kill -0 "$asking" 2>/dev/null || break
        sleep 0.05
    done
    fail "answers of $(cat seen 2>/dev/null) alone: $(cat log)"
}
until_said() { # COUNT PATTERN: lines of the log
    checks=$((checks + 1))
    for _ in $(seq 600); do
        [ "$(grep -cE "$2" log)" -ge "$1" ] && return
        sleep 0.05
    done
    fail "not $1 lines of \"$2\" in the log"
}
"$python" finds.py "$url" >found 2>&1 &
asking=$!
until_seen 1
for lesson in tool2vec auto; do expect 0 "train $lesson" train $lesson --model tiny; done
same "no reload without SIGHUP" "hybrid tiny" "$(cat seen)"
kill -HUP "$served"
what="models are taken up"
until_seen 2
until_said 1 "reloaded the trained models in [0-9]+ ms"
what="what was trained"
sed -n 2p seen >out
prints "tool2vec.* tiny$"
# An encoder, which changes all vectors.
for lesson in encoder auto; do expect 0 "train $lesson" train $lesson --model tiny --epochs 1; done
kill -HUP "$served"
what="an encoder is taken up"
until_seen 3
sed -n 3p seen >out
prints " encoder$"
until_said 2 "reloaded the trained models"
kill -HUP "$served"
what="no change"
until_said 1 "the trained models have not changed"
# Unreadable models.
cp tools.wt-models/auto/config.json sound.json
echo nonsense >tools.wt-models/auto/config.json
kill -HUP "$served"
what="nonsense is told"
until_said 1 "cannot reload the trained models, keeping the old ones: .*auto/config.json"
mv sound.json tools.wt-models/auto/config.json
touch enough
wait "$asking"
same "no request failed" "0 " "$(cat found)"
same "it was read no oftener" 2 "$(grep -c "reloaded the trained models" log)"
kill -TERM "$served"
wait "$served"
same "it ends well" 0 $?
served=
finish
