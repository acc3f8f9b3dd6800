#!/bin/bash
# tools/join-requests: the data sets of a small catalogue, rejected rows, and the shipped requests.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
join=$source_root/tools/join-requests

mkdir -p requests/{single,multi,plan,followup,none} cats/{mcp-texts,openapi-twilio} package/api
printf 'number\tcatalogue\tprovider\tid\n' >requests/tools.tsv
# DEV becomes a provider of the dev split; the others are in train.
printf '1\tmcp\tp0\tp0/a\n2\tmcp\tp0\tp0/b\n3\topenapi-twilio\tp0\tp0/c\n4\tmcp\tDEV\tDEV/d\n5\topenapi\tT\tapi/t.json#get /x\n' |
    sed "s/DEV/$("$python" -c '
import hashlib
print(next(n for n in map("p{}".format, range(99)) if int(hashlib.sha1(n.encode()).hexdigest(), 16) % 10 == 0))')/g" \
        >>requests/tools.tsv
printf '1\ts1\tsit1\tplain1\tind1\n4\ts4\tsit4\tplain4\tind4\tfremd4\n5\ts5\tsit5\tplain5\tind5\t\n' >requests/single/000.tsv
printf '1,2\tboth\n1,3\tacross\n1,4\tmixed\n' >requests/multi/001.tsv
printf '1,2\tone thing. then another\n' >requests/plan/001.tsv
printf '2\t1\tturn one\tits answer\tand that?\n' >requests/followup/001.tsv
printf 'near\tp0\tnot this\ntalk\t-\thello\n' >requests/none/001.tsv
printf '1 2\n' >requests/twins.tsv
for id in p0/a p0/b p1/d; do echo "{\"_id\": \"$id\", \"title\": \"t\", \"text\": \"x\"}"; done >cats/mcp-texts/corpus.jsonl
cut -f4 requests/tools.tsv | sed -n 5p | xargs -I{} echo '{"_id": "{}", "title": "d", "text": "x"}' >>cats/mcp-texts/corpus.jsonl
echo '{"_id": "p0/c", "title": "c", "text": "x"}' >cats/openapi-twilio/corpus.jsonl
cat >package/api/t.json <<'JSON'
{"info": {"title": "T"}, "paths": {"/x": {"get": {"operationId": "getX", "summary": "Get <b>x</b>", "description": "An x &amp; y.",
 "parameters": [{"name": "id"}]}}}}
JSON

run_join() { # CODE NAME ARGUMENT...
    local want=$1
    what=$2
    shift 2
    checks=$((checks + 1))
    "$python" "$join" "$@" >out 2>err
    [ $? = "$want" ] || fail "wanted exit $want: join-requests $*"
}
run_join 0 "a join without OpenAPI documents" cats joined --requests requests
prints "^mcp: 4 tools, 12 requests$"
prints "^left out: 1 requests that need tools of both splits$"
prints "^left out: 4 requests that need a tool that the catalogues lack$"
same "a twin is right as well" "p0/a p0/b" "$(awk '$1 == "r1-short" { print $2 }' joined/mcp/qrels/train.tsv | xargs)"
same "a dev provider's requests" 5 "$(grep -c '^r4-' joined/mcp/qrels/dev.tsv)"
same "needs across catalogues" "mcp:p0/a mcp:p0/b openapi-twilio:p0/c" \
    "$(awk '$1 == "multi001.2-multi" { print $2 }' joined/all/qrels/train.tsv | xargs)"
same "the turns of a conversation are joined" '"turn one\nits answer\nand that?"' \
    "$(sed -n 's/.*"f001.1-followup", "text": \(".*"\), "metadata".*/\1/p' joined/mcp/queries.jsonl)"
same "requests that no tool serves" 2 "$(wc -l <joined/all/none/queries.jsonl | xargs)"
run_join 0 "a join with OpenAPI documents" cats joined --requests requests --openapi package
same "an operation's text" "Get x. An x & y." "$("$python" -c '
import json
print(json.loads(open("joined/openapi/corpus.jsonl").readline())["text"])')"
expect 0 "a joined set can be measured" eval joined/mcp --split dev --recipe bm25
expect 0 "so can the unserved requests" eval joined/all/none --split train --recipe bm25
run_join 0 "a kind left out" cats joined --requests requests --without foreign
same "no request of this kind" 0 "$(grep -c foreign joined/mcp/queries.jsonl)"
run_join 2 "a kind that does not exist" cats joined --requests requests --without foriegn
says "invalid choice: 'foriegn' \(choose from '?short"
run_join 0 "one of the folds" cats joined --requests requests --folds 0/2
one=$(sed -s 1d joined/openapi-twilio/qrels/train.tsv joined/mcp/qrels/train.tsv | wc -l)
run_join 0 "the other fold" cats joined --requests requests --folds 1/2
same "a provider's train requests are in one fold" 0 \
    $((one * $(sed -s 1d joined/openapi-twilio/qrels/train.tsv joined/mcp/qrels/train.tsv | wc -l)))
same "dev requests are in every fold" 5 "$(grep -c '^r4-' joined/mcp/qrels/dev.tsv)"
run_join 2 "a fold that does not exist" cats joined --requests requests --folds 2/2
says "folds are numbered 0 to 1"
run_join 1 "a folder without catalogues" package joined --requests requests
says "package has none of the folders connectors, mcp-texts, openapi-twilio"
printf '9\tx\ty\tz\tw\n' >requests/single/001.tsv
run_join 1 "a number without a tool" cats joined --requests requests
says "001.tsv:1: 9 is not a list of numbers of tools.tsv"
printf '1\tx\n' >requests/single/001.tsv
run_join 1 "a row with too few columns" cats joined --requests requests
says "001.tsv:1: 2 columns; a row has 5 to 6"

"$python" "$source_root/tools/train-scorer" gone gone gone work >out 2>err && fail "train-scorer accepted a missing folder"
says "gone has none of the folders connectors, mcp-texts, openapi-twilio"
cp "$source_root/tools/train-scorer" train_scorer.py
features=$(sed -n 's/^    ROW(\([a-z0-9_]*\),.*/\1/p' "$source_root/src/retrieve/scorer_features.c")
same "--worth names features that exist" "" "$("$python" - $features <<'END'
import sys, train_scorer
print(*(set(" ".join(train_scorer.GROUPS.values()).split()) - set(sys.argv[1:])))
END
)"

same "the default encoder's lists have cosines of encoders that did not see their requests" \
    "joined whichtool-minilm-v1, joined-0 without-0, joined-1 without-1" "$("$python" - <<'END'
import pathlib, train_scorer
jobs = train_scorer.list_jobs(pathlib.Path("work"), pathlib.Path("sets"), pathlib.Path("encoders"), "m")
pairs = {(folder.parent.name, options[1].parts[1]) for _, folder, split, out, options in jobs
         if split == "train" and out.parent.name == train_scorer.CROSSWISE and folder.name in train_scorer.REQUESTED}
assert len({job[3] for job in jobs}) == len(jobs), "two jobs write one file"
print(", ".join(" ".join(pair) for pair in sorted(pairs)))
END
)"

run_join 0 "the shipped requests" cats shipped
same "requests have no blanks at their ends" "" "$(grep -nE '	 | 	| $|		' "$source_root"/training/requests/*/*.tsv | head -3)"
finish
