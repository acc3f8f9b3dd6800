#!/usr/bin/env python3
"""Makes the tables of docs/toolrerank.md: ToolRerank on a data set with the six groups of ToolBench.

    python3 bench/toolrerank_table.py DATA FOLDER [WHICHTOOL [JOBS]]

DATA is a BEIR folder whose queries have metadata.split (G1_instruction, ..); FOLDER has the trained models encoder, dpr,
cross and toolrerank. Each row of Tables 5 to 7 is a copy of toolrerank/config.json with other settings and the same
models; JOBS of them run in parallel. Prints Markdown in percent, with the paper's figures (Zheng et al. 2024) in brackets,
and a 95 % interval by paired bootstrap for our settings against the paper's.
"""
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import urllib.parse

from beir import judgements, lines

PLACES = 5
SEEN = ("G1_instruction", "G2_instruction", "G3_instruction")
UNSEEN = ("G1_tool", "G1_category", "G2_category")
SINGLE = ("G1_instruction", "G1_tool", "G1_category")
NAMES = {"G1_instruction": "I1-Inst", "G2_instruction": "I2-Inst", "G3_instruction": "I3-Inst", "G1_tool": "I1-Tool",
         "G1_category": "I1-Cat", "G2_category": "I2-Cat"}
PLAIN = ("bm25", "hybrid", "dpr", "rerank-10", "rerank-30", "rerank-50")
RESAMPLES = 10000
TIMED = 50

# Table 3: NDCG@5 and Recall@5 of the groups in the order of SEEN and UNSEEN, their means, and the overall mean.
TABLE_3 = {
    "bm25": "45.2 48.2 40.9 44.3 33.6 35.7 39.9 42.7 59.3 63.9 53.6 55.7 33.8 35.5 48.9 51.7 44.4 47.2",
    "dpr": "87.5 90.8 81.7 85.4 80.7 82.7 83.3 86.3 74.5 80.5 59.2 64.1 42.4 47.6 58.7 64.0 71.0 75.2",
    "rerank-10": "92.1 94.2 84.2 87.3 84.9 85.1 87.0 88.9 80.3 82.9 69.9 68.7 56.5 57.3 68.9 69.6 78.0 79.2",
    "rerank-30": "89.1 91.7 80.6 81.8 84.2 84.0 84.6 85.8 82.5 85.6 75.6 76.1 61.1 62.4 73.1 74.7 78.8 80.3",
    "rerank-50": "88.4 91.4 79.6 80.2 82.6 81.6 83.5 84.4 80.6 82.6 75.5 77.1 62.5 63.4 72.8 74.4 78.2 79.4",
    "toolrerank": "92.2 95.0 84.4 88.2 85.5 85.6 87.3 89.6 85.3 88.2 79.0 81.6 66.1 66.4 76.8 78.7 82.1 84.2",
}
# Table 4: pass rate and win rate of ToolLLaMA with the first five tools.
TABLE_4 = {"bm25": (58.8, 50.8), "dpr": (57.2, 49.8), "rerank-10": (60.2, 53.7), "rerank-30": (59.8, 53.7),
           "rerank-50": (59.8, 55.2), "toolrerank": (61.5, 57.0)}
# Table 5: m_s, m_u, and recall of seen, unseen and all.
TABLE_5 = ((10, 50, 89.6, 78.7, 84.2), (10, 30, 89.6, 77.8, 83.7), (30, 50, 87.3, 77.5, 82.4),
           (10, 10, 89.6, 74.5, 82.0), (30, 30, 87.2, 76.7, 81.9), (50, 50, 85.6, 76.3, 81.0),
           (50, 10, 85.7, 71.3, 78.5), (30, 10, 87.1, 72.2, 79.7), (50, 30, 85.7, 75.4, 80.6))
# Table 6: the rule for all kinds of requests (None: each kind's own), and recall of single, multi and all.
TABLE_6 = {"as trained": (None, 88.3, 80.1, 84.2), "no rule": ("none", 86.5, 79.1, 82.8),
           "single for all": ("algorithm1", 88.9, 78.0, 83.5), "multi for all": ("algorithm2", 85.2, 80.1, 82.6),
           "gold kinds": ("oracle", 88.9, 80.1, 84.5)}
# Table 7: True if seen and unseen providers are taken whole, and recall of single-tool requests.
TABLE_7 = ((False, True, 88.3), (False, False, 87.7), (True, True, 87.7), (True, False, 87.1))
PAPER_SETTINGS = {"seen_depth": 10, "unseen_depth": 50, "tau_s": 0.85, "tau_m": 0.7, "group_most": 3, "prior": 0,
                  "cover": 0, "truncate": True, "expand_seen": False, "expand_unseen": True,
                  "rules": {"unknown": "none", "single": "algorithm1", "multi": "algorithm2"}}

FIRST_STAGE = {"truncate": False, "cover": 0, "rules": {kind: "none" for kind in ("unknown", "single", "multi")}}
DPR = {"lexical": 0, "dense": 1, "subquery": 0}


class Data:
    def __init__(self, folder):
        self.folder = folder
        self.group, self.providers, self.right = {}, {}, judgements(folder)
        for row in lines(os.path.join(folder, "queries.jsonl")):
            self.group[row["_id"]] = row.get("metadata", {}).get("split")
        for row in lines(os.path.join(folder, "corpus.jsonl")):
            self.providers[row["_id"]] = row.get("metadata", {}).get("provider", row["_id"])
        unknown = {self.group[q] for q in self.right} - set(NAMES)
        if unknown:
            sys.exit(f"{folder}: requests of other groups than {', '.join(NAMES)}: {unknown}")

    def single(self, request):
        return len({self.providers.get(tool, tool) for tool in self.right[request]}) == 1


def ask(whichtool, data, folder, recipe, timed=1):
    """Returns the first places of every request, and the row of eval. timed: number of timed requests."""
    with tempfile.TemporaryDirectory() as place:
        run = os.path.join(place, "run")
        command = [whichtool, "--json", "-q", "eval", data.folder, "--trained", folder, "--recipe", recipe]
        command += ["--run", run, "--timed", str(timed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{recipe}: {done.stderr.strip()}")
        found = {}
        with open(run, encoding="utf-8") as file:
            for line in file:
                request, _, tool = map(urllib.parse.unquote, line.split()[:3])
                if len(found.setdefault(request, [])) < PLACES:
                    found[request].append(tool)
    row = json.loads(done.stdout.splitlines()[0])
    print(f"{recipe} of {folder}: {100 * row['metrics']['recall@5']:.1f}", file=sys.stderr)
    return found, row


class Variants:
    """Runs the recipe with the same models and other settings, each once."""

    def __init__(self, whichtool, data, folder, place, pool):
        self.whichtool, self.data, self.folder, self.place, self.pool = whichtool, data, folder, place, pool
        self.runs = {}

    def ask(self, settings, weights=None, timed=1, cross=True):
        """Starts a run with other settings. weights: of the first stage; timed: number of timed requests, for the first use
        of the settings; cross: whether the cross-encoder reads the hits."""
        with open(os.path.join(self.folder, "toolrerank", "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        config["hierarchy"].update(settings)
        config["weights"] = weights or config["weights"]
        left_out = ("toolrerank",) if cross else ("toolrerank", "cross")
        if not cross:
            config.update(across=False, cross=None)
        text = json.dumps(config, sort_keys=True)
        if text not in self.runs:
            copy = self.copy(str(len(self.runs)), text, left_out)
            self.runs[text] = self.pool.submit(ask, self.whichtool, self.data, copy, "toolrerank", timed)
        return self.runs[text]

    def copy(self, name, config, left_out):
        copy = os.path.join(self.place, name)
        os.makedirs(os.path.join(copy, "toolrerank"))
        for entry in os.listdir(self.folder):
            if entry not in left_out:
                os.symlink(os.path.abspath(os.path.join(self.folder, entry)), os.path.join(copy, entry))
        with open(os.path.join(copy, "toolrerank", "config.json"), "w", encoding="utf-8") as file:
            file.write(config)
        return copy


def recall(data, found, request):
    return len(data.right[request] & set(found.get(request, ()))) / len(data.right[request])


def ndcg(data, found, request):
    gain = sum(1 / math.log2(i + 2) for i, tool in enumerate(found.get(request, ())) if tool in data.right[request])
    return gain / sum(1 / math.log2(i + 2) for i in range(min(PLACES, len(data.right[request]))))


def mean(values):
    values = list(values)
    return 100 * sum(values) / len(values) if values else math.nan


def of_groups(data, found, groups, metric=recall):
    """Returns the mean over groups of their means, like the paper's averages."""
    means = [mean(metric(data, found, q) for q in data.right if data.group[q] == group) for group in groups]
    return sum(means) / len(means)


def cell(value, paper):
    return f"{value:.1f} ({paper:.1f})" if paper is not None else f"{value:.1f}"


def print_table(header, rows):
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def print_table_3(data, runs):
    columns = [*((g,) for g in SEEN), SEEN, *((g,) for g in UNSEEN), UNSEEN, SEEN + UNSEEN]
    labels = [*(NAMES[g] for g in SEEN), "seen", *(NAMES[g] for g in UNSEEN), "unseen", "all"]
    print("Table 3, NDCG@5 / Recall@5; the last columns are of all requests as one, and the time of a find:")
    rows = []
    for recipe, (found, row) in runs.items():
        paper = [float(x) for x in TABLE_3[recipe].split()] if recipe in TABLE_3 else []
        cells = []
        for i, groups in enumerate(columns):
            n, r = of_groups(data, found, groups, ndcg), of_groups(data, found, groups)
            figures = paper[2 * i:2 * i + 2] or (None, None)
            cells.append(cell(n, figures[0]) + " / " + cell(r, figures[1]))
        pooled = [f"{mean(metric(data, found, q) for q in data.right):.1f}" for metric in (ndcg, recall)]
        rows.append([recipe, *cells, " / ".join(pooled), f"{row['latency_ms']['p50']:.0f} ms"])
    print_table(["", *labels, "pooled", "p50"], rows)


def print_figure_1(data, runs):
    """Prints the reranker with more candidates, for seen and unseen; the paper's figures are those of its Table 3."""
    print("\nFigure 1(a), Recall@5 by the number of candidates that are reranked:")
    rows = []
    for recipe in ("dpr", "rerank-10", "rerank-30", "rerank-50"):
        paper = [float(x) for x in TABLE_3[recipe].split()]
        seen, unseen = (of_groups(data, runs[recipe][0], groups) for groups in (SEEN, UNSEEN))
        rows.append([recipe.partition("-")[2] or "none", cell(seen, paper[7]), cell(unseen, paper[15])])
    print_table(["candidates", "seen", "unseen"], rows)


def complete(data, found, request):
    return data.right[request] <= set(found.get(request, ()))


def print_table_4(data, runs):
    """Without ToolBench's servers no call can be executed. A request can only pass if all its tools are offered."""
    print("\nTable 4, requests whose needed tools are all among the first five:")
    print_table(["", "seen", "unseen", "all", "pooled", "paper: pass rate", "paper: win rate"],
                [[recipe, *(f"{of_groups(data, found, groups, complete):.1f}" for groups in (SEEN, UNSEEN, SEEN + UNSEEN)),
                  f"{mean(complete(data, found, q) for q in data.right):.1f}",
                  *map(str, TABLE_4.get(recipe, ("", "")))] for recipe, (found, _) in runs.items()])


def interval(data, ours, theirs):
    """Returns the difference of recall and its interval."""
    differences = [recall(data, ours, q) - recall(data, theirs, q) for q in data.right]
    draw = random.Random(1)
    means = sorted(mean(draw.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return mean(differences), means[RESAMPLES // 40], means[-RESAMPLES // 40]


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    data, folder = Data(sys.argv[1]), sys.argv[2]
    whichtool = sys.argv[3] if len(sys.argv) > 3 else "build/whichtool"
    jobs = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    wanted = {f"depths {s} {u}": {"seen_depth": s, "unseen_depth": u, "truncate": True} for s, u, *_ in TABLE_5}
    for rule in ("none", "algorithm1", "algorithm2"):
        wanted[rule] = {"rules": {"unknown": rule, "single": rule, "multi": rule}}
    wanted.update({f"expand {s} {u}": {"expand_seen": s, "expand_unseen": u} for s, u, _ in TABLE_7})
    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        variants = Variants(whichtool, data, folder, place, pool)
        plain = {recipe: pool.submit(ask, whichtool, data, folder, recipe, TIMED) for recipe in PLAIN}
        plain["toolrerank"] = variants.ask({}, timed=TIMED)
        varied = {name: variants.ask(settings) for name, settings in wanted.items()}
        papers = variants.ask(PAPER_SETTINGS, DPR)
        stage = variants.ask(FIRST_STAGE, cross=False)
        runs = {recipe: answer.result() for recipe, answer in plain.items()}
        runs["first stage of toolrerank"] = stage.result()
        runs["toolrerank, the paper's settings"] = papers.result()
        found = {name: answer.result()[0] for name, answer in varied.items()}
    ours = runs["toolrerank"][0]
    print_table_3(data, runs)
    kind = runs["toolrerank"][1].get("kind")
    if kind:
        print(f"\nOne provider or several: {100 * kind['accuracy']:.1f} % told right (93.3), Brier {kind['brier']:.3f}")

    print_table_4(data, runs)
    print_figure_1(data, runs)
    print("\nTable 5, Recall@5 with other depths:")
    print_table(["m_s", "m_u", "seen", "unseen", "all"],
                [[str(s), str(u), *(cell(of_groups(data, found[f"depths {s} {u}"], groups), figure)
                                    for groups, figure in zip((SEEN, UNSEEN, SEEN + UNSEEN), figures))]
                 for s, u, *figures in TABLE_5])

    found["oracle"] = {q: found["algorithm1" if data.single(q) else "algorithm2"].get(q, ()) for q in data.right}
    multi = tuple(g for g in NAMES if g not in SINGLE)
    print("\nTable 6, Recall@5 with other rules:")
    print_table(["", "single-tool", "multi-tool", "all"],
                [[label, *(cell(of_groups(data, found[rule] if rule else ours, groups), figure)
                           for groups, figure in zip((SINGLE, multi, tuple(NAMES)), figures))]
                 for label, (rule, *figures) in TABLE_6.items()])

    print("\nTable 7, Recall@5 of single-tool requests, whole providers added or not:")
    print_table(["seen", "unseen", "single-tool"],
                [[str(s), str(u), cell(of_groups(data, found[f"expand {s} {u}"], SINGLE), figure)]
                 for s, u, figure in TABLE_7])

    print("\nOur settings against the paper's, Recall@5 of all requests: %+.1f points, 95 %% of resamples between "
          "%+.1f and %+.1f" % interval(data, ours, papers.result()[0]))


if __name__ == "__main__":
    main()
