#!/bin/bash
# bench/real without network: its requests are well formed, and bad ones are reported; catalogues are read from a
# package and from an MCP server page by page; and synthetic catalogues and requests give the expected figures.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
bench=$source_root/bench/real
export PYTHONDONTWRITEBYTECODE=1
run() { # CODE NAME SCRIPT ARGUMENT...
    local want=$1 code
    what=$2 checks=$((checks + 1))
    shift 2
    "$python" "$bench/$1" "${@:2}" >out 2>err
    code=$?
    [ "$code" = "$want" ] || fail "exit $code, wanted $want: $*"
}

run 0 "the requests of the bench" check.py
prints "^[0-9]+ dev requests and [0-9]+ test requests are well formed$"
prints "^15 dev dialogues and 15 test dialogues are well formed$"
cat out
skip "whether the tools that they need exist: that takes the catalogues, which make bench-real fetches"

# data/: two catalogues in each split, five requests of each kind; cache/: a package and three servers as installed. Requests
# of dev have the words of the needed tool, except typos (which find no tool) and requests that need no tool.
mkdir -p data cache/packages cache/servers/{letters,dead,mute}-1/bin
"$python" - "$bench" <<'PYTHON'
import io, json, os, sys, tarfile
sys.path.insert(0, sys.argv[1])
import check
def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
words = ["amber", "basalt", "copper", "diamond", "emerald", "flint", "garnet"]
document = {"openapi": "3.0.0", "info": {"title": "Stones", "version": "1"}, "servers": [{"url": "https://stones.example"}],
            "paths": {f"/{word}": {"get": {"operationId": word, "summary": f"Polish the {word}"}} for word in words}}
content = json.dumps(document).encode()
with tarfile.open("cache/packages/made-up-1.tgz", "w:gz") as archive:
    member = tarfile.TarInfo("package/stones.json")
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))
source = {"version": "1", "sha256": "", "licence": "none"}
server = {"kind": "mcp-pypi", "package": "none", **source}
write("data/sources.json", [json.dumps([
    {"service": "stones", "split": "dev", "kind": "npm", "package": "@made/up", "member": "package/stones.json",
     "file": "stones.json", **source},
    {"service": "letters", "split": "test", "command": ["serve", "--pages"], "file": "letters.json", **server},
    {"service": "dead", "split": "test", "command": ["serve"], "file": "dead.json", **server},
    {"service": "mute", "split": "test", "command": ["serve"], "file": "mute.json", **server}])])
for split, service in ("dev", "stones"), ("test", "dead"):
    lines = []
    for kind, language in check.KINDS.items():
        for i in range(5):
            count = 0 if kind in check.NOTHING else 2 if kind in check.SEVERAL else 1
            needed = [words[(i + n) % len(words)] for n in range(count)]
            said = " ".join(["zyx"] if kind == "typos" else needed or ["quux"])
            text = f"{said} n{len(lines)}" + (" so" * check.LONG_WORDS if kind == "long" else "")
            lines.append(json.dumps({
                "id": f"{split}-{len(lines) + 1:03}", "split": split, "kind": kind, "lang": language or "en",
                "services": [service] if needed else [], "needs": [[f"{service}/{word}"] for word in needed],
                "text": text + ("" if split == "dev" else "!")}))
    write(f"data/{split}.jsonl", lines)
    write(f"data/dialogues-{split}.jsonl", [json.dumps({
        "id": f"{split}-d{i:02}", "split": split, "services": [service],
        "messages": [{"role": "user", "content": f"polish the {words[i % 7]}"},
                     {"role": "assistant", "content": "done", "calls": [f"{service}/{words[i % 7]}"]},
                     {"role": "user", "content": f"and the {words[(i + 1) % 7]} now", "needs": [[f"{service}/{words[(i + 1) % 7]}"]]}]})
        for i in range(15)])
PYTHON
cat >cache/servers/letters-1/bin/serve <<'PYTHON'
#!/usr/bin/env python3
import json, os, sys
print("a banner that is no JSON", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    cursor = message["params"].get("cursor")
    result = {"serverInfo": {"name": "letters", "arguments": sys.argv[1:], "token": os.environ.get("SECRET_TOKEN", "none")}}
    if message["method"] == "tools/list":
        letter = cursor or "b"
        tool = {"name": letter, "description": f"Writes the letter {letter}", "inputSchema": {"type": "object"}}
        result = {"tools": [tool], **({} if cursor else {"nextCursor": "a"})}
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}))
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
PYTHON
printf '#!/bin/sh\nexit 1\n' >cache/servers/dead-1/bin/serve
cat >cache/servers/mute-1/bin/serve <<SHELL
#!/bin/sh
sleep 100 &
echo \$! >$work/child
echo '{"jsonrpc": "2.0", "id": 0, "error": "no"}'
wait
SHELL
chmod +x cache/servers/*/bin/serve

run 1 "catalogues are fetched" fetch.py --data data --cache cache --renew stones,letters,dead,mute
prints "^2 catalogues in .*cache, 2 left out$"
says "^dead: left out: the server"
says "^mute: left out: initialize was refused"
child_runs() { grep -q '^State:.[RSD]' "/proc/$(cat child)/status" 2>/dev/null; }
for _ in $(seq 100); do child_runs && sleep 0.1; done # a kill may take effect later
if child_runs; then fail "what the server started still runs"; fi
same "a server's tools of all pages, sorted" "a b" \
    "$("$python" -c 'import json; print(*(tool["name"] for tool in json.load(open("cache/catalogues/letters.json"))["tools"]))')"
mv cache/packages cache/servers/letters-1 .
run 1 "what is in the cache needs no network" fetch.py --data data --cache cache
prints "^2 catalogues in .*cache, 2 left out$"

# 65 requests need tools: all are found except the five typos, including both tools of requests that need two.
run 0 "dev is measured" real.py "$WHICHTOOL" --data data --cache cache --split dev --model "" --json
same "tools and catalogues" "9 2" "$(json_of '"%d %d" % (d["tools"], d["catalogues"])')"
same "requests left out" 0 "$(json_of 'd["splits"]["dev"]["left out"]')"
row() { json_of "\" \".join(\"%.3f\" % d[\"splits\"][\"dev\"][\"rows\"][\"$1\"][c] for c in (\"top 1\", \"top 5\", \"any in 5\"))"; }
same "found at all" "75 0.933 0.933 0.933" "$(json_of 'd["splits"]["dev"]["rows"]["needs tools"]["requests"]') $(row "needs tools")"
same "found of several" "1.000 1.000 1.000" "$(row several)"
same "found of typos" "0.000 0.000 0.000" "$(row typos)"
"$python" -c '
import json
report = json.load(open("out"))
figures = report["splits"]["dev"]["requests"]
right = [request for request in figures if figures[request][0]]
wrong = [request for request in figures if figures[request][0] is False]
figures[right[0]][0] = figures[right[1]][1] = False
figures[wrong[0]][0] = True
json.dump(report, open("earlier.json", "w"))'
run 0 "two runs are compared" real.py "$WHICHTOOL" --data data --cache cache --split dev --model "" --against earlier.json
prints "^\| needs tools, changed \| 75 \| \+1 -1 \| \+1 -0 \| \+0 -0 \|"
prints "^\| needs none, changed \| 10 \|  \|  \|  \|  \|  \| \+0 -0 \|  \|$"
run 0 "dialogues are measured" dialogues.py "$WHICHTOOL" --data data --cache cache --split dev --model ""
prints "^\| follow-up: last turn alone \| 15 \| 100.0 \| 100.0 \| 100.0 \|"
prints "^\| follow-up: last three turns joined \| 15 \| [0-9.]+ \| 100.0 \| 100.0 \|"
prints "^\| follow-up: conversation \| 15 \| [0-9.]+ \| 100.0 \| 100.0 \|"
run 0 "dialogues of the catalogue that is missing are left out" dialogues.py "$WHICHTOOL" --data data --cache cache --split test --model "" --json
same "turns left out" 15 "$(json_of 'd["test"]["left out"]')"
run 2 "test is not looked at turn by turn" dialogues.py "$WHICHTOOL" --data data --cache cache --split test --failures
run 0 "test is measured without the catalogue that is missing" real.py "$WHICHTOOL" --data data --cache cache --split test --model ""
prints "^test, 75 requests left out$"
prints "^9 tools of 2 catalogues, 2 missing; find by hybrid$"
run 2 "test is not looked at request by request" real.py "$WHICHTOOL" --data data --cache cache --split test --failures
says "of test only the figures are looked at"

mv letters-1 cache/servers
echo tampered >>cache/catalogues/letters.json
run 1 "a damaged catalogue is fetched anew" fetch.py --data data --cache cache
prints "^2 catalogues in .*cache, 2 left out$"
rm cache/catalogues/letters.json
sed -i 's/Writes the letter/Erases the letter/' cache/servers/letters-1/bin/serve
run 1 "a catalogue of another hash is not taken" fetch.py --data data --cache cache
says "^letters: left out: SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}$"

complains() { # NAME PYTHON-STATEMENT about the request r, PATTERN
    rm -rf bad
    cp -r data bad
    "$python" -c '
import json, sys
lines = open("bad/dev.jsonl", encoding="utf-8").read().splitlines()
r = json.loads(lines[0])
exec(sys.argv[1])
lines[0] = json.dumps(r)
open("bad/dev.jsonl", "w", encoding="utf-8").writelines(line + "\n" for line in lines)' "$2"
    run 1 "$1" check.py --data bad
    prints "$3"
}
complains_of_dialogue() { # NAME PYTHON-STATEMENT about the dialogue r, PATTERN
    rm -rf bad
    cp -r data bad
    "$python" -c '
import json, sys
lines = open("bad/dialogues-dev.jsonl", encoding="utf-8").read().splitlines()
r = json.loads(lines[0])
exec(sys.argv[1])
lines[0] = json.dumps(r)
open("bad/dialogues-dev.jsonl", "w", encoding="utf-8").writelines(line + "\n" for line in lines)' "$2"
    run 1 "$1" check.py --data bad
    prints "$3"
}
complains_of_dialogue "a dialogue of two turns" 'del r["messages"][2:]' "dev-d00: has 2 turns, not 3 to 6"
complains_of_dialogue "a dialogue that ends with the agent" 'r["messages"].append({"role": "assistant", "content": "ok"})' \
    "does not end with a turn of the user"
complains_of_dialogue "two turns of the user" 'r["messages"][1]["role"] = "user"' "turn 2 is not the assistant's"
complains_of_dialogue "a turn without needs" 'del r["messages"][2]["needs"]' "turn 3 has needs or calls that it should not"
complains_of_dialogue "an empty need" 'r["messages"][2]["needs"] = [[]]' "turn 3 has an empty need"
complains_of_dialogue "services of a dialogue that are not" 'r["services"] = []' "says that its services are"
complains_of_dialogue "a dialogue's id twice" 'r["id"] = "dev-d01"' "dev: two dialogues have the same id"
complains "a service of the other split" 'r["needs"] = [["letters/a"]]; r["services"] = ["letters"]' "needs letters, which is of split test"
complains "a kind that is none" 'r["kind"] = "riddle"' "is of the kind riddle"
complains "an id twice" 'r["id"] = "dev-002"' "dev-002: its id or its text stands twice"
complains "a text twice" 'r["text"] = json.loads(lines[1])["text"].upper()' "its id or its text stands twice"
complains "no need" 'r["needs"] = []; r["services"] = []' "is plain, but has 0 needs"
complains "a need for small talk" 'r["kind"] = "small-talk"' "is small-talk, but has 1 needs"
complains "one need where several are said" 'r["kind"] = "several"' "is several, but has 1 needs"
complains "services that are not those of the tools" 'r["services"] = []' "says that its services are"
complains "too few words of a long one" 'r["kind"] = "long"' "is long, but has 2 words"
complains "another language" 'r["kind"] = "german"' "its language is en"
complains "another field" 'r["note"] = ""' "has the fields"
complains "too few of a kind" 'r["kind"] = "code"' "4 requests of the kind plain"
finish
