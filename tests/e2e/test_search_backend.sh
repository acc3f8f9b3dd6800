#!/bin/bash
# Answers for clients that defer their tools: formats, loaded definitions, and validation by the clients' own packages.
# WT_PYTHON names a Python with anthropic, openai and pydantic-ai; missing packages are reported.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
export PYTHONDONTWRITEBYTECODE=1
add_catalogue
echo '{"name": "convert", "description": "Convert a currency without a provider"}' >alone.jsonl
expect 0 "a tool without a provider" add alone.jsonl
request=(convert currency and book a table)

expect 0 "definitions" find --format anthropic -k 4 "${request[@]}"
plain=$(json_of 'json.dumps(d)')
names=$(json_of '[t["name"] for t in d]')
expect 0 "references" find --format anthropic-reference -k 4 "${request[@]}"
same "references" "$names" "$(json_of '[t["tool_name"] for t in d if list(t) == ["type", "tool_name"] and t["type"] == "tool_reference"]')"
expect 0 "definitions inline" find --format anthropic-inline -k 4 "${request[@]}"
same "definitions inline" "$plain" "$(json_of 'json.dumps([t["tool"]["definition"] for t in d if t["type"] == "tool_addition"])')"
expect 0 "a set" pick --abstain 0 --format anthropic-reference "${request[@]}"
same "a set" True "$(json_of 'len(d) > 0 and all(t["type"] == "tool_reference" for t in d)')"

expect 0 "namespaces" find --format openai-search -k 9 "${request[@]}"
same "providers" "['money', 'tables']" "$(json_of 'sorted(t["name"] for t in d if t["type"] == "namespace" and t["name"] != "weather")')"
same "without a provider" "['convert']" "$(json_of '[t["name"] for t in d if t["type"] == "function"]')"
same "whose they are" True "$(json_of 'all(f["name"].startswith(t["name"] + "__") for t in d for f in t.get("tools", []))')"
for name in $(json_of '" ".join(f["name"] for t in d for f in t.get("tools", [t]))'); do
    expect 0 "$name leads back" show "$name"
done
for format in anthropic-reference anthropic-inline openai-search; do
    expect 0 "$format, one a line" find --json --format "$format" -k 9 "${request[@]}"
    json_lines
    expect 0 "$format of one" show --format "$format" money__convert_currency
    same "$format of one" 1 "$(json_of 'len(d)')"
    expect 1 "no hit, $format" find --model gone --format "$format" qqqxyzzy
    same "no hit, $format" "[]" "$(cat out)"
    expect 2 "no call is of $format" call --format "$format" "${request[@]}"
done

# The budget counts the definitions that the model reads, in any format.
# tokens | format | loaded definitions
while IFS='|' read -r tokens format definitions; do
    expect 0 "$tokens tokens of $definitions" find -k 9 --max-tokens "$tokens" --format "$definitions" "${request[@]}"
    want=$(json_of 'sorted(t["name"] for t in d)') told=$(grep -o "[0-9]* of [0-9]* tools fit in .*" err)
    expect 0 "$tokens tokens of $format" find -k 9 --max-tokens "$tokens" --format "$format" "${request[@]}"
    same "$tokens tokens of $format" "$want" "$(json_of \
        'sorted((f.get("tool_name") or f.get("name") or f["tool"]["definition"]["name"]) for t in d for f in t.get("tools", [t]))')"
    same "what $format left out" "$told" "$(grep -o "[0-9]* of [0-9]* tools fit in .*" err)"
done <<'ROWS'
120|anthropic-reference|anthropic
120|anthropic-inline|anthropic
150|openai-search|openai-responses
9000|openai-search|openai-responses
ROWS

# ---------------------------------------------------------------- the clients' packages
python_has() { "$python" -c "import $1" 2>/dev/null; }
bench=$source_root/bench/search_backend.py
if ! python_has anthropic.types.beta || ! python_has openai.types.responses; then
    skip "the types of anthropic and openai (WT_PYTHON names a Python that has both)"
else
    # The check detects missing, mistyped and unknown members at any place.
    what="wrong answers" checks=$((checks + 1))
    "$python" - "$(dirname "$bench")" >out 2>err <<'PYTHON' || fail "a wrong answer was taken"
import copy, sys
sys.path.insert(0, sys.argv[1])
import search_backend
schema = {"type": "object", "properties": {}}
function = {"type": "function", "name": "a", "parameters": schema, "strict": False, "defer_loading": True}
answers = {
    "anthropic-reference": [{"type": "tool_reference", "tool_name": "a"}],
    "anthropic-inline": [{"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {
        "name": "a", "input_schema": schema}}}],
    "openai-search": [{"type": "namespace", "name": "n", "description": "d", "tools": [function]}, function]}

def objects(value):
    if value is schema:
        return
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(each)

def is_taken(read, answer):
    try:
        return len(list(read(answer))) > 0
    except Exception:
        return False

for form, answer in answers.items():
    read = search_backend.FORMS[form][1]()
    assert is_taken(read, answer), form
    for i, right in enumerate(objects(answer)):
        for key in [*right, "unknown"]:
            for drop in (True, False) if key in right else (False,):
                wrong = copy.deepcopy(answer, {id(schema): schema})
                object = list(objects(wrong))[i]
                object[key] = 7
                if drop:
                    del object[key]
                assert not is_taken(read, wrong), (form, key, drop, wrong)
PYTHON
    library=$WT_TEST_BUILD/libwhichtool.so
    if [ ! -e "$library" ]; then
        skip "the samples' answers (no libwhichtool.so here)"
    elif grep -q '^WT_SANITIZE:STRING=.' "$WT_TEST_BUILD/CMakeCache.txt" 2>/dev/null; then
        skip "the samples' answers (a sanitizer's runtime must come first in every process)"
    else
        what="every tool of the samples" checks=$((checks + 1))
        "$python" "$bench" --whichtool "$WHICHTOOL" --library "$library" "$source_root/samples/catalogue" >out 2>err ||
            fail "a tool did not pass"
        prints "^\| catalogue \| ([0-9]+) \| \1 \| \1 \| \1 \|$"
    fi
fi
if ! "$python" -c "from pydantic_ai.capabilities import ToolSearch" 2>/dev/null; then
    skip "a loop of Pydantic AI (WT_PYTHON names a Python that has pydantic-ai)"
else
    what="a loop of Pydantic AI" checks=$((checks + 1))
    "$python" "$source_root/examples/pydantic_ai_search.py" >out 2>err || fail "the example ended with an error"
    same "hidden before the search" "the model sees: search_tools" "$(head -1 out)"
    what="found, called and answered" && prints "^The forecast: rain in Ghent\.$"
fi
finish
