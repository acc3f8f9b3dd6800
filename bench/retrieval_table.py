#!/usr/bin/env python3
"""Makes the table of docs/retrieval.md: R@5 and nDCG@5 of three recipes on data sets.

    python3 bench/retrieval_table.py DATA...             BEIR folders, or folders with a BEIR folder for each set
    python3 bench/retrieval_table.py - < rows.jsonl      from saved rows of `whichtool --json eval`

    --whichtool FILE     the command; default build/whichtool
    --split NAME         split of the sets that have it; default test
    --recipes A,B        default bm25,dense,hybrid
    --model NAME         the encoder; default: the command's
    --limit N            the first N requests of each set
    --cache FOLDER       cache folder for catalogues and vectors

Prints Markdown. Figures are percent; the last row is the mean over sets.
"""
import argparse
import json
import os
import subprocess
import sys

RECIPES = "bm25,dense,hybrid"
METRICS = ("recall@5", "ndcg@5")


def eval_options(parser):
    """Adds the common options of eval to the parser."""
    parser.add_argument("--whichtool", default="build/whichtool")
    for option in ("--model", "--cache"):
        parser.add_argument(option)
    parser.add_argument("--limit", type=int)


def data_sets(folders, split):
    """Yields the folders of data sets with the split; those of a folder of sets ordered by name."""
    for folder in folders:
        inside = [folder] if os.path.exists(os.path.join(folder, "corpus.jsonl")) else [
            os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        yield from (path for path in inside if os.path.exists(os.path.join(path, "qrels", f"{split}.tsv")))


def rows(options, folder, split, recipes):
    """Returns the rows of eval for one set, one for each recipe."""
    command = [options.whichtool, "--json", "-q", "eval", folder, "--split", split, "--recipe", recipes]
    for name, value in (("model", options.model), ("cache", options.cache), ("limit", options.limit)):
        if value is not None:
            command += [f"--{name}", str(value)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{folder}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def table(measured):
    sets, recipes = {}, []
    for row in measured:
        sets.setdefault(row["set"], {})[row["recipe"]] = row
        recipes += [row["recipe"]] if row["recipe"] not in recipes else []
    print("| set | tools | requests | " + " | ".join(f"{r} R@5 | nDCG@5" for r in recipes) + " |")
    print("|" + "---|" * (3 + 2 * len(recipes)))
    sums = [0.0] * (2 * len(recipes))
    for name in sorted(sets):
        values = [100 * sets[name][r]["metrics"][m] for r in recipes for m in METRICS]
        sums = [s + v for s, v in zip(sums, values)]
        first = sets[name][recipes[0]]
        print(f"| {name} | {first['tools']:,} | {first['queries']:,} | " + " | ".join(f"{v:.1f}" for v in values) + " |",
              flush=True)
    print("| **mean** | | | " + " | ".join(f"**{s / len(sets):.1f}**" for s in sums) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--split", default="test")
    parser.add_argument("--recipes", default=RECIPES)
    eval_options(parser)
    options = parser.parse_args()
    if options.data == ["-"]:
        table(json.loads(line) for line in sys.stdin)
    else:
        table(row for folder in data_sets(options.data, options.split)
              for row in rows(options, folder, options.split, options.recipes))


if __name__ == "__main__":
    main()
