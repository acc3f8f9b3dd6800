#!/bin/bash
# Invisible characters are escaped in all printed JSON, which remains equivalent, and stored texts are unchanged.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
"$python" "$here/tiny_model.py" "$work/models/tiny"
unset OPENAI_BASE_URL OPENAI_API_KEY
export PYTHONUTF8=1

# unseen.py: one character of each kind, in one word.
cat >unseen.py <<'PYTHON'
import unicodedata
each = [0x7f, 0x80, 0x85, 0x9b, 0x9d, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029,
        0x202a, 0x202d, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x3164, 0xfe0f, 0xfeff, 0xfff9, 0xfffb, 0xe0001,
        0xe0041, 0xe007f, 0xe0100]
word = "".join(map(chr, each))
kept = "".join(" " if unicodedata.category(c) == "Cc" else c for c in word)  # for names and descriptions
def shows(text):
    """Nothing but what is seen, and line ends."""
    return not any((unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n") or ord(c) in each for c in text)
PYTHON
word=$("$python" -c 'from unseen import word; print(word, end="")')
kept=$("$python" -c 'from unseen import kept; print(kept, end="")')
"$python" - <<'PYTHON'
import json
from unseen import kept, word
with open("tools.json", "w", newline="") as out:
    json.dump([{"name": "zebra", "title": "t" + word, "description": "zebra crossing" + kept, "input_schema":
        {"type": "object", "properties": {"stripes": {"type": "string", "description": word, "enum": [word]}, word: {}}}}],
        out, ensure_ascii=False)
with open("usages.jsonl", "w", newline="") as out:
    print(json.dumps({"request": "cross" + word, "tools": ["p" + kept + "/zebra"]}, ensure_ascii=False), file=out)
PYTHON
printf '{"name": "horse"}\n{"name": "mule", "provider": "%s", "extra"}\n' "$word" >broken.jsonl

shown() { # NAME, EXPRESSION over d and l as in json_of, word and texts (all strings of out): must be true
    "$python" - "$2" <<'PYTHON' || fail "$1"
import json, sys
from unseen import kept, shows, word
text = open("out", newline="").read()
assert shows(text), "a character that nobody sees"
try: d = json.loads(text)
except ValueError: d = None
l = [d] if d is not None else [json.loads(line) for line in text.split("\n") if line]
def strings(value):
    if isinstance(value, str): yield value
    elif isinstance(value, dict): yield from (s for kv in value.items() for part in kv for s in strings(part))
    elif isinstance(value, list): yield from (s for part in value for s in strings(part))
texts = list(strings(l))
assert eval(sys.argv[1]), texts
PYTHON
}
printed() { # NAME EXPRESSION ARGUMENT...
    local name=$1 expression=$2
    shift 2
    expect 0 "$name" "$@"
    shown "$name" "$expression"
}

printed "an import" 'd["added"] == 1' add --json --provider "p$kept" --model tiny tools.json
printed "usages" 'd["added"] == 1' usage add --json --model tiny usages.jsonl
printed "a definition" 'word in "".join(texts)' show --json zebra
for verb in "list" "list --providers" "find zebra" "find --explain zebra" "find --format json zebra" \
    "pick --abstain 0 zebra" "pick --abstain 0 --explain zebra" "usage list" "usage export" "model list"; do
    # shellcheck disable=SC2086
    printed "$verb --json" 'True' $verb --json
done
printed "a tool" '"zebra crossing" + kept == d["description"] and word in d["schema"]["properties"]' show --json zebra
printed "its schema" 'd["properties"]["stripes"]["enum"] == [word]' show --schema zebra
printed "exported usage" 'd["request"] in ("cross" + word, "cross" + kept) and d["tools"] == ["p" + kept + "/zebra"]' usage export
printed "listed usage" 'd["request"].startswith("cross")' usage list --json
printed "a request" 'd["request"] == "zebra" + word' find --format json "zebra$word"
for form in openai openai-responses anthropic gemini mcp anthropic-inline openai-search; do
    for how in "show zebra" "find zebra" "show zebra --json" "find zebra --json" "pick --abstain 0 zebra"; do
        # shellcheck disable=SC2086
        printed "$how as $form" 'any(("zebra crossing" + kept).startswith(t) and kept in t for t in texts) and word in texts' \
            $how --format $form
    done
done
printed "a report of what was skipped" 'd["skipped"] == 1' add --json --model tiny broken.jsonl

# Evaluation: names of sets, recipes and trained models are untrusted too.
mkdir -p data/qrels
"$python" - <<'PYTHON'
import json
from unseen import word
json.dump({"_id": "t" + word, "title": "zebra", "text": "zebra" + word}, open("data/corpus.jsonl", "w"), ensure_ascii=False)
json.dump({"_id": "q", "text": "zebra" + word}, open("data/queries.jsonl", "w", newline=""), ensure_ascii=False)
print("query-id\tcorpus-id\tscore\nq\tt" + word + "\t1", file=open("data/qrels/test.tsv", "w"))
PYTHON
mv data "data$("$python" -c 'print("\u202e", end="")')"
printed "a measurement" '"data\u202e" in texts' eval data* --recipe bm25 --json --cache cache

# Stored texts are unchanged.
"$python" - <<'PYTHON' || fail "the stored definition is another"
import json, subprocess, os
shown = json.loads(subprocess.run([os.environ["WHICHTOOL"], "show", "--definition", "zebra"], capture_output=True).stdout)
assert shown == json.load(open("tools.json", newline=""))[0]
PYTHON
"$WHICHTOOL" show --definition zebra >definition
same "byte for byte" "$(sha256sum <definition)" "$("$python" -c '
import sys
sys.stdout.buffer.write(open("tools.json", "rb").read()[1:-1])' | sha256sum)"
same "and its hash" "$("$WHICHTOOL" show --json zebra | "$python" -c 'import json, sys; print(json.load(sys.stdin)["sha256"])')" \
    "$(sha256sum <definition | cut -d" " -f1)"
finish
