#!/usr/bin/env python3
"""Measures an encoder on dev, and finds its best weight in hybrid (`dense_weight` of its config.json).

    python3 bench/encoder_dev.py --model NAME DATA... [OPTION...]

    DATA                 BEIR folders with a dev split, or folders of such folders
    --weights "A B,C"    grid of weights; a second number is for brief requests (docs/retrieval.md). Default:
                         ".6 1.2 1.8 .6,1.8 .6,2.5 .3,1.8"
    --real [FOLDER]      also bench/real's dev: all needs among the first five. FOLDER is its --cache
    --against FILE       print differences to the --json of another run: of the means, and of each set at the best weight
    --json FILE          write the figures as one JSON object
    --whichtool, --limit, --cache    as in retrieval_table.py

Prints R@5 in percent for bm25, dense, and hybrid with each weight. The mean is over sets, and the best weight has the
highest mean. Vectors are computed once, so a further weight costs only searches.
"""
import argparse
import json
import os
import subprocess
import sys

from retrieval_table import data_sets, eval_options, rows

WEIGHTS = ".6 1.2 1.8 .6,1.8 .6,2.5 .3,1.8"
REAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "real", "real.py")


def recall(row):
    return 100 * row["metrics"]["recall@5"]


def measure_set(options, folder):
    """Returns figures by column, and a description of the set."""
    first = rows(options, folder, "dev", "bm25,dense,hybrid", options.weights[0])
    figures = {"bm25": recall(first[0]), "dense": recall(first[1]), options.weights[0]: recall(first[2])}
    for weight in options.weights[1:]:
        figures[weight] = recall(rows(options, folder, "dev", "hybrid", weight)[0])
    return figures


def measure_real(options):
    figures = {}
    for column in ["bm25", "dense", *options.weights]:
        command = [sys.executable, REAL, options.whichtool, "--split", "dev", "--json", "--find-only", "--recipe",
                   column if column in ("bm25", "dense") else "hybrid"]
        command += ["--model", options.model] if options.model is not None else []
        command += ["--cache", options.real] if options.real else []
        command += ["--dense-weight", column] if column in options.weights else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"real: {done.stderr.strip()}")
        figures[column] = 100 * json.loads(done.stdout)["splits"]["dev"]["rows"]["needs tools"]["top 5"]
    return figures


def print_row(name, figures, columns):
    print(f"| {name} | " + " | ".join(f"{figures[column]:.1f}" for column in columns) + " |", flush=True)


def mean_of(sets, columns):
    return {column: sum(figures[column] for figures in sets.values()) / len(sets) for column in columns}


def print_against(report, before):
    """Prints gains over another run, each with its own best weight."""
    both = [name for name in report["sets"] if name in before["sets"]]
    print(f"\n| against {before['model']}, {len(both)} sets | dense | hybrid, by {before['best']} and {report['best']} |")
    print("|---|---|---|")
    gains = [(name, report["sets"][name]["dense"] - before["sets"][name]["dense"],
              report["sets"][name][report["best"]] - before["sets"][name][before["best"]]) for name in both]
    for name, dense, hybrid in gains:
        print(f"| {name} | {dense:+.1f} | {hybrid:+.1f} |")
    if both:
        print("| **mean** | " + " | ".join(f"**{sum(g[i] for g in gains) / len(both):+.1f}**" for i in (1, 2)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--weights", default=WEIGHTS, type=str.split)
    parser.add_argument("--real", nargs="?", const="")
    for option in ("--against", "--json"):
        parser.add_argument(option)
    eval_options(parser)
    options = parser.parse_args()
    if not options.weights:
        parser.error("--weights names none")
    columns, sets = ["bm25", "dense", *options.weights], {}
    print("| set, dev | bm25 | dense | " + " | ".join(f"hybrid {weight}" for weight in options.weights) + " |")
    print("|" + "---|" * (1 + len(columns)))
    for folder in data_sets(options.data, "dev"):
        name = os.path.basename(os.path.normpath(folder))
        sets[name] = measure_set(options, folder)
        print_row(name, sets[name], columns)
    if options.real is not None:
        sets["real"] = measure_real(options)
        print_row("real", sets["real"], columns)
    if not sets:
        sys.exit("no set has a dev split")
    mean = mean_of(sets, columns)
    best = max(options.weights, key=lambda weight: mean[weight])
    print_row("**mean**", mean, columns)
    print(f"\nThe best weight is {best}: {mean[best]:.2f}.")
    report = {"model": options.model or "the default", "best": best, "mean": mean, "sets": sets}
    if options.against:
        with open(options.against, encoding="utf-8") as file:
            print_against(report, json.load(file))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file)


if __name__ == "__main__":
    main()
