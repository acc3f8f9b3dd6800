#!/bin/bash
# Evaluation on a small BEIR folder: its table, JSON line and TREC files, compared with pytrec_eval.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
mkdir -p set/qrels
"$python" - <<'PY'
import json, random
rng = random.Random(3)
words = "rain wind table hotel flight invoice tide currency music photo route parcel recipe lamp".split()
with open("set/corpus.jsonl", "w") as out:
    for i in range(150):
        text = " ".join(rng.choices(words, k=6))
        print(json.dumps({"_id": f"GET /t {i}", "title": f"tool_{i}", "text": text}), file=out)
with open("set/queries.jsonl", "w") as out:
    for i in range(60):
        print(json.dumps({"_id": f"q{i}", "text": " ".join(rng.choices(words, k=3)) + f" {rng.randint(0, 149)}"}), file=out)
with open("set/qrels/test.tsv", "w") as out:
    print("query-id\tcorpus-id\tscore", file=out)
    for i in range(40):
        for t in rng.sample(range(150), rng.randint(1, 20)):
            print(f"q{i}\tGET /t {t}\t{rng.choice([0, 1, 1, 2, 3])}", file=out)
    print("q0\tGET /t 0\t1\nq39\tGET /t 0\t1", file=out)
with open("set/qrels/dev.tsv", "w") as out:
    print("q50\tGET /t 7\t1\nq51\tGET /t 8\t1\nq51\tgone\t1\nq99\tGET /t 8\t1\nq52\tGET /t 8\t0", file=out)
PY

expect 0 "a table" eval set --recipe bm25
prints "^set, test: [0-9]+ queries, 150 tools; percent"
prints "^recall@5 +[0-9.]+$"
prints "^complete@10 +[0-9.]+$"
prints "^mrr +[0-9.]+$"
prints "^p99 ms +[0-9.]+$"
COLUMNS=30 expect 0 "a table on thirty columns" eval set --recipe bm25,auto --limit 3
same "fits" "" "$(awk 'length > 30' out)"
prints "^auto against bm25,"

expect 0 "a line of JSON" eval set --recipe bm25 --json --run run.txt --qrels qrels.txt
json_lines
same "what it says" "('set', 'test', 'bm25', 150)" "$(json_of '(d["set"], d["split"], d["recipe"], d["tools"])')"
same "its parts" "True" "$(json_of 'set(d) >= {"queries", "metrics", "latency_ms", "settings"} and
    set(d["latency_ms"]) == {"p50", "p95", "p99"} and "recall@5" in d["metrics"] and "complete@10" in d["metrics"]')"
cp out first.json
expect 0 "again" eval set --recipe bm25 --json
same "the same figures" "$(json_of 'd["metrics"]' <first.json)" "$(json_of 'd["metrics"]')"
cp first.json out
if "$python" -c 'import pytrec_eval' 2>/dev/null; then
    "$python" - >err 2>&1 <<'PY' || fail "pytrec_eval disagrees"
import json, pytrec_eval
ours = json.load(open("first.json"))
qrels, run, cuts = {}, {}, "1,3,5,7,10"
for line in open("qrels.txt"):
    query, _, tool, gain = line.split()
    qrels.setdefault(query, {})[tool] = int(gain)
for line in open("run.txt"):
    query, _, tool, _, score, _ = line.split()
    run.setdefault(query, {})[tool] = float(score)
theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recall." + cuts, "ndcg_cut." + cuts, "recip_rank"}).evaluate(run)
names = {"recall": "recall_", "ndcg": "ndcg_cut_", "mrr": "recip_rank"}
compared = 0
for name, value in ours["metrics"].items():
    kind, _, cut = name.partition("@")
    if kind != "complete":
        mean = sum(q[names[kind] + cut] for q in theirs.values()) / ours["queries"]
        assert abs(mean - value) < 1e-6, (name, value, mean)
        compared += 1
assert compared == 11, compared
PY
else
    skip "$python has no pytrec_eval: figures were compared with recorded ones only (eval/metrics)"
fi
same "ids with blanks are one field" 6 "$(awk '{print NF}' run.txt | sort -u | tr '\n' ' ' | tr -d ' ')"
same "at most a hundred hits a query" "True" "$(awk '{n[$1]++} END {for (q in n) if (n[q] > 100) exit 1; print "True"}' run.txt)"

grep -v ' 1 [0-9.e+-]* bm25$' run.txt >"of my own.txt"
expect 0 "methods of others" eval set --recipe bm25 --json --with-run run.txt --with-run "of my own.txt"
same "rows of theirs" "bm25 run.txt of my own.txt" "$("$python" -c 'import json, sys
print(*[json.loads(line)["recipe"] for line in sys.stdin if "recipe" in json.loads(line)])' <out)"
same "what was written is worth as much" "True True None" "$("$python" -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
rows = {row["recipe"]: row for row in rows if "metrics" in row}
print(rows["run.txt"]["metrics"] == rows["bm25"]["metrics"],
      rows["of my own.txt"]["metrics"]["mrr"] < rows["bm25"]["metrics"]["mrr"], rows["run.txt"]["latency_ms"]["p50"])' <out)"
awk 'NR == 1 {$3 = "nobody"} NR < 12 {print} END {print "other Q0 t 1 2 me"}' run.txt >poor.txt
expect 0 "a run with gaps" eval set --recipe bm25 --with-run poor.txt
says "poor.txt has no lines for 39 of the 40 queries \(counted as misses\), 1 tools missing in the catalogue, 1 lines for other queries"
expect 0 "a page of both" eval set --recipe bm25 --with-run run.txt --html both.html
same "names it" True "$(grep -q 'run.txt' both.html && echo True)"
printf '\nq1 Q0 t 1\n' >short.txt
expect 3 "an invalid line" eval set --recipe bm25 --with-run short.txt
says "short.txt, line 2: does not have six fields; a line must be"
printf 'q1 Q0 t 1 high me\n' >wordy.txt
expect 3 "an invalid score" eval set --recipe bm25 --with-run wordy.txt
says "wordy.txt, line 1: score is not a number"
printf 'other Q0 t 1 2 me\n' >other.txt
expect 3 "other queries" eval set --recipe bm25 --with-run other.txt
says "other.txt has no line about these queries \(1 lines about others\)"
expect 0 "two recipes" eval set --model "" --recipe bm25,auto --json --run two.txt --k 5 --bootstrap 200 --seed 7
json_lines
same "the second is compared with the first" "bm25" "$(json_of 'l[1]["against"]["recipe"]')"
same "the interval holds the difference" True \
    "$(json_of '(lambda c: c["low"] <= c["difference"] <= c["high"] and 0 < c["p"] <= 1)(l[1]["against"]["recall@5"])')"
same "a run each" "two.auto.txt two.bm25.txt" "$(echo two.*.txt)"
same "settings" "([5], 200, 7)" "$(json_of '(lambda s: (s["k"], s["bootstrap"], s["seed"]))(l[0]["settings"])')"

expect 0 "another split" eval set --split dev --recipe bm25 --json
same "its queries" 2 "$(json_of 'd["queries"]')"
says "1 relevant tools are not in the catalogue"
says "1 judged queries are not in queries.jsonl"
says "1 queries have no relevant tool"
expect 0 "the first queries" eval set --limit 5 --recipe bm25 --json
same "so many" 5 "$(json_of 'd["queries"]')"
expect 0 "every recipe that can run" eval set --model "" --json
same "those that need no model" "['bm25']" "$(json_of '[d["recipe"]]')"
says "no model"
expect 5 "a recipe that cannot run" eval set --model "" --recipe dense
says "model"
for timed in 3 1000; do
    expect 0 "so many are timed" eval set --limit 5 --timed $timed --recipe bm25 --json
    same "at most those that there are" $((timed < 5 ? timed : 5)) "$(json_of 'd["settings"]["latency_queries"]')"
done
expect 0 "a cache elsewhere" eval set --recipe bm25 --cache here --limit 2
same "a store is kept there" 1 "$(find here -name '*.wt' | wc -l)"
expect 5 "a recipe that needs training, without training data" eval set --recipe tool2vec
says "qrels/train.tsv"
printf 'q1\tGET /t 3\t1\n' >set/qrels/train.tsv
expect 5 "nor without a model" eval set --model "" --recipe tool2vec
says "model"
expect 2 "no usages at all" eval set --usages 0
rm set/qrels/train.tsv

cp -r set hostile
{ echo '{"_id": "evil", "text": "</td><script>alert(1)</script> zebra"}' && cat set/queries.jsonl; } >hostile/queries.jsonl
printf 'evil\tGET /t 149\t1\n' >>hostile/qrels/test.tsv
expect 0 "a page" eval hostile --recipe bm25,auto --html page.html --bootstrap 200
"$python" - >err 2>&1 <<'PY' || fail "the page is not what it should be"
import html.parser
text = open("page.html", encoding="utf-8").read()
class Page(html.parser.HTMLParser):
    void, stack, words = {"meta"}, [], []
    def handle_starttag(self, tag, attributes):
        assert tag not in {"script", "link", "img", "iframe", "object"}, tag
        assert not {name for name, _ in attributes} & {"src", "href", "onload", "onclick"}, attributes
        if tag not in self.void:
            self.stack.append(tag)
    def handle_startendtag(self, tag, attributes): pass
    def handle_endtag(self, tag): assert self.stack.pop() == tag, tag
    def handle_data(self, data): self.words.append(data)
page = Page()
page.feed(text)
assert not page.stack, page.stack
assert "</td><script>alert(1)</script> zebra" in "".join(page.words)
for wanted in ("prefers-color-scheme:dark", "@media print", "recall@5", "of-failures"):
    assert wanted in text, wanted
PY
expect 3 "a page in a folder that is not there" eval set --recipe bm25 --html nowhere/page.html
printf 'x' >>set/corpus.jsonl
expect 0 "an edited corpus gets a store of its own" eval set --recipe bm25 --cache here --limit 2
same "two now" 2 "$(find here -name '*.wt' | wc -l)"

expect 3 "no such folder" eval nowhere
says "nowhere/qrels/test.tsv"
expect 3 "no such split" eval set --split train
says "set/qrels/train.tsv"
expect 2 "a split that is a path" eval set --split ../test
says "not a plain name"
cp -r set broken
echo "q1	only two" >>broken/qrels/test.tsv
expect 3 "a judgement without a score" eval broken
says "broken/qrels/test.tsv:[0-9]+: a judgement must be"
echo '{"_id": "q1"' >broken/queries.jsonl
rm broken/qrels/test.tsv && echo "q1	a	1" >broken/qrels/test.tsv
expect 3 "a query that is no JSON" eval broken
says "broken/queries.jsonl:1: not valid JSON"
rm set/corpus.jsonl
expect 3 "no corpus" eval set --recipe bm25
says "set/corpus.jsonl"
finish
