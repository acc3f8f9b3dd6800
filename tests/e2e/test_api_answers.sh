#!/bin/bash
# The answers of the HTTP API have the members that /openapi.json lists, with these types.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
what="answers fit their schemas" checks=$((checks + 1))
"$WHICHTOOL" serve -q --json --listen 127.0.0.1:0 --model whichtool-static-v1 >address 2>log &
server=$!
wait_until says_or_has_ended address $server
"$python" - "$(sed 's/.*"listening":"\([^"]*\)".*/\1/' address)" <<'PYTHON' >out 2>err || fail "$(tail -5 err)"
import json, sys, urllib.request

URL = sys.argv[1]
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list, "null": type(None)}


def ask(method, target, body=None):
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(URL + target, data, method=method)) as answer:
        return json.load(answer)


document = ask("GET", "/openapi.json")
seen = {}


def check(value, schema, place):
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        schema = document["components"]["schemas"][name]
        seen.setdefault(name, set()).update(value)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert not kinds or any(isinstance(value, TYPES[kind]) for kind in kinds), f"{place}: {value!r} is not {kinds}"
    if "properties" in schema:
        lacking = set(schema["required"]) - set(value)
        unknown = set(value) - set(schema["properties"])
        assert not lacking and not unknown, f"{place} lacks {lacking}, and has unlisted {unknown}"
        for key, member in value.items():
            check(member, schema["properties"][key], f"{place}/{key}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(item, schema["items"], f"{place}/{i}")


TOOL = {"name": "rain", "description": "Forecasts rain in a city", "parameters": {"type": "object", "properties": {
    "city": {"type": "string"}}}}
CHOICES = [{"value": "rain"}, {"value": True}]
REQUESTS = [
    ("POST", "/v1/tools", "?provider=sky", [TOOL]),
    ("POST", "/v1/find", "", {"query": "rain in Oslo", "explain": True, "format": "openai"}),
    ("POST", "/v1/find", "", {"query": "rain in Oslo", "max_tokens": 1000, "abstain": 0.05}),
    ("POST", "/v1/pick", "", {"query": "rain in Oslo", "recipe": "bundle"}),
    ("POST", "/v1/pick", "", {"query": "rain in Oslo"}),
    ("POST", "/v1/call", "", {"query": "rain in Oslo", "explain": True, "format": "openai"}),
    ("GET", "/v1/tools", "", None),
    ("GET", "/v1/tools/{id}", "sky/rain", None),
    ("POST", "/v1/embeddings", "", {"input": "a", "model": "default"}),
    ("POST", "/v1/rerank", "", {"query": "a", "documents": ["b"], "return_documents": True}),
    ("POST", "/v2/rerank", "", {"query": "a", "documents": ["b"]}),
    ("POST", "/v1/decisions", "", {"input": "rain", "model": "default", "questions": [
        {"type": "choice", "instructions": "a", "choices": CHOICES}, {"type": "predicate", "instructions": "a"},
        {"type": "score", "instructions": "a", "levels": [{"label": "a"}, {"label": "b"}]}]}),
    ("POST", "/v1/systemone", "", {"state": "rain", "questions": {"a": {"type": "noul", "instructions": "b"}}}),
    ("GET", "/v1/recipes", "", None),
    ("GET", "/v1/status", "", None),
    ("GET", "/health", "", None),
    ("DELETE", "/v1/tools/{id}", "sky/rain", None),
    ("POST", "/v1/tools", "?provider=sky", [TOOL]),
    ("DELETE", "/v1/tools", "?provider=sky", None),
]
asked = set()
for method, path, rest, body in REQUESTS:
    target = path.replace("{id}", "") + rest
    schema = document["paths"][path][method.lower()]["responses"]["200"]["content"]["application/json"]["schema"]
    try:
        answer = ask(method, target, body)
    except urllib.error.HTTPError as error:
        if path == "/v1/pick":  # a recipe that needs training
            continue
        raise AssertionError(f"{method} {target}: {error.read().decode()}") from None
    check(answer, schema, path)
    asked.add((method.lower(), path))
routes = {(method, path) for path, methods in document["paths"].items() for method in methods}
unasked = routes - asked - {("get", "/metrics"), ("get", "/openapi.json"), ("post", "/v1/usage"), ("post", "/v1/usage/segments"), ("get", "/healthz"), ("get", "/readyz")}
assert not unasked, f"no request for {unasked}"
for name, schema in document["components"]["schemas"].items():
    if name != "failure":
        never = set(schema["properties"]) - seen[name] - {"trace", "definition"}
        assert not never, f"{name}: no answer has {never}"
PYTHON
kill $server
await_end $server
finish
