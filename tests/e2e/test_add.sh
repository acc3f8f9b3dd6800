#!/bin/bash
# Imports: formats, standard input, reports, bad sources, --sync and --strict.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
catalogue

expect 0 "an MCP list" add --model gone --provider weather weather.json
prints "^weather.json \(mcp\): 2 added, 0 updated, 0 unchanged, 0 removed, 0 skipped; 0 vectors; "
says "no vectors were made: the model gone .*model pull gone"
expect 0 "the same again" add --provider weather weather.json
prints "0 added, 0 updated, 2 unchanged"
expect 0 "standard input" add --provider money - <money.json
prints "^standard input \(openai\): 2 added"
expect 0 "two sources, as JSON" add --json tables.json money.json
json_lines
same "a line a source, in the order of their paths" "['money.json', 'tables.json']" "$(json_of '[r["source"] for r in l]')"
same "counts in JSON: money is there already" "[0, 2]" "$(json_of '[r["added"] for r in l]')"
sed -i 's/ten days/eleven days/' weather.json
expect 0 "a changed tool" add --provider weather weather.json
prints "0 added, 1 updated, 1 unchanged"
"$python" -c '
import json
d = json.load(open("weather.json")); d["tools"].pop(); json.dump(d, open("weather.json", "w"))'
expect 0 "sync removes what is gone" add --sync --provider weather weather.json
prints "1 removed"
expect 1 "what was removed is gone" show weather/get_tides

cat >bad.json <<'JSON'
{"tools": [
  {"name": "fine", "description": "Does a fine thing"},
  {"description": "has no name"},
  {"name": "also_fine", "description": "Does another"}
]}
JSON
expect 0 "a bad tool is skipped" add bad.json
prints "2 added, .* 1 skipped"
says "^bad.json:3: /tools/1: "
expect 0 "issues as JSON" add --json bad.json
same "place of the issue" "('bad.json', 3, '/tools/1')" \
    "$(json_of '(lambda i: (i["file"], i["line"], i["pointer"]))(d["issues"][0])')"
! grep -q -e --strict err || fail "--strict is named where little was skipped"
sed 's/"also_fine"/7/' bad.json >worse.json
expect 0 "more bad tools than good ones" add worse.json
says "^More items were skipped than imported; --strict refuses such a source.$"
sed 's/"fine"/"strictly_fine"/' bad.json >strict.json
expect 3 "a bad tool fails a strict import" add --strict strict.json
says "strict.json"
silent out
expect 1 "none of its tools were imported" show strictly_fine

"$python" -c '
import json
print(json.dumps({"tools": [{"description": str(i)} for i in range(50)]}, indent=1))' >many.json
expect 3 "a source without one good tool is bad input" add many.json
prints "50 skipped"
same "twenty issues are shown" 20 "$(grep -c '^many.json:' err)"
says "and 30 more; --json lists them all"

cat >bikes.yaml <<'YAML'
openapi: 3.0.3
info: {title: Bikes}
paths:
  /bikes:
    get: {operationId: searchBikes}
    post:
      operationId: addBike
      summary: Adds a bike.
YAML
expect 0 "an OpenAPI document" add bikes.yaml
sed 's/^paths/path/' bikes.yaml >path.yaml
expect 3 "one without paths" add path.yaml
says '^whichtool: path.yaml:4: this OpenAPI document has no "paths"; is "path" a typo of it[?]$'
sed 's/^      summary/     summary/' bikes.yaml >half.yaml && mv half.yaml bikes.yaml
expect 0 "that is half read" add --sync bikes.yaml
prints "0 updated, 1 unchanged, 0 removed, 2 skipped"
says "^bikes.yaml:8: not valid YAML"
says "^bikes.yaml:7: /paths/~1bikes/post: reading stopped inside this tool, so it was skipped$"
says "^The source was not read to the end; --strict refuses such a source.$"
expect 0 "what is stored of the other half stays" show bikes/addBike
prints "Adds a bike."

printf '{"tools": [' >cut.json
expect 3 "a source that is cut off" add cut.json
printf '' >empty.json
expect 3 "an empty file" add empty.json
printf '\0\1\2\377' >noise.bin
expect 3 "bytes that are no text" add noise.bin
expect 3 "a file that is not there" add nowhere.json
says "cannot read nowhere.json: No such file"
expect 3 "a source that is not there does not keep the others out" add nowhere.json tables.json
prints "^tables.json"
expect 2 "a format that is not known" add --format xml tables.json
says "--format is one of: mcp openai"
expect 3 "a format that the source does not have" add --format openapi tables.json
expect 3 "empty standard input" add - </dev/null

mkdir folder
cp money.json tables.json folder
expect 0 "a folder" add --provider folder folder
prints "4 added"
expect 0 "quiet" -q add --provider folder folder
silent err
expect 0 "without vectors" add --no-vectors tables.json
finish
