#!/usr/bin/env python3
"""The table of docs/retrieval.md: every data set of a folder that has a test split, three recipes, R@5 and nDCG@5.

    python3 bench/retrieval_table.py DATA [WHICHTOOL]       DATA holds one BEIR folder a set
    python3 bench/retrieval_table.py - < rows.jsonl         from rows that `whichtool --json eval` printed before

Prints Markdown. Figures are percent; the last row is the mean over sets.
"""
import json
import os
import subprocess
import sys

RECIPES = ("bm25", "dense", "hybrid")


def measured(data, whichtool):
    for name in sorted(os.listdir(data)):
        folder = os.path.join(data, name)
        if not os.path.exists(os.path.join(folder, "qrels", "test.tsv")):
            continue
        command = [whichtool, "--json", "-q", "eval", folder, "--recipe", ",".join(RECIPES)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr.strip()}")
        yield from done.stdout.splitlines()


def table(lines):
    sets = {}
    for line in lines:
        row = json.loads(line)
        sets.setdefault(row["set"], {})[row["recipe"]] = row
    print("| set | tools | requests | " + " | ".join(f"{r} R@5 | nDCG@5" for r in RECIPES) + " |")
    print("|" + "---|" * (3 + 2 * len(RECIPES)))
    sums = [0.0] * (2 * len(RECIPES))
    for name in sorted(sets):
        rows = sets[name]
        values = [100 * rows[r]["metrics"][m] for r in RECIPES for m in ("recall@5", "ndcg@5")]
        sums = [s + v for s, v in zip(sums, values)]
        first = rows[RECIPES[0]]
        print(f"| {name} | {first['tools']:,} | {first['queries']:,} | " + " | ".join(f"{v:.1f}" for v in values) + " |")
    print("| **mean** | | | " + " | ".join(f"**{s / len(sets):.1f}**" for s in sums) + " |")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if sys.argv[1] == "-":
        table(sys.stdin)
    else:
        table(measured(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "build/whichtool"))


if __name__ == "__main__":
    main()
