#!/usr/bin/env python3
"""Measures the effect of a few false usages: the gain of a tool that no request needs, and the loss of the others.

    python3 bench/poison.py DATA TRAINED [WHICHTOOL [SPLIT]]

DATA is a BEIR folder with a train split, TRAINED the output of `train all --data DATA --out TRAINED`; only its encoder is
used. Five strangers, tools that no request needs, join a copy of the catalogue. Each gets 0, 1, 3 or 10 usages with
requests of other tools from the train split: "trained on" before the lessons after the encoder are trained, or "recorded"
afterwards, when they take effect without training.

Prints Markdown, in percent: the share of requests of SPLIT (default test) with a stranger among the first five, as the mean
of the five strangers; and recall@5 of the right tools.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from beir import judgements, lines

USAGES = (0, 1, 3, 10)
PLACES = 5
LESSONS = ("tool2vec", "mlc", "neighbours", "auto")
STRANGERS = {
    "tide_table": "When the sea rises and falls at a harbour, for a week ahead.",
    "knitting_gauge": "Counts stitches and rows of a swatch and says how many to cast on.",
    "bell_ringing": "Writes out a method for a ring of church bells, change by change.",
    "sourdough_clock": "Tells when a dough has risen, by flour, water and the room's temperature.",
    "sundial_plan": "Draws the hour lines of a sundial for a wall and a latitude.",
}


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def append(folder, name, rows):
    with open(os.path.join(folder, name), "a", encoding="utf-8") as file:
        file.writelines(f"{row}\n" for row in rows)


def poisoned(data, usages, folder):
    """Writes a copy of the data set with the strangers and their usages."""
    shutil.copytree(data, folder, copy_function=shutil.copyfile)
    texts = {row["_id"]: row["text"] for row in lines(os.path.join(data, "queries.jsonl"))}
    requests = random.Random(1).sample(sorted(judgements(data, "train")), usages * len(STRANGERS))
    false = [(f"false-{n}", texts[request], sorted(STRANGERS)[n % len(STRANGERS)])
             for n, request in enumerate(requests)]
    append(folder, "corpus.jsonl", (json.dumps({"_id": name, "title": name, "text": text,
                                                "metadata": {"provider": "strangers"}})
                                    for name, text in STRANGERS.items()))
    append(folder, "queries.jsonl", (json.dumps({"_id": name, "text": text}) for name, text, _ in false))
    append(folder, "qrels/train.tsv", (f"{name}\t{stranger}\t1" for name, _, stranger in false))


def said_of(model):
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        return json.load(file)


def borrow(trained, lessons, models, sha256=None):
    """Copies the models of some lessons, marked as trained on the data of that checksum."""
    for lesson in lessons:
        source, target = os.path.join(trained, lesson), os.path.join(models, lesson)
        os.makedirs(target)
        for name in os.listdir(source):
            os.symlink(os.path.abspath(os.path.join(source, name)), os.path.join(target, name))
        config = said_of(source)
        config["whichtool"]["data"]["sha256"] = sha256 or config["whichtool"]["data"]["sha256"]
        os.remove(os.path.join(target, "config.json"))
        append(target, "config.json", [json.dumps(config)])


class Bench:
    def __init__(self, trained, whichtool, split, work):
        self.trained, self.whichtool, self.split, self.work = trained, whichtool, split, work
        self.cache = os.path.join(work, "cache")

    def train(self, data, models):
        """Trains the lessons after the encoder. Returns the checksum of the training data."""
        borrow(self.trained, ["encoder"], models)
        for lesson in LESSONS:
            call([self.whichtool, "-q", "train", lesson, "--data", data, "--out", models, "--cache", self.cache])
        sha256 = said_of(os.path.join(models, LESSONS[0]))["whichtool"]["data"]["sha256"]
        shutil.rmtree(os.path.join(models, "encoder"))
        borrow(self.trained, ["encoder"], models, sha256)
        return sha256

    def measure(self, data, models):
        """Returns for each recipe the strangers' mean share of the requests, and recall@5."""
        ranking = os.path.join(self.work, "run.txt")
        out = call([self.whichtool, "--json", "-q", "eval", data, "--trained", models, "--split", self.split, "--recipe",
                    ",".join(LESSONS), "-k", str(PLACES), "--timed", "1", "--cache", self.cache, "--run", ranking])
        recall = {row["recipe"]: row["metrics"][f"recall@{PLACES}"]
                  for row in map(json.loads, out.splitlines()) if "metrics" in row}
        return [(self.share(recipe), recall[recipe]) for recipe in LESSONS]

    def share(self, recipe):
        requests, taken = set(), 0
        with open(os.path.join(self.work, f"run.{recipe}.txt"), encoding="utf-8") as file:
            for line in file:
                request, _, tool, rank = line.split()[:4]
                requests.add(request)
                taken += tool in STRANGERS and int(rank) <= PLACES
        return taken / len(STRANGERS) / len(requests)

    def rows(self, data, usages):
        folder = os.path.join(self.work, str(usages))
        copy, anew, before = (os.path.join(folder, name) for name in ("data", "anew", "before"))
        poisoned(data, usages, copy)
        sha256 = self.train(copy, anew)
        yield f"{usages}, trained on" if usages else "none", self.measure(copy, anew)
        if usages:
            borrow(os.path.join(self.work, "0", "anew"), ("encoder", *LESSONS), before, sha256)
            yield f"{usages}, recorded", self.measure(copy, before)


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    data, trained = sys.argv[1:3]
    whichtool = sys.argv[3] if len(sys.argv) > 3 else "build/whichtool"
    split = sys.argv[4] if len(sys.argv) > 4 else "test"
    print(f"{os.path.basename(os.path.normpath(data))}, {split}\n")
    print("| false usages | " + " | ".join(LESSONS) + " |\n" + "|---" * (1 + len(LESSONS)) + "|", flush=True)
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(trained, whichtool, split, work)
        for usages in USAGES:
            for name, cells in bench.rows(data, usages):
                print(f"| {name} | " + " | ".join(f"{100 * share:.1f} / {100 * recall:.1f}" for share, recall in cells) +
                      " |", flush=True)


if __name__ == "__main__":
    main()
