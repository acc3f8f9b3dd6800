#!/usr/bin/env python3
"""Measures an encoder on dev, alone and in hybrid.

    python3 bench/encoder_dev.py --model NAME DATA... [OPTION...]

    DATA                 BEIR folders with a dev split, or folders of such folders
    --real [FOLDER]      also bench/real's dev: all needs among the first five. FOLDER is its --cache
    --against FILE       print differences to the --json of another run, for each set and their mean
    --json FILE          write the figures as one JSON object
    --whichtool, --limit, --cache    as in retrieval_table.py

Prints R@5 in percent for bm25, dense and hybrid, and their means over sets.
"""
import argparse
import json
import os
import subprocess
import sys

from retrieval_table import data_sets, eval_options, rows

COLUMNS = ("bm25", "dense", "hybrid")
REAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "real", "real.py")


def recall(row):
    return 100 * row["metrics"]["recall@5"]


def measure_set(options, folder):
    """Returns figures by column."""
    return dict(zip(COLUMNS, map(recall, rows(options, folder, "dev", ",".join(COLUMNS)))))


def measure_real(options):
    figures = {}
    for column in COLUMNS:
        command = [sys.executable, REAL, options.whichtool, "--split", "dev", "--json", "--find-only", "--recipe", column]
        command += ["--model", options.model] if options.model is not None else []
        command += ["--cache", options.real] if options.real else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"real: {done.stderr.strip()}")
        figures[column] = 100 * json.loads(done.stdout)["splits"]["dev"]["rows"]["needs tools"]["top 5"]
    return figures


def print_row(name, figures):
    print(f"| {name} | " + " | ".join(f"{figures[column]:.1f}" for column in COLUMNS) + " |", flush=True)


def mean_of(sets):
    return {column: sum(figures[column] for figures in sets.values()) / len(sets) for column in COLUMNS}


def print_against(report, before):
    """Prints gains over another run."""
    both = [name for name in report["sets"] if name in before["sets"]]
    print(f"\n| against {before['model']}, {len(both)} sets | dense | hybrid |")
    print("|---|---|---|")
    gains = [(name, report["sets"][name]["dense"] - before["sets"][name]["dense"],
              report["sets"][name]["hybrid"] - before["sets"][name]["hybrid"]) for name in both]
    for name, dense, hybrid in gains:
        print(f"| {name} | {dense:+.1f} | {hybrid:+.1f} |")
    if both:
        print("| **mean** | " + " | ".join(f"**{sum(g[i] for g in gains) / len(both):+.1f}**" for i in (1, 2)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--real", nargs="?", const="")
    for option in ("--against", "--json"):
        parser.add_argument(option)
    eval_options(parser)
    options = parser.parse_args()
    sets = {}
    print("| set, dev | " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * (1 + len(COLUMNS)))
    for folder in data_sets(options.data, "dev"):
        name = os.path.basename(os.path.normpath(folder))
        sets[name] = measure_set(options, folder)
        print_row(name, sets[name])
    if options.real is not None:
        sets["real"] = measure_real(options)
        print_row("real", sets["real"])
    if not sets:
        sys.exit("no set has a dev split")
    mean = mean_of(sets)
    print_row("**mean**", mean)
    report = {"model": options.model or "the default", "mean": mean, "sets": sets}
    if options.against:
        with open(options.against, encoding="utf-8") as file:
            print_against(report, json.load(file))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file)


if __name__ == "__main__":
    main()
