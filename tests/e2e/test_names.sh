#!/bin/bash
# Generates new names for the tools of a Python package's reference, with a server that answers by rules and errs in one
# of seven answers: the catalogue keeps the old names beside the new ones, judgements still apply, and replay works
# without the server.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
unset OPENAI_BASE_URL OPENAI_API_KEY
words=(--model "")
make=(generate names "${words[@]}")

expect 0 "a catalogue" add "${words[@]}" "$source_root/samples/catalogue"
cat >mute.jsonl <<'JSON'
{"name": "mute"}
JSON
expect 0 "a tool without a description" add "${words[@]}" mute.jsonl
expect 2 "no folder" "${make[@]}" --chat-model rules
says "--out FOLDER"
expect 2 "an option of another" "${make[@]}" --out named --usages 3
says "--usages belongs to .generate toolbank."

start_server
expect 0 "new names" "${make[@]}" "${at[@]}" --out named --record answers.jsonl --json
json_lines
same "members as documented" "True" "$(generate_members)"
same "all but the mute one" "167 168" "$(json_of 'str(d["rows"]) + " " + str(d["tools"])')"
same "what was no name is counted" "True" "$(json_of 'd["report"]["stages"][0]["refused"]["marks"] > 5 and d["report"]["kept"] == 1')"
same "told" "True" "$(json_of '"1 of 168 tools" in d["notice"]')"
names() { # FILE: checks its names
    "$python" - "$1" <<'PYTHON'
import json, re, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
old = [row["metadata"].get("original", row["title"]) for row in rows]
key = lambda name: re.sub(r"[^a-z0-9]", "", name.lower())
new = [row["title"] for row in rows if "original" in row["metadata"]]
print(len(rows), all(re.fullmatch("[A-Za-z][A-Za-z0-9_]{2,63}", name) for name in new),
      len({key(name) for name in new}) == len(new), {key(name) for name in new}.isdisjoint(map(key, old)),
      all(row["_id"].endswith(name) for row, name in zip(rows, old)))
PYTHON
}
same "unique new names, no old ones, unchanged ids" "168 True True True True" "$(names named/corpus.jsonl)"
kill $server
wait $server 2>/dev/null

expect 0 "its answers are enough" "${make[@]}" --chat-model rules --replay answers.jsonl --out again --json
same "no server" 0 "$(json_of 'd["requests"]')"
cmp -s named/corpus.jsonl again/corpus.jsonl || fail "other names than the server's"
expect 0 "another catalogue" --store "$work/other.wt" add "${words[@]}" mute.jsonl
expect 2 "in that folder" --store "$work/other.wt" "${make[@]}" --chat-model rules --replay answers.jsonl --out named
says "begun with other options"
expect 0 "a store of its own" --store "$work/renamed.wt" add "${words[@]}" named/corpus.jsonl
prints "168 added"
expect 0 "is searched" --store "$work/renamed.wt" find --recipe bm25 -k 1 "file a bug report in an issue tracker"
prints "branchwork/files_bug_report"
mkdir -p set/qrels
cp named/corpus.jsonl set/
echo '{"_id": "q", "text": "file a bug report in an issue tracker"}' >set/queries.jsonl
printf 'query-id\tcorpus-id\tscore\nq\tbranchwork/create_issue\t1\n' >set/qrels/test.tsv
expect 0 "judgements of the old ids hold" eval set --recipe bm25 "${words[@]}" --json
same "found" 1 "$(json_of 'round(d["metrics"]["recall@1"])')"
finish
