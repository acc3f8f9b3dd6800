#!/usr/bin/env python3
"""Makes the tables of Tool2Vec (Moon et al. 2024) in docs/learning.md that learning_table.py does not make.

    python3 bench/tool2vec_tables.py DATA TRAINED WORK [--table NAME] [--recipes A,B] [--depths N,N]
                                       [--whichtool COMMAND] [--encoder OPTIONS]

DATA is a BEIR folder, TRAINED the output of `whichtool train all --data DATA --out TRAINED`. Models trained here are kept
in WORK and reused. Prints Markdown: recall at 3, 5 and 7 on test in percent, and the figure of training on dev.

losses        the classifier with each loss: on the original encoder, on the trained one, and trained end to end with it
              (section 4.2), keeping its head
candidates    refiners of 8 to 128 candidates (table A.2); --recipes and --depths restrict them
descriptions  descriptions instead of usage as vectors of tools, for retrieval and refiner (table A.1, rows 1 and 3)
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

CUTOFFS = (3, 5, 7)
DEPTHS = (8, 16, 32, 64, 128)
ALWAYS = ("encoder", "tool2vec", "neighbours", "mlc")  # models of TRAINED that refiners need

# Table A.2, ToolBench I3: recall at 3, 5 and 7 by number of candidates.
PAPER_DEPTHS = {
    "tool2vec+refiner": {8: (74.00, 87.38, 89.22), 16: (74.00, 87.38, 89.22), 32: (79.50, 87.77, 89.53),
                         64: (80.58, 87.80, 89.70), 128: (78.17, 87.55, 89.30)},
    "mlc+refiner": {8: (70.53, 82.90, 86.63), 16: (78.13, 86.43, 87.95), 32: (79.83, 86.81, 88.98),
                    64: (76.75, 85.88, 86.80), 128: (77.08, 85.72, 87.98)},
}
# Table A.1, ToolBench I3.
PAPER_VECTORS = {"usage": (80.58, 87.80, 89.70), "description": (66.00, 74.60, 76.55)}


class Bench:
    def __init__(self, options):
        self.options = options

    def run(self, *arguments):
        done = subprocess.run([self.options.whichtool, "--json", "-q", *arguments], capture_output=True, text=True,
                              check=False)
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

    def recall(self, folder, recipe):
        row = self.run("eval", self.options.data, "--trained", folder, "--recipe", recipe, "--timed", "1", "--k",
                       ",".join(map(str, CUTOFFS)))[0]
        return [100 * row["metrics"][f"recall@{k}"] for k in CUTOFFS]


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
    for label, models in (("usage", ("encoder", "tool2vec", "neighbours")),
                          ("description", ("encoder", "neighbours"))):
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


TABLES = {"losses": losses, "candidates": candidates, "descriptions": descriptions}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("data", "trained", "work"):
        parser.add_argument(name)
    parser.add_argument("--table", choices=TABLES, action="append")
    parser.add_argument("--recipes", default=",".join(PAPER_DEPTHS))
    parser.add_argument("--depths", default=",".join(map(str, DEPTHS)))
    parser.add_argument("--whichtool", default="build/whichtool")
    parser.add_argument("--encoder", default="", help="more options of the encoder that is trained with its head")
    options = parser.parse_args()
    for name in options.table or TABLES:
        TABLES[name](Bench(options))


if __name__ == "__main__":
    main()
