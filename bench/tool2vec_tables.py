#!/usr/bin/env python3
"""Makes the tables of Tool2Vec (Moon et al. 2024) in docs/learning.md that learning_table.py does not make.

    python3 bench/tool2vec_tables.py DATA TRAINED WORK [--table NAME] [--recipes A,B] [--depths N,N]
                                       [--whichtool COMMAND] [--encoder OPTIONS] [--encoders A,B]

DATA is a BEIR folder, TRAINED the output of `whichtool train all --data DATA --out TRAINED`. Models trained here are
kept in WORK and reused. Prints Markdown: recall at 3, 5 and 7 on test in percent, and the figure of training on dev.

losses        the classifier with each loss: on the original encoder, on the trained one, and trained end to end with it
              (section 4.2), keeping its head
triplets      tool2vec after training the encoder by contrast, and by triplets as in the paper (section 5.1.1)
candidates    refiners of 8 to 128 candidates (table A.2); --recipes and --depths restrict them
descriptions  descriptions instead of usage as vectors of tools, for retrieval and refiner (table A.1, rows 1 and 3)
encoders      descriptions, usage, and both, by untrained encoders (table A.3); --encoders names these
failures      failure rates of tools among the first five, and words of failed requests, with and without refiner (table
              and figure B.1)
"""

import argparse
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

CUTOFFS = (3, 5, 7)
DEEP_CUTOFFS = (3, 5, 7, 10, 12)
DEPTHS = (8, 16, 32, 64, 128)
ALWAYS = ("encoder", "tool2vec", "neighbours", "mlc")  # models of TRAINED that refiners need

# Table A.2, ToolBench I3: recall at 3, 5 and 7 by number of candidates.
PAPER_DEPTHS = {
    "tool2vec+refiner": {
        8: (74.00, 87.38, 89.22),
        16: (74.00, 87.38, 89.22),
        32: (79.50, 87.77, 89.53),
        64: (80.58, 87.80, 89.70),
        128: (78.17, 87.55, 89.30),
    },
    "mlc+refiner": {
        8: (70.53, 82.90, 86.63),
        16: (78.13, 86.43, 87.95),
        32: (79.83, 86.81, 88.98),
        64: (76.75, 85.88, 86.80),
        128: (77.08, 85.72, 87.98),
    },
}
# Table A.1, ToolBench I3.
PAPER_VECTORS = {"usage": (80.58, 87.80, 89.70), "description": (66.00, 74.60, 76.55)}


class Bench:
    def __init__(self, options):
        self.options = options

    def run(self, *arguments):
        done = subprocess.run(
            [self.options.whichtool, "--json", "-q", *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{' '.join(arguments)}: {done.stderr.strip()}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def folder(self, name, models):
        """Creates a folder of WORK with links to these models of TRAINED."""
        path = os.path.join(self.options.work, name)
        os.makedirs(path, exist_ok=True)
        for model in models:
            source = os.path.abspath(os.path.join(self.options.trained, model))
            if not os.path.lexists(os.path.join(path, model)):
                os.symlink(source, os.path.join(path, model))
        return path

    def train(self, folder, model, *arguments):
        """Trains the model unless it exists. Returns its dev figure in percent."""
        config = os.path.join(folder, model, "config.json")
        if not os.path.exists(config):
            print(f"{folder}: {model} {' '.join(arguments)}", file=sys.stderr)
            self.run("train", model, "--data", self.options.data, "--out", folder, *arguments)
        with open(config, encoding="utf-8") as file:
            return 100 * json.load(file)["whichtool"]["dev"]["after"]

    def recall(self, folder, recipe, cutoffs=CUTOFFS, arguments=()):
        row = self.run(
            "eval",
            self.options.data,
            "--trained",
            folder,
            "--recipe",
            recipe,
            "--timed",
            "1",
            "--k",
            ",".join(map(str, cutoffs)),
            *arguments,
        )[0]
        return [100 * row["metrics"][f"recall@{k}"] for k in cutoffs]


def show(header, rows):
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(cell if isinstance(cell, str) else f"{cell:.1f}" for cell in row) + " |", flush=True)


def losses(bench):
    rows = []
    for label, models in (("as it came", ()), ("trained before", ("encoder", "tool2vec"))):
        for loss in ("contrast", "softmax", "bce"):
            folder = bench.folder(f"{'trained' if models else 'base'}-{loss}", models)
            if not models:
                bench.train(folder, "tool2vec")
            dev = bench.train(folder, "mlc", "--loss", loss)
            rows.append([label, loss, dev, *bench.recall(folder, "mlc")])
    for loss in ("softmax", "bce"):
        folder = bench.folder(f"end-to-end-{loss}", ())
        bench.train(folder, "encoder", "--loss", loss, "--dev", "head", *bench.options.encoder.split())
        dev = bench.train(folder, "mlc", "--loss", "kept")
        rows.append(["trained with the head", loss, dev, *bench.recall(folder, "mlc")])
    show(["encoder", "loss", "dev", *(f"R@{k}" for k in CUTOFFS)], rows)


def triplets(bench):
    rows = []
    for loss in ("contrast", "triplet"):
        folder = bench.folder(f"encoder-{loss}", ("encoder",) if loss == "contrast" else ())
        bench.train(folder, "encoder", "--loss", loss)
        dev = bench.train(folder, "tool2vec")
        rows.append([loss, dev, *bench.recall(folder, "tool2vec")])
    show(["loss of the encoder", "dev, R@5", *(f"R@{k}" for k in CUTOFFS)], rows)


def with_paper(bench, figures, paper):
    """Returns the paper's figures in brackets, if the data are the same."""
    if os.path.basename(os.path.normpath(bench.options.data)) != "toolbench-i3":
        return figures
    return [f"{ours:.1f} ({theirs:.1f})" for ours, theirs in zip(figures, paper)]


def candidates(bench):
    rows = []
    for recipe in bench.options.recipes.split(","):
        for depth in map(int, bench.options.depths.split(",")):
            folder = bench.folder(f"candidates-{depth}", ALWAYS)
            dev = bench.train(folder, recipe, "--candidates", str(depth))
            figures = bench.recall(folder, recipe)
            rows.append([recipe, str(depth), dev, *with_paper(bench, figures, PAPER_DEPTHS[recipe][depth])])
    show(["", "N", "dev", *(f"R@{k}" for k in CUTOFFS)], rows)


def descriptions(bench):
    rows = []
    for label, models in (("usage", ("encoder", "tool2vec", "neighbours")), ("description", ("encoder", "neighbours"))):
        folder = bench.folder(f"vectors-{label}", models)
        own = os.path.join(folder, "tool2vec")
        if not os.path.exists(own):
            shutil.copytree(os.path.join(bench.options.trained, "tool2vec"), own)
            with open(os.path.join(own, "config.json"), encoding="utf-8") as file:
                config = json.load(file)
            config["interpolation"] = {"description": 1.0, "usage": 0.0, "shrink": 0.0}
            with open(os.path.join(own, "config.json"), "w", encoding="utf-8") as file:
                json.dump(config, file)
        dev = bench.train(folder, "tool2vec+refiner")
        rows.append([label, "", "", *bench.recall(folder, "tool2vec")])
        figures = with_paper(bench, bench.recall(folder, "tool2vec+refiner"), PAPER_VECTORS[label])
        rows.append([label, "refiner", dev, *figures])
    show(["vectors of tools", "", "dev", *(f"R@{k}" for k in CUTOFFS)], rows)


def weigh(folder, description, usage):
    """Sets the weights of the vectors of tool2vec."""
    path = os.path.join(folder, "tool2vec", "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    config["interpolation"] = {"description": description, "usage": usage, "shrink": 0.0}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)


def encoders(bench):
    rows = []
    for encoder in bench.options.encoders.split(","):
        model = ("--model", encoder)
        for label, *weights in (("description", 1.0, 0.0), ("usage", 0.0, 1.0), ("both", 1.0, 1.0)):
            folder = bench.folder(f"{os.path.basename(encoder)}-{label}", ())
            bench.train(folder, "tool2vec", *model)
            weigh(folder, *weights)
            rows.append([os.path.basename(encoder), label, *bench.recall(folder, "tool2vec", DEEP_CUTOFFS, model)])
    show(["encoder", "vectors of tools", *(f"R@{k}" for k in DEEP_CUTOFFS)], rows)


def read_lines(data, name):
    with open(os.path.join(data, name), encoding="utf-8") as file:
        return file.read().splitlines()


def failures(bench):
    """A failure is a needed tool that is not among the first five hits. The rate of a tool is its failures divided by
    the number of requests that need it."""
    options, rows = bench.options, []
    texts = {row["_id"]: row["text"] for row in map(json.loads, read_lines(options.data, "queries.jsonl"))}
    needed = [line.split("\t")[:2] for line in read_lines(options.data, "qrels/test.tsv")[1:]]
    uses = collections.Counter(tool for _, tool in needed)
    for recipe in ("tool2vec", "tool2vec+refiner"):
        path = os.path.join(options.work, f"{recipe}.run")
        os.makedirs(options.work, exist_ok=True)
        bench.run("eval", options.data, "--trained", options.trained, "--recipe", recipe, "--timed", "1", "--run", path)
        found = {(line[0], line[2]) for line in map(str.split, read_lines("", path)) if int(line[3]) <= 5}
        failed = [(request, tool) for request, tool in needed if (request, tool) not in found]
        by_tool = collections.Counter(tool for _, tool in failed)
        rates = [100 * by_tool[tool] / uses[tool] for tool in uses]
        words = [len(re.findall(r"\w+", texts[request])) for request in {request for request, _ in failed}]
        rows.append(
            [
                recipe,
                statistics.mean(rates),
                statistics.pstdev(rates),
                len(failed) / len(uses),
                max(by_tool.values()),
                statistics.mean(words),
                statistics.pstdev(words),
            ]
        )
    show(
        [
            "",
            "failure rate of a tool, mean",
            "standard deviation",
            "failures a tool",
            "most failures of a tool",
            "words of failed requests, mean",
            "standard deviation",
        ],
        rows,
    )


TABLES = {
    "losses": losses,
    "triplets": triplets,
    "candidates": candidates,
    "descriptions": descriptions,
    "encoders": encoders,
    "failures": failures,
}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("data", "trained", "work"):
        parser.add_argument(name)
    parser.add_argument("--table", choices=TABLES, action="append")
    parser.add_argument("--recipes", default=",".join(PAPER_DEPTHS))
    parser.add_argument("--depths", default=",".join(map(str, DEPTHS)))
    parser.add_argument("--whichtool", default="build/whichtool")
    parser.add_argument("--encoder", default="", help="more options of the encoder that is trained with its head")
    parser.add_argument("--encoders", default="all-MiniLM-L6-v2,whichtool-minilm-v2,whichtool-static-v1")
    options = parser.parse_args()
    for name in options.table or TABLES:
        TABLES[name](Bench(options))


if __name__ == "__main__":
    main()
