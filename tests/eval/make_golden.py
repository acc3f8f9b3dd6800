"""Writes ../golden/eval_ranking.json: random rankings and their figures by pytrec_eval.

    python3 tests/eval/make_golden.py      (needs the package pytrec_eval or pytrec_eval-terrier)

The random numbers are seeded, so that the file is reproducible. pytrec_eval omits queries without hits; here, as in
whichtool, such a query counts as 0.
"""
import json
import pathlib
import random

import pytrec_eval

CUTOFFS = [1, 3, 5, 7, 10, 100]
MEASURES = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("recall", "ndcg_cut")} | {"recip_rank"}


def query(rng, index):
    pool = [f"t{i}" for i in range(rng.choice([6, 30, 200]))]
    gains = [1] if index % 2 else [-1, 0, 1, 2, 3, 7]
    judged = rng.sample(pool, rng.randint(1, min(12, len(pool))))
    qrels = {tool: rng.choice(gains) for tool in judged}
    qrels[judged[0]] = max(1, qrels[judged[0]])
    ranked = rng.sample(pool, rng.randint(1, min(100, len(pool))))
    if index % 3 == 0:  # a good ranking: relevant tools float up
        ranked.sort(key=lambda tool: -qrels.get(tool, 0) * rng.random())
    if index % 10 == 9:
        ranked = []
    return {"id": f"q{index}", "ranked": ranked, "qrels": qrels}


def main():
    rng = random.Random(20)
    queries = [query(rng, i) for i in range(60)]
    queries.append({"id": "tie of gains", "ranked": ["a", "b", "c"], "qrels": {"a": 2, "b": 2, "c": 2}})
    queries.append({"id": "all beyond the cutoff", "ranked": [f"x{i}" for i in range(10)] + ["a"], "qrels": {"a": 1}})
    evaluator = pytrec_eval.RelevanceEvaluator({q["id"]: q["qrels"] for q in queries}, MEASURES)
    run = {q["id"]: {tool: float(-rank) for rank, tool in enumerate(q["ranked"])} for q in queries if q["ranked"]}
    answers = evaluator.evaluate(run)
    nothing = {name: 0.0 for name in next(iter(answers.values()))}
    for q in queries:
        q["expect"] = dict(sorted(answers.get(q["id"], nothing).items()))
    out = pathlib.Path(__file__).parent.parent / "golden" / "eval_ranking.json"
    lines = ",\n".join(json.dumps(q) for q in queries)
    out.write_text(f'{{"cutoffs": {json.dumps(CUTOFFS)}, "queries": [\n{lines}\n]}}\n')


main()
