#!/bin/bash
# Common inputs are accepted: Swagger 2.0, lists of several servers. A language model is never asked for credentials.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python

cat >chat.json <<'JSON'
{"swagger": "2.0", "info": {"title": "Chat"}, "host": "chat.example.com", "basePath": "/v1",
 "securityDefinitions": {"app": {"type": "apiKey", "in": "query", "name": "app"}},
 "paths": {"/say": {"post": {"operationId": "say", "summary": "Says something to a room", "parameters": [
  {"name": "app", "in": "query", "type": "string", "required": true},
  {"name": "room", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "csv"},
  {"name": "what", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Words"}},
  {"name": "token", "in": "header", "type": "string", "required": true}]}}},
 "definitions": {"Words": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}}}
JSON
expect 0 "Swagger 2.0" add chat.json
prints "^chat.json \(openapi\): 1 added, .* 0 skipped"
expect 0 "arguments without credentials" show chat/say
prints "room \(array, optional\)"
prints "text \(string, required\)"
lacks out "app \(array|token \(string"
prints "^left out +app, token \(credentials"
expect 0 "nor in a definition for an API" find -k 1 -r bm25 --format openai "say something"
same "what is left" "['room', 'text'] ['text']" "$("$python" -c '
import json
p = json.load(open("out"))[0]["function"]["parameters"]
print(sorted(p["properties"]), p["required"])')"
expect 0 "the definition is the source's" show --definition chat/say
prints '"name": "token", "in": "header"'
cat >walks.jsonl <<'JSON'
{"name": "walks", "parameters": {"required": [{"name": "place"}, {"name": "api_key"}], "optional": [{"name": "day"}]}}
{"type": "function", "function": {"name": "rides", "parameters": {"type": "object", "properties": {"apiKey": {}}}}}
JSON
expect 0 "arguments as lists and within functions" add walks.jsonl
expect 0 "what a list has" show walks
prints "^left out +api_key \("
expect 0 "what a function has" show rides
prints "^left out +apiKey \("

cat >servers.json <<'JSON'
{"git": [{"name": "log", "inputSchema": {"type": "object"}}],
 "mail": {"tools": [{"name": "log", "inputSchema": {"type": "object"}}]}}
JSON
expect 0 "lists of several servers" add servers.json
prints "2 added"
expect 0 "each under its server" show git/log
expect 0 "and the other" show mail/log
lacks out "left out"
echo '{"mcpServers": {"git": {"command": "nothing"}}}' >client.json
expect 3 "a client's configuration" add client.json
says "client.json is a client's configuration.*whichtool add --mcp client.json"
finish
