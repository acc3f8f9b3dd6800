# shellcheck shell=bash
# lib.sh: shared by the end-to-end scripts. Each script runs the built command ($WHICHTOOL) as a user would, in a folder
# of its own, with its own store, caches and models.
#
#   . "$(dirname "$0")/lib.sh"
#   expect 0 "a file is imported" add tools.json          runs the command; its exit code must be 0
#   prints "2 added"                                      its stdout (or stderr, with `says`) must match this
#   finish
set -u
if [ -z "${WHICHTOOL:-}" ] || [ ! -x "${WHICHTOOL:-}" ]; then
    echo "skipped: WHICHTOOL does not name the built command"
    exit 77
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # scripts use it
source_root=${WT_TEST_SOURCE:-$(cd "$here/../.." && pwd)}
python=${WT_PYTHON:-python3}
work=$(mktemp -d "${TMPDIR:-/tmp}/whichtool-e2e-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir home models
export HOME=$work/home WHICHTOOL_STORE=$work/tools.wt WHICHTOOL_MODELS=$work/models TERM=dumb LC_ALL=C.UTF-8
unset XDG_DATA_HOME XDG_CACHE_HOME COLUMNS NO_COLOR
failures=0 checks=0 what="nothing yet"

fail() { # SENTENCE
    failures=$((failures + 1))
    printf 'FAIL: %s: %s\n' "$what" "$1"
    printf -- '--- stdout\n%s\n--- stderr\n%s\n---\n' "$(head -c 2000 out 2>/dev/null)" "$(head -c 2000 err 2>/dev/null)"
}
expect() { # CODE NAME ARGUMENT...
    local want=$1 code
    what=$2
    shift 2
    checks=$((checks + 1))
    "$WHICHTOOL" "$@" >out 2>err
    code=$?
    [ "$code" = "$want" ] || fail "exit $code, wanted $want: whichtool $*"
}
holds() { # FILE PATTERN
    grep -qE -- "$2" "$1" || fail "no \"$2\" on std$1"
}
prints() { holds out "$1"; }
says() { holds err "$1"; }
lacks() { # FILE PATTERN
    if grep -qE -- "$2" "$1"; then fail "unwanted \"$2\" on std$1"; fi
}
silent() { [ ! -s "$1" ] || fail "std$1 is not empty"; }
same() { # NAME WANT HAVE
    what=$1
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "wanted \"$2\", have \"$3\""
}
wait_until() { # COMMAND...: runs it until it succeeds, for two minutes at most; then shows logs and processes
    local until=$((SECONDS + 120))
    while ! "$@"; do
        if [ $SECONDS -ge $until ]; then
            fail "waited two minutes for: $*"
            tail -n 20 answers listening log 2>/dev/null
            ps -ef --forest 2>/dev/null | tail -n 60
            return 1
        fi
        sleep 0.05
    done
}
has_ended() { # PID: a zombie has ended
    local state
    state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
    [ -z "$state" ] || [ "${state:0:1}" = Z ]
}
await_end() { # PID: waits for the end of a child and returns its status; kills it after two minutes
    wait_until has_ended "$1" || kill -9 "$1"
    wait "$1" 2>/dev/null
}
says_or_has_ended() { # FILE PID
    [ -s "$1" ] || has_ended "$2"
}
have() { command -v "$1" >/dev/null 2>&1; }
skip() { echo "skipped: $1"; }

json_lines() { # every line of out is one JSON object
    "$python" -c '
import json, sys
for line in sys.stdin:
    assert isinstance(json.loads(line), dict), line' <out 2>err || fail "not one JSON object a line"
}
json_of() { # EXPRESSION over d, the JSON of out, or l, its lines
    "$python" -c '
import json, sys
text = sys.stdin.read()
try: d = json.loads(text)
except ValueError: d = None
l = [json.loads(line) for line in text.splitlines()] if d is None or text.count("\n") == 1 else []
print(eval("(" + sys.argv[1] + ")"))' "$1" <out
}
# Starts generate_server.py, which answers by rules: $server is its process, `at` the options to use it. The script must
# stop it.
start_server() {
    rm -f port asked
    "$python" "$here/generate_server.py" &
    server=$!
    trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
    for _ in $(seq 100); do [ -f port ] && break; sleep 0.1; done
    [ -f port ] || { echo "skipped: no server on this machine"; exit 77; }
    # shellcheck disable=SC2034 # scripts use it
    at=(--chat-url "http://127.0.0.1:$(cat port)/v1" --chat-model rules)
}
# Checks that out has the members and types that docs/json.md lists for `generate`.
generate_members() {
    "$python" - "$source_root/docs/json.md" <<'PYTHON'
import json, re, sys
table = open(sys.argv[1]).read().split("## What generate prints")[1].split("\n## ")[0]
kinds = dict(re.findall(r"\| `(\w+)` \| ([^|]+?) \|", table))
types = {"string": str, "number": (int, float), "object": dict, "null": type(None)}
d = json.load(open("out"))
print(set(d) == set(kinds) and all(any(isinstance(d[k], types[t]) for t in kinds[k].split(" or ")) for k in d))
PYTHON
}
need_python() {
    have "$python" || { skip "no $python to read JSON with"; exit 77; }
}
have_terminal() { # true if a pseudo-terminal can be opened; reports a skip otherwise, as in a chroot without /dev/pts
    have script && script -qec true /dev/null >/dev/null 2>&1 </dev/null && return
    skip "$1: no pseudo-terminal can be opened here"
    return 1
}
on_terminal() { # COMMAND-LINE: runs it on a terminal of its own; its output goes to out; returns its exit code
    script -qec "$1" /dev/null >out 2>err </dev/null
}
finish() {
    if [ "$failures" -gt 0 ]; then
        echo "$failures of $checks checks failed"
        exit 1
    fi
    echo "$checks checks passed"
}

# Writes tools.jsonl, forty tools, and usages.jsonl, 400 requests with words that the descriptions lack. Each request needs
# one tool; requests for the tools 0, EVERY, 2 * EVERY, ... also need the next one (EVERY 0: no request does).
forty_tools() { # EVERY
    "$python" - "$1" <<'PYTHON'
import json, random, sys
draw = random.Random(2)
every = int(sys.argv[1])
known = "weather forecast for city rain wind get tides water harbour convert currency money list invoices customer".split()
said = "book table restaurant cancel booking another from one the to".split()
with open("tools.jsonl", "w") as tools, open("usages.jsonl", "w") as usages:
    for i in range(40):
        print(json.dumps({"name": f"tool_{i}", "description": f"{known[i % 16]} {known[i * 7 % 16]}"}), file=tools)
    for i in range(400):
        tool = i % 40
        used = [f"tool_{tool}"] + ([f"tool_{(tool + 1) % 40}"] if every and tool % every == 0 else [])
        words = [said[tool % 10], said[tool // 4], draw.choice(known)]
        print(json.dumps({"request": " ".join(words) + f" {i}", "tools": used}), file=usages)
PYTHON
}

# Writes data/: six tools, and requests that need NEEDED of them, dealt to four parts in turns of TURN requests.
six_tools() { # REQUESTS NEEDED TURN SPLIT=PART,PART...
    mkdir -p data/qrels
    "$python" - "$@" <<'PYTHON'
import json, sys
count, needed, turn = map(int, sys.argv[1:4])
names = ["forecast", "tides", "currency", "invoices", "table", "cancel"]
words = ["umbrella", "ship", "dollar", "debt", "dinner", "sorry"]
def text(i):
    return " and ".join(words[(i + t) % 6] for t in range(needed)) + (" please" if needed == 1 else "") + f" {i}"
with open("data/corpus.jsonl", "w") as f:
    f.writelines(json.dumps({"_id": f"t{i}", "title": n, "text": n}) + "\n" for i, n in enumerate(names))
with open("data/queries.jsonl", "w") as f:
    f.writelines(json.dumps({"_id": f"q{i}", "text": text(i)}) + "\n" for i in range(count))
for split, parts in (split.split("=") for split in sys.argv[4:]):
    with open(f"data/qrels/{split}.tsv", "w") as f:
        f.write("query-id\tcorpus-id\tscore\n")
        f.writelines(f"q{i}\tt{(i + t) % 6}\t1\n" for i in range(count) if str(i // turn % 4) in parts.split(",")
                     for t in range(needed))
PYTHON
}

# Writes a small catalogue of six tools of three providers.
catalogue() {
    cat >weather.json <<'JSON'
{"tools": [
  {"name": "get_forecast", "description": "Weather forecast for a city: rain, wind and temperature, up to ten days",
   "inputSchema": {"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city"},
     "days": {"type": "integer", "minimum": 1, "maximum": 10}}, "required": ["city"]}},
  {"name": "get_tides", "description": "Times of high and low water at a harbour",
   "inputSchema": {"type": "object", "properties": {"harbour": {"type": "string"}}, "required": ["harbour"]}}
]}
JSON
    cat >money.json <<'JSON'
[
  {"type": "function", "function": {"name": "convert_currency",
   "description": "Converts an amount of money from one currency to another at today's rate",
   "parameters": {"type": "object", "properties": {"amount": {"type": "number"}, "from": {"type": "string"},
     "to": {"type": "string"}}, "required": ["amount", "from", "to"]}}},
  {"type": "function", "function": {"name": "list_invoices", "description": "Lists unpaid invoices of a customer",
   "parameters": {"type": "object", "properties": {"customer": {"type": "string"}}}}}
]
JSON
    cat >tables.json <<'JSON'
[
  {"name": "book_table", "description": "Books a table in a restaurant for a number of guests",
   "input_schema": {"type": "object", "properties": {"restaurant": {"type": "string"}, "guests": {"type": "integer"}},
     "required": ["restaurant", "guests"]}},
  {"name": "cancel_booking", "description": "Cancels the booking of a table",
   "input_schema": {"type": "object", "properties": {"booking": {"type": "string"}}, "required": ["booking"]}}
]
JSON
}
add_catalogue() {
    catalogue
    "$WHICHTOOL" -q add --provider weather weather.json >/dev/null || exit 1
    "$WHICHTOOL" -q add --provider money money.json >/dev/null || exit 1
    "$WHICHTOOL" -q add --provider tables tables.json >/dev/null || exit 1
}
