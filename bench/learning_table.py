#!/usr/bin/env python3
"""Makes the tables of docs/learning.md: every recipe on every data set with a train and a test split.

    python3 bench/learning_table.py DATA [WHICHTOOL]     DATA contains BEIR folders; trains missing models
    python3 bench/learning_table.py --curve DATA [WHICHTOOL]     quality by usages of a tool, for hybrid and auto
    python3 bench/learning_table.py [--curve] - < rows.jsonl     from saved rows of `whichtool --json eval`

Prints Markdown; figures are percent on the test split. The rows of the eval command go to stderr, to be saved. A second
run with the same seed prints the same tables, with cached or newly trained models.
"""
import json
import os
import subprocess
import sys

RECIPES = ("bm25", "dense", "hybrid", "tool2vec", "mlc", "neighbours", "tool2vec+refiner", "mlc+refiner", "auto")
USAGES = (1, 2, 5, 10, 20, 0)

# Moon et al. 2024, tables 1 and 2: R@3, R@5, R@7. Its ToolBench I3 has other labels and more requests, its NumpyBank
# 16 times the training requests; its encoders are larger.
PAPER = {
    "toolbench-i3": (
        ("ToolBench retriever", 54.07, 63.88, 73.73),
        ("COLT", 76.63, 85.50, None),
        ("Tool2Vec", 75.23, 84.90, 86.60),
        ("MLC", 81.35, 86.27, 88.27),
        ("ToolRefiner + Tool2Vec", 80.58, 87.80, 89.70),
        ("ToolRefiner + MLC", 79.83, 86.91, 88.98),
    ),
    "numpybank": (
        ("description-based retriever", 50.82, 64.09, 71.84),
        ("Tool2Vec", 52.97, 64.18, 71.11),
        ("MLC", 70.35, 80.78, 84.73),
        ("ToolRefiner + Tool2Vec", 71.61, 79.52, 82.22),
        ("ToolRefiner + MLC", 73.82, 84.24, 87.47),
    ),
}


def with_training(data):
    for name in sorted(os.listdir(data)):
        splits = (os.path.join(data, name, "qrels", f"{split}.tsv") for split in ("train", "test"))
        if all(os.path.exists(path) for path in splits):
            yield os.path.join(data, name)


def evaluate(whichtool, folder, recipes, *more):
    command = [whichtool, "--json", "-q", "eval", folder, "--recipe", ",".join(recipes), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{folder}: {done.stderr.strip()}")
    sys.stderr.write(done.stdout)
    sys.stderr.flush()
    return [json.loads(line) for line in done.stdout.splitlines()]


def percent(value):
    return "" if value is None else f"{value:.1f}"


def print_recipes(sets):
    recipes = [r for r in RECIPES if any(r in rows for rows in sets.values())]
    print("R@5 / nDCG@5 on test:\n")
    print("| set | tools | requests | " + " | ".join(recipes) + " |")
    print("|" + "---|" * (3 + len(recipes)))
    sums = {r: [0.0, 0.0] for r in recipes}
    for name in sorted(sets):
        cells = []
        for recipe in recipes:
            metrics = sets[name][recipe]["metrics"]
            pair = [100 * metrics["recall@5"], 100 * metrics["ndcg@5"]]
            sums[recipe] = [s + p for s, p in zip(sums[recipe], pair)]
            cells.append(f"{pair[0]:.1f} / {pair[1]:.1f}")
        first = next(iter(sets[name].values()))
        print(f"| {name} | {first['tools']:,} | {first['queries']:,} | " + " | ".join(cells) + " |")
    means = (f"**{s[0] / len(sets):.1f} / {s[1] / len(sets):.1f}**" for s in sums.values())
    print("| **mean** | | | " + " | ".join(means) + " |")


def print_paper(sets):
    for name, rows in PAPER.items():
        if name not in sets:
            continue
        print(f"\n{name}, beside the paper's rows (marked *: other data, other encoders):\n")
        print("| | R@3 | R@5 | R@7 |\n|---|---|---|---|")
        for recipe in RECIPES:
            if recipe in sets[name]:
                metrics = sets[name][recipe]["metrics"]
                print(f"| {recipe} | " + " | ".join(percent(100 * metrics[f"recall@{k}"]) for k in (3, 5, 7)) + " |")
        for label, *values in rows:
            print(f"| {label} * | " + " | ".join(percent(v) for v in values) + " |")


def print_curve(rows):
    """Selects rows of hybrid and auto; settings.usages is the number of usages of a tool, all if missing."""
    sets = {}
    for row in rows:
        count = row["settings"].get("usages", 0) if row["recipe"] == "auto" else None
        sets.setdefault(row["set"], {})[count] = 100 * row["metrics"]["recall@5"]
    print("| set | hybrid | " + " | ".join(f"auto, {n or 'all'} a tool" for n in USAGES) + " |")
    print("|" + "---|" * (2 + len(USAGES)))
    for name in sorted(sets):
        cells = [percent(sets[name].get(count)) for count in (None, *USAGES)]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--curve"]
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    whichtool = arguments[1] if len(arguments) == 2 else "build/whichtool"
    curve = "--curve" in sys.argv
    if arguments[0] == "-":
        rows = [json.loads(line) for line in sys.stdin]
    elif curve:
        rows = [row for folder in with_training(arguments[0]) for n in USAGES
                for row in evaluate(whichtool, folder, ("hybrid", "auto"), *(("--usages", str(n)) if n else ()))]
    else:
        rows = [row for folder in with_training(arguments[0]) for row in evaluate(whichtool, folder, RECIPES)]
    if curve:
        print_curve(rows)
        return
    sets = {}
    for row in rows:
        sets.setdefault(row["set"], {})[row["recipe"]] = row
    print_recipes(sets)
    print_paper(sets)


if __name__ == "__main__":
    main()
